"""What the balls of two sides say about how far a relation is from holding."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from rankcheck.balls import BallArray, difference_bounds
from rankcheck.claims import tolerances
from rankcheck.claims.signs import SIGNS, RelationKind


@dataclass(frozen=True)
class Excess:
    """Proved bounds of the excess of one entry: `lhs - rhs`, or its absolute value for `eq`.

    Attributes:
        low, high: the bounds.
        size: an upper bound of the larger side in absolute value.
        strict: whether equal sides violate the relation.
    """

    low: Fraction
    high: Fraction
    size: Fraction
    strict: bool

    @classmethod
    def of(cls, kind: RelationKind, lhs: BallArray, rhs: BallArray) -> Excess:
        """Of two balls.

        Raises:
            Undecided: if one of them is unbounded.
        """
        low, high = difference_bounds(lhs, rhs)
        if kind == "eq":
            low, high = max(low, -high, Fraction(0)), max(-low, high)
        size = max(abs(end) for side in (lhs, rhs) for end in (side.lower(), side.upper()))
        return cls(low, high, size, SIGNS[kind].strict)

    @property
    def fails(self) -> bool:
        """Whether the relation is proved to fail."""
        return self.low > 0 or (self.strict and self.low == 0)

    @property
    def holds(self) -> bool:
        """Whether it is proved to hold, or its sides to be equal to within 2⁻⁸⁰."""
        if self.strict:
            return self.high < 0
        return self.high <= tolerances.EQUALITY_ON_BALLS * max(self.size, tolerances.NEARLY_ZERO)
