"""Verifying one claim so that it has a row whatever happens."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rankcheck.catalogue.entry import Entry, shown_path
from rankcheck.catalogue.loader import BrokenClaim
from rankcheck.verification.ledger import Row, Verdict
from rankcheck.verification.profiles import Settings

if TYPE_CHECKING:
    from rankcheck.claims.claim import Claim

__all__ = ["raised", "single_thread", "unfinished", "verify_entry"]


def verify_entry(
    entry: Entry,
    claim: Claim | BrokenClaim,
    settings: Settings,
    advance: Callable[[int], None],
) -> Row:
    """The row of one claim; it has failed if its check raises or it is not well formed."""
    if isinstance(claim, BrokenClaim):
        return unfinished(entry, claim.problem, "failed")
    from rankcheck.verification.check import verify_claim  # torch

    try:
        return verify_claim(claim, settings, advance=advance)
    except Exception as error:
        return unfinished(entry, raised(error, entry.file), "failed")


def unfinished(entry: Entry | Claim, reason: str, verdict: Verdict = "undecided") -> Row:
    """The row of a claim whose verification did not finish."""
    said = "is undecided" if verdict == "undecided" else "failed"
    return Row.of(entry, verdict, messages=(f"{entry.id} {said}: {reason}",))


def raised(error: BaseException, file: Path) -> str:
    """What a check raised, and where: the last line in the file of the claim, or the last line."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if frame.filename == str(file)]
    at = "".join(f" at {shown_path(Path(f.filename))}:{f.lineno}" for f in (inside or frames)[-1:])
    said = " ".join(str(error).split())
    return f"its check raised {type(error).__name__}{at}" + (f": {said}" if said else "")


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
