"""Verifying many claims: one after the other in this process, or spread over worker processes.

A claim is a shard: its row depends on the claim, the profile and the seed alone, not on the number
of workers. torch is imported by who does the work, so with several workers not by their parent.
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
from rankcheck.verification.ledger import Row
from rankcheck.verification.profiles import Settings

if TYPE_CHECKING:
    from rankcheck.claims.claim import Claim


class Watcher:
    """Who is told how a run goes on; this one does not care."""

    def started(self, entry: Entry) -> None:
        """Work on a claim begins."""

    def advanced(self, entry: Entry, instances: int) -> None:
        """So many more instances of it have been seen."""

    def finished(self, row: Row) -> None:
        """Its row is complete."""


def default_workers(claims: int) -> int:
    """As many processes as there are cores for this process, and not more than claims."""
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
    """Verify the claims; their rows in the order of the entries.

    A claim whose check raises, or whose worker dies, has a row too: undecided, with the reason.

    Raises:
        LoadError: if a file of claims cannot be imported; before any claim is verified.
        ValueError: if `workers` is not positive.
    """
    if workers < 1:
        raise ValueError(f"a run has at least one worker; received {workers}")
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
    """The row of one claim, whatever its check raises."""
    from rankcheck.verification.check import verify_claim  # torch

    try:
        return verify_claim(claim, settings, advance=advance)
    except Exception as error:
        return unfinished(entry, raised(error, entry.file))


def unfinished(entry: Entry | Claim, reason: str) -> Row:
    """The row of a claim of which nothing was found out."""
    reference = entry.reference
    return Row(
        id=entry.id,
        title=entry.title,
        kind=entry.kind,
        verdict="undecided",
        reference=None if reference is None else {"key": reference.key, "where": reference.where},
        file=shown_path(entry.file),
        messages=(f"{entry.id} is undecided: {reason}",),
    )


def raised(error: BaseException, file: Path) -> str:
    """What was raised, and where: in the file of the claim, or at the end of the traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if frame.filename == str(file)]
    at = "".join(f" at {shown_path(Path(f.filename))}:{f.lineno}" for f in (inside or frames)[-1:])
    said = " ".join(str(error).split())
    return f"its check raised {type(error).__name__}{at}" + (f": {said}" if said else "")


@contextmanager
def single_thread() -> Iterator[None]:
    """One torch thread, which is fastest for small matrices and the same on every machine."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
