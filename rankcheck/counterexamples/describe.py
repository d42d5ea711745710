"""Instances, numbers and names of claims as text: for people, for certificates, for the shell."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from flint import fmpq

from rankcheck.balls import BallArray
from rankcheck.balls.numbers import Number, show
from rankcheck.catalogue.collect import project_folder
from rankcheck.catalogue.entry import shown_path
from rankcheck.claims.claim import Claim


def describe_instance(claim: Claim, instance: tuple[Any, ...]) -> str:
    """The parts of an instance under the names that the body gives them.

    Equal instances have equal texts, in every process, so that `replay` can compare them.
    """
    parts = zip(claim.arguments, instance, strict=True)
    return ", ".join(describe_part(name, part) for name, part in parts)


def describe_part(name: str, part: Any) -> str:
    """One part of an instance: `x = [1, -1/2]`, or its `describe()`, as for a network."""
    describe = None if isinstance(part, BallArray) else getattr(part, "describe", None)
    return f"{name} = {describe_value(part)}" if describe is None else str(describe())


def describe_value(value: Any) -> str:
    """A number, an array, or a structure of them.

    Rationals and floats have all their digits. A ball is rounded; an instance has balls only where
    its generator computes irrational numbers.

    >>> describe_value([1, Fraction(2, 3), 0.25, torch.ones(2)])
    '[1, 2/3, 0.25, [1, 1]]'
    """
    match value:
        case BallArray():
            return _nested(value.elements, _number)
        case torch.Tensor():
            return describe_value(value.detach().tolist())
        case bool() | str() | None:
            return str(value)
        case float():
            exact = value.is_integer() and abs(value) < 2**53
            return str(int(value)) if exact else repr(value)
        case int() | Fraction():
            return str(value)
        case Mapping():
            return "{" + ", ".join(f"{k}: {describe_value(v)}" for k, v in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(describe_value, value)) + "]"
    if callable(getattr(value, "describe", None)):
        return str(value.describe())
    if is_dataclass(value) and not isinstance(value, type):
        parts = (f"{f.name}={describe_value(getattr(value, f.name))}" for f in fields(value))
        return f"{type(value).__name__}({', '.join(parts)})"
    # Not repr: the repr of a plain object has its address in it.
    return getattr(value, "__qualname__", type(value).__qualname__)


def selector(claim: Claim) -> str | None:
    """What a person types on the command line for a claim; None if it is not in a file."""
    if not claim.file.is_file():
        return None
    if claim.file.resolve().is_relative_to(project_folder()):
        return claim.id
    return shlex.quote(f"{shown_path(claim.file)}::{claim.__name__}")


def approximately(value: Fraction, digits: int = 6) -> str:
    """A rational of any size, rounded.

    >>> approximately(Fraction(1, 3)), approximately(Fraction(10**5000, 3))
    ('0.333333', '3.33333e+4999')
    """
    context = Context(prec=digits)
    rounded = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{rounded.normalize(context):g}"


def middle(ball: BallArray) -> Fraction:
    """The midpoint of a ball."""
    return (ball.lower() + ball.upper()) / 2


def ball_text(ball: BallArray, bits: int) -> str:
    """A 0-d ball with all its digits: the exact rational, or `[midpoint +/- radius]`."""
    [number] = ball.reshape(-1).elements.tolist()
    if isinstance(number, fmpq):
        return str(number)
    return str(number.str(math.ceil(bits * math.log10(2)) + 2, more=True))


def rounded_down(value: Fraction) -> str:
    """A decimal number of 17 digits that is at most `value`.

    >>> rounded_down(Fraction(2, 3))
    '0.66666666666666666'
    """
    context = Context(prec=17, rounding=ROUND_FLOOR)
    below = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return str(below.normalize(context))


def _nested(elements: np.ndarray, text: Any) -> str:
    if elements.ndim == 0:
        return str(text(elements[()]))
    return "[" + ", ".join(_nested(np.asarray(row), text) for row in elements) + "]"


def _number(number: Number) -> str:
    return str(number) if isinstance(number, fmpq) else show(number)
