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


class PointSource(Source):
    """Hands out the integers of a shape, and numbers as entries.

    Args:
        point: the entries, in the order of their drawing.
    """

    def __init__(self, integers: Sequence[int], point: Sequence[Any]) -> None:
        super().__init__()
        self._integers = iter(integers)
        self._point = point
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
        if self._place > len(self._point):
            raise UnsoundError(
                f"the generator draws more than the {len(self._point)} entries of the proof"
            )
        elements = np.empty(count, dtype=object)
        elements[:] = self._point[begin : self._place]
        return BallArray(elements.reshape(shape))

    def finish(self) -> None:
        """Check that the generator has drawn everything."""
        if next(self._integers, None) is not None:
            raise UnsoundError("the generator draws fewer integers than the proof has")
        if self._place != len(self._point):
            raise UnsoundError(
                f"the generator draws {self._place} entries, and the proof has {len(self._point)}"
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

    def at(self, point: Sequence[Any]) -> Said | Unknown:
        """What the body says at a point."""
        try:
            return self._said(point)
        except UnsoundError:
            raise
        except Rejected:
            return Said(outside=True)
        except Exception as error:
            if short_of_memory(error):
                raise
            return Unknown(f"{type(error).__name__}: {error}")

    def _said(self, point: Sequence[Any]) -> Said:
        family = self.claim.instances
        if family is None:
            raise UnsoundError(f"{self.claim.id} is cited and has no instances; nothing is proved")
        source = PointSource(self.integers, point)
        instance = family(source)
        source.finish()
        if self.shape is None:
            self._note(source)
        with balls.conventions():  # integers that wrap are balls
            relations = self.claim.relations(instance)
        said = (_read(number, relation) for number, relation in enumerate(relations))
        return Said(sides=tuple(one for relation in said for one in relation))

    def _note(self, source: PointSource) -> None:
        grids = tuple((shape, grid_of(low, high)) for shape, low, high in source.drawn)
        self.shape = ScopeShape(self.integers, grids)
        for shape, low, high in source.drawn:
            self.ranges += [(Fraction(low), Fraction(high))] * math.prod(shape)


def _read(number: int, relation: Relation) -> Iterator[Sides]:
    """What a relation asserts in its entries."""
    parts = _parts(relation)
    for entry, holds in enumerate(relation.asserted.reshape(-1).tolist()):
        if holds:
            yield Sides(number, entry, parts[entry])


def _parts(part: Relation) -> list[Part]:
    """By entry, what a relation says."""
    if part.exact:
        # Integers, also such as a tensor cannot hold.
        violated = (part.excess >= 0) if part.kind == "lt" else (part.excess > 0)
        return [Part(part.kind, integers=not one) for one in violated.reshape(-1).tolist()]
    if any(isinstance(side, torch.Tensor) and side.is_floating_point() and not balls.is_ball(side)
           for side in (part.lhs, part.rhs)):  # fmt: skip
        raise UnsoundError("the sides of a relation are floats; what is proved is about balls")
    lhs, rhs = (side.elements.reshape(-1) for side in part.sides())
    return [Part(part.kind, a, b) for a, b in zip(lhs, rhs, strict=True)]
