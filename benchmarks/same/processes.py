"""Questions about many claims, on two processes."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, TypeAlias

#: A function and its arguments; such by name.
Task: TypeAlias = tuple[Callable[..., Any], tuple[Any, ...]]
Tasks: TypeAlias = Mapping[str, Task]


def _work(task: Task) -> Any:
    function, arguments = task
    warnings.simplefilter("ignore")
    return function(*arguments)


def each(name: str, tasks: Tasks) -> Any:
    """The answers by name, in the order of the names; two processes."""
    begin = time.monotonic()
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        answers = dict(zip(tasks, pool.map(_work, tasks.values()), strict=True))
    print(f"{name}: {len(tasks)} in {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
    return {key: answers[key] for key in sorted(answers)}
