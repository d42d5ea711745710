"""Verifying claims in worker processes, one claim a task."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

from rankcheck.catalogue.entry import Entry
from rankcheck.catalogue.loader import LoadError, load_each
from rankcheck.verification.ended import how, not_imported
from rankcheck.verification.ledger import Row
from rankcheck.verification.one import unfinished, verify_entry
from rankcheck.verification.pool import (
    Died,
    Done,
    Lost,
    Overran,
    Pool,
    PoolError,
    Started,
    Tell,
    Told,
    UnpreparedError,
)
from rankcheck.verification.profiles import Settings
from rankcheck.verification.watcher import Watcher

#: A worker reports its progress at most once in so many seconds.
PROGRESS = 0.1


def spread(
    entries: Sequence[Entry],
    settings: Settings,
    workers: int,
    watcher: Watcher,
    limit: float | None = None,
) -> list[Row]:
    """Verify the claims in `workers` processes; returns their rows in the order of the entries.

    A claim whose worker dies, or that takes longer than the limit, is undecided; another worker
    continues with the rest.

    Raises:
        LoadError: if a file cannot be imported, or not within the limit, or all workers die while
            they import them.
        InstallationError: if a canary comes out wrong in a worker.
    """
    # The costly claims come first, so that none of them runs alone at the end.
    order = sorted(range(len(entries)), key=lambda index: -entries[index].effort)
    rows: dict[int, Row] = {}

    def finish(index: int, row: Row) -> None:
        rows[index] = row
        watcher.finished(row)

    prepare = partial(_prepare, entries, settings)
    with Pool[int](prepare, workers, warm=_warm, limit=limit) as pool:
        for index in order:
            pool.submit(index)
        try:
            for event in pool.events():
                match event:
                    case Started(index):
                        watcher.started(entries[index])
                    case Told(index, int(instances)):
                        watcher.advanced(entries[index], instances)
                    case Told(index, share):
                        watcher.remade(entries[index], share)
                    case Done(index, row):
                        finish(index, row)
                    case Died(index) | Overran(index):
                        finish(index, _stopped(entries[index], event))
                    case Lost(said):
                        watcher.noticed(f"{said}; the others go on")
        except UnpreparedError as error:
            raise not_imported(entries, error) from error
        except PoolError as error:
            raise LoadError(str(error)) from error
    return [rows[index] for index in range(len(entries))]


def _stopped(entry: Entry, event: Died[int] | Overran[int]) -> Row:
    """The row of a claim that was stopped at its limit, or whose process died."""
    seconds = event.seconds if isinstance(event, Overran) else 0.0
    return unfinished(entry, f"its check {how(event, [entry.file])}", seconds=seconds)


def _warm() -> None:
    """What takes seconds and is no matter of the files: torch, and the canaries."""
    import numpy  # noqa: F401
    from hypothesis import find, strategies

    # When Hypothesis first sees numpy it looks through all that is in memory: little before torch.
    find(strategies.none(), lambda _: True)

    import torch

    from rankcheck.verification.canaries import check_canaries

    torch.set_num_threads(1)
    check_canaries()


def _prepare(entries: Sequence[Entry], settings: Settings) -> Callable[[int, Tell], Row]:
    """Import the files; returns what verifies the claim of a number."""
    claims = load_each(entries)

    def run(index: int, tell: Tell) -> Row:
        claim = claims[index]
        return verify_entry(entries[index], claim, settings, _throttled(tell), _seldom(tell))

    return run


def _throttled(tell: Tell) -> Callable[[int], None]:
    """Add up numbers of instances and tell the sum once in `PROGRESS` seconds."""
    instances, told = 0, time.monotonic()

    def advance(more: int) -> None:
        nonlocal instances, told
        instances += more
        if time.monotonic() - told > PROGRESS:
            tell(instances)
            instances, told = 0, time.monotonic()

    return advance


def _seldom(tell: Tell) -> Callable[[float], None]:
    """Tell the share of an experiment that is done once in `PROGRESS` seconds."""
    told = -PROGRESS

    def remade(share: float) -> None:
        nonlocal told
        if time.monotonic() - told > PROGRESS:
            tell(float(share))
            told = time.monotonic()

    return remade
