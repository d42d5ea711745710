"""Verifying one claim so that it has a row whatever happens."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rankcheck.catalogue.entry import Entry
from rankcheck.catalogue.loader import BrokenClaim
from rankcheck.claims.verdicts import Verdict
from rankcheck.errors import InputError, short_of_memory
from rankcheck.verification.ledger import Row
from rankcheck.verification.profiles import Settings
from rankcheck.verification.traces import raised

if TYPE_CHECKING:
    from rankcheck.claims.claim import Claim

__all__ = ["single_thread", "stopped_by", "unfinished", "verify_entry"]


def verify_entry(
    entry: Entry,
    claim: Claim | BrokenClaim,
    settings: Settings,
    advance: Callable[[int], None],
    told: Callable[[float], None] | None = None,
) -> Row:
    """The row of one claim; it has failed if its check raises or it is not well formed.

    It is undecided if memory is short.
    """
    if isinstance(claim, BrokenClaim):
        return unfinished(entry, claim.problem, "failed")
    from rankcheck.verification.check import verify_claim  # torch

    try:
        return verify_claim(claim, settings, advance=advance, told=told)
    except Exception as error:
        return stopped_by(entry, error)


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
    said = "is undecided" if verdict == "undecided" else "failed"
    return Row.of(entry, verdict, seconds=seconds, messages=(f"{entry.id} {said}: {reason}",))


@contextmanager
def single_thread() -> Iterator[None]:
    """Limit torch to one thread: faster for small matrices, and the same result everywhere."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
