"""A source that hands a generator its entries as variables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from rankcheck.balls import BallArray
from rankcheck.theory.instances.scope import ScopeShape
from rankcheck.theory.instances.source import Source

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


class VariableSource(Source):
    """Hands out the integers of a shape, and numbers that somebody else made for its entries."""

    def __init__(self, shape: ScopeShape, values: Sequence[Any]) -> None:
        super().__init__()
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
