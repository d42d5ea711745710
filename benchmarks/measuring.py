"""What the benchmarks share: the time of a call, a table, and a ratio."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Ratio(NamedTuple):
    """What was measured, against what, and how many times as fast it is as that."""

    what: str
    against: str
    ratio: float


def timed(call: Callable[[], T], repeats: int = 1) -> tuple[float, T]:
    """The least time of some repeats in seconds, and the last result."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        result = call()
        best = min(best, time.perf_counter() - start)
    return best, result


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a Markdown table, a line as soon as it is measured."""
    print("| " + " | ".join(columns) + " |")
    print("|" + " --- |" * len(columns), flush=True)
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)
    print(flush=True)
