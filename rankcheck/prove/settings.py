"""The settings of a proof, checked before it begins; and what is known where there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rankcheck.errors import InputError

__all__ = ["Settings", "Unproved", "slack_of"]


@dataclass(frozen=True)
class Settings:
    """What the proof at one shape may take.

    Attributes:
        seconds: how long it may take; the proof at this shape then ends, and nothing is proved.
        paths: it ends, too, where the body has more paths than this.
        slack: prove bounds up to a factor ``1 + slack``, on boxes; None for exactly.
        seed: of whatever is drawn; no proof rests on it.

    Raises:
        InputError: if one of them is out of range.
    """

    seconds: float = 5.0
    paths: int = 4096
    slack: Fraction | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.seconds < math.inf:
            raise InputError(
                f"seconds is {self.seconds}; a proof has a positive, finite number of seconds"
            )
        if self.paths < 1:
            raise InputError(f"paths is {self.paths}; a proof has at least one path")
        if self.slack is not None and self.slack <= 0:
            raise InputError(f"slack is {self.slack}; it is positive, as in lhs <= 1.001 rhs")


@dataclass(frozen=True)
class Unproved:
    """A claim is not proved at a shape. That says nothing against it.

    Attributes:
        reason: why, in words.
        paths: how many paths were gone through to their end.
        seconds: what it took.
        place: where in the code of the claim it ended, as file:line; empty if nowhere.
    """

    reason: str
    paths: int = 0
    seconds: float = 0.0
    place: str = ""


def slack_of(slack: Any) -> Fraction | None:
    """A slack as an exact number: a float is the decimal that it is written as.

    >>> slack_of(0.001), slack_of("1e-5"), slack_of(None)
    (Fraction(1, 1000), Fraction(1, 100000), None)

    Raises:
        InputError: if it is no number.
    """
    try:
        return None if slack is None else Fraction(str(slack))
    except (ValueError, ZeroDivisionError) as error:
        raise InputError(f"slack is {slack!r:.60}; it is a number, such as 0.001") from error
