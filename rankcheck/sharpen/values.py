"""A dial, a parameter of a body and an interval; and the numbers that the body takes for it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rankcheck.claims.claim import Claim
from rankcheck.claims.variants import dialled
from rankcheck.errors import InputError
from rankcheck.sharpen.glance import glance

#: Decimals have at most so many places.
DIGITS = 12


@dataclass(frozen=True)
class Dial:
    """A parameter of a body and an interval for it.

    Raises:
        InputError: if the interval is empty or upside down.
    """

    name: str
    low: Fraction
    high: Fraction

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise InputError(
                f"the interval of {self.name} is {self.low}..{self.high}; it goes from a number to "
                "a larger one"
            )

    @classmethod
    def parse(cls, text: str) -> Dial:
        """Read `NAME=LO..HI`; the ends are integers, decimals or fractions.

        >>> Dial.parse("exponent=-2..-1/3")
        Dial(name='exponent', low=Fraction(-2, 1), high=Fraction(-1, 3))

        Raises:
            InputError: if it is anything else.
        """
        name, equals, interval = text.partition("=")
        low, dots, high = interval.partition("..")
        try:
            if not (name.strip() and equals and dots):
                raise ValueError
            ends = Fraction(low.strip()), Fraction(high.strip())
        except (ValueError, ZeroDivisionError) as error:
            raise InputError(
                f"received the dial {text!r:.80}; a dial is NAME=LO..HI, as in exponent=-2..-1/3"
            ) from error
        return cls(name.strip(), *ends)


@dataclass(frozen=True)
class Values:
    """The numbers that a dial takes.

    Attributes:
        given: a rational as the body receives it.
        between: the simplest such number in the middle third between two; None if there is none.
    """

    given: Callable[[Fraction], Any]
    between: Callable[[Fraction, Fraction], Fraction | None]


def taken(claim: Claim, dial: Dial) -> Values:
    """What numbers a body takes for its parameter: rationals, decimals, or integers.

    Raises:
        InputError: if the claim has no such parameter, or it does not take the ends.
    """
    parameters = claim.parameters
    if dial.name not in parameters:
        known = ", ".join(parameters) or "none"
        raise InputError(
            f"{claim.id} has no dial {dial.name!r}; a dial is a keyword-only parameter of the "
            f"body, which has {known}"
        )
    value = parameters[dial.name]
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        raise InputError(
            f"{dial.name} of {claim.id} is {value!r:.60}; a dial is a parameter whose value is a "
            "number"
        )
    whole = dial.low.denominator == dial.high.denominator == 1
    middle = dial.low + (dial.high - dial.low) / 4
    middle += Fraction(1, 4) if middle.denominator == 1 else 0  # no integer
    error: Exception | None = None
    for values in (RATIONAL, DECIMAL, *([WHOLE] if whole else [])):
        try:
            value = values.given(dial.low if values is WHOLE else middle)
            glance(dialled(claim, dial.name, value))
        except InputError:
            raise
        except Exception as raised:  # whatever the body makes of a number of another kind
            error = raised
        else:
            return values
    raise InputError(
        f"{claim.id} raised {type(error).__name__} with {dial.name} = {dial.low}: {error}; a dial "
        "takes every number of its interval, or at least every integer"
    ) from error


def _between(a: Fraction, b: Fraction) -> Fraction:
    """The simplest rational in the middle third between two numbers.

    >>> _between(Fraction(2, 5), Fraction(1, 2))
    Fraction(4, 9)
    """
    third = (b - a) / 3
    return _simplest(*sorted((a + third, b - third)))


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """The rational with the least denominator in [low, high]."""
    if low <= 0 <= high:
        return Fraction(0)
    if high < 0:
        return -_simplest(-high, -low)
    floor = math.floor(low)
    if floor == low or floor + 1 <= high:
        return Fraction(math.ceil(low))
    return floor + 1 / _simplest(1 / (high - floor), 1 / (low - floor))


def _decimal(a: Fraction, b: Fraction) -> Fraction | None:
    """The decimal number with the fewest places in the middle third between two numbers."""
    low, high = sorted((a + (b - a) / 3, b - (b - a) / 3))
    for places in range(DIGITS):
        value = Fraction(math.ceil(low * 10**places), 10**places)
        if value <= high:
            return value
    return None


def _whole(a: Fraction, b: Fraction) -> Fraction | None:
    """An integer in the middle between two numbers, if there is one."""
    low, high = sorted((a, b))
    middle = Fraction((low + high) // 2)
    return middle if low < middle < high else None


RATIONAL = Values(lambda value: value if value.denominator > 1 else int(value), _between)
#: A float with few digits is the decimal number that was written (`rankcheck.balls.constants`).
DECIMAL = Values(float, _decimal)
WHOLE = Values(int, _whole)
