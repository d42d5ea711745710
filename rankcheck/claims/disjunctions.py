"""What a claim body returns for "or": `any_of` several relations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import torch

from rankcheck.balls import is_ball
from rankcheck.claims import tolerances
from rankcheck.claims.relations import Relation, widened
from rankcheck.instances.source import truth
from rankcheck.linalg import Array

__all__ = ["AnyOf", "any_of", "farness"]


@dataclass(frozen=True, eq=False, repr=False)
class AnyOf(Relation):
    """At each entry one of several relations holds, or is not asserted; see `any_of`.

    Attributes:
        alternatives: the relations, with sides of one shape.
        choice: what `nearest` is; on balls, which are not compared here, zeros.
    """

    alternatives: tuple[Relation, ...] = ()
    choice: Any = None

    @property
    def parts(self) -> tuple[Relation, ...]:
        return self.alternatives

    @property
    def nearest(self) -> torch.Tensor:
        return cast(torch.Tensor, self.choice)

    @property
    def excess(self) -> Array:
        return _chosen(self.choice, [part.excess for part in self.parts])

    @property
    def size(self) -> Array:
        return _chosen(self.choice, [part.size for part in self.parts])

    @property
    def tolerance(self) -> torch.Tensor:
        return _chosen(self.choice, [part.tolerance for part in self.parts])

    @property
    def exact(self) -> bool:
        return all(part.exact for part in self.parts)

    @property
    def asserted(self) -> torch.Tensor:
        """Where the disjunction is asserted: where each of its parts is."""
        asserted = super().asserted
        for part in self.parts:
            asserted = asserted & part.asserted
        return asserted

    def violated(self) -> torch.Tensor:
        """Where all parts fail."""
        violated = self.asserted
        for part in self.parts:
            violated = violated & part.violated()
        return violated

    def strengthened(self, by: float = tolerances.STRENGTHENING) -> Relation:
        """The derived mutant: that of each part."""
        mutants = (part.strengthened(by) for part in self.parts)
        return any_of(*mutants, label=self.label, where=self.where)

    def over(self, batch: tuple[int, ...]) -> Relation:
        if self.lhs.ndim >= len(batch):
            return self
        parts = (part.over(batch) for part in self.parts)
        return any_of(*parts, label=self.label, where=self.where)


def any_of(*relations: Relation, label: str = "", where: Any | None = None) -> Relation:
    """Assert that at each entry at least one of the relations holds.

    They are broadcast to one shape first; one of shape `(*B)` beside one of shape `(*B, n)` stands
    for all n entries. Each keeps its own `scale`, `error`, `terms` and label. Where the `where` of
    one is false, that one says nothing false, so the disjunction is not asserted there.

    >>> from rankcheck import leq
    >>> x = torch.tensor([0.0, 1.5, 3.0], dtype=torch.float64)
    >>> any_of(leq(x, 1), leq(2, x)).violated().tolist()
    [False, True, False]

    Raises:
        TypeError: if there is no relation, or an argument is none; or `where` is no condition.
        ValueError: if the shapes do not broadcast.
    """
    if not relations or not all(isinstance(relation, Relation) for relation in relations):
        received = ", ".join(type(relation).__name__ for relation in relations) or "nothing"
        raise TypeError(
            f"any_of received {received}; it takes relations: leq(...), lt(...), eq(...)"
        )
    parts = _of_one_shape([part for relation in relations for part in _alternatives(relation)])
    first = parts[0]
    where = None if where is None else truth(where, "where=")
    if any(is_ball(side) for part in parts for side in (part.lhs, part.rhs)):
        lhs, rhs, choice = first.lhs, first.rhs, first.nearest
    else:
        choice = torch.stack([farness(part) for part in parts]).argmin(0)
        lhs = _chosen(choice, [part.lhs for part in parts])
        rhs = _chosen(choice, [part.rhs for part in parts])
    return AnyOf("any_of", lhs, rhs, where=where, label=label, alternatives=parts, choice=choice)


def _alternatives(relation: Relation) -> tuple[Relation, ...]:
    """The parts of a relation, under its own hypothesis."""
    if relation.where is None or not isinstance(relation, AnyOf):
        return relation.parts
    return tuple(replace(part, where=relation.asserted) for part in relation.parts)


def _of_one_shape(parts: list[Relation]) -> tuple[Relation, ...]:
    """Relations with their sides broadcast to one shape; what belongs to a side goes with it."""
    shapes = [tuple(part.lhs.shape) for part in parts]
    shape = max(shapes, key=len)
    for other in shapes:
        if other != shape[: len(other)]:
            try:
                shape = np.broadcast_shapes(shape, other)
            except ValueError as error:
                raise ValueError(
                    f"the parts of any_of broadcast to one shape; received {shapes}"
                ) from error

    def wide(array: Any) -> Any:
        return None if array is None else widened(_array_of(array), shape)

    return tuple(
        replace(
            part,
            lhs=wide(part.lhs),
            rhs=wide(part.rhs),
            scale=wide(part.scale),
            error=wide(part.error),
            where=None if part.where is None else wide(part.asserted),
        )
        for part in parts
    )


def farness(part: Relation) -> torch.Tensor:
    """By entry, how far a relation is from holding in floats: at least 0 exactly where it fails."""
    relative = part.beyond().detach()
    slack = part.excess.detach().double() / part.size.detach().double().clamp(min=1e-300)
    slack = slack.nan_to_num(nan=-torch.inf).clamp(max=0.0) - 1
    return torch.where(part.violated(), relative, torch.where(part.asserted, slack, -torch.inf))


def _chosen(choice: torch.Tensor, arrays: list[Any]) -> Any:
    """By entry, that of the arrays whose number is the choice."""
    chosen = arrays[0]
    for number, array in enumerate(arrays[1:], 1):
        chosen = torch.where(choice == number, array, chosen)
    return chosen


def _array_of(value: Any) -> Array:
    return value if is_ball(value) else torch.as_tensor(value)
