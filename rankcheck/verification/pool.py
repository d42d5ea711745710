"""A pool of worker processes that run tasks, one task a worker at a time.

The pool knows nothing of claims. Its user says what a worker prepares once and what it does with a
task, and reads what happens as a stream of events:

    with Pool(partial(prepare, entries), workers=4) as pool:
        for task in tasks:
            pool.submit(task)
        for event in pool.events():
            match event:
                case Done(task, answer): ...
                case Died(task, how): pool.submit(task, first=True)  # or give it up

Workers are spawned, not forked, and use one thread each. They ignore Ctrl-C, because their parent
stops them, and they exit when their parent dies.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, Self, TypeAlias, TypeVar

from rankcheck.errors import InputError, InstallationError
from rankcheck.verification.arithmetic import fix_arithmetic

__all__ = ["Died", "Done", "Event", "Pool", "PoolError", "Prepare", "Started", "Tell", "Told"]

#: Sends a value to the parent while a task runs.
Tell: TypeAlias = Callable[[Any], None]
#: Runs once in each worker and returns the function that runs a task there. It has to be picklable.
#: An exception that this function raises ends the worker with exit code 1.
Prepare: TypeAlias = Callable[[], Callable[[Any, Tell], Any]]

Task = TypeVar("Task")


class PoolError(InputError):
    """No worker can be prepared: `prepare` raised an `InputError`, or its process ended."""


@dataclass(frozen=True)
class Started(Generic[Task]):
    """A worker has taken a task."""

    task: Task


@dataclass(frozen=True)
class Told(Generic[Task]):
    """A task that runs has sent a value."""

    task: Task
    value: Any


@dataclass(frozen=True)
class Done(Generic[Task]):
    """A task has returned an answer."""

    task: Task
    answer: Any


@dataclass(frozen=True)
class Died(Generic[Task]):
    """A worker process ended during a task; `how` names its exit code or its signal."""

    task: Task
    how: str


Event: TypeAlias = Started[Task] | Told[Task] | Done[Task] | Died[Task]


@dataclass
class _Worker:
    """A process, the parent's end of its pipe, and the task that it runs, in a list of one."""

    process: BaseProcess
    connection: Connection
    ready: bool = False
    running: list[Any] | None = None

    def receive(self) -> tuple[str, Any]:
        """The next message; `("died", None)` once the process has ended."""
        try:
            kind, value = self.connection.recv()
        except (EOFError, OSError):
            return "died", None
        return kind, value

    def ended(self) -> str:
        """How a process ended that has closed its pipe."""
        self.process.join(5)
        code = self.process.exitcode
        if code is None or code >= 0:
            return f"exit code {code}"
        name = signal.Signals(-code).name
        return f"{name}, out of memory?" if name == "SIGKILL" else name

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self.connection.close()
        self.process.kill()
        self.process.join()


class Pool(Generic[Task]):
    """Worker processes. They start when the pool is made.

    Args:
        prepare: what each worker runs first.
        workers: the number of processes.

    Raises:
        ValueError: if the number of workers is not positive.
    """

    def __init__(self, prepare: Prepare, workers: int) -> None:
        if workers < 1:
            raise ValueError(f"received {workers} workers; a pool has at least one")
        # Unpickled by the worker after it has limited its threads: that may import torch.
        self._prepare = pickle.dumps(prepare)
        self._workers = workers
        self._waiting: deque[Task] = deque()
        self._team: list[_Worker] = []
        try:
            for _ in range(workers):
                self._team.append(self._start())
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def pids(self) -> list[int]:
        """The process ids of the workers."""
        return [worker.process.pid for worker in self._team if worker.process.pid is not None]

    def submit(self, task: Task, *, first: bool = False) -> None:
        """Queue a task, or put it at the head of the queue."""
        if first:
            self._waiting.appendleft(task)
        else:
            self._waiting.append(task)

    def events(self) -> Generator[Event[Task], None, None]:
        """Run the tasks that are queued, and those that are queued meanwhile, to the last one.

        A worker that dies is replaced; its task is not run again unless it is submitted again. An
        iterator that is closed before its end closes the pool.

        Raises:
            PoolError: if `prepare` raises an `InputError`, or a worker dies before it is prepared.
            InstallationError: if `prepare` raises one.
        """
        try:
            while self._waiting or self._busy:
                self._replace()
                yield from self._hand_out()
                by_connection = {worker.connection: worker for worker in self._team}
                for connection in wait(list(by_connection)):
                    event = self._receive(by_connection[connection])  # type: ignore[index]
                    if event is not None:
                        yield event
        finally:
            if self._waiting or self._busy:
                self.close()

    def close(self) -> None:
        """Stop the workers, whatever they are doing, and forget the tasks."""
        self._waiting.clear()
        team, self._team = self._team, []
        for worker in team:
            worker.stop()

    @property
    def _busy(self) -> bool:
        return any(worker.running is not None for worker in self._team)

    def _replace(self) -> None:
        """Start workers in place of dead ones, as many as the queue needs."""
        idle = sum(worker.running is None for worker in self._team)
        missing = min(self._workers - len(self._team), len(self._waiting) - idle)
        for _ in range(missing):
            self._team.append(self._start())

    def _hand_out(self) -> Iterator[Started[Task]]:
        for worker in list(self._team):
            if worker.ready and worker.running is None and self._waiting:
                task = self._waiting.popleft()
                worker.running = [task]
                with suppress(OSError):  # it has just died: the next `receive` tells
                    worker.connection.send(task)
                yield Started(task)

    def _receive(self, worker: _Worker) -> Event[Task] | None:
        """Take in one message of a worker."""
        kind, value = worker.receive()
        running = worker.running
        if kind == "refused":
            raise value if isinstance(value, InstallationError) else PoolError(str(value))
        if kind == "died":
            self._team.remove(worker)
            how = worker.ended()
            worker.stop()
            if not worker.ready:
                raise PoolError(f"a worker process ended before it was prepared ({how})")
            return None if running is None else Died(running[0], how)
        if kind == "ready":
            worker.ready = True
            return None
        assert running is not None
        if kind == "told":
            return Told(running[0], value)
        worker.running = None
        return Done(running[0], value)

    def _start(self) -> _Worker:
        spawn = multiprocessing.get_context("spawn")
        ours, theirs = spawn.Pipe()
        process = spawn.Process(target=_work, args=(theirs, self._prepare), daemon=True)
        with _ignoring_interrupts():
            process.start()
        theirs.close()  # so that the pipe closes when the process ends
        return _Worker(process, ours)


@contextmanager
def _ignoring_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C in processes that are started inside; they inherit it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def _work(connection: Connection, pickled: bytes) -> None:
    """The main function of a worker: prepare, then run the tasks that come."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    fix_arithmetic()
    threading.Thread(target=_exit_with_parent, daemon=True).start()

    def tell(kind: str, value: Any) -> None:
        with suppress(OSError):  # the pipe is closed: this process is about to be stopped
            connection.send((kind, value))

    try:
        prepare: Prepare = pickle.loads(pickled)
        run = prepare()
    except (InputError, InstallationError) as error:
        tell("refused", error)
        return
    tell("ready", None)
    while True:
        try:
            task = connection.recv()
        except (EOFError, OSError):
            return
        tell("done", run(task, partial(tell, "told")))


def _exit_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)
