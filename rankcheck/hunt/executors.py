"""Executors run the shards of a round: this process, worker processes, or a Dask cluster.

An executor runs shards in any order and yields each outcome once. An outcome does not depend on the
worker that ran its shard, nor on how often the shard was started.
"""

from __future__ import annotations

import math
import pickle
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from rankcheck.claims.claim import Claim
from rankcheck.hunt.arena import HuntError
from rankcheck.hunt.cluster import Dask
from rankcheck.hunt.job import DEATHS, SHARD, Job, endless, late, run_for
from rankcheck.hunt.shard import Lost, Outcome, Shard, run_shard
from rankcheck.parallel.pool import Died, Done, Overran, Pool, PoolError, Tell
from rankcheck.parallel.traces import place_in

#: A shard and the end of the budget.
_Task: TypeAlias = tuple[Shard, float | None]
#: What shards end in, in any order.
Outcomes: TypeAlias = Iterator[tuple[Shard, Outcome | Lost]]


class Executor(Protocol):
    """Runs shards."""

    def run(self, shards: Sequence[Shard], until: float | None) -> Outcomes:
        """The shards with their outcomes, in any order; `until` is that of `run_shard`.

        A shard that does not end, or that ends its worker again and again, is `Lost`, and the
        others go on. A caller that needs no more outcomes closes the iterator, and then the
        executor.

        Raises:
            HuntError: if the hunt cannot go on.
        """

    def close(self) -> None:
        """Stop the workers, whatever they are doing."""


class Inline:
    """Runs the shards in this process, one after the other."""

    def __init__(self, claim: Claim, job: Job) -> None:
        self._claim = claim
        self._job = job

    def run(self, shards: Sequence[Shard], until: float | None) -> Outcomes:
        job = self._job
        for shard in shards:
            yield (
                shard,
                run_shard(self._claim, job.strategies, shard, device=job.device, until=until),
            )

    def close(self) -> None:
        """Does nothing: there are no workers."""


class Processes:
    """Worker processes on this machine. A shard whose worker dies is run again by another one.

    Args:
        limit: seconds in which shards have to end after the end of the budget; one that takes
            `SHARD` times as long is stopped at any time.

    Raises:
        HuntError: if a strategy cannot be sent to a process.
    """

    def __init__(self, job: Job, workers: int, limit: float | None = None) -> None:
        self._limit = limit
        self._file = Path(job.target.file)
        try:
            self._pool = Pool[_Task](partial(_prepare, job), workers)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise HuntError(
                f"the strategies cannot be sent to workers: {error}; a strategy is an instance of "
                "a class at the top level of a module"
            ) from error

    @property
    def pids(self) -> list[int]:
        """The process ids of the workers."""
        return self._pool.pids

    def run(self, shards: Sequence[Shard], until: float | None) -> Outcomes:
        deaths: Counter[Shard] = Counter()
        limit = self._limit
        end = math.inf if until is None else until

        def seconds() -> float:
            """What is left of the budget, and the limit: for a shard that begins now."""
            assert limit is not None
            return min(SHARD * limit, limit + max(0.0, end - time.monotonic()))

        def submit(shard: Shard, *, first: bool = False) -> None:
            given = None if limit is None else seconds
            self._pool.submit((shard, until), first=first, limit=given)

        for shard in shards:
            submit(shard)
        try:
            with closing(self._pool.events()) as events:
                for event in events:
                    match event:
                        case Done(_, str() as reason):
                            raise HuntError(reason)
                        case Done((shard, _), outcome):
                            yield shard, outcome
                        case Died((shard, _), how):
                            deaths[shard] += 1
                            if deaths[shard] < DEATHS:
                                submit(shard, first=True)
                            else:
                                yield shard, Lost(f"ended its worker {DEATHS} times ({how})")
                        case Overran((shard, _), passed, trace):
                            place = place_in(trace, [self._file])
                            over = time.monotonic() >= end
                            yield shard, late(place) if over else endless(passed, place)
                            if over:  # the others may hang, too
                                for waits, _ in self._pool.withdraw():
                                    yield waits, Outcome(cut=True)
        except PoolError as error:
            raise HuntError(str(error)) from error

    def close(self) -> None:
        self._pool.close()


def _prepare(job: Job) -> Callable[[_Task, Tell], Outcome | Lost | str]:
    """What a worker process does first: import the file of the claim."""
    job.target.load()

    def run(task: _Task, tell: Tell) -> Outcome | Lost | str:
        return run_for(job, *task)

    return run


def executor_for(
    claim: Claim, job: Job, workers: int, executor: Any, limit: float | None = None
) -> Executor:
    """The executor that the arguments of `hunt` ask for.

    Raises:
        HuntError: if there is no such executor, the number of workers is not positive, or workers
            could not import the claim.
    """
    if workers < 1:
        raise HuntError(f"received {workers} workers; a hunt has at least one")
    if executor is None and workers == 1:
        return Inline(claim, job)
    if isinstance(executor, str) and not executor.startswith("dask://"):
        raise HuntError(f"the executor is {executor!r}; a Dask scheduler is dask://host:port")
    elsewhere = executor is None or isinstance(executor, str) or hasattr(executor, "submit")
    if elsewhere and not claim.file.is_file():
        raise HuntError(
            f"{claim.id} is declared in {claim.file}, which is not a file; workers import the file "
            "of a claim, and without workers it is hunted in this process"
        )
    if executor is None:
        return Processes(job, workers, limit)
    if elsewhere:
        return Dask(job, executor, limit)
    if hasattr(executor, "run"):
        return executor  # type: ignore[no-any-return]
    raise HuntError(
        f"the executor is {executor!r}; an executor is dask://host:port, a distributed.Client or "
        "an Executor"
    )
