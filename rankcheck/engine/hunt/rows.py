"""Hunts as rows of the ledger."""

from __future__ import annotations

from dataclasses import replace

from rankcheck.claims.verdicts import Verdict
from rankcheck.engine.hunt.result import Hunt
from rankcheck.engine.verification.ledger import Row

#: The verdict of the ledger on a conjecture, by the verdict of its hunt.
VERDICTS: dict[str, Verdict] = {
    "refuted": "refuted",
    "undecided": "undecided",
    "survived": "guarded",
    "gave_up": "undecided",
}


def row_of(result: Hunt, known: Row) -> Row:
    """The row of a hunt in the ledger.

    Args:
        known: that of the same claim from its verification; counts and seconds are added to it.
    """
    verdict = VERDICTS[result.verdict]
    return replace(
        known,
        verdict=verdict,
        swept=known.swept + result.counts,
        certificate=result.certificate,
        seconds=round(known.seconds + result.seconds, 3),
        messages=() if verdict == "guarded" else (result.message,),
    )
