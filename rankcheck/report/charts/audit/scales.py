"""What the pictures of an audit share: the axis of the layers, logarithmic axes with a floor."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from rankcheck.report.svg import Axis, Point

__all__ = ["floored", "layer_axis", "log_axis", "on_pixels"]

#: A logarithmic axis shows so many decades below the largest value, at most.
DECADES = 8
#: Layers are numbered on the axis in steps, so that at most so many numbers stand there.
TICKS = 12
#: Dots that are nearer than this, as shares of an axis, are drawn once.
PIXEL = 1 / 400


def layer_axis(depth: int) -> Axis:
    """The layers 1..L, each in the middle of a unit."""
    step = next(s for s in _steps() if depth <= s * TICKS)
    shown = [1, *range(step, depth + 1, step)] if step > 1 else range(1, depth + 1)
    return Axis(0.5, depth + 0.5, "layer", ticks={float(n): str(n) for n in shown})


def _steps() -> Iterable[int]:
    """1, 2, 5, 10, 20, 50, ..."""
    power = 1
    while True:
        yield from (power, 2 * power, 5 * power)
        power *= 10


def log_axis(values: Iterable[float], label: str, *, decades: int = DECADES) -> Axis | None:
    """A logarithmic axis for the positive ones of the values, rounded to decades.

    The largest one is on it, and at most so many decades below. None if no value is positive.
    """
    positive = [value for value in values if 0 < value < math.inf]
    if not positive:
        return None
    high = math.floor(math.log10(max(positive))) + 1
    low = max(math.floor(math.log10(min(positive))), high - decades, -300)
    return Axis(10.0**low, 10.0 ** min(high, 300), label, "log", count=5)


def floored(values: Iterable[float], axis: Axis) -> list[float]:
    """The values, those below the axis at its lower end and those above it at its upper one."""
    return [min(max(value, axis.low), axis.high) for value in values]


def on_pixels(points: Sequence[Point], axis: Axis) -> list[Point]:
    """The points without those that would be drawn on another one; thousands become hundreds."""
    seen: dict[tuple[float, int], Point] = {}
    for x, y in points:
        seen.setdefault((x, round(axis.share(y) / PIXEL)), (x, y))
    return list(seen.values())
