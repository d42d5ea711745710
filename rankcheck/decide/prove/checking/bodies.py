"""The body of a claim at points: entries that are rationals or balls, of one discrete shape."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from flint import arb, fmpq

from rankcheck import balls
from rankcheck.balls import BallArray, Undecided
from rankcheck.claims.claim import Claim
from rankcheck.claims.excess import Excess
from rankcheck.claims.relations import Relation
from rankcheck.claims.signs import RelationKind
from rankcheck.decide.prove.checking.errors import UnsoundError
from rankcheck.errors import short_of_memory
from rankcheck.theory.instances.scope import ScopeShape, grid_of
from rankcheck.theory.instances.source import Rejected, Source

#: Points that are evaluated together.
TOGETHER = 64


class PointSource(Source):
    """Hands out the integers of a shape, and numbers as entries.

    Args:
        points: the entries of each point, in the order of their drawing.
        alone: without a batch axis; there is one point then.
    """

    def __init__(
        self, integers: Sequence[int], points: Sequence[Sequence[Any]], *, alone: bool
    ) -> None:
        super().__init__(() if alone else (len(points),))
        self._integers = iter(integers)
        self._points = points
        self._place = 0
        #: By tensor: its shape and its range.
        self.drawn: list[tuple[tuple[int, ...], float, float]] = []

    def _integer(self, low: int, high: int) -> int:
        value = next(self._integers, None)
        if value is None or not low <= value <= high:
            raise UnsoundError(
                f"the generator draws an integer in [{low}, {high}], and the proof has "
                f"{'none left' if value is None else value}"
            )
        return value

    def _tensor(self, shape: tuple[int, ...], low: float, high: float) -> Any:
        count = math.prod(shape)
        self.drawn.append((shape, low, high))
        begin, self._place = self._place, self._place + count
        if self._points and self._place > len(self._points[0]):
            raise UnsoundError(
                f"the generator draws more than the {len(self._points[0])} entries of the proof"
            )
        elements = np.empty((len(self._points), count), dtype=object)
        for row, point in enumerate(self._points):
            for column in range(count):
                elements[row, column] = point[begin + column]
        return BallArray(elements.reshape((*self.batch, *shape)))

    def finish(self) -> None:
        """Check that the generator has drawn everything."""
        if next(self._integers, None) is not None:
            raise UnsoundError("the generator draws fewer integers than the proof has")
        if self._points and self._place != len(self._points[0]):
            raise UnsoundError(
                f"the generator draws {self._place} entries, and the proof has "
                f"{len(self._points[0])}"
            )


@dataclass(frozen=True)
class Part:
    """One relation of one entry: its sides, or whether integers satisfy it."""

    kind: RelationKind
    lhs: Any = None
    rhs: Any = None
    integers: bool | None = None

    @property
    def fails(self) -> bool:
        """Whether it is proved to fail."""
        if self.integers is not None:
            return not self.integers
        if not (_bounded(self.lhs) and _bounded(self.rhs)):
            return False
        try:
            return Excess.of(self.kind, balls.balls(self.lhs), balls.balls(self.rhs)).fails
        except Undecided:
            return False


def _bounded(number: Any) -> bool:
    return isinstance(number, fmpq) or (isinstance(number, arb) and bool(number.is_finite()))


@dataclass(frozen=True)
class Sides:
    """What a claim asserts in one entry of one relation."""

    relation: int
    entry: int
    part: Part


@dataclass(frozen=True)
class Said:
    """What the body says at a point. None of it, if the generator rejects the point."""

    outside: bool = False
    sides: tuple[Sides, ...] = ()


@dataclass(frozen=True)
class Unknown:
    """A point at which balls do not decide what the body does."""

    why: str


@dataclass(eq=False)
class Body:
    """A claim at the shape of a proof.

    Attributes:
        integers: what the generator draws.
        entries: how many entries it draws then.
    """

    claim: Claim
    integers: tuple[int, ...]
    entries: int
    shape: ScopeShape | None = field(default=None, init=False)
    ranges: list[tuple[Fraction, Fraction]] = field(default_factory=list, init=False)

    def at(self, points: Sequence[Sequence[Any]]) -> list[Said | Unknown]:
        """What the body says at each point; points that do not go together go alone."""
        together = 1 if self.claim.no_batch is not None else TOGETHER
        found: list[Said | Unknown] = []
        for start in range(0, len(points), together):
            found += self._halved(points[start : start + together])
        return found

    def _halved(self, points: Sequence[Sequence[Any]]) -> list[Said | Unknown]:
        if len(points) == 1:
            return [self._alone(points[0])]
        try:
            return self._said(points, alone=False)
        except UnsoundError:
            raise
        except Exception as error:  # one of them may be undecided, or have no value
            if short_of_memory(error):
                raise
            half = len(points) // 2
            return self._halved(points[:half]) + self._halved(points[half:])

    def _alone(self, point: Sequence[Any]) -> Said | Unknown:
        try:
            return self._said([point], alone=True)[0]
        except UnsoundError:
            raise
        except Rejected:
            return Said(outside=True)
        except Exception as error:
            if short_of_memory(error):
                raise
            return Unknown(f"{type(error).__name__}: {error}")

    def _said(self, points: Sequence[Sequence[Any]], *, alone: bool) -> list[Said | Unknown]:
        family = self.claim.instances
        if family is None:
            raise UnsoundError(f"{self.claim.id} is cited and has no instances; nothing is proved")
        source = PointSource(self.integers, points, alone=alone)
        instance = family(source)
        source.finish()
        if self.shape is None:
            self._note(source)
        with balls.conventions():  # integers that wrap are balls
            relations = self.claim.relations(instance)
        read = [
            list(_read(number, relation.over(source.batch), len(points)))
            for number, relation in enumerate(relations)
        ]
        valid = source.valid.reshape(-1).tolist()
        return [
            Said(outside=True)
            if not valid[row]
            else Said(sides=tuple(one for relation in read for one in relation[row]))
            for row in range(len(points))
        ]

    def _note(self, source: PointSource) -> None:
        grids = tuple((shape, grid_of(low, high)) for shape, low, high in source.drawn)
        self.shape = ScopeShape(self.integers, grids)
        for shape, low, high in source.drawn:
            self.ranges += [(Fraction(low), Fraction(high))] * math.prod(shape)


def _read(number: int, relation: Relation, points: int) -> Iterator[list[Sides]]:
    """By point, what a relation asserts in its entries."""
    asserted = over_entries(relation.asserted, points)
    parts = _parts(relation, points)
    for row in range(points):
        yield [
            Sides(number, entry, parts[row][entry])
            for entry, holds in enumerate(asserted[row])
            if holds
        ]


def over_entries(array: torch.Tensor, points: int) -> list[list[Any]]:
    return array.reshape(points, -1).tolist()


def _parts(part: Relation, points: int) -> list[list[Part]]:
    """By point and entry, what a relation says."""
    if part.exact:
        # Integers, also such as a tensor cannot hold.
        violated = (part.excess >= 0) if part.kind == "lt" else (part.excess > 0)
        return [
            [Part(part.kind, integers=not one) for one in row]
            for row in over_entries(violated, points)
        ]
    if any(isinstance(side, torch.Tensor) and side.is_floating_point() and not balls.is_ball(side)
           for side in (part.lhs, part.rhs)):  # fmt: skip
        raise UnsoundError("the sides of a relation are floats; what is proved is about balls")
    lhs, rhs = (side.elements.reshape(points, -1) for side in part.sides())
    return [
        [Part(part.kind, a, b) for a, b in zip(*both, strict=True)]
        for both in zip(lhs, rhs, strict=True)
    ]
