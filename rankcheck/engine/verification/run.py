"""Verifying many claims: one after the other in this process, or spread over worker processes.

Only a process can be stopped, whatever it is doing: with a limit there is always a worker process.

The row of a claim depends on the claim, the profile and the seed, not on the number of workers.
torch is imported only where claims are verified: with several workers, not in their parent.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from rankcheck.claims.catalogue.entry import Entry
from rankcheck.claims.catalogue.loader import BrokenClaim, load_each
from rankcheck.engine.parallel import Done, Lost, Started, Tell, Told
from rankcheck.engine.parallel.alone import how
from rankcheck.engine.parallel.executors import Limits, Unfinished, Work, executor_for
from rankcheck.engine.verification.ledger import Row
from rankcheck.engine.verification.one import suspected, unfinished, verify_entry
from rankcheck.engine.verification.profiles import Settings

#: What happens in a run: a claim begins; its rows are complete; something happened that belongs to
#: no claim.
Event: TypeAlias = Started[Entry] | Done[Entry] | Lost


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
    limit: float | None = None,
    progress: Callable[[Event], object] = lambda event: None,
) -> list[Row]:
    """Verify the claims; returns their rows in the order of the entries, of a claim
    that is parametrized one for each setting of its dials.

    A claim whose check raises has failed. One whose worker dies, or that takes longer than the
    limit, is undecided, or refuted if that had been proved by then; the others go on.

    Args:
        limit: seconds for each claim, and for the import of the files; a claim that takes longer is
            undecided. Without one, and with one worker, claims are verified in this process.

    Raises:
        InputError: if a file of claims cannot be imported, or not within the limit, or all workers
            die while they import them; before any claim is verified there.
        ValueError: if `workers` or `limit` is not positive.
    """
    if workers < 1:
        raise ValueError(f"received {workers} workers; a run has at least one")
    if limit is not None and not limit > 0:
        raise ValueError(f"the limit is {limit}; it is a positive number of seconds, or None")
    if not entries:
        return []
    apart = limit is not None or (workers > 1 and len(entries) > 1)
    order = list(range(len(entries)))
    if apart:
        # What is only cited comes first, so that rows are there at once; then the costly claims, so
        # that none of them runs alone at the end.
        order.sort(key=lambda index: (entries[index].instances is not None, -entries[index].effort))
    rows: dict[int, list[Row]] = {}
    found: dict[int, Row] = {}  # of proved counterexamples that are being made small

    def passed_on(event: Started[int] | Told[int] | Lost) -> None:
        match event:
            case Started(index):
                progress(Started(entries[index]))
            case Told(index, Row() as row):
                found[index] = row
            case Lost(text):
                progress(Lost(f"{text}; the others go on"))

    work = Work(
        partial(_prepare, entries, settings),
        [entry.file for entry in entries],
        limit,
        _warm,
    )
    limits = Limits(math.inf if limit is None else limit)
    with closing(executor_for(min(workers, len(entries)) if apart else None, work)) as executor:
        for end in executor.run(order, limits, passed_on):
            index, entry = end.task, entries[end.task]
            if isinstance(end, Unfinished):
                rows[index] = [row_of(end, entry, found.get(index))]
            else:
                rows[index] = end.answer
            progress(Done(entry, rows[index]))
    return [row for index in range(len(entries)) for row in rows[index]]


def row_of(end: Unfinished[int], entry: Entry, found: Row | None = None) -> Row:
    """The row of a claim whose check has not ended, with what it had found by then."""
    why = f"its check {how(end, [entry.file])}"
    if found is None:
        return unfinished(entry, why + suspected(end.trace), seconds=end.seconds)
    message = f"{found.messages[0]}\n  it is not made small: {why}"
    return replace(found, messages=(message,), seconds=end.seconds)


def _warm() -> None:
    """What takes seconds and is no matter of the files."""
    import numpy  # noqa: F401
    from hypothesis import find, settings, strategies

    # When Hypothesis first sees numpy it looks through all that is in memory: little before torch.
    find(strategies.none(), lambda _: True, settings=settings(database=None))


def _prepare(entries: Sequence[Entry], settings: Settings) -> Callable[[int, Tell], list[Row]]:
    """Import the files; returns what verifies the claim of a number."""
    claims = load_each(entries)

    def run(index: int, progress: Tell) -> list[Row]:
        from rankcheck.claims import variants  # torch

        claim, verify = claims[index], partial(verify_entry, entries[index])
        if isinstance(claim, BrokenClaim):
            return [verify(claim, settings)]
        each = [variants.at(claim, one) for one in variants.settings(claim)]
        return [verify(one, settings, progress) for one in each]

    return run
