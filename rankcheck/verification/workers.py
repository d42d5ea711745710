"""Worker processes: each verifies one claim after the other, as its parent hands them out."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from rankcheck.catalogue.entry import Entry
from rankcheck.catalogue.loader import LoadError, load
from rankcheck.verification.ledger import Row
from rankcheck.verification.profiles import Settings
from rankcheck.verification.run import Watcher, single_thread, unfinished, verify_entry

#: A worker speaks of its progress at most this often, in seconds.
PROGRESS = 0.1
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass
class _Worker:
    """A process, the parent's end of its pipe, and the number of the claim that it works on."""

    process: BaseProcess
    connection: Connection
    ready: bool = False
    index: int | None = None

    def hear(self) -> tuple[str, Any]:
        """What the worker says: an event and what goes with it."""
        try:
            return self.connection.recv()
        except (EOFError, OSError):
            return "died", None

    def take(self, index: int) -> None:
        """Let the worker verify a claim."""
        self.index = index
        with suppress(OSError):  # it has just died, which will be heard
            self.connection.send(index)

    def end(self) -> str:
        """How the process has ended, which closed its pipe."""
        self.process.join(5)
        code = self.process.exitcode
        if code is None or code >= 0:
            return f"exit code {code}"
        name = signal.Signals(-code).name
        return f"{name}, out of memory?" if name == "SIGKILL" else name

    def stop(self) -> None:
        self.connection.close()
        self.process.terminate()
        self.process.join()


def spread(
    entries: Sequence[Entry], settings: Settings, workers: int, watcher: Watcher
) -> list[Row]:
    """Verify the claims in `workers` spawned processes; their rows in the order of the entries.

    The claim of a worker that dies is undecided; another worker takes its place.

    Raises:
        LoadError: if a file cannot be imported, or a worker dies before it has begun.
    """
    # The costly claims first, so that no worker is left alone with one of them at the end.
    waiting = deque(sorted(range(len(entries)), key=lambda index: -entries[index].effort))
    rows: dict[int, Row] = {}
    team = [_start(entries, settings) for _ in range(workers)]

    def finish(worker: _Worker, row: Row) -> None:
        assert worker.index is not None
        rows[worker.index], worker.index = row, None
        watcher.finished(row)

    try:
        while len(rows) < len(entries):
            heard = wait([worker.connection for worker in team])
            for worker in [worker for worker in team if worker.connection in heard]:
                event, value = worker.hear()
                if event == "refused":
                    raise LoadError(value)
                if event == "died":
                    team.remove(worker)
                    end = worker.end()
                    worker.stop()
                    if not worker.ready:
                        raise LoadError(f"a worker process ended before it had begun ({end})")
                    if worker.index is not None:
                        finish(
                            worker, unfinished(entries[worker.index], f"its worker died ({end})")
                        )
                    if waiting:
                        team.append(_start(entries, settings))
                    continue
                if event == "advanced" and worker.index is not None:
                    watcher.advanced(entries[worker.index], value)
                    continue
                if event == "row":
                    finish(worker, value)
                worker.ready = True
                if waiting:
                    watcher.started(entries[waiting[0]])
                    worker.take(waiting.popleft())
    finally:
        for worker in team:
            worker.stop()
    return [rows[index] for index in range(len(entries))]


def _start(entries: Sequence[Entry], settings: Settings) -> _Worker:
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=_work, args=(theirs, entries, settings), daemon=True)
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


def _work(connection: Connection, entries: Sequence[Entry], settings: Settings) -> None:
    """The life of a worker: import all files, then verify the claims whose numbers come."""
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        claims = load(entries)
    except LoadError as error:
        connection.send(("refused", str(error)))
        return
    with single_thread(), suppress(EOFError, OSError):  # the pipe breaks: the parent is gone
        connection.send(("ready", None))
        while True:
            index = connection.recv()
            advance = _Throttled(connection)
            row = verify_entry(entries[index], claims[index], settings, advance)
            connection.send(("row", row))


class _Throttled:
    """Tells the parent of progress, now and then."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._instances = 0
        self._told = time.monotonic()

    def __call__(self, instances: int) -> None:
        self._instances += instances
        if time.monotonic() - self._told > PROGRESS:
            self._connection.send(("advanced", self._instances))
            self._instances, self._told = 0, time.monotonic()
