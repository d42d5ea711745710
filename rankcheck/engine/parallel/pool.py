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
                case Overran(task, seconds, trace): ...  # only with a limit

Workers are spawned, not forked, and use one thread each. They ignore Ctrl-C, because their parent
stops them, and they exit when their parent dies. A worker that dies before it is prepared, or
before it has begun its task, stops no other one.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, Self, TypeAlias, TypeVar

from rankcheck.engine.parallel.events import (
    Died,
    Done,
    Event,
    Lost,
    Overran,
    Prepare,
    Started,
    Told,
)
from rankcheck.engine.parallel.worker import WHERE, work
from rankcheck.errors import InputError

#: Seconds, or what gives them.
Limit: TypeAlias = float | Callable[[], float]

Task = TypeVar("Task")
#: A task is handed to so many workers that die before they have begun it; and after so many deaths
#: of workers that prepare, dead ones are not replaced.
TRIES = 3
#: Seconds between two looks at the clock.
_TICK = 1.0


class PoolError(InputError):
    """No worker can be prepared: `prepare` raised an `InputError`, or all processes ended."""


class UnpreparedError(PoolError):
    """`prepare` ran longer than the limit; `seconds` is the limit, `trace` as in `Overran`."""

    def __init__(self, seconds: float, trace: str) -> None:
        super().__init__(f"a worker process was not prepared within {seconds:g} s")
        self.seconds, self.trace = seconds, trace


@dataclass
class _Item:
    """A task of the queue; `tries` counts the workers that died before they had begun it."""

    task: Any
    limit: Limit | None
    tries: int = 0


@dataclass
class _Worker:
    """A process, the parent's ends of its pipes, and the task that it has.

    Attributes:
        traces: the pipe on which the process writes where it is.
        begun: whether it has begun the task.
        limit: the seconds that it has for what it is doing.
        deadline: the end of these on `time.monotonic()`; None where there is none.
    """

    process: BaseProcess
    connection: Connection
    traces: Connection
    ready: bool = False
    running: _Item | None = None
    begun: bool = False
    limit: float = 0.0
    deadline: float | None = None

    def begin(self, limit: Limit | None) -> None:
        """Set the deadline of what begins now."""
        seconds = limit() if callable(limit) else limit
        self.limit = seconds or 0.0
        self.deadline = None if seconds is None else time.monotonic() + seconds

    @property
    def overdue(self) -> bool:
        """Whether the deadline has passed, and nothing has come that was not read."""
        late = self.deadline is not None and time.monotonic() >= self.deadline
        return late and not self.connection.poll()

    def where(self) -> str:
        """Where the process is: the tracebacks of its threads, as `faulthandler` writes them."""
        if WHERE is None or self.process.pid is None:
            return ""
        text = b""
        with suppress(OSError):
            os.kill(self.process.pid, WHERE)
            while self.traces.poll(0.5 if not text else 0.05):
                part = os.read(self.traces.fileno(), 65536)
                if not part:
                    break
                text += part
        return text.decode(errors="replace")

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
        self.traces.close()
        self.process.kill()
        self.process.join()


class Pool(Generic[Task]):
    """Worker processes. They start when the pool is made.

    Args:
        prepare: what each worker runs first.
        workers: the number of processes.
        warm: what each worker runs before that, without a limit: slow imports.
        limit: seconds for `prepare`, and for a task that is submitted with no other limit.
        nested: whether tasks may start processes of their own.
    """

    def __init__(
        self,
        prepare: Prepare,
        workers: int,
        *,
        warm: Callable[[], object] | None = None,
        limit: float | None = None,
        nested: bool = False,
    ) -> None:
        # Unpickled by the worker after it has limited its threads: that may import torch.
        self._prepare = pickle.dumps((warm, prepare))
        self._workers = workers
        self._limit = limit
        self._nested = nested
        self._waiting: deque[_Item] = deque()
        self._team: list[_Worker] = []
        self._prepared = False  # whether any worker ever was
        self._lost: list[str] = []  # how workers ended that were not yet prepared
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

    def submit(
        self,
        task: Task,
        *,
        first: bool = False,
        limit: Limit | None = None,
    ) -> None:
        """Queue a task, or put it at the head of the queue.

        Args:
            limit: seconds for this task, in place of those of the pool; or what gives them when a
                worker begins it.
        """
        item = _Item(task, self._limit if limit is None else limit)
        if first:
            self._waiting.appendleft(item)
        else:
            self._waiting.append(item)

    def events(self) -> Generator[Event[Task], None, None]:
        """Run the tasks that are queued, and those that are queued meanwhile, to the last one.

        A worker that dies or is stopped is replaced; its task is not run again unless it is
        submitted again. An iterator that is closed before its end closes the pool.

        Raises:
            PoolError: if `prepare` raises an `InputError`, or no worker lives to be prepared.
            UnpreparedError: if `prepare` runs longer than the limit.
        """
        try:
            while self._waiting or self._busy:
                self._replace()
                self._hand_out()
                for worker in self._wait():
                    event = self._receive(worker)
                    if event is not None:
                        yield event
                for worker in [worker for worker in self._team if worker.overdue]:
                    yield self._end(worker)
        finally:
            if self._waiting or self._busy:
                self.close()

    def withdraw(self) -> None:
        """Forget the tasks that no worker has."""
        self._waiting.clear()

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
        if not self._lost or (self._prepared and len(self._lost) < TRIES):
            idle = sum(worker.running is None for worker in self._team)
            missing = min(self._workers - len(self._team), len(self._waiting) - idle)
            for _ in range(missing):
                self._team.append(self._start())
        if not self._team:
            raise PoolError(self._lost[-1])

    def _hand_out(self) -> None:
        for worker in self._team:
            if worker.ready and worker.running is None and self._waiting:
                item = self._waiting.popleft()
                worker.running, worker.begun = item, False
                worker.begin(item.limit)
                with suppress(OSError):  # it has just died: the next `receive` tells
                    worker.connection.send(item.task)

    def _wait(self) -> list[_Worker]:
        """The workers that have sent something, after at most a second."""
        by_connection = {worker.connection: worker for worker in self._team}
        deadlines = [worker.deadline for worker in self._team if worker.deadline is not None]
        begin = time.monotonic()
        seconds = min([_TICK, *(max(0.0, deadline - begin) for deadline in deadlines)])
        ready = wait(list(by_connection), seconds)
        slept = time.monotonic() - begin
        if slept > seconds + _TICK:  # this process was stopped (Ctrl-Z), and so were the workers
            for worker in self._team:
                if worker.deadline is not None:
                    worker.deadline += slept
        return [by_connection[connection] for connection in ready]  # type: ignore[index]

    def _receive(self, worker: _Worker) -> Event[Task] | None:
        """Take in one message of a worker."""
        kind, value = worker.receive()
        running = worker.running
        if kind == "refused":
            raise PoolError(str(value))
        if kind == "died":
            return self._died(worker)
        if kind == "warm":
            worker.begin(self._limit)
            return None
        if kind == "ready":
            worker.ready = self._prepared = True
            worker.begin(None)
            return None
        assert running is not None
        if kind == "begun":
            worker.begun = True
            worker.begin(running.limit)
            return Started(running.task)
        if kind == "told":
            return Told(running.task, value)
        worker.running = None
        worker.begin(None)
        if kind == "last":
            self._team.remove(worker)
            worker.stop()
        return Done(running.task, value)

    def _died(self, worker: _Worker) -> Event[Task] | None:
        """Take a worker out of the team whose process has ended."""
        self._team.remove(worker)
        how = worker.ended()
        worker.stop()
        if not worker.ready:
            self._lost.append(f"a worker process ended before it was prepared ({how})")
            return Lost(self._lost[-1])
        item = worker.running
        if item is None:
            return None
        if worker.begun:
            return Died(item.task, how)
        item.tries += 1
        if item.tries == TRIES:
            return Died(item.task, f"{how}, before it had begun")
        self._waiting.appendleft(item)
        return Lost(f"a worker process ended before it had begun its task ({how})")

    def _end(self, worker: _Worker) -> Event[Task]:
        """Stop a worker that has reached its deadline."""
        trace = worker.where()
        self._team.remove(worker)
        worker.stop()
        if worker.running is None:
            raise UnpreparedError(worker.limit, trace)
        return Overran(worker.running.task, worker.limit, trace)

    def _start(self) -> _Worker:
        spawn = multiprocessing.get_context("spawn")
        ours, theirs = spawn.Pipe()
        traces, dumped = spawn.Pipe(duplex=False)
        process = spawn.Process(
            target=work, args=(theirs, dumped, self._prepare), daemon=not self._nested
        )
        with _without_interrupts():
            process.start()
        theirs.close()  # so that the pipe closes when the process ends
        dumped.close()
        return _Worker(process, ours, traces)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Start processes that ignore Ctrl-C. One that comes meanwhile is delivered at the end."""
    if threading.current_thread() is not threading.main_thread():
        yield
    elif hasattr(signal, "pthread_sigmask"):
        # It unblocks the signal when it starts, so it starts before.
        resource_tracker.ensure_running()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
    else:
        previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, previous)
