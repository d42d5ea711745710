r"""Polynomials on many boxes at once, in floats, with proved outward rounding.

An interval is two arrays, its ends; a table has a row for each variable or monomial and a column
for each box. u is 2^−53. All operations are IEEE's, rounded to nearest:

* A product or quotient that neither overflows nor underflows is off by at most u of itself, so it
  is moved by 2^−52 of itself, which is at least one last place. What is 0 stays 0.
* A sum of m products in any order, with or without fused operations, is off by at most
  ``m u / (1 − m u)`` of the sum of their absolute values (Higham, *Accuracy and Stability of
  Numerical Algorithms*, 2002, section 3.1). It is moved by twice that.
* Overflow makes an infinity or no number, and ends then say nothing. Underflow does not occur:
  ends of variables that are not 0 and below a `floor` are moved outwards, and the floor is so large
  that no monomial is below 2^−800, no sum of such below 2^−870, and no product of these with a
  variable below 2^−1000. Sums are moved off 0 in the same way before they are multiplied with.
* A root is found in floats, and verified by its powers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from rankcheck.algebra.polynomials import Coefficients, Monomial

__all__ = [
    "Interval",
    "Polynomials",
    "enclosed",
    "floored",
    "magnitude",
    "plus",
    "quotient",
    "root",
    "times",
]

Interval: TypeAlias = tuple[np.ndarray, np.ndarray]

_STEP = 2.0**-52
#: Sums that are multiplied with have no ends between 0 and this.
SMALL = 2.0**-200


def enclosed(value: Fraction) -> tuple[float, float]:
    """Two floats with a rational number between them; equal if it is a float."""
    near = value.numerator / value.denominator
    low = near if Fraction(near) <= value else float(np.nextafter(near, -np.inf))
    high = near if Fraction(near) >= value else float(np.nextafter(near, np.inf))
    return low, high


def _outward(low: np.ndarray, high: np.ndarray, steps: int = 1) -> Interval:
    """Ends that are off by less than so many times 2^−52 of themselves, moved outwards."""
    low = low - np.abs(low) * (steps * _STEP)
    high = high + np.abs(high) * (steps * _STEP)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        low = np.where(np.isfinite(low), low, -np.inf)
        high = np.where(np.isfinite(high), high, np.inf)
    return low, high


def plus(a: Interval, b: Interval) -> Interval:
    """The sum."""
    return _outward(a[0] + b[0], a[1] + b[1])


def times(a: Interval, b: Interval) -> Interval:
    """The product."""
    one, two, three, four = a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]
    return _outward(
        np.minimum(np.minimum(one, two), np.minimum(three, four)),
        np.maximum(np.maximum(one, two), np.maximum(three, four)),
    )


def quotient(a: Interval, b: Interval) -> Interval:
    """The quotient by an interval of numbers >= 0; unbounded where it contains 0."""
    with np.errstate(divide="ignore"):
        return times(a, _outward(1.0 / b[1], np.where(b[0] > 0, 1.0 / b[0], np.inf)))


def power(a: Interval, exponent: int) -> Interval:
    """A power; of an even one, what it is of the absolute value."""
    low, high = a
    if exponent % 2 == 0:
        least = np.where((low > 0) | (high < 0), np.minimum(np.abs(low), np.abs(high)), 0.0)
        low, high = least, magnitude(a)
    if exponent == 1:
        return low, high
    lows, highs = low, high
    for _ in range(exponent - 1):
        lows, highs = lows * low, highs * high
    return _outward(lows, highs, exponent)


def root(a: Interval, degree: int) -> Interval:
    """The root of what is not negative in an interval, verified by its powers."""
    low, high = np.maximum(a[0], 0.0), np.maximum(a[1], 0.0)
    under = np.power(low, 1 / degree) if degree > 2 else np.sqrt(low)
    over = np.power(high, 1 / degree) if degree > 2 else np.sqrt(high)
    for _ in range(2):
        under, over = under - under * 8 * _STEP, over + over * 8 * _STEP
    most = power((under, under), degree)[1]
    least = power((over, over), degree)[0]
    return np.where(most <= low, under, 0.0), np.where(least >= high, over, np.inf)


def magnitude(a: Interval) -> np.ndarray:
    """The largest absolute value."""
    return np.maximum(np.abs(a[0]), np.abs(a[1]))


def floored(a: Interval, floor: float) -> Interval:
    """The interval without ends between −floor and floor, except 0."""
    low, high = a
    if (np.abs(low) < floor).any():
        small = np.where(low < 0, -floor, 0.0)
        low = np.where(np.abs(low) < floor, small, low)
    if (np.abs(high) < floor).any():
        small = np.where(high > 0, floor, 0.0)
        high = np.where(np.abs(high) < floor, small, high)
    return low, high


class Polynomials:
    """Several polynomials that are evaluated together.

    Args:
        polynomials: their coefficients, whole numbers below 2^100 or so: a coefficient below 1
            could underflow.
        rows: the row of each variable in the tables that they are evaluated on.
    """

    def __init__(self, polynomials: Sequence[Coefficients], rows: Mapping[str, int]) -> None:
        monomials: dict[Monomial, int] = {(): 0}
        self._steps: list[tuple[int, int, int]] = []
        for polynomial in polynomials:
            for monomial in polynomial:
                for length in range(1, len(monomial) + 1):
                    if monomial[:length] not in monomials:
                        name, exponent = monomial[length - 1]
                        parent = monomials[monomial[: length - 1]]
                        monomials[monomial[:length]] = len(monomials)
                        self._steps.append((parent, rows[name], exponent))
        self._powers = sorted({(row, exponent) for _, row, exponent in self._steps})
        shape = (len(polynomials), len(monomials))
        self._plus, self._minus = np.zeros(shape), np.zeros(shape)
        for i, polynomial in enumerate(polynomials):
            for monomial, value in polynomial.items():
                part = self._plus if value > 0 else self._minus
                part[i, monomials[monomial]] = float(value)
        # Twice the m sums of each end, two for the coefficients, one for the size itself.
        self._error = 2 * (2 * len(monomials) + 4) * 2.0**-53

    def at(self, low: np.ndarray, high: np.ndarray) -> Interval:
        """Tables of enclosures, a row for each polynomial, on boxes with these ends."""
        boxes = low.shape[1]
        powers = {
            (row, exponent): power((low[row], high[row]), exponent)
            for row, exponent in self._powers
        }
        lows = np.empty((len(self._steps) + 1, boxes))
        highs = np.empty_like(lows)
        lows[0] = highs[0] = 1.0
        for place, (parent, row, exponent) in enumerate(self._steps, 1):
            factor = powers[row, exponent]
            if parent:
                lows[place], highs[place] = times((lows[parent], highs[parent]), factor)
            else:
                lows[place], highs[place] = factor
        sizes, others = np.abs(lows), np.abs(highs)
        low = self._plus @ lows + self._minus @ highs
        high = self._plus @ highs + self._minus @ lows
        low -= (self._plus @ sizes - self._minus @ others) * self._error
        high += (self._plus @ others - self._minus @ sizes) * self._error
        # Ends that are no numbers say nothing.
        return (
            np.where(np.isfinite(low), low, -np.inf),
            np.where(np.isfinite(high), high, np.inf),
        )
