"""Verifying many claims: one after the other in this process, or spread over worker processes.

Only a process can be stopped, whatever it is doing: with a limit there is always a worker process.

The row of a claim depends on the claim, the profile and the seed, not on the number of workers.
torch is imported only where claims are verified: with several workers, not in their parent.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial

from rankcheck.catalogue.entry import Entry
from rankcheck.catalogue.loader import load_each
from rankcheck.verification.ledger import Row
from rankcheck.verification.one import single_thread, verify_entry
from rankcheck.verification.profiles import Settings
from rankcheck.verification.watcher import Watcher

__all__ = ["default_workers", "single_thread", "verify_claims"]


def default_workers(claims: int) -> int:
    """The number of cores that this process may use, or of claims if there are fewer."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return max(1, min(cores, claims))


def verify_claims(
    entries: Sequence[Entry],
    settings: Settings,
    *,
    workers: int = 1,
    watcher: Watcher | None = None,
    limit: float | None = None,
) -> list[Row]:
    """Verify the claims; returns their rows in the order of the entries.

    A claim whose check raises has failed, and one whose worker dies is undecided; the row says why.

    Args:
        limit: seconds for each claim, and for the import of the files; a claim that takes longer is
            undecided. Without one, and with one worker, claims are verified in this process.

    Raises:
        LoadError: if a file of claims cannot be imported; before any claim is verified.
        InstallationError: if a canary comes out wrong, in this process or in a worker; before any
            claim is verified there.
        ValueError: if `workers` or `limit` is not positive.
    """
    if workers < 1:
        raise ValueError(f"received {workers} workers; a run has at least one")
    if limit is not None and not limit > 0:
        raise ValueError(f"the limit is {limit}; it is a positive number of seconds, or None")
    watcher = watcher or Watcher()
    if entries and (limit is not None or (workers > 1 and len(entries) > 1)):
        from rankcheck.verification.workers import spread

        return spread(entries, settings, min(workers, len(entries)), watcher, limit)
    rows: list[Row] = []
    claims = load_each(entries)
    from rankcheck.verification.canaries import check_canaries  # torch

    check_canaries()
    with single_thread():
        for entry, claim in zip(entries, claims, strict=True):
            watcher.started(entry)
            row = verify_entry(
                entry,
                claim,
                settings,
                partial(watcher.advanced, entry),
                partial(watcher.remade, entry),
            )
            rows.append(row)
            watcher.finished(row)
    return rows
