"""What one evaluation of a claim gives, as named tensors: arguments, hypotheses, relations."""

from __future__ import annotations

import inspect
import math
import numbers
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from itertools import repeat
from typing import Any

import numpy as np
import torch

from rankcheck.claims.claim import Claim
from rankcheck.claims.labels import relation_name
from rankcheck.claims.relations import Relation
from rankcheck.engine.counterexamples.rounding import largest_change

#: A number in a message is written with so many digits.
DIGITS = 9
#: Parts of an argument are looked at up to this depth; one may contain itself.
DEPTH = 6


@dataclass(frozen=True)
class Place:
    """A tensor that is compared.

    Attributes:
        name: for a person.
        tolerance: of the relation that it is a side of, or None.
    """

    name: str
    values: torch.Tensor
    tolerance: torch.Tensor | None = None

    def member(self, index: int, size: int, alone: torch.Tensor | None = None) -> Place:
        """That of one instance of a batch; the whole, if it is the same for all instances.

        Args:
            size: of the batch.
            alone: the same place of that instance alone, whose shape tells a constant.
        """
        if not self._spread(size) or (alone is not None and alone.shape == self.values.shape):
            return self
        tolerance = None if self.tolerance is None else self.tolerance[index]
        return Place(self.name, self.values[index], tolerance)

    def equal(self, other: Place, index: torch.Tensor) -> bool:
        """Whether the instances at some indices of a batch are exactly those of another batch."""
        values = self.values[index] if self._spread(len(index)) else self.values
        return self.values.shape == other.values.shape and torch.equal(values, other.values)

    def _spread(self, size: int) -> bool:
        """Whether it has the axis of a batch of this size."""
        return self.values.ndim > 0 and self.values.shape[0] == size


@dataclass(frozen=True)
class Values:
    """What the evaluation of a source gave.

    Attributes:
        places: the arguments, then the relations; of a rejected instance only the arguments.
        valid: the hypotheses, of the shape of the batch.
        error: what was raised instead.
    """

    places: tuple[Place, ...]
    valid: torch.Tensor
    error: Exception | None = None
    rejected: bool = False

    @property
    def good(self) -> bool:
        """Whether there are relations: nothing was raised, and the instance not rejected."""
        return self.error is None and not self.rejected

    def inside(self, index: int) -> bool:
        """Whether the instance, or that of a batch, satisfies the hypotheses."""
        return not self.rejected and bool(self.valid[index] if self.valid.ndim else self.valid)

    def equal(self, other: Values, index: torch.Tensor) -> bool:
        """Whether the instances at some indices of a batch are exactly those of another batch."""
        return (
            len(self.places) == len(other.places)
            and torch.equal(self.valid[index], other.valid)
            and all(map(Place.equal, self.places, other.places, repeat(index)))
        )

    def change(self, now: Values, index: int | None, number: int | None) -> float:
        """How much an instance changes in a small move; infinite where it raises or changes sides.

        Args:
            index: its place in its batch; None if it is alone.
            number: of the place that is looked at; None for the hypotheses.
        """
        inside = self.inside(index or 0), now.inside(index or 0)
        if self.error is not None or now.error is not None or inside[0] != inside[1]:
            return math.inf
        if number is None:
            return 0.0
        if not all(inside) or len(self.places) != len(now.places):
            return math.inf
        a, b = self.places[number], now.places[number]
        if index is not None:
            a, b = (place.member(index, len(self.valid)) for place in (a, b))
        return largest_change(a.values, b.values) if a.values.shape == b.values.shape else math.inf


def arguments_of(claim: Claim, instance: tuple[Any, ...]) -> tuple[Place, ...]:
    """The tensors and numbers among the arguments of a body."""
    names = claim.arguments
    if len(names) != len(instance):
        names = tuple(f"argument {number}" for number in range(1, len(instance) + 1))
    pairs = zip(names, instance, strict=True)
    return tuple(place for name, part in pairs for place in leaves(name, part))


def sides_of(relations: tuple[Relation, ...], batch: tuple[int, ...]) -> Iterator[Place]:
    """The sides, the tolerance and `where` of each relation."""
    for number, relation in enumerate(relations):
        name = relation_name(relation.label, number)
        over = relation.over(batch)
        band = over.tolerance.detach()
        yield Place(f"lhs of {name}", over.lhs.detach(), band)
        yield Place(f"rhs of {name}", over.rhs.detach(), band)
        yield Place(f"tolerance of {name}", band)
        yield Place(f"where= of {name}", over.asserted.detach())


def leaves(name: str, part: Any, depth: int = 0) -> Iterator[Place]:
    """The tensors and numbers of a part of an instance, with their names."""
    if isinstance(part, torch.Tensor):
        yield Place(name, part.detach())
    elif isinstance(part, numbers.Real):
        yield Place(name, torch.as_tensor(_double(part)))
    elif isinstance(part, np.ndarray):
        if part.dtype.kind in "biuf":
            yield Place(name, torch.as_tensor(part))
    elif depth <= DEPTH:
        for inner, value in _parts(part):
            yield from leaves(f"{name}{inner}", value, depth + 1)


def _parts(whole: Any) -> Iterator[tuple[str, Any]]:
    """The parts of a container or an object, with what is written behind its name."""
    if isinstance(whole, Mapping):
        yield from ((f"[{key!r}]", value) for key, value in whole.items())
    elif isinstance(whole, tuple | list):
        yield from ((f"[{index}]", value) for index, value in enumerate(whole))
    elif isinstance(whole, type) or inspect.isroutine(whole):
        return
    elif is_dataclass(whole):
        yield from ((f".{field.name}", getattr(whole, field.name)) for field in fields(whole))
    elif hasattr(whole, "__dict__"):
        yield from ((f".{key}", value) for key, value in vars(whole).items())


def _double(number: Any) -> float:
    """A number of any size as a float."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


def figure(values: torch.Tensor, at: int | None) -> str:
    """An entry in words; the shape, if there is none."""
    if at is None:
        return f"of the shape {tuple(values.shape)}"
    value = values.reshape(-1)[at]
    return str(bool(value)) if value.dtype == torch.bool else f"{float(value):.{DIGITS}g}"


def change(old: torch.Tensor, new: torch.Tensor) -> str | None:
    """How a tensor has changed, in words; None if it has not."""
    if new.shape != old.shape:
        return f" from the shape {tuple(old.shape)} to {tuple(new.shape)}"
    differs = ((new != old) & ~(old.isnan() & new.isnan())).reshape(-1)
    if not bool(differs.any()):
        return None
    entry = int(differs.int().argmax())
    return f" from {figure(old, entry)} to {figure(new, entry)}"
