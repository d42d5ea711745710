"""Threads of this process as an executor, for work that waits: `threads://4`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from typing import Any, TypeVar

from rankcheck.errors import InputError
from rankcheck.parallel.executors import (
    NO_LIMITS,
    End,
    Limits,
    Progress,
    Work,
    _tell,
    end_of,
    guarded,
    ignore,
)
from rankcheck.parallel.pool import Started

__all__ = ["Threads", "connect"]

Task = TypeVar("Task")


def connect(work: Work, address: str) -> Threads:
    """The executor of `threads://N`.

    Raises:
        InputError: if N is no number of threads.
    """
    number = address.partition("://")[2]
    if not number.isdecimal() or int(number) < 1:
        raise InputError(f"received {address!r}; threads are threads://4")
    return Threads(work, int(number))


class Threads:
    """Runs tasks in threads; no limit is looked at."""

    def __init__(self, work: Work, count: int) -> None:
        self._function = guarded(work)
        self._pool = ThreadPoolExecutor(count)

    def run(
        self,
        tasks: Iterable[Task],
        limits: Limits = NO_LIMITS,
        progress: Progress[Task] = ignore,
    ) -> Iterator[End[Task]]:
        def one(task: Task) -> Any:
            progress(Started(task))
            return self._function(task, partial(_tell, progress, task))

        running = {self._pool.submit(one, task): task for task in tasks}
        for future in as_completed(running):
            yield end_of(running[future], future.result())

    def close(self) -> None:
        """Wait for the threads."""
        self._pool.shutdown(cancel_futures=True)
