"""Where the parts of the data are measured: this process, worker processes, or a Dask cluster.

A runner yields what was measured in the order of the parts, wherever and in whatever order they
were measured, on one thread each. So the result does not depend on the runner, to the last bit
where the processes have the same arithmetic (`rankcheck.parallel.arithmetic`).
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, Protocol

import numpy as np

from rankcheck.audit.part import Job, Part
from rankcheck.errors import InputError
from rankcheck.hunt.cluster import connect
from rankcheck.parallel.arithmetic import single_thread
from rankcheck.parallel.pool import Died, Done, Pool, Tell

__all__ = ["Cluster", "Inline", "Processes", "Runner", "runner_for"]

#: A part whose worker dies so often ends the audit.
DEATHS = 3
#: Parts that a worker has at one time: one is measured, and one waits.
IN_FLIGHT = 2


class Runner(Protocol):
    """Measures parts."""

    def run(self, parts: Sequence[np.ndarray]) -> Iterator[Part]:
        """What was measured, in the order of the parts.

        Raises:
            InputError: if workers were lost.
        """

    def close(self) -> None:
        """Stop the workers."""


class Inline:
    """Measures the parts in this process, one after the other."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def run(self, parts: Sequence[np.ndarray]) -> Iterator[Part]:
        with single_thread():
            job = self._job.on_device()
            for points in parts:
                yield job.measure(points)

    def close(self) -> None:
        """Does nothing: there are no workers."""


class Processes:
    """Worker processes on this machine. A part whose worker dies is measured by another one."""

    def __init__(self, job: Job, workers: int) -> None:
        self._workers = workers
        self._pool = Pool[tuple[int, np.ndarray]](partial(_prepare, job), workers)

    def run(self, parts: Sequence[np.ndarray]) -> Iterator[Part]:
        tasks = iter(enumerate(parts))
        deaths: Counter[int] = Counter()
        ready: dict[int, Part] = {}
        waited_for = 0
        for task in islice(tasks, IN_FLIGHT * self._workers):
            self._pool.submit(task)
        for event in self._pool.events():
            match event:
                case Done((index, _), part):
                    ready[index] = part
                case Died((index, points), how):
                    deaths[index] += 1
                    if deaths[index] == DEATHS:
                        raise InputError(
                            f"part {index + 1} of {len(parts)} of the data ended its worker "
                            f"{DEATHS} times ({how}); no part may be lost"
                        )
                    self._pool.submit((index, points), first=True)
            while waited_for in ready:
                yield ready.pop(waited_for)
                waited_for += 1
                for task in islice(tasks, 1):
                    self._pool.submit(task)

    def close(self) -> None:
        self._pool.close()


def _prepare(job: Job) -> Callable[[tuple[int, np.ndarray], Tell], Part]:
    """What a worker process does first: the network goes to its device."""
    ready = job.on_device()

    def run(task: tuple[int, np.ndarray], tell: Tell) -> Part:
        with single_thread():
            return ready.measure(task[1])

    return run


class Cluster:
    """A Dask cluster: `dask://host:port`, or a `distributed.Client`, which stays open."""

    def __init__(self, job: Job, cluster: Any) -> None:
        self._client, self._owned = connect(cluster, "an audit")
        self._job = job

    def run(self, parts: Sequence[np.ndarray]) -> Iterator[Part]:
        job = self._client.scatter(self._job, broadcast=True, hash=False)
        waiting, running = deque(enumerate(parts, 1)), deque[tuple[int, Any]]()
        try:
            while waiting or running:
                room = max(1, IN_FLIGHT * sum(self._client.nthreads().values()))
                while waiting and len(running) < room:
                    number, points = waiting.popleft()
                    future = self._client.submit(
                        _measure_alone, job, points, pure=False, retries=DEATHS
                    )
                    running.append((number, future))
                number, future = running.popleft()
                try:
                    part: Part = future.result()
                except Exception as error:
                    raise InputError(
                        f"part {number} of {len(parts)} of the data was lost on the cluster: "
                        f"{type(error).__name__}: {error}; no part may be lost"
                    ) from error
                yield part
        finally:
            self._client.cancel([job, *(future for _, future in running)])

    def close(self) -> None:
        """Disconnect from the scheduler, if this runner connected to it."""
        if self._owned:
            self._client.close()


#: The number of threads of torch belongs to the process, so a process measures one part at a time.
_alone = threading.Lock()


def _measure_alone(job: Job, points: np.ndarray) -> Part:
    with _alone, single_thread():
        return job.on_device().measure(points)


def runner_for(job: Job, executor: Any) -> Runner:
    """The runner that the argument of `audit` asks for.

    Raises:
        InputError: if there is none, or no scheduler answers.
    """
    if executor is None:
        return Inline(job)
    if isinstance(executor, int) and not isinstance(executor, bool):
        if executor < 1:
            raise InputError(f"received {executor} workers; an audit has at least one")
        return Processes(job, executor) if executor > 1 else Inline(job)
    address = isinstance(executor, str) and executor.startswith("dask://")
    if address or hasattr(executor, "submit"):
        return Cluster(job, executor)
    raise InputError(
        f"the executor is {executor!r}; an executor is a number of workers, dask://host:port, or a "
        "distributed.Client"
    )
