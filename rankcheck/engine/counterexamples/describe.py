"""Puts instances, claims and bounds into words; `rankcheck.text` writes the numbers."""

from __future__ import annotations

import shlex
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from rankcheck import balls
from rankcheck.balls import BallArray
from rankcheck.claims.claim import Claim
from rankcheck.claims.facts import declared_id
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.files import project_folder, shown_path
from rankcheck.text import value_text


def describe_instance(claim: Claim, instance: tuple[Any, ...]) -> str:
    """The parts of an instance under the names that the body gives them.

    Equal instances have equal texts, in every process, so that `replay` can compare them.
    """
    parts = zip(claim.names(len(instance)), instance, strict=True)
    return ", ".join(_part(name, part) for name, part in parts)


def _part(name: str, part: Any) -> str:
    """One part of an instance: `x = [1, -1/2]`, or its `describe()`, as for a network."""
    describe = None if isinstance(part, BallArray) else getattr(part, "describe", None)
    return f"{name} = {value_text(part)}" if describe is None else str(describe())


def describe_exact(instance: Instance) -> str:
    """An instance in exact numbers, as it was judged."""
    with balls.precision(instance.in_balls.bits):
        return describe_instance(instance.claim, instance.exact)


def selector(claim: Claim) -> str | None:
    """What a person types for a claim; None if it is not in a file, or a setting of its dials."""
    if not claim.file.is_file() or claim.id != declared_id(claim.id):
        return None
    if claim.file.resolve().is_relative_to(project_folder()):
        return claim.id
    return shlex.quote(f"{shown_path(claim.file)}::{claim.__name__}")


def approximately(value: Fraction, digits: int = 6) -> str:
    """A rational of any size, rounded.

    >>> [approximately(Fraction(value, 3)) for value in (1, 60, 10**9, 10**5000)]
    ['0.333333', '20', '3.33333e+8', '3.33333e+4999']
    """
    context = Context(prec=digits)
    rounded = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    shortest = rounded.normalize(context)
    return f"{shortest:f}" if 0 <= shortest.adjusted() < digits else f"{shortest:g}"


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
