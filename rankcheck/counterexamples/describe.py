"""Instances and numbers as a person reads and retypes them."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from rankcheck.balls import BallArray
from rankcheck.claims.claim import Claim
from rankcheck.text import value_text


def describe_instance(claim: Claim, instance: tuple[Any, ...]) -> str:
    """The parts of an instance under the names that the body gives them.

    The text depends on nothing but the instance, so that two runs can compare it.
    """
    parts = zip(claim.arguments, instance, strict=True)
    return ", ".join(describe_part(name, part) for name, part in parts)


def describe_part(name: str, part: Any) -> str:
    """One part of an instance: `x = [1, -1/2]`, or what a network says of itself."""
    describe = None if isinstance(part, BallArray) else getattr(part, "describe", None)
    return f"{name} = {value_text(part)}" if describe is None else str(describe())


def approximately(value: Fraction, digits: int = 6) -> str:
    """A rational of any size, rounded to what a person reads: `0.1`, `3.3e+4999`."""
    context = Context(prec=digits)
    rounded = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{rounded.normalize(context):g}"


def middle(ball: BallArray) -> Fraction:
    """The midpoint of a ball."""
    return (ball.lower() + ball.upper()) / 2
