"""Polynomials with rational coefficients, as dictionaries: little, slow, and easy to read.

Nothing here is shared with `rankcheck.decide.algebra`. A polynomial maps exponents, one for each
variable of its ring, to coefficients other than 0, which are ints or Fractions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from operator import add, sub
from typing import Any, TypeAlias

from flint import fmpq

from rankcheck.decide.prove.checking.errors import UnsoundError

Exponents: TypeAlias = tuple[int, ...]
Coefficient: TypeAlias = int | Fraction

#: Larger expansions are refused: they would take the memory.
MOST_TERMS, HIGHEST = 500_000, 1_000
#: Characters of a polynomial in a message.
SHOWN = 120
_RATIONAL = re.compile(r"-?[0-9]+(/[0-9]+)?")
_NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\^([0-9]{1,12}))?")


def rational(text: str) -> Fraction:
    """The number that a text such as ``-3/4`` is.

    Raises:
        UnsoundError: if it is none.
    """
    if not isinstance(text, str) or not _RATIONAL.fullmatch(text):
        raise UnsoundError(f"{text!r:.80} is no rational number; these are written as -3/4")
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError) as error:
        raise UnsoundError(f"{text!r:.80} is no rational number") from error


class Poly:
    """A polynomial of a ring; it does not change."""

    def __init__(self, terms: Mapping[Exponents, Coefficient], variables: int) -> None:
        self.terms = {exponents: c for exponents, c in terms.items() if c}
        self.variables = variables
        if len(self.terms) > MOST_TERMS:
            raise UnsoundError(f"a polynomial has more than {MOST_TERMS} terms")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Poly) and self.terms == other.terms

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __neg__(self) -> Poly:
        return self * -1

    def __add__(self, other: Poly) -> Poly:
        terms = dict(self.terms)
        for exponents, coefficient in other.terms.items():
            terms[exponents] = terms.get(exponents, 0) + coefficient
        return Poly(terms, self.variables)

    def __sub__(self, other: Poly) -> Poly:
        return self + other * -1

    def __mul__(self, other: Poly | Coefficient) -> Poly:
        if not isinstance(other, Poly):
            return Poly({e: c * other for e, c in self.terms.items()}, self.variables)
        terms: dict[Exponents, Coefficient] = {}
        for one, a in self.terms.items():
            for two, b in other.terms.items():
                exponents = tuple(map(add, one, two))
                terms[exponents] = terms.get(exponents, 0) + a * b
            if len(terms) > MOST_TERMS:
                raise UnsoundError(f"a polynomial has more than {MOST_TERMS} terms")
        return Poly(terms, self.variables)

    def __pow__(self, power: int) -> Poly:
        if not 0 <= power <= HIGHEST:
            raise UnsoundError(f"a polynomial has the power {power}; powers are 0 to {HIGHEST}")
        result, base = Poly({(0,) * self.variables: 1}, self.variables), self
        while power:
            if power & 1:
                result = result * base
            power >>= 1
            base = base * base if power else base
        return result

    @property
    def constant(self) -> Fraction | None:
        """The number that it is, if it is one."""
        if not self.terms:
            return Fraction(0)
        if len(self.terms) == 1 and not any(next(iter(self.terms))):
            return Fraction(next(iter(self.terms.values())))
        return None

    @cached_property
    def used(self) -> frozenset[int]:
        """The numbers of the variables that it contains."""
        return frozenset(
            i for exponents in self.terms for i, power in enumerate(exponents) if power
        )

    @cached_property
    def monic(self) -> tuple[Poly, Fraction]:
        """A multiple whose first coefficient is 1, and what it was multiplied by; of 0, itself."""
        if not self.terms:
            return self, Fraction(1)
        factor = 1 / Fraction(self.terms[max(self.terms)])
        return (self if factor == 1 else self * _whole(factor)), factor

    @cached_property
    def content(self) -> Exponents:
        """The exponents of the largest monomial that divides it."""
        columns = zip(*self.terms, strict=True) if self.terms else ()
        return tuple(min(column) for column in columns) or (0,) * self.variables

    def multiple_of(self, other: Poly) -> Fraction | None:
        """The number c with ``self = c · other``, if there is one that is not 0."""
        (mine, a), (theirs, b) = self.monic, other.monic
        return b / a if mine == theirs else None

    def divided(self, by: Poly) -> Poly | None:
        """The quotient, if it is a polynomial."""
        if not by.terms:
            return None
        lead = max(by.terms)
        if self.terms and any(map(int.__lt__, max(self.terms), lead)):
            return None
        rest, quotient = dict(self.terms), {}
        while rest:
            top = max(rest)
            exponents = tuple(map(sub, top, lead))
            if min(exponents, default=0) < 0:
                return None
            c = _whole(Fraction(rest[top]) / by.terms[lead])
            quotient[exponents] = c
            for other, b in by.terms.items():
                place = tuple(map(add, exponents, other))
                left = rest.get(place, 0) - c * b
                if left:
                    rest[place] = left
                else:
                    del rest[place]
        return Poly(quotient, self.variables)

    def by_powers(self, variable: int) -> dict[int, Poly]:
        """The coefficients of the powers of a variable."""
        parts: dict[int, dict[Exponents, Coefficient]] = {}
        for exponents, coefficient in self.terms.items():
            rest = (*exponents[:variable], 0, *exponents[variable + 1 :])
            parts.setdefault(exponents[variable], {})[rest] = coefficient
        return {power: Poly(terms, self.variables) for power, terms in parts.items()}

    def substituted(self, variable: int, num: Poly, den: Poly) -> tuple[Poly, int]:
        """The numerator N and the power d with ``N / den^d`` for ``num / den`` as the variable."""
        parts = self.by_powers(variable)
        degree = max(parts, default=0)
        result = Poly({}, self.variables)
        for power, part in parts.items():
            result = result + part * num**power * den ** (degree - power)
        return result, degree

    @cached_property
    def _compiled(self) -> list[tuple[fmpq, list[tuple[int, int]]]]:
        return [
            (
                fmpq(Fraction(c).numerator, Fraction(c).denominator),
                [(i, power) for i, power in enumerate(exponents) if power],
            )
            for exponents, c in self.terms.items()
        ]

    def at(self, values: Sequence[Any]) -> Any:
        """Its value, of rationals (`fmpq`) and balls (`arb`)."""
        total = fmpq(0)
        for coefficient, powers in self._compiled:
            product = coefficient
            for i, power in powers:
                product = product * (values[i] if power == 1 else values[i] ** power)
            total = total + product
        return total


def _whole(number: Fraction) -> Coefficient:
    return number.numerator if number.denominator == 1 else number


class Ring:
    """The variables of a proof, in order."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.index = {name: i for i, name in enumerate(self.names)}
        if len(self.index) < len(self.names):
            raise UnsoundError("two variables have one name; each is defined once")
        for name in self.names:
            if not isinstance(name, str) or not _NAME.fullmatch(name) or "^" in name:
                raise UnsoundError(f"{name!r:.80} is no name of a variable, as x0 is")
        self._parsed: dict[str, Poly] = {}

    @property
    def size(self) -> int:
        return len(self.names)

    def number(self, value: Coefficient) -> Poly:
        return Poly({(0,) * self.size: value}, self.size)

    def variable(self, i: int) -> Poly:
        return Poly({tuple(int(i == j) for j in range(self.size)): 1}, self.size)

    def poly(self, text: str) -> Poly:
        """The polynomial that a text is.

        Raises:
            UnsoundError: if it is none, or names a variable that the proof does not define.
        """
        if text not in self._parsed:
            if not isinstance(text, str):
                raise UnsoundError(f"{text!r:.80} is no polynomial; it is a text")
            self._parsed[text] = self._poly(text)
        return self._parsed[text]

    def _poly(self, text: str) -> Poly:
        terms: dict[Exponents, Coefficient] = {}
        for monomial in _monomials(text):
            exponents, coefficient = [0] * self.size, Fraction(1)
            sign, body = (-1, monomial[1:]) if monomial[0] == "-" else (1, monomial.lstrip("+"))
            for factor in body.split("*"):
                if _RATIONAL.fullmatch(factor) and factor[0] != "-":
                    coefficient *= rational(factor)
                elif found := _NAME.fullmatch(factor):
                    if found[1] not in self.index:
                        raise UnsoundError(
                            f"{text!r:.80} names {found[1]}, which the proof does not define"
                        )
                    exponents[self.index[found[1]]] += int(found[2] or 1)
                else:
                    raise UnsoundError(f"{text!r:.80} is no polynomial; one is 3*x0^2*x1 - 1/2*r0")
            if sum(exponents) > HIGHEST:
                raise UnsoundError(
                    f"{text!r:.80} has a monomial of degree {sum(exponents)}; degrees are at most "
                    f"{HIGHEST}"
                )
            place = tuple(exponents)
            terms[place] = _whole(terms.get(place, 0) + sign * coefficient)
        return Poly(terms, self.size)

    def text(self, poly: Poly) -> str:
        """A polynomial for people, cut off."""
        parts = []
        for exponents in sorted(poly.terms, reverse=True):
            powers = [
                name if power == 1 else f"{name}^{power}"
                for name, power in zip(self.names, exponents, strict=True)
                if power
            ]
            c = poly.terms[exponents]
            if abs(c) != 1 or not powers:
                powers.insert(0, str(abs(c)))
            parts += ["-" if c < 0 else "+", "*".join(powers)]
        if not parts:
            return "0"
        text = " ".join(parts)
        text = text.removeprefix("+ ") if parts[0] == "+" else "-" + text.removeprefix("- ")
        return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}…"


def _monomials(text: str) -> Iterator[str]:
    """The monomials of a sum, each with its sign."""
    squeezed = text.replace(" ", "")
    pieces = re.findall(r"[+-]?[^+-]+", squeezed)
    if not pieces or "".join(pieces) != squeezed:
        raise UnsoundError(f"{text!r:.80} is no polynomial; one is 3*x0^2*x1 - 1/2*r0")
    yield from pieces
