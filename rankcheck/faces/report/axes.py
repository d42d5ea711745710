"""Axes of charts: linear and logarithmic scales, and their ticks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from rankcheck.faces.report.figures import power_of_ten

Scale = Literal["linear", "log"]


def steps(low: float, high: float, count: int = 6) -> list[float]:
    """At most `count` multiples of one step in [low, high]: 1, 2 or 5 times a power of ten.

    >>> steps(0, 1.3)
    [0.0, 0.5, 1.0]
    """
    least = (high - low) / max(count - 1, 1)
    power = 10.0 ** math.floor(math.log10(least))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= least * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    digits = max(0, -math.floor(math.log10(step)))
    return [round(i * step, digits) for i in range(first, last + 1)]


def thinned(
    texts: Sequence[tuple[float, str]], wide: float, gap: float | None = None
) -> list[tuple[float, str]]:
    """Every k-th of the texts with their places, for the least k for which they do not overlap.

    Args:
        wide: the width of a letter.
        gap: how far two texts have to be apart, beyond their widths; a letter if it is None.

    >>> thinned([(0, "100"), (20, "200"), (40, "300")], 8)
    [(0, '100'), (40, '300')]
    """
    apart = wide if gap is None else gap
    for k in range(1, len(texts)):
        some = list(texts[::k])
        if all(
            abs(v - u) >= wide * (len(a) + len(b)) / 2 + apart - 1e-9
            for (u, a), (v, b) in pairwise(some)
        ):
            return some
    return list(texts[:1])


@dataclass(frozen=True)
class Axis:
    """An axis from low to high; a logarithmic one has 0 < low.

    Attributes:
        label: what is drawn, with its unit.
        ticks: values with their texts, in place of steps of 1, 2 or 5, or powers of ten.
        count: the largest number of ticks.

    Raises:
        ValueError: if low < high is false, or an end is not finite or has no logarithm.
    """

    low: float
    high: float
    label: str = ""
    scale: Scale = "linear"
    ticks: Mapping[float, str] | None = None
    count: int = 6

    def __post_init__(self) -> None:
        finite = math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high
        if not finite or (self.scale == "log" and self.low <= 0):
            raise ValueError(
                f"received a {self.scale} axis from {self.low} to {self.high}; an axis is finite "
                "and increases, and a logarithmic one is positive"
            )

    def share(self, value: float) -> float:
        """Where a value lies between the ends: 0 at the lower one, 1 at the upper one."""
        if self.scale == "linear":
            return (value - self.low) / (self.high - self.low)
        if not value > 0:
            raise ValueError(f"received {value} for a logarithmic axis, which shows numbers > 0")
        return math.log10(value / self.low) / math.log10(self.high / self.low)

    def marks(self) -> dict[float, str]:
        """The ticks with their texts.

        >>> Axis(1e-6, 1, scale="log", count=4).marks()
        {1e-06: '10⁻⁶', 0.0001: '10⁻⁴', 0.01: '0.01', 1: '1'}
        """
        if self.ticks is not None:
            return dict(self.ticks)
        if self.scale == "linear" or self.high < 10 * self.low:
            values = steps(self.low, self.high, self.count)
            return {value: f"{value:g}".replace("-", "−") for value in values}
        low, high = math.log10(self.low), math.log10(self.high)
        step = max(1, math.ceil((high - low) / self.count))
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        return {_power(n * step): _power_text(n * step) for n in range(first, last + 1)}


def _power(n: int) -> float:
    return float(f"1e{n}") if n < 0 else 10**n


def _power_text(n: int) -> str:
    return f"{_power(n):g}" if -2 <= n <= 3 else power_of_ten(n)
