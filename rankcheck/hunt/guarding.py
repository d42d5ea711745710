"""Hunting the guarded conjectures under pytest: `pytest --rankcheck-hunt SECONDS`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rankcheck.claims.claim import Claim
from rankcheck.errors import ClaimFalse
from rankcheck.hunt.run import Hunt, hunt
from rankcheck.verification.counts import Counts
from rankcheck.verification.ledger import Row, Verdict

#: The ledger's word for what a hunt for a conjecture ends with.
VERDICTS: dict[str, Verdict] = {
    "refuted": "refuted",
    "undecided": "undecided",
    "survived": "guarded",
    "gave_up": "undecided",
}


def guard(claim: Claim, seconds: float, seed: int = 0, *, folder: Path = Path(".rankcheck")) -> Row:
    """Hunt a conjecture; its row in the ledger, if it still stands.

    Args:
        seconds: the budget.
        folder: where the certificate of a counterexample is left.

    Raises:
        ClaimFalse: if a counterexample is found, with the statement, both sides, the instance as
            numbers and the certificate; also if one is undecided, or nothing could be hunted.
        HuntError: as `hunt` does.
    """
    __tracebackhide__ = True
    row = row_of(hunt(claim, seconds, seed, folder=folder))
    if not row.expected:
        raise ClaimFalse("\n".join(row.messages))
    return row


def row_of(found: Hunt, known: Row | None = None) -> Row:
    """The row of a hunt in the ledger, on top of what verifying the claim found."""
    claim, verdict = found.claim, VERDICTS[found.verdict]
    known = known or Row.of(claim, verdict)
    return replace(
        known,
        verdict=verdict,
        swept=known.swept + Counts(found.instances, found.rejected, found.rounding),
        certificate=found.certificate,
        seconds=round(known.seconds + found.seconds, 3),
        messages=() if verdict == "guarded" else (found.message,),
    )
