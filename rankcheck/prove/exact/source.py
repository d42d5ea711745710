"""A source that hands a generator its entries as variables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import torch

from rankcheck.balls import BallArray
from rankcheck.instances.scope import ScopeShape
from rankcheck.instances.source import Instances, Source

__all__ = ["VariableSource", "bounds_of", "box_of", "is_bounded", "ranges_of"]

#: A range that reaches as far on both sides is there for floats, and is no hypothesis of a proof.
FREE = 2.0
#: The ends of ranges are rounded outwards to multiples of 1/GRID.
GRID = 64


def is_bounded(low: float, high: float) -> bool:
    """Whether a range is a hypothesis: nothing outside of it is proved.

    >>> is_bounded(-8, 8), is_bounded(-0.9, 0.9), is_bounded(0, 8)
    (False, True, True)
    """
    return not (low <= -FREE and high >= FREE)


def bounds_of(low: float, high: float) -> tuple[Fraction, Fraction]:
    """Short rationals around a range; on the same side of -1, 0 and 1.

    >>> bounds_of(-0.9, 0.9)
    (Fraction(-29, 32), Fraction(29, 32))
    """
    outer = Fraction(math.floor(low * GRID), GRID), Fraction(math.ceil(high * GRID), GRID)
    for mark in (-1, 0, 1):
        if low > mark >= outer[0]:
            outer = Fraction(low), outer[1]
        if high < mark <= outer[1]:
            outer = outer[0], Fraction(high)
    return outer


def ranges_of(family: Instances, shape: ScopeShape) -> list[tuple[float, float]]:
    """By entry, the range that it is drawn from."""
    source = _RangeSource(shape)
    with torch.no_grad():
        family(source)
    return source.ranges


def box_of(low: float, high: float) -> tuple[Fraction, Fraction]:
    """The part of a range that boxes cover: what of it lies in [-1, 1], else all of it.

    >>> box_of(-8, 8), box_of(0.25, 8)
    ((Fraction(-1, 1), Fraction(1, 1)), (Fraction(1, 4), Fraction(1, 1)))
    """
    outer = bounds_of(low, high)
    inside = max(outer[0], Fraction(-1)), min(outer[1], Fraction(1))
    return inside if inside[0] < inside[1] else outer


class _RangeSource(Source):
    """Hands out floats in general position, and notes their ranges."""

    def __init__(self, shape: ScopeShape) -> None:
        super().__init__((1,))
        self.ranges: list[tuple[float, float]] = []
        self._integers = iter(shape.integers)

    def _integer(self, low: int, high: int) -> int:
        return next(self._integers)

    def _tensor(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        before = len(self.ranges)
        self.ranges += [(low, high)] * math.prod(shape)
        places = torch.arange(before, len(self.ranges), dtype=torch.float64)
        share = (places + 1) * (math.sqrt(5) - 1) / 2 % 1.0
        return (low + (high - low) * share).reshape((1, *shape))

    def require(self, condition: Any, why: str) -> None:
        """The instances decide, not the shape."""


class VariableSource(Source):
    """Hands out the integers of a shape, and numbers that somebody else made for its entries."""

    def __init__(self, shape: ScopeShape, values: Sequence[Any]) -> None:
        super().__init__(())
        self._integers = iter(shape.integers)
        self._values = list(values)
        self._drawn = 0

    def _integer(self, low: int, high: int) -> int:
        return next(self._integers)

    def _tensor(self, shape: tuple[int, ...], low: float, high: float) -> BallArray:
        count = math.prod(shape)
        start = self._drawn
        self._drawn += count
        flat = np.empty(count, dtype=object)
        flat[:] = self._values[start : start + count]
        return BallArray(flat.reshape(shape))
