"""Polynomials with rational coefficients, and the texts that proofs write them down as."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import TypeAlias

#: Names with their exponents, which are positive; in the order of `in_order`. 1 is ().
Monomial: TypeAlias = tuple[tuple[str, int], ...]
#: No coefficient is zero.
Coefficients: TypeAlias = dict[Monomial, Fraction]

_NAME = re.compile(r"([A-Za-z_]+)(\d*)")
_TERM = re.compile(r"\s*([+-]?)\s*([\w/]+(?:\^\d+)?(?:\s*\*\s*[\w/]+(?:\^\d+)?)*)\s*")
_NUMBER = re.compile(r"\d+(?:/0*[1-9]\d*)?")
_POWER = re.compile(r"([A-Za-z_]+\d*)(?:\^(\d+))?")


def in_order(name: str) -> tuple[str, int]:
    """What variables are sorted by: their letters, then their number.

    >>> sorted(["x10", "r0", "x2"], key=in_order)
    ['r0', 'x2', 'x10']
    """
    found = _NAME.fullmatch(name)
    if not found:
        raise ValueError(f"{name!r} is no name of a variable: letters, then digits")
    return found[1], int(found[2] or -1)


def parse(text: str) -> Coefficients:
    """The coefficients of a polynomial by its monomials.

    Monomials may stand in any order, several times, and be products in any order.

    Raises:
        ValueError: the text is no expanded polynomial.

    >>> parse("3*x0^2*x1 - 1/2*r0 + 4")[("r0", 1),]
    Fraction(-1, 2)
    """
    made: Coefficients = {}
    place, first = 0, True
    while first or place < len(text):
        found = _TERM.match(text, place)
        if not found or not (found[1] or first):
            raise ValueError(f"{text[place:][:40]!r} is no sum of monomials; they look like 2*x0^2")
        place, first = found.end(), False
        monomial, coefficient = _product(found[2])
        total = made.get(monomial, Fraction(0)) + (-coefficient if found[1] == "-" else coefficient)
        if total:
            made[monomial] = total
        else:
            made.pop(monomial, None)
    return made


def _product(text: str) -> tuple[Monomial, Fraction]:
    """A monomial and its coefficient."""
    coefficient, powers = Fraction(1), dict[str, int]()
    for factor in text.split("*"):
        factor = factor.strip()
        if _NUMBER.fullmatch(factor):
            coefficient *= Fraction(factor)
        elif found := _POWER.fullmatch(factor):
            powers[found[1]] = powers.get(found[1], 0) + int(found[2] or 1)
        else:
            raise ValueError(f"{factor!r} is neither a number nor a power of a variable, as x0^2")
    names = sorted((name for name, power in powers.items() if power), key=in_order)
    return tuple((name, powers[name]) for name in names), coefficient


def text(polynomial: Mapping[Monomial, Fraction]) -> str:
    """A polynomial as proofs write it; equal polynomials have equal texts.

    Args:
        polynomial: coefficients by monomials, whose names are in order; zeros are left out.

    >>> text(parse("4 - 1/2*r0 + x1*x0^2*3"))
    '3*x0^2*x1 - 1/2*r0 + 4'
    """
    written = ""
    for monomial in sorted(polynomial, key=_place):
        coefficient = polynomial[monomial]
        if not coefficient:
            continue
        sign = "-" if coefficient < 0 else "+"
        if written:
            written += f" {sign} "
        elif sign == "-":
            written += "-"
        parts = [name if power == 1 else f"{name}^{power}" for name, power in monomial]
        if not parts or abs(coefficient) != 1:
            parts.insert(0, str(abs(coefficient)))
        written += "*".join(parts)
    return written or "0"


def _place(monomial: Monomial) -> tuple[int, tuple[tuple[str, int, int], ...]]:
    """High degrees first; among equal ones, high powers of the first names."""
    powers = tuple((*in_order(name), -power) for name, power in monomial)
    return -sum(power for _, power in monomial), powers
