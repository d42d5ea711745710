"""Verifying one claim so that it has a row whatever happens."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING

from rankcheck.claims.catalogue.entry import Entry
from rankcheck.claims.catalogue.loader import BrokenClaim
from rankcheck.claims.verdicts import Verdict
from rankcheck.engine.parallel.traces import raised
from rankcheck.engine.verification.ledger import Row
from rankcheck.engine.verification.profiles import Settings
from rankcheck.errors import InputError, short_of_memory

if TYPE_CHECKING:
    from rankcheck.claims.claim import Claim


def verify_entry(
    entry: Entry,
    claim: Claim | BrokenClaim,
    settings: Settings,
    found: Callable[[Row], None] | None = None,
) -> Row:
    """The row of one claim; it has failed if its check raises or it is not well formed.

    It is undecided if memory is short.
    """
    if isinstance(claim, BrokenClaim):
        return unfinished(entry, claim.problem, "failed")
    from rankcheck.engine.verification.check import verify_claim  # torch

    try:
        return verify_claim(claim, settings, found=found)
    except Exception as error:
        return stopped_by(claim, error)


def stopped_by(entry: Entry | Claim, error: BaseException) -> Row:
    """The row of a claim whose check raised: it has failed, or memory was short."""
    if isinstance(error, InputError):  # it says what is wrong, and where
        return unfinished(entry, str(error).removeprefix(f"{entry.id}: "), "failed")
    row = unfinished(entry, raised(error, entry.file), "failed")
    if short_of_memory(error):
        row = unfinished(entry, raised(error, entry.file))
        traceback.clear_frames(error.__traceback__)  # they hold what was allocated
    return row


def unfinished(
    entry: Entry | Claim, reason: str, verdict: Verdict = "undecided", seconds: float = 0.0
) -> Row:
    """The row of a claim whose verification did not finish; `seconds` is what it took."""
    outcome = "is undecided" if verdict == "undecided" else "failed"
    return Row.of(entry, verdict, seconds=seconds, messages=(f"{entry.id} {outcome}: {reason}",))


def suspected(trace: str) -> str:
    """That a violation in floats was being judged where a check was stopped; empty if none was."""
    files = trace.replace("\\", "/")
    judged = "/counterexamples/judge.py" in files and "/verification/controls.py" not in files
    text = "\n  there it was judging a violation in floats, which is neither proved nor excluded"
    return text if judged else ""
