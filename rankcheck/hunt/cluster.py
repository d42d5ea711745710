"""A Dask cluster as an executor, over SLURM, Kubernetes or plain SSH."""

from __future__ import annotations

import math
import time
import uuid
from collections import deque
from collections.abc import Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import Any

from rankcheck.hunt.arena import HuntError
from rankcheck.hunt.job import DEATHS, SHARD, Job, endless, late, run_within
from rankcheck.hunt.shard import Lost, Outcome, Shard

#: Shards on the cluster at one time, for each thread of it: one runs, and one waits for its turn.
#: Clocks of machines differ, so a shard gets the seconds that are left when it is submitted. The
#: shards that wait are few, so that those seconds are right to the duration of a shard.
IN_FLIGHT = 2
#: Before a cluster has answered for the first time, its workers may have to import torch: it gets
#: so many times as long.
COLD = 2.0


def connect(cluster: Any, what: str, timeout: float = 10.0) -> tuple[Any, bool]:
    """A `distributed.Client`, and whether it was made here and is closed by its user.

    Args:
        cluster: `dask://host:port` of a scheduler, or a `distributed.Client`.
        what: what runs there, for messages.
        timeout: seconds in which the scheduler has to answer.

    Raises:
        HuntError: if `distributed` is not installed, or no scheduler answers.
    """
    try:
        import distributed
    except ImportError as error:
        raise HuntError(
            f"Dask is not installed; {what} on a cluster needs pip install 'rankcheck[cluster]'"
        ) from error
    if not isinstance(cluster, str):
        return cluster, False
    address = cluster.replace("dask://", "tcp://", 1)
    try:
        return distributed.Client(address, timeout=timeout, set_as_default=False), True
    except (OSError, ValueError) as error:
        raise HuntError(
            f"no scheduler answers at {cluster!r}; a Dask scheduler is dask://host:port"
        ) from error


class Dask:
    """Runs shards on a Dask cluster. The shards of a lost worker run again on another.

    The workers have rankcheck installed, and the file of the claim under the same path.

    Args:
        cluster: `dask://host:port` of a scheduler, or a `distributed.Client`, which stays open.
        limit: as for `rankcheck.hunt.executors.Processes`.
        timeout: seconds in which the scheduler has to answer.

    Raises:
        HuntError: if `distributed` is not installed, or no scheduler answers.
    """

    def __init__(
        self, job: Job, cluster: Any, limit: float | None = None, timeout: float = 10.0
    ) -> None:
        self._client, self._owned = connect(cluster, "a hunt", timeout)
        self._job = job
        self._limit = limit
        self._answered = 0.0  # when it did last, on `time.monotonic()`
        self._token = uuid.uuid4().hex[:12]

    def run(
        self, shards: Sequence[Shard], until: float | None
    ) -> Iterator[tuple[Shard, Outcome | Lost]]:
        """As `Executor.run`.

        A shard that does not answer is given up; the worker that it occupies is left to the
        cluster.
        """
        waiting = deque(shards)
        running: dict[Any, tuple[Shard, float]] = {}
        answers: SimpleQueue[Any] = SimpleQueue()
        limit = self._limit
        end = math.inf if until is None else until
        # It may wait for those before it.
        most = math.inf if limit is None else IN_FLIGHT * SHARD * limit

        def last() -> float:
            """When there is no more waiting."""
            if limit is None:
                return math.inf
            patience = limit if self._answered else COLD * limit
            return max(end, self._answered) + patience

        def fill() -> None:
            room = max(1, IN_FLIGHT * sum(self._client.nthreads().values()))
            while waiting and len(running) < room:
                shard = waiting.popleft()
                future = self._submit(shard, until)
                running[future] = shard, time.monotonic() + most
                future.add_done_callback(answers.put)

        fill()
        try:
            while running:
                future = _next(answers, min(last(), *(at for _, at in running.values())))
                now = time.monotonic()
                if future in running:
                    self._answered = now
                    shard, _ = running.pop(future)
                    answer = self._answer(shard, future)
                    fill()
                    yield shard, answer
                elif future is None and now >= last():
                    for shard, _ in running.values():
                        yield shard, late()
                    for shard in waiting:
                        yield shard, Outcome(cut=True)
                    return
                elif future is None:
                    for stuck in [one for one, (_, at) in running.items() if at <= now]:
                        shard, _ = running.pop(stuck)
                        self._client.cancel([stuck])
                        yield shard, endless(most)
                    fill()
        finally:
            self._client.cancel(list(running))

    def _answer(self, shard: Shard, future: Any) -> Outcome | Lost:
        """What a future that is done holds.

        Raises:
            HuntError: if it holds a reason why the hunt cannot go on.
        """
        from distributed import KilledWorker

        try:
            answer: Outcome | Lost | str = future.result()
        except KilledWorker:
            return Lost("ended its workers on the cluster again and again")
        except Exception as error:
            raise HuntError(
                f"shard {shard.key} was lost on the cluster: {type(error).__name__}: {error}"
            ) from error
        if isinstance(answer, str):
            raise HuntError(answer)
        return answer

    def _submit(self, shard: Shard, until: float | None) -> Any:
        return self._client.submit(
            run_within,
            self._job,
            shard,
            None if until is None else until - time.monotonic(),
            key=f"rankcheck-{self._token}-{shard.key}",
            pure=False,
            retries=DEATHS,
        )

    def close(self) -> None:
        """Disconnect from the scheduler, if this executor connected to it."""
        if self._owned:
            self._client.close()


def _next(answers: SimpleQueue[Any], at: float) -> Any:
    """The next future that is done; None if there is none until a time on `time.monotonic()`."""
    try:
        seconds = None if at == math.inf else max(0.0, at - time.monotonic())
        return answers.get(timeout=seconds)
    except Empty:
        return None
