"""A Dask cluster as an executor, over SLURM, Kubernetes or plain SSH."""

from __future__ import annotations

import math
import pickle
import threading
import time
import uuid
from collections.abc import Iterable, Iterator
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from rankcheck.engine.parallel.executors import (
    NO_LIMITS,
    End,
    Limits,
    Progress,
    Raised,
    Unfinished,
    Work,
    end_of,
    guarded,
    ignore,
)
from rankcheck.engine.parallel.pool import PoolError
from rankcheck.errors import InputError

Task = TypeVar("Task")

#: Tasks on the cluster at one time, for each thread of it: one runs, and one waits for its turn.
#: Those that wait are few, so that the seconds that a `Deadline` leaves them are right to the
#: duration of a task.
IN_FLIGHT = 2
#: Before a cluster has answered for the first time, its workers may have to import torch: it gets
#: so many times as long.
COLD = 2.0


def connect(work: Work, cluster: Any, timeout: float = 10.0) -> Dask:
    """The executor of a cluster.

    Args:
        cluster: `dask://host:port` of a scheduler, or a `distributed.Client`, which stays open.
        timeout: seconds in which the scheduler has to answer.

    Raises:
        InputError: if `distributed` is not installed, or no scheduler answers.
    """
    try:
        import distributed
    except ImportError as error:
        raise InputError(
            "Dask is not installed; a cluster needs pip install 'rankcheck[cluster]'"
        ) from error
    if not isinstance(cluster, str):
        return Dask(work, cluster)
    address = cluster.replace("dask://", "tcp://", 1)
    try:
        client = distributed.Client(address, timeout=timeout, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(
            f"no scheduler answers at {cluster!r}; a Dask scheduler is dask://host:port"
        ) from error
    return Dask(work, client, owned=True)


class Dask:
    """Runs tasks on a Dask cluster. Those of a lost worker run again on another.

    The workers have rankcheck installed, and the files of claims under the same paths. A task that
    does not answer is given up; the worker that it occupies is left to the cluster.

    Args:
        owned: whether `close` disconnects the client.
    """

    def __init__(self, work: Work, client: Any, *, owned: bool = False) -> None:
        self._client = client
        self._owned = owned
        self._answered = 0.0  # when it did last, on `time.monotonic()`
        self._token = uuid.uuid4().hex[:12]
        # The future of a call, not scattered data: where its worker is lost, it is made again.
        self._work = client.submit(_itself, pickle.dumps(work), key=f"rankcheck-{self._token}")

    def run(
        self,
        tasks: Iterable[Task],
        limits: Limits = NO_LIMITS,
        progress: Progress[Task] = ignore,
    ) -> Iterator[End[Task]]:
        waiting = enumerate(tasks)
        running: dict[Any, tuple[Task, float]] = {}
        answers: SimpleQueue[Any] = SimpleQueue()
        most = IN_FLIGHT * limits.seconds  # it may wait for those before it

        def fill() -> None:
            room = max(1, IN_FLIGHT * sum(self._client.nthreads().values()))
            for number, task in islice(waiting, max(0, room - len(running))):
                future = self._client.submit(
                    _run,
                    self._token,
                    self._work,
                    task,
                    key=f"rankcheck-{self._token}-{uuid.uuid4().hex[:8]}-{number}",
                    pure=False,
                    retries=limits.deaths,
                )
                running[future] = task, time.monotonic() + most
                future.add_done_callback(answers.put)

        def last() -> float:
            """When there is no more waiting."""
            patience = limits.grace if self._answered else COLD * limits.grace
            return max(limits.until, self._answered) + patience

        fill()
        try:
            while running:
                future = _next(answers, min(last(), *(at for _, at in running.values())))
                now = time.monotonic()
                if future in running:
                    self._answered = now
                    task, _ = running.pop(future)
                    end = _answer(task, future)
                    fill()
                    yield end
                elif future is None and now >= last():
                    for task, _ in running.values():
                        yield Unfinished(task, "did not end in time", limits.grace)
                    return
                elif future is None:
                    for stuck in [one for one, (_, at) in running.items() if at <= now]:
                        task, _ = running.pop(stuck)
                        self._client.cancel([stuck])
                        yield Unfinished(task, f"did not end within {most:g} s", most)
                    fill()
        finally:
            self._client.cancel(list(running))

    def close(self) -> None:
        """Forget the work, and disconnect from the scheduler if this executor connected to it."""
        self._client.cancel([self._work])
        if self._owned:
            self._client.close()


def _answer(task: Task, future: Any) -> End[Task]:
    """The end of a task whose future is done.

    Raises:
        PoolError: if the cluster has lost it for another reason than its workers' deaths.
    """
    from distributed import KilledWorker

    try:
        answer = future.result()
    except KilledWorker:
        return Unfinished(task, "ended its workers on the cluster again and again")
    except Exception as error:
        raise PoolError(
            f"a task was lost on the cluster: {type(error).__name__}: {error}"
        ) from error
    return end_of(task, answer)


def _next(answers: SimpleQueue[Any], at: float) -> Any:
    """The next future that is done; None if there is none until a time on `time.monotonic()`."""
    try:
        seconds = None if at == math.inf else max(0.0, at - time.monotonic())
        return answers.get(timeout=seconds)
    except Empty:
        return None


def _itself(work: bytes) -> bytes:
    return work


#: The number of threads of torch and the precision of ball arithmetic belong to the process, so a
#: process runs one task at a time, for the work that came last.
_alone = threading.Lock()
_prepared: dict[str, Any] = {}


def _run(token: str, work: bytes, task: Any) -> Any:
    """Run a task on a worker of the cluster."""
    with _alone:
        if token not in _prepared:
            _prepared.clear()
            try:
                _prepared[token] = guarded(pickle.loads(work))
            except InputError as error:
                return Raised(error)
        return _prepared[token](task, lambda value: None)
