"""Hunts and the ledger: hunts as rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rankcheck.claims.claim import Claim
from rankcheck.claims.verdicts import Verdict
from rankcheck.errors import ClaimFalse
from rankcheck.files import LEFT
from rankcheck.hunt.result import Hunt
from rankcheck.hunt.run import hunt
from rankcheck.verification.ledger import Row

#: The verdict of the ledger on a conjecture, by the verdict of its hunt.
VERDICTS: dict[str, Verdict] = {
    "refuted": "refuted",
    "undecided": "undecided",
    "survived": "guarded",
    "gave_up": "undecided",
}


def guard(claim: Claim, seconds: float, seed: int = 0, *, folder: Path = LEFT) -> Row:
    """Hunt a conjecture; returns its row of the ledger if it survives.

    Args:
        seconds: the budget.
        folder: where the certificate of a counterexample is left.

    Raises:
        ClaimFalse: if the hunt ends with any other verdict. The message has the statement, both
            sides, the instance as numbers, and the certificate.
        HuntError: as `hunt`.
    """
    __tracebackhide__ = True
    row = row_of(hunt(claim, seconds, seed, folder=folder))
    if not row.expected:
        raise ClaimFalse("\n".join(row.messages))
    return row


def row_of(result: Hunt, known: Row | None = None) -> Row:
    """The row of a hunt in the ledger.

    Args:
        known: the row of the same claim from its verification; counts and seconds are added to it.
    """
    claim, verdict = result.claim, VERDICTS[result.verdict]
    known = known or Row.of(claim, verdict)
    return replace(
        known,
        verdict=verdict,
        swept=known.swept + result.counts,
        certificate=result.certificate,
        seconds=round(known.seconds + result.seconds, 3),
        messages=() if verdict == "guarded" else (result.message,),
    )
