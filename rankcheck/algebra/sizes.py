"""Bounds of the degree and of the coefficients of polynomials that are never expanded.

The size of a polynomial is the sum of the absolute values of its coefficients; what is kept is its
binary logarithm, or a little more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

__all__ = [
    "ONE",
    "UP",
    "Atom",
    "Power",
    "ceil_log",
    "log_sum",
    "multiple",
    "of_atoms",
    "times",
]

#: Logarithms are made larger by so much for the rounding errors of a sum or product, relatively;
#: and absolutely by ABSOLUTE for that of a logarithm of a number near 1.
UP = 1 + 2.0**-48
ABSOLUTE = 2.0**-40


class Atom:
    """A polynomial that was divided by.

    Attributes:
        degree, bits: bounds of its degree and of the logarithm of the sum of its coefficients.
    """

    __slots__ = ("bits", "degree")

    def __init__(self, degree: int, bits: float) -> None:
        self.degree, self.bits = degree, bits


#: A product of atoms, by their powers.
Power = Mapping[Atom, int]
ONE: Power = {}


def log_sum(a: float, b: float) -> float:
    """The logarithm of the sum of two numbers with these binary logarithms, or a little more."""
    low, high = (a, b) if a < b else (b, a)
    return (high + math.log2(1 + 2.0 ** (low - high))) * UP + ABSOLUTE


def ceil_log(n: int) -> int:
    """The logarithm of the absolute value of an integer, rounded up; 0 for 0."""
    return (abs(n) - 1).bit_length() if n else 0


def times(a: Power, b: Power) -> Power:
    """The product."""
    if not b:
        return a
    product = dict(a)
    for atom, power in b.items():
        product[atom] = product.get(atom, 0) + power
    return product


def multiple(a: Power, b: Power) -> Power:
    """The least common multiple."""
    if not b:
        return a
    return {**a, **{atom: max(power, a.get(atom, 0)) for atom, power in b.items()}}


def of_atoms(whole: Power, part: Power = ONE) -> tuple[int, float]:
    """The degree and the bits of what is left of a product without one of its factors."""
    degree, bits = 0, 0.0
    if whole is not part:
        for atom, power in whole.items():
            left = power - part.get(atom, 0)
            degree, bits = degree + left * atom.degree, (bits + left * atom.bits) * UP
    return degree, bits
