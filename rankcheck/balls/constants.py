"""What a float that a body combines with balls stands for: a decimal, or all numbers near it.

A float does not say how it came about. One whose shortest text has few digits was written, and
stands for that decimal, exactly: `0.9` for nine tenths, `1e-3` for a thousandth. One with more
digits was computed (`2 / 3`, `1 - 0.999`, `math.pi`), in double or in single precision, and by
cancellation may have lost most of its digits. It becomes a ball that is wide enough for the number
that was meant, so that nothing is proved about a rounding error. Such a float is noted within
`computed_constants`, with the line at which it met the balls.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from flint import arb, fmpq

from rankcheck.balls.formal import NoBallForm

WRITTEN_DIGITS = 12
"""A double with at most this many significant digits was written. Of a million quotients of random
numbers, 61 have as few. A person writes more digits only of a number that is rounded anyway."""

EXACT_FRACTION_BITS = 20
"""A float is exact if its fractional part has at most this many bits, ..."""

SPARE_BITS = 13
"""... and its significand ends in at least this many zero bits. That happens to one rounded number
in 8 000. Without this rule a third of 10¹¹, or 12.3 in single precision, would count as exact. A
power of two needs no spare bits, nor does a sum or difference of two, such as `1 - 2.0**-20`."""

TRUSTED_EIGHTHS = 3
"""Of the p bits of any other float three eighths are trusted, relative to it, and twice as many
relative to 1: its ball has the radius max(|x| 2^-⌊3p/8⌋, 2^-⌊3p/4⌋). For a double these are 2⁻¹⁹
and 2⁻³⁹, for a single 2⁻⁹ and 2⁻¹⁸. The first leaves room for long computations and for most of
what cancels: `sum([0.1] * 10**6)` is off by 2⁻³⁶ of its size, `1 - 0.999999999` by 2⁻²⁵, a product
of 30 singles by 2⁻²¹, `1 - 0.9999` in singles by 2⁻¹³. The second is for what cancels wholly:
`0.1 + 0.2 - 0.3` is 2⁻⁵⁴, and `1 - 0.999999` in singles is off by 2⁻⁶ of its size, but by 2⁻²⁶."""

DOUBLE, SINGLE = 53, 24
"""Bits of the significands: of float64 and float32."""

SINGLE_RANGE = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Computed:
    """A float that became a ball.

    Attributes:
        text: its shortest text.
        what: in words.
        radius: of the ball.
        line: of the file whose constants are noted, where the float met a ball; None if that was
            in a function of another file, and none of that file had called it.
    """

    text: str
    what: str
    radius: arb
    line: int | None


class _Noted:
    """The computed floats that met balls, by their text, and the file whose lines they have."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.constants: dict[str, Computed] = {}


_current: ContextVar[_Noted | None] = ContextVar("computed_constants", default=None)


@contextmanager
def computed_constants(file: str = "") -> Iterator[dict[str, Computed]]:
    """Note the floats that become balls inside the ``with`` block, by their shortest texts.

    Args:
        file: the name under which Python compiled the file whose lines are noted.

    >>> from rankcheck.balls import BallArray
    >>> with computed_constants() as found:
    ...     _ = BallArray.exact([1, 2]) * 0.1 * (1 - 0.9)
    >>> list(found)
    ['0.09999999999999998']
    """
    noted = _Noted(file)
    token = _current.set(noted)
    try:
        yield noted.constants
    finally:
        _current.reset(token)


def constant(value: float | np.floating[Any], held: fmpq) -> fmpq | arb:
    """What a float stands for; `held` is the rational number that it is."""
    if isinstance(value, np.longdouble) and value == np.float64(value):
        value = float(value)
    bits = int(np.finfo(type(value)).nmant) + 1
    used, narrow = _used_bits(held), bits < DOUBLE
    written = bits == DOUBLE and _powers_of_two(held) <= 2
    text = _text(value)
    if bits == DOUBLE and used <= SINGLE and _is_single(float(value)):
        bits = SINGLE
    short = int(held.q) <= 1 << EXACT_FRACTION_BITS and (
        written or used <= max(1, bits - SPARE_BITS)
    )
    if short and not narrow:
        return held
    if bits >= DOUBLE and _digits(text) <= WRITTEN_DIGITS:
        decimal = Fraction(text)
        return fmpq(decimal.numerator, decimal.denominator)
    if short:
        return once_narrow(float(value), torch.from_numpy(np.zeros(1, type(value))).dtype)
    trusted, absolute = TRUSTED_EIGHTHS * bits // 8, TRUSTED_EIGHTHS * bits // 4
    radius = arb(max(abs(held) / (1 << trusted), fmpq(1, 1 << absolute)))
    single = "a number of single precision (float32)"
    what = single if bits < DOUBLE else "a computed float"
    note(text, what, radius)
    return arb(held, radius)


def is_narrow(dtype: torch.dtype) -> bool:
    """Whether a type of real or complex numbers has fewer bits than float64."""
    wide = (torch.float64, torch.complex128)
    return (dtype.is_floating_point or dtype.is_complex) and dtype not in wide


def half_unit(x: fmpq | arb, dtype: torch.dtype) -> arb:
    """By how much a number of that size may change when it is rounded to a type."""
    kind = torch.finfo(dtype)
    if not abs(x) <= fmpq(*kind.max.as_integer_ratio()):
        return arb.pos_inf()
    least = arb(abs(x)).max(arb(kind.smallest_normal))
    return arb((least * arb(kind.eps) / 2).upper())


def narrowed(x: Any, dtype: torch.dtype) -> Any:
    """A number that went through a narrow type: itself if it fits, else to half a unit of that."""
    if isinstance(x, fmpq) and _fits(x, dtype):
        return x
    if hasattr(x, "conjugate"):  # complex
        return type(x)(narrowed(x.real, dtype), narrowed(x.imag, dtype))
    if not isinstance(x, fmpq | arb):
        raise NoBallForm(f"{dtype} of {type(x).__name__} numbers")
    radius = half_unit(x, dtype)
    note(f"{float(arb(x).mid()):.4g}", f"a number that went through {dtype}", radius)
    return arb(x) + arb(0, radius) if radius.is_finite() else arb.nan()


def once_narrow(value: float, dtype: torch.dtype) -> arb:
    """The value of a narrow type of which nobody knows where it comes from: never exact."""
    x = fmpq(*value.as_integer_ratio())
    radius = half_unit(x, dtype)
    note(_text(value), f"a number of {dtype}", radius)
    return arb(x, radius)


def _fits(x: fmpq, dtype: torch.dtype) -> bool:
    kind = torch.finfo(dtype)
    least = fmpq(*(kind.smallest_normal * kind.eps).as_integer_ratio())
    inside = abs(x) <= fmpq(*kind.max.as_integer_ratio()) and (x / least).q == 1
    return inside and _used_bits(x) <= 2 - math.frexp(kind.eps)[1]


def note(text: str, what: str, radius: arb) -> None:
    """Note a number that is no exact constant, once, with the line of the file at which it is."""
    noted = _current.get()
    if noted is not None and text not in noted.constants:
        noted.constants[text] = Computed(text, what, radius, line_in(noted.file))


def _used_bits(x: fmpq) -> int:
    """The bits of a dyadic number between its first and its last that is set."""
    top = abs(int(x.p))
    return top.bit_length() - ((top & -top).bit_length() - 1) if top else 0


def _powers_of_two(x: fmpq) -> int:
    """How many powers of two a dyadic number takes, as a sum with signs."""
    top = abs(int(x.p))
    return (top ^ 3 * top).bit_count()


def _is_single(value: float) -> bool:
    """Whether a double of at most 24 bits is a float32's value, and was not written itself.

    Then float32 has a shorter text for it: 0.33333334 for 0.3333333432674408.
    """
    smallest, largest = SINGLE_RANGE
    if not smallest <= abs(value) <= largest:
        return False
    return _digits(str(np.float32(value))) < _digits(_text(value))


def _text(value: float | np.floating[Any]) -> str:
    return repr(float(value)) if isinstance(value, float) else str(value)


def _digits(text: str) -> int:
    """The number of significant digits of a decimal number."""
    return len(text.partition("e")[0].replace(".", "").strip("-0"))


def line_in(file: str) -> int | None:
    """The line at which the innermost of the calling functions that stand in a file is now."""
    frame = sys._getframe(1) if file else None
    while frame is not None and frame.f_code.co_filename != file:
        frame = frame.f_back
    return None if frame is None else frame.f_lineno
