"""Canaries of worker processes: one that dies and one that does not end have no answer."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rankcheck.canaries.canary import Canary
from rankcheck.parallel.events import Died, Done, Overran, Tell
from rankcheck.parallel.executors import Processes, Unfinished
from rankcheck.parallel.pool import Pool

__all__ = ["CANARIES"]

#: Seconds for a task that takes none, and for one that takes longer than all of them.
LONG, SHORT = 60.0, 0.2


def _prepare() -> Callable[[str, Tell], str]:
    def run(task: str, tell: Tell) -> str:
        if task == "dies":
            os._exit(3)
        if task == "does not end":
            time.sleep(LONG)
        return task

    return run


def _dead_and_late(folder: Path) -> str | None:
    """One process dies, the next one answers and does not end then."""
    seen: dict[str, Any] = {}
    with Pool[str](_prepare, 1) as pool:
        pool.submit("dies", limit=LONG)
        pool.submit("ends", limit=LONG)
        pool.submit("does not end", limit=SHORT)
        for event in pool.events():
            if isinstance(event, Died | Done | Overran):
                seen[event.task] = event
    expected = {"dies": Died, "ends": Done, "does not end": Overran}
    if {task: type(event) for task, event in seen.items()} != expected:
        return f"its tasks came out as {seen}"
    return None


class _Dying:
    """A pool whose only worker dies with its first task."""

    def submit(self, task: Any, **options: Any) -> None: ...

    def events(self) -> Iterator[Any]:
        yield Died((0, "dies"), "exit code 3")
        yield Done((1, "ends"), "an answer")


def _unfinished(folder: Path) -> str | None:
    executor = object.__new__(Processes)
    executor._workers, executor._pool = 1, _Dying()  # type: ignore[assignment]
    ends = list(executor.run(["dies", "ends"]))
    expected = [Unfinished("dies", "lost its process (exit code 3)"), Done("ends", "an answer")]
    return None if ends == expected else f"its tasks ended as {ends}"


CANARIES = (
    Canary("a process that dies, and one that does not end", "processes", _dead_and_late),
    Canary("a task whose process died", "processes", _unfinished),
)
