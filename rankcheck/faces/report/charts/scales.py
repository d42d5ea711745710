"""What pictures share: axes of layers and whole numbers, logarithmic axes with a floor."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from rankcheck.faces.report.axes import steps
from rankcheck.faces.report.svg import Axis, Point

#: A logarithmic axis shows so many decades below the largest value, at most.
DECADES = 8
#: At most so many whole numbers stand at an axis.
TICKS = 12
#: More layers than these have smaller dots, or none on lines.
MANY = 60
#: Dots that are nearer than this, as shares of an axis, are drawn once.
PIXEL = 1 / 400
#: Up to this singular value an axis is linear, so that 0 and 1 are both seen.
LINEAR = 4.0
#: Half the width of a bar that stands alone.
HALF = 0.38


def layer_axis(depth: int) -> Axis:
    """The layers 1..L, each in the middle of a unit."""
    return whole_axis(1, depth, "layer")


def whole_axis(low: int, high: int, label: str) -> Axis:
    """The whole numbers low..high, each in the middle of a unit; all are named if they are few."""
    if high - low < TICKS:
        shown = [float(n) for n in range(low, high + 1)]
    else:
        shown = [float(low), *(n for n in steps(low, high, TICKS) if n != low)]
    return Axis(low - 0.5, high + 0.5, label, ticks={n: f"{n:g}" for n in shown})


def apart(first: int, heights: Iterable[float]) -> tuple[list[float], list[float]]:
    """Bars around the whole numbers from `first` on, with gaps: edges and heights for a chart.

    >>> apart(2, [5.0])
    ([1.5, 1.62, 2.38], [0.0, 5.0])
    """
    edges, shown = [first - 0.5], []
    for n, height in enumerate(heights, first):
        edges += [n - HALF, n + HALF]
        shown += [0.0, height]
    return edges, shown


def log_axis(values: Iterable[float], label: str) -> Axis | None:
    """A logarithmic axis for the positive ones of the values, rounded to decades.

    The largest one is on it, and at most `DECADES` below. None if no value is positive.
    """
    positive = [value for value in values if 0 < value < math.inf]
    if not positive:
        return None
    high = math.floor(math.log10(max(positive))) + 1
    low = max(math.floor(math.log10(min(positive))), high - DECADES, -300)
    return Axis(10.0**low, 10.0 ** min(high, 300), label, "log", count=5)


def size_axis(values: Sequence[float], label: str) -> Axis:
    """An axis for singular values, from 0 on; a logarithmic one if some of them are large."""
    largest = max(values, default=0.0)
    axis = None if largest <= LINEAR else log_axis(values, label)
    return Axis(0, max(1.25, 1.08 * largest), label) if axis is None else axis


def floored(values: Iterable[float], axis: Axis) -> list[float]:
    """The values, those below the axis at its lower end and those above it at its upper one."""
    return [min(max(value, axis.low), axis.high) for value in values]


def on_pixels(points: Sequence[Point], axis: Axis) -> list[Point]:
    """The points without those that would be drawn on another one; thousands become hundreds."""
    seen: dict[tuple[float, int], Point] = {}
    for x, y in points:
        seen.setdefault((x, round(axis.share(y) / PIXEL)), (x, y))
    return list(seen.values())
