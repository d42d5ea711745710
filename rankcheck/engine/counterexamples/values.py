"""Values of steps as text: exact where that is short, else decimals with the known digits."""

from __future__ import annotations

import re
from fractions import Fraction
from math import prod
from typing import Any

from flint import arb, fmpq
from torch import Tensor

from rankcheck.balls import BallArray
from rankcheck.engine.counterexamples.describe import approximately
from rankcheck.text import array_text, rational_text
from rankcheck.theory.networks import Network

#: A rational with more characters is rounded to so many digits, and an array with more entries, or
#: more of them in a row, is given by its shape.
WIDEST, DIGITS, MOST, LONGEST = 9, 6, 16, 6
#: A ball is a decimal number if its radius is so much smaller than its midpoint, and zero if it
#: contains zero and is no wider than the square of this.
KNOWN = Fraction(1, 10**8)
#: Longer texts of networks are given by their widths, and longer lists by their number.
NETWORK, LIST = 160, 4
_ROUNDED = re.compile("≈ ")


def text(value: Any) -> str | None:
    """A value as text: a number, an array, a network, or a few of them; None for anything else.

    An array with a rounded entry has `≈` in front.

    >>> text(BallArray.exact(Tensor([[1, 0.5]]).double())), text(Fraction(1, 3))
    ('[[1, 1/2]]', '1/3')
    >>> text(BallArray.exact(Tensor([2.0]).double()).sqrt()), text(3 * (1,))
    ('≈ [1.41421]', '1, 1, 1')
    """
    match value:
        case bool() | str():
            return None
        case int() | Fraction() | fmpq():
            return _number(fmpq(value.numerator, value.denominator))
        case float():
            return _number(fmpq(*value.as_integer_ratio())) if abs(value) < 1e300 else None
        case BallArray():
            return _array(value)
        case Tensor() if value.numel() == 1 and not value.is_floating_point():
            whole = value.item()
            return None if isinstance(whole, bool) else str(whole)
        case Network():
            alone = value.weights[0].ndim == 2
            described = value.describe() if alone else ""
            if 0 < len(described) <= NETWORK:
                return described
            which = "a network" if alone else "networks"
            return f"{which} of depth {value.depth}, widths {_widths(value.widths)}"
        case list() | tuple() if value and not hasattr(value, "_fields"):
            return _several(value)
    return None


def _several(values: list[Any] | tuple[Any, ...]) -> str | None:
    texts = [text(value) for value in values]
    if any(each is None for each in texts):
        return None
    if len(texts) > LIST:
        return f"{len(texts)} of them, the first: {texts[0]}"
    return ", ".join(each for each in texts if each is not None)


def _widths(widths: tuple[int, ...]) -> str:
    if len(widths) <= MOST:
        return ", ".join(map(str, widths))
    return f"at most {max(widths)}"


def _array(value: BallArray) -> str | None:
    shape = tuple(value.shape)
    if value.elements.size and not isinstance(value.elements.flat[0], fmpq | arb):
        return None  # formal numbers
    if prod(shape) > MOST or len(shape) > 2 or max(shape, default=0) > LONGEST:
        if len(shape) == 1:
            return f"{shape[0]} numbers"
        return " × ".join(map(str, shape)) + (" matrix" if len(shape) == 2 else " array")
    written = array_text(value, _number)
    exact = _ROUNDED.sub("", written)
    return exact if exact == written else f"≈ {exact}"


def _number(value: fmpq | arb | Any) -> str:
    """A number, exactly or `≈ 1.41421`; a ball that is too wide as `1.4 ± 0.2`."""
    if isinstance(value, fmpq):
        exact = rational_text(Fraction(int(value.p), int(value.q)))
        if len(exact) <= WIDEST:
            return exact
        return f"≈ {approximately(Fraction(int(value.p), int(value.q)), DIGITS)}"
    if not value.is_finite():
        return "unknown"
    middle, radius = (_fraction(part) for part in (value.mid(), value.rad()))
    if radius <= KNOWN * abs(middle):
        rounded = approximately(middle, DIGITS)
        return rounded if Fraction(rounded) == middle and not radius else f"≈ {rounded}"
    if radius <= KNOWN**2:
        return "≈ 0"
    return f"≈ {approximately(middle, DIGITS)} ± {approximately(radius, 1)}"


def _fraction(value: arb) -> Fraction:
    exact = value.fmpq()
    return Fraction(int(exact.p), int(exact.q))
