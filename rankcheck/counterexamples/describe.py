"""Puts instances, claims and bounds into words; `rankcheck.text` writes the numbers."""

from __future__ import annotations

import json
import re
import shlex
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from rankcheck import balls
from rankcheck.balls import BallArray
from rankcheck.claims.claim import Claim
from rankcheck.claims.facts import declared_id
from rankcheck.counterexamples.instance import Instance
from rankcheck.files import project_folder, shown_path
from rankcheck.instances.choices import write_choices
from rankcheck.text import array_text, value_text

#: Texts of instances are cut off after so many characters; the certificate has them whole.
READABLE = 2000
#: Numbers that agree in so many digits are shown as equal; 2048 bits are 617 digits.
MOST_DIGITS = 640


def describe_instance(claim: Claim, instance: tuple[Any, ...]) -> str:
    """The parts of an instance under the names that the body gives them.

    Equal instances have equal texts, in every process, so that `replay` can compare them.
    """
    parts = zip(claim.names(len(instance)), instance, strict=True)
    return ", ".join(describe_part(name, part) for name, part in parts)


def describe_part(name: str, part: Any) -> str:
    """One part of an instance: `x = [1, -1/2]`, or its `describe()`, as for a network."""
    describe = None if isinstance(part, BallArray) else getattr(part, "describe", None)
    return f"{name} = {value_text(part)}" if describe is None else str(describe())


def describe_exact(instance: Instance) -> str:
    """An instance in exact numbers, as it was judged."""
    with balls.precision(instance.in_balls.bits):
        return describe_instance(instance.claim, instance.exact)


def describe_drawn(instance: Instance, description: str) -> str:
    """What the generator drew, after its name: `gram(): [2, [1, 0]]`, as `read_choices` takes it.

    It is empty if the instance, described as `description`, shows every tensor that was drawn.
    """
    texts = (array_text(BallArray.exact(t)) for t in instance.record.tensors)
    if all(_shows(description, text) for text in texts):
        return ""
    return f"{instance.family}: {json.dumps(write_choices(instance.record))}"


def _shows(description: str, text: str) -> bool:
    """Whether a text occurs in a description, not as a part of a longer number."""
    return re.search(rf"(?<![\w/.-]){re.escape(text)}(?![\w/.])", description) is not None


def readable(text: str) -> str:
    """A text that is cut off where it is long."""
    return text if len(text) <= READABLE else f"{text[:READABLE]} … ({len(text)} characters)"


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


def approximately_both(first: Fraction, second: Fraction) -> tuple[str, str]:
    """Two rationals, rounded with as many digits as it takes to tell them apart, at least 6.

    >>> approximately_both(1 + Fraction(1, 10**7), Fraction(1))
    ('1.0000001', '1')
    """
    for digits in range(6, MOST_DIGITS):
        texts = approximately(first, digits), approximately(second, digits)
        if texts[0] != texts[1] or first == second:
            return texts
    return approximately(first), approximately(second)


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
