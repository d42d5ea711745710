"""Numbers, arrays and instances as text.

Everything but :func:`short_text` reads back: an int, a float or a rational as exactly the same
number, a ball as a ball that contains it. Certificates store these texts and compare them byte by
byte, so a change here invalidates stored certificates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from flint import arb, fmpq
from torch import Tensor

Exact: TypeAlias = int | float | Fraction | fmpq


@runtime_checkable
class _BallArray(Protocol):
    """What this module reads of a :class:`rankcheck.balls.BallArray`, which lives one floor up."""

    elements: np.ndarray


def number_text(value: Exact | arb) -> str:
    """One number: 1, -0.5, 1/3. A ball as midpoint and radius of about 15 digits.

    Whole floats below 10^16 are written as integers, all others as Python writes them.

    >>> number_text(2.0), number_text(0.1), number_text(Fraction(-1, 3)), number_text(1e22)
    ('2', '0.1', '-1/3', '1e+22')
    """
    if not isinstance(value, float):
        return str(value)
    if value.is_integer() and abs(value) < 1e16:
        return str(int(value))
    return repr(float(value))


def rational_text(value: float | Fraction) -> str:
    """A finite float as the rational number that it is.

    >>> rational_text(-0.75), rational_text(0.1)
    ('-3/4', '3602879701896397/36028797018963968')
    """
    return str(Fraction(value))


def ball_text(number: fmpq | arb | Any, bits: int) -> str:
    """A rational exactly, or midpoint ± radius with all digits of a ball of that many bits.

    ``number`` may also be a BallArray with one entry.

    >>> ball_text(fmpq(-2, 3), 64), ball_text(arb(1.5, 2**-50), 53)
    ('-2/3', '[1.50000000000000000 +/- 8.89e-16]')
    """
    if isinstance(number, _BallArray):
        [number] = number.elements.ravel().tolist()
    if isinstance(number, fmpq):
        return str(number)
    return str(number.str(math.ceil(bits * math.log10(2)) + 2, more=True))


def short_text(number: fmpq | arb | Any, digits: int = 10) -> str:
    """A number rounded for a message: 3/4, or 1.414213562… ± 6e-39, an ellipsis for cut digits.

    >>> short_text(fmpq(3, 4)), short_text(fmpq(10**40, 3), 5), short_text(arb.nan())
    ('3/4', '3.3333e+39…', 'unknown')
    """
    if callable(getattr(number, "describe", None)):  # a formal number
        return str(number.describe())
    if not isinstance(number, (fmpq, arb)):  # a complex number of two of these
        return f"{short_text(number.real, digits)} + {short_text(number.imag, digits)}i"
    if isinstance(number, fmpq):
        text = str(number) if number.height_bits() <= 8 * digits else ""
        return text if 0 < len(text) <= 2 * digits else _decimal(arb(number), digits)
    if not number.is_finite():
        return "unknown"
    if number.is_exact():
        return _decimal(number, digits)
    return f"{_decimal(number, digits)} ± {number.rad().str(1, radius=False)}"


def _decimal(x: arb, digits: int) -> str:
    text = x.mid().str(digits, radius=False)
    if x != arb(text):
        return text + "…"
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def array_text(value: Any, entry: Callable[[Any], str] = number_text) -> str:
    """A tensor, BallArray, numpy array or nested list of numbers as nested lists, or one number.

    >>> import torch
    >>> array_text(torch.tensor([[1, 0], [0.25, 2]]))
    '[[1, 0], [0.25, 2]]'
    """
    if isinstance(value, Tensor):
        value = value.detach().tolist()
    elif isinstance(value, _BallArray):
        value = value.elements.tolist()
    elif isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list):
        return "[" + ", ".join(array_text(row, entry) for row in value) + "]"
    return entry(value)


def value_text(value: Any) -> str:
    """A number, an array, or a structure of them, with all digits.

    Structures are mappings, sequences, objects with a method ``describe()``, and dataclasses;
    anything else is given by its name. Only an entry of a BallArray that is not rational is
    rounded; an instance has such entries only where its generator computes them from others.

    >>> value_text({"x": (1, 0.5), "q": Fraction(2, 3)})
    '{x: [1, 0.5], q: 2/3}'
    """
    match value:
        case _BallArray():
            return array_text(value, _entry_text)
        case Tensor():
            return value_text(value.detach().tolist())
        case bool() | str() | complex() | None:
            return str(value)
        case float():
            # Stored certificates have whole floats from 2^53 on with ".0".
            return number_text(value) if abs(value) < 2**53 else repr(value)
        case int() | Fraction() | fmpq():
            return number_text(value)
        case Mapping():
            return "{" + ", ".join(f"{k}: {value_text(v)}" for k, v in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(value_text, value)) + "]"
    if callable(getattr(value, "describe", None)):
        return str(value.describe())
    if is_dataclass(value) and not isinstance(value, type):
        parts = (f"{f.name}={value_text(getattr(value, f.name))}" for f in fields(value))
        return f"{type(value).__name__}({', '.join(parts)})"
    # Not repr: that of a plain object contains its address.
    return getattr(value, "__qualname__", type(value).__qualname__)


def _entry_text(number: fmpq | arb) -> str:
    return str(number) if isinstance(number, fmpq) else short_text(number)
