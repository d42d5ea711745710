r"""What ball arithmetic proves of how sharp a relation is at one instance.

For a bound `lhs <= rhs` that is the ratio lhs / rhs, in the entry in which it is largest; a ratio
of 1 is equality, and a larger one refutes the bound. It is measured where rhs is proved to be
positive. For an identity it is the deviation |lhs - rhs| / max(|lhs|, |rhs|).

The quotient of the ends of the balls is a proved lower bound of the ratio, and so of the supremum
over all instances. Floats take no part in it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from flint import fmpq

from rankcheck import balls
from rankcheck.balls import BallArray, Undecided
from rankcheck.claims.excess import Excess
from rankcheck.claims.labels import relation_name
from rankcheck.claims.relations import Relation
from rankcheck.claims.signs import SIGNS, RelationKind
from rankcheck.engine.counterexamples.describe import approximately, middle, rounded_down
from rankcheck.engine.counterexamples.instance import DisagreementError, Instance
from rankcheck.errors import InputError
from rankcheck.text import short_text

#: The precision rises until the ends of a ratio are so close to one another, relatively.
WIDTH = Fraction(1, 2**80)


class NotCertifiedError(InputError):
    """Balls prove no ratio of an instance; `reason` is why, in general."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class OutsideError(NotCertifiedError):
    """An instance does not satisfy the hypotheses of its claim."""


@dataclass(frozen=True)
class Attained:
    """What one instance proves of one relation.

    Attributes:
        number: the place of the relation in what the body returns.
        kind, label: those of the relation.
        low, high: proved bounds of its ratio, or of its deviation.
        lhs, rhs: the midpoints of its two sides, in the entry that is measured.
        bits: the precision.
    """

    number: int
    kind: RelationKind
    label: str
    low: Fraction
    high: Fraction
    lhs: Fraction
    rhs: Fraction
    bits: int

    @property
    def name(self) -> str:
        """What the relation is called."""
        return relation_name(self.label, self.number)

    @property
    def value(self) -> float:
        """The proved lower bound as the nearest float."""
        try:
            return float(self.low)
        except OverflowError:
            return math.inf

    @property
    def sides(self) -> tuple[str, str]:
        """The midpoints of both sides, exactly or with 17 digits."""
        lhs, rhs = (fmpq(side.numerator, side.denominator) for side in (self.lhs, self.rhs))
        return short_text(lhs, 17), short_text(rhs, 17)

    @property
    def refutes(self) -> bool:
        """Whether the relation is proved to fail: an identity does with any proved deviation."""
        sign = SIGNS[self.kind]
        return self.low >= 1 if sign.strict else self.low > (1 if sign.bound else 0)

    def text(self, digits: int = 10) -> str:
        """The proved lower bound, rounded."""
        return approximately(self.low, digits)

    @property
    def written(self) -> str:
        """The proved lower bound as a decimal number of 17 digits that is not larger."""
        return rounded_down(self.low)

    @property
    def written_high(self) -> str:
        """The proved upper bound as a decimal number of 17 digits that is not smaller."""
        return str(-Decimal(rounded_down(-self.high)))


def attained(instance: Instance) -> tuple[Attained, ...]:
    """What balls prove of each relation at an instance; one without a ratio there is left out.

    Left out are relations that are not asserted there, and bounds whose right side is not proved to
    be positive.

    Raises:
        NotCertifiedError: if the instance has no sides in balls, if floats contradict that it
            refutes a relation, or (an OutsideError) if it breaks a hypothesis.
        MemoryError: if memory was short for them.
    """
    best: tuple[Attained, ...] | None = None
    tried = instance.precisions
    for bits in tried:
        one = replace(instance, precisions=tuple(b for b in tried if b >= bits))
        judgement = one.in_balls
        if judgement.relations is None:
            if best is not None:
                return best
            if judgement.short:
                raise MemoryError(judgement.reason)
            claim = instance.claim.id
            if judgement.finding == "outside":
                raise OutsideError(
                    f"the instance does not satisfy the hypotheses of {claim}: {judgement.reason}",
                    judgement.reason,
                )
            raise NotCertifiedError(
                f"nothing is certified at this instance of {claim}: {judgement.reason}",
                judgement.reason,
            )
        with balls.precision(judgement.bits):
            found = [
                _largest(relation, number, judgement.bits)
                for number, relation in enumerate(judgement.relations)
            ]
        best = tuple(each for each in found if each is not None)
        if all(each.high - each.low <= WIDTH * max(each.high, Fraction(1)) for each in best):
            break
    assert best is not None
    if any(one.refutes for one in best):
        try:
            instance.require_agreement()
        except DisagreementError as error:
            raise NotCertifiedError(str(error), str(error)) from error
    return best


def _largest(relation: Relation, number: int, bits: int) -> Attained | None:
    """The entry of a relation with the largest ratio, by its proved lower bound."""
    bound = SIGNS[relation.kind].bound
    entries = []
    for lhs, rhs in _asserted(relation):
        try:
            ends = _ratio(lhs, rhs) if bound else _deviation(relation.kind, lhs, rhs)
        except Undecided:  # a side without bounds
            continue
        if ends is not None:
            label, middles = relation.label, (middle(lhs), middle(rhs))
            entries.append(Attained(number, relation.kind, label, *ends, *middles, bits))
    return max(entries, key=lambda entry: entry.low, default=None)


def _asserted(relation: Relation) -> Iterator[tuple[BallArray, BallArray]]:
    """The two sides of the entries in which the relation is provably asserted."""
    lhs, rhs = (side.reshape(-1) for side in relation.sides())
    for entry in relation.asserted.reshape(-1).nonzero().reshape(-1).tolist():
        yield balls.balls(lhs[entry]), balls.balls(rhs[entry])


def _ratio(lhs: BallArray, rhs: BallArray) -> tuple[Fraction, Fraction] | None:
    """Bounds of lhs / rhs, where rhs is proved to be positive."""
    low, high = rhs.lower(), rhs.upper()
    if not low > 0:
        return None
    below, above = lhs.lower(), lhs.upper()
    return below / (high if below >= 0 else low), above / (low if above >= 0 else high)


def _deviation(kind: RelationKind, lhs: BallArray, rhs: BallArray) -> tuple[Fraction, Fraction]:
    """Bounds of |lhs - rhs| / max(|lhs|, |rhs|); 0 where both sides are proved to vanish."""
    excess = Excess.of(kind, lhs, rhs)
    if excess.high == 0:
        return Fraction(0), Fraction(0)
    least = max(
        max(side.lower(), -side.upper(), Fraction(0)) for side in (lhs, rhs)
    )  # of the larger side
    high = min(excess.high / least, Fraction(2)) if least > 0 else Fraction(2)
    return excess.low / excess.size, high
