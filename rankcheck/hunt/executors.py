"""Who runs the shards: this process, worker processes of its own, or a Dask cluster.

An executor runs shards in any order and gives each outcome once. Which worker ran a shard, and how
often it was begun, leaves no trace in the outcome.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import uuid
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any, Protocol

from rankcheck.errors import InputError
from rankcheck.hunt.arena import HuntError
from rankcheck.hunt.shard import Outcome, Shard, Target, run_shard
from rankcheck.hunt.strategies.base import Strategy
from rankcheck.verification.run import single_thread

if TYPE_CHECKING:
    from rankcheck.claims.claim import Claim

#: How often a shard may take its worker down before the hunt is given up.
DEATHS = 3
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Job:
    """What all shards of a hunt share."""

    target: Target
    strategies: tuple[Strategy, ...]
    device: str = "cpu"


class Executor(Protocol):
    """Runs shards."""

    def run(self, shards: Sequence[Shard], until: float | None) -> Iterator[tuple[Shard, Outcome]]:
        """The shards with their outcomes, in any order; see `run_shard` for `until`.

        A caller who has seen enough closes the iterator, and then the executor.

        Raises:
            HuntError: if a body raises, or the workers are lost for good.
        """

    def close(self) -> None:
        """Let the workers go, whatever they are doing."""


class Inline:
    """This process: one shard after the other, in the order of their keys."""

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
        """Nothing is held."""


@dataclass
class _Worker:
    """A process, the parent's end of its pipe, and the shard that it works on."""

    process: BaseProcess
    connection: Connection
    shard: Shard | None = None


class Processes:
    """Worker processes on this machine. A shard whose worker dies is run again by another."""

    def __init__(self, job: Job, workers: int) -> None:
        self._job = job
        self._team = [_start(job) for _ in range(workers)]

    def run(self, shards: Sequence[Shard], until: float | None) -> Iterator[tuple[Shard, Outcome]]:
        waiting = deque(shards)
        deaths: Counter[Shard] = Counter()
        left = len(shards)
        while left:
            for worker in self._team:
                if worker.shard is None and waiting:
                    worker.shard = waiting.popleft()
                    with suppress(OSError):  # it is dead, and its pipe will tell
                        worker.connection.send((worker.shard, until))
            ready = wait([worker.connection for worker in self._team if worker.shard])
            for worker in [worker for worker in self._team if worker.connection in ready]:
                shard = worker.shard
                assert shard is not None
                try:
                    answer = worker.connection.recv()
                except (EOFError, OSError):
                    deaths[shard] += 1
                    end = self._replace(worker)
                    if deaths[shard] == DEATHS:
                        raise HuntError(
                            f"a shard runs to its end; {shard.key} took its worker down "
                            f"{DEATHS} times ({end})"
                        ) from None
                    waiting.appendleft(shard)
                    continue
                worker.shard = None
                if isinstance(answer, str):
                    raise HuntError(answer)
                left -= 1
                yield shard, Outcome.from_json(answer)

    def close(self) -> None:
        for worker in self._team:
            worker.connection.close()
            worker.process.kill()
            worker.process.join()
        self._team = []

    def _replace(self, worker: _Worker) -> str:
        """Put a new worker in the place of a dead one; how that one ended."""
        worker.connection.close()
        worker.process.join(5)
        worker.process.kill()
        code = worker.process.exitcode or 0
        self._team[self._team.index(worker)] = _start(self._job)
        return f"exit code {code}" if code >= 0 else signal.Signals(-code).name


def _start(job: Job) -> _Worker:
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=_work, args=(theirs, job), daemon=True)
    with _uninterrupted():
        process.start()
    theirs.close()  # so that the death of the process closes the pipe
    return _Worker(process, ours)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Processes that are started in here ignore Ctrl-C: their parent stops them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def _work(connection: Connection, job: Job) -> None:
    """The life of a worker process: shards come in, outcomes or a refusal go out."""
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    with suppress(EOFError, OSError):  # the pipe breaks: the parent is gone
        while True:
            shard, until = connection.recv()
            connection.send(run_for(job, shard, until))


#: The precision of balls belongs to the process, so a process runs one shard at a time.
_alone = threading.Lock()


def run_for(job: Job, shard: Shard, until: float | None) -> dict[str, Any] | str:
    """Run a shard in a worker: its outcome as JSON, or the reason why the hunt cannot go on."""
    with _alone, single_thread():
        try:
            claim = job.target.load()
            outcome = run_shard(claim, job.strategies, shard, device=job.device, until=until)
        except InputError as error:
            return str(error)
        except Exception as error:
            return f"a shard runs to its end; {shard.key} raised {type(error).__name__}: {error}"
    return outcome.to_json()


class Dask:
    """A Dask cluster, over SLURM, Kubernetes or plain SSH.

    The workers have rankcheck installed, and the file of the claim under the same path. Shards of a
    worker that is lost run again on another.

    Args:
        cluster: `dask://host:port` of a scheduler, or a `distributed.Client`, which stays open.

    Raises:
        HuntError: if `distributed` is not installed, or no scheduler answers.
    """

    def __init__(self, job: Job, cluster: Any, timeout: float = 10.0) -> None:
        try:
            import distributed
        except ImportError as error:
            raise HuntError(
                "a hunt on a cluster needs Dask: pip install 'rankcheck[cluster]'"
            ) from error
        self._job = job
        self._token = uuid.uuid4().hex[:12]
        self._owned = isinstance(cluster, str)
        self._distributed = distributed
        if not isinstance(cluster, str):
            self._client = cluster
            return
        try:
            self._client = distributed.Client(
                cluster.replace("dask://", "tcp://", 1), timeout=timeout, set_as_default=False
            )
        except (OSError, ValueError) as error:
            raise HuntError(
                f"an executor is a Dask scheduler, dask://host:port; none answers at {cluster!r}"
            ) from error

    def run(self, shards: Sequence[Shard], until: float | None) -> Iterator[tuple[Shard, Outcome]]:
        futures = {
            self._client.submit(
                run_for,
                self._job,
                shard,
                until,
                key=f"rankcheck-{self._token}-{shard.key}",
                pure=False,
                retries=DEATHS,
            ): shard
            for shard in shards
        }
        try:
            for future in self._distributed.as_completed(futures, loop=self._client.loop):
                try:
                    answer = future.result()
                except Exception as error:
                    raise HuntError(
                        f"a shard runs to its end; {futures[future].key} was lost: "
                        f"{type(error).__name__}: {error}"
                    ) from error
                if isinstance(answer, str):
                    raise HuntError(answer)
                yield futures[future], Outcome.from_json(answer)
        finally:
            self._client.cancel(list(futures))

    def close(self) -> None:
        if self._owned:
            self._client.close()


def executor_for(claim: Claim, job: Job, workers: int, executor: Any) -> Executor:
    """The executor that was asked for; shards of a first round are run in this process anyway.

    Raises:
        HuntError: if there is no such executor, or a number of workers is not positive.
    """
    if workers < 1:
        raise HuntError(f"a hunt has at least one worker; received {workers}")
    if executor is None:
        return Inline(claim, job) if workers == 1 else Processes(job, workers)
    if isinstance(executor, str) and not executor.startswith("dask://"):
        raise HuntError(f"an executor is a Dask scheduler, dask://host:port; received {executor!r}")
    if isinstance(executor, str) or hasattr(executor, "submit"):
        return Dask(job, executor)
    if hasattr(executor, "run"):
        return executor  # type: ignore[no-any-return]
    raise HuntError(
        "an executor is dask://host:port, a distributed.Client or an Executor; "
        f"received {executor!r}"
    )
