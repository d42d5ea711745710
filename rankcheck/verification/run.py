"""Verifying many claims: one after the other in this process, or spread over worker processes.

The row of a claim depends on the claim, the profile and the seed, not on the number of workers.
torch is imported only where claims are verified: with several workers, not in their parent.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rankcheck.catalogue.entry import Entry, shown_path
from rankcheck.catalogue.loader import load
from rankcheck.verification.ledger import Row, Verdict
from rankcheck.verification.profiles import Settings

if TYPE_CHECKING:
    from rankcheck.claims.claim import Claim

__all__ = [
    "Watcher",
    "default_workers",
    "raised",
    "run",
    "single_thread",
    "unfinished",
    "verify_entry",
]


class Watcher:
    """Receives progress events; the default ignores them."""

    def started(self, entry: Entry) -> None:
        """The verification of a claim starts."""

    def advanced(self, entry: Entry, instances: int) -> None:
        """So many more instances of a claim were evaluated."""

    def finished(self, row: Row) -> None:
        """The row of a claim is complete."""


def default_workers(claims: int) -> int:
    """The number of cores that this process may use, or of claims if there are fewer."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return max(1, min(cores, claims))


def run(
    entries: Sequence[Entry],
    settings: Settings,
    *,
    workers: int = 1,
    watcher: Watcher | None = None,
) -> list[Row]:
    """Verify the claims; returns their rows in the order of the entries.

    A claim whose check raises has failed, and one whose worker dies is undecided; the row says why.

    Raises:
        LoadError: if a file of claims cannot be imported; before any claim is verified.
        ValueError: if `workers` is not positive.
    """
    if workers < 1:
        raise ValueError(f"received {workers} workers; a run has at least one")
    watcher = watcher or Watcher()
    if workers > 1 and len(entries) > 1:
        from rankcheck.verification.workers import spread

        return spread(entries, settings, min(workers, len(entries)), watcher)
    rows: list[Row] = []
    with single_thread():
        for entry, claim in zip(entries, load(entries), strict=True):
            watcher.started(entry)
            row = verify_entry(entry, claim, settings, partial(watcher.advanced, entry))
            rows.append(row)
            watcher.finished(row)
    return rows


def verify_entry(
    entry: Entry, claim: Claim, settings: Settings, advance: Callable[[int], None]
) -> Row:
    """The row of one claim; it has failed if its check raises."""
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
