"""Verifying claims in worker processes, one claim a task."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

from rankcheck.catalogue.entry import Entry
from rankcheck.catalogue.loader import LoadError, load_each
from rankcheck.verification.ledger import Row
from rankcheck.verification.one import unfinished, verify_entry
from rankcheck.verification.pool import Died, Done, Pool, PoolError, Started, Tell, Told
from rankcheck.verification.profiles import Settings
from rankcheck.verification.watcher import Watcher

#: A worker reports its progress at most once in so many seconds.
PROGRESS = 0.1


def spread(
    entries: Sequence[Entry], settings: Settings, workers: int, watcher: Watcher
) -> list[Row]:
    """Verify the claims in `workers` processes; returns their rows in the order of the entries.

    A claim whose worker dies is undecided; another worker continues with the rest.

    Raises:
        LoadError: if a file cannot be imported, or a worker dies while it imports them.
        InstallationError: if a canary comes out wrong in a worker.
    """
    # The costly claims come first, so that none of them runs alone at the end.
    order = sorted(range(len(entries)), key=lambda index: -entries[index].effort)
    rows: dict[int, Row] = {}

    def finish(index: int, row: Row) -> None:
        rows[index] = row
        watcher.finished(row)

    with Pool[int](partial(_prepare, entries, settings), workers) as pool:
        for index in order:
            pool.submit(index)
        try:
            for event in pool.events():
                match event:
                    case Started(index):
                        watcher.started(entries[index])
                    case Told(index, instances):
                        watcher.advanced(entries[index], instances)
                    case Done(index, row):
                        finish(index, row)
                    case Died(index, how):
                        finish(index, unfinished(entries[index], f"its worker died ({how})"))
        except PoolError as error:
            raise LoadError(str(error)) from error
    return [rows[index] for index in range(len(entries))]


def _prepare(entries: Sequence[Entry], settings: Settings) -> Callable[[int, Tell], Row]:
    """Import the files, check the canaries; returns what verifies the claim of a number."""
    claims = load_each(entries)
    import torch  # not before a file that cannot be imported is an error

    from rankcheck.verification.canaries import check_canaries

    check_canaries()
    torch.set_num_threads(1)

    def run(index: int, tell: Tell) -> Row:
        return verify_entry(entries[index], claims[index], settings, _throttled(tell))

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
