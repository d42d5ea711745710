"""Instances, claims and bounds as text; `rankcheck.text` writes the numbers."""

from __future__ import annotations

import shlex
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from rankcheck.balls import BallArray
from rankcheck.catalogue.collect import project_folder
from rankcheck.catalogue.entry import shown_path
from rankcheck.claims.claim import Claim
from rankcheck.text import value_text


def describe_instance(claim: Claim, instance: tuple[Any, ...]) -> str:
    """The parts of an instance under the names that the body gives them.

    Equal instances have equal texts, in every process, so that `replay` can compare them.
    """
    parts = zip(claim.arguments, instance, strict=True)
    return ", ".join(describe_part(name, part) for name, part in parts)


def describe_part(name: str, part: Any) -> str:
    """One part of an instance: `x = [1, -1/2]`, or its `describe()`, as for a network."""
    describe = None if isinstance(part, BallArray) else getattr(part, "describe", None)
    return f"{name} = {value_text(part)}" if describe is None else str(describe())


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


def rounded_down(value: Fraction) -> str:
    """A decimal number of 17 digits that is at most `value`.

    >>> rounded_down(Fraction(2, 3))
    '0.66666666666666666'
    """
    context = Context(prec=17, rounding=ROUND_FLOOR)
    below = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return str(below.normalize(context))
