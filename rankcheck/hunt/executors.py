"""Executors run the shards of a round: this process, worker processes, or a Dask cluster.

An executor runs shards in any order and yields each outcome once. An outcome does not depend on the
worker that ran its shard, nor on how often the shard was started.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import Any, Protocol, TypeAlias

from rankcheck.claims.claim import Claim
from rankcheck.hunt.arena import HuntError
from rankcheck.hunt.cluster import Dask
from rankcheck.hunt.job import DEATHS, Job, run_for
from rankcheck.hunt.shard import Outcome, Shard, run_shard
from rankcheck.verification.pool import Died, Done, Pool, PoolError, Tell

#: A shard and the end of the budget.
_Task: TypeAlias = tuple[Shard, float | None]


class Executor(Protocol):
    """Runs shards."""

    def run(self, shards: Sequence[Shard], until: float | None) -> Iterator[tuple[Shard, Outcome]]:
        """The shards with their outcomes, in any order; `until` is that of `run_shard`.

        A caller that needs no more outcomes closes the iterator, and then the executor.

        Raises:
            HuntError: if a body raises, or a shard ends its worker again and again.
        """

    def close(self) -> None:
        """Stop the workers, whatever they are doing."""


class Inline:
    """Runs the shards in this process, one after the other."""

    def __init__(self, claim: Claim, job: Job) -> None:
        self._claim = claim
        self._job = job

    def run(self, shards: Sequence[Shard], until: float | None) -> Iterator[tuple[Shard, Outcome]]:
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

    Raises:
        HuntError: if a strategy cannot be sent to a process.
    """

    def __init__(self, job: Job, workers: int) -> None:
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

    def run(self, shards: Sequence[Shard], until: float | None) -> Iterator[tuple[Shard, Outcome]]:
        deaths: Counter[Shard] = Counter()
        for shard in shards:
            self._pool.submit((shard, until))
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
                            if deaths[shard] == DEATHS:
                                raise HuntError(
                                    f"the worker of shard {shard.key} died {DEATHS} times ({how}); "
                                    "the body or a strategy ends its process"
                                )
                            self._pool.submit((shard, until), first=True)
        except PoolError as error:
            raise HuntError(str(error)) from error

    def close(self) -> None:
        self._pool.close()


def _prepare(job: Job) -> Callable[[_Task, Tell], Outcome | str]:
    """What a worker process does first: import the file of the claim."""
    job.target.load()

    def run(task: _Task, tell: Tell) -> Outcome | str:
        return run_for(job, *task)

    return run


def executor_for(claim: Claim, job: Job, workers: int, executor: Any) -> Executor:
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
        return Processes(job, workers)
    if elsewhere:
        return Dask(job, executor)
    if hasattr(executor, "run"):
        return executor  # type: ignore[no-any-return]
    raise HuntError(
        f"the executor is {executor!r}; an executor is dask://host:port, a distributed.Client or "
        "an Executor"
    )
