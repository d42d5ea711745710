"""Finds tolerances that are so wide that floats cannot see a relation fail.

`scale=`, `error=` and `terms=` widen the band of what counts as rounding. Where the band is as wide
as the sides themselves, floats never see the relation fail. That is right where the sides are what
rounding has left of numbers that cancelled, and wrong where floats know the sides well. The
rounding error at the instance tells which: balls have it, or else the neighbours of the instance.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import torch

from rankcheck import balls
from rankcheck.claims.claim import Claim
from rankcheck.claims.labels import relation_name
from rankcheck.claims.relations import Relation
from rankcheck.claims.signs import SIGNS
from rankcheck.claims.tolerances import STRENGTHENING, UNIT_ROUNDOFF
from rankcheck.engine.counterexamples.instance import Instance, by_instance
from rankcheck.engine.counterexamples.judge import PRECISIONS, exact_instance
from rankcheck.engine.counterexamples.rounding import HIDING, NOISE, Entry
from rankcheck.engine.verification.evaluation import Part
from rankcheck.theory.instances.record import Record
from rankcheck.theory.instances.source import Instances

#: A relation is seen on an instance if the tolerance is below this share of an entry's sides: a
#: bound that is stronger by as much could fail there.
CLEAR = STRENGTHENING
#: One that is seen on less than this share of the instances is looked at more closely,
LEAST = 0.01
#: on so many of the others.
SAMPLES = 4


@dataclass
class Seen:
    """On how many instances floats could see a relation fail.

    Attributes:
        instances: those on which it is asserted between sides that are not all zero.
        clear: those of them with an entry whose tolerance is small against its sides.
        samples: some of the others.
    """

    instances: int = 0
    clear: int = 0
    samples: list[tuple[Record, Instances]] = field(default_factory=list)

    def add(self, relation: Relation, counted: torch.Tensor, part: Part) -> None:
        """Add the instances of a batch; `counted` has the entries that are asserted."""
        nonzero, clear = (by_instance(each & counted).any(1) for each in _entries(relation))
        self.instances += int(nonzero.sum())
        self.clear += int((nonzero & clear).sum())
        blind = (nonzero & ~clear).nonzero().reshape(-1).tolist()
        if blind and len(self.samples) < SAMPLES:
            self.samples.append((part.instance(blind[0]), part.family))

    def __add__(self, other: Seen) -> Seen:
        samples = [*self.samples, *other.samples]
        return Seen(self.instances + other.instances, self.clear + other.clear, samples)


def swallowed(claim: Claim, label: str, number: int, seen: Seen) -> str | None:
    """Why the tolerance of a relation is too large to see it fail; None if it is not.

    Args:
        label, number: of the relation.
    """
    if seen.clear > LEAST * seen.instances or not seen.samples:
        return None
    reason = ""
    for record, family in seen.samples:
        sample = _Sample.of(Instance(claim, family, record), number)
        if sample.honest:
            return None
        reason = reason or sample.describe()
    share = f"{1 - seen.clear / seen.instances:.0%} of the instances"
    return f"the tolerance of {relation_name(label, number)} hides its sides on {share}: {reason}"


@dataclass(frozen=True)
class _Sample:
    """The largest sides that a relation has on an instance where it is not seen.

    Attributes:
        error: the rounding error of the sides; None if nothing tells it.
    """

    lhs: float
    rhs: float
    tolerance: float
    error: float | None

    @classmethod
    def of(cls, instance: Instance, number: int) -> _Sample:
        relation = instance.relations[number]
        nonzero, _ = _entries(relation)
        size = torch.where(nonzero & relation.asserted, relation.size.detach().double(), 0.0)
        place = int(size.reshape(-1).argmax())
        entry = Entry(relation, number, place)
        error = None if instance.claim.no_ball else _from_balls(instance, entry)
        if error is None:
            error = _from_neighbours(instance, entry)
        return cls(entry.lhs, entry.rhs, entry.tolerance, error)

    @property
    def honest(self) -> bool:
        """Whether the sides are what rounding has left, or the tolerance is of the error's size."""
        if self.error is None:
            return False
        size = max(abs(self.lhs), abs(self.rhs))
        error = max(self.error, UNIT_ROUNDOFF * size)
        return NOISE * error >= size or HIDING * error >= self.tolerance

    def describe(self) -> str:
        known = "that is not known" if self.error is None else f"of about {self.error:.1g}"
        return (
            f"on one, lhs = {self.lhs:.6g} and rhs = {self.rhs:.6g} with a tolerance of "
            f"{self.tolerance:.2g} and a rounding error {known}"
        )


def _from_balls(instance: Instance, entry: Entry) -> float | None:
    """How far the sides in floats are from those in balls; None if balls do not tell."""
    try:
        with balls.precision(PRECISIONS[0]):
            exact = exact_instance(instance.family, instance.record)
            relation = instance.claim.relations(exact)[entry.number]
            ends = [
                balls.difference_bounds(side.reshape(-1)[entry.place], Fraction(value))
                for side, value in zip(relation.sides(), (entry.lhs, entry.rhs), strict=True)
            ]
    except Exception:  # no ball form, undecided, outside, or an operation without a value there
        return None
    return float(max(abs(end) for both in ends for end in both))


def _from_neighbours(instance: Instance, entry: Entry) -> float | None:
    """The rounding error that the neighbours inside the hypotheses show; None without one."""
    errors = []
    for pair in instance.neighbours:
        ahead, behind = (entry.among(relations) for relations in pair)
        if ahead is not None and behind is not None:
            errors.append(entry.error(ahead, behind))
    return max(errors, default=None)


def _entries(relation: Relation) -> tuple[torch.Tensor, torch.Tensor]:
    """The entries with a side that is not zero, and those whose tolerance is small against it."""
    size = relation.size.detach().double()
    nonzero = size > 0
    if relation.exact or SIGNS[relation.kind].strict:  # without a tolerance
        return nonzero, nonzero
    return nonzero, relation.tolerance.detach().double() < CLEAR * size
