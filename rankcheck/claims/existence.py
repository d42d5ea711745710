"""What a claim body returns for "there is": `there_is`, a relation along an axis of witnesses."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

import torch

from rankcheck.balls import Undecided, is_ball
from rankcheck.claims import tolerances
from rankcheck.claims.disjunctions import AnyOf, farness
from rankcheck.claims.excess import Excess
from rankcheck.claims.relations import Relation
from rankcheck.instances.source import truth

__all__ = ["ThereIs", "there_is"]

OTHERS = (
    "no witness of the list fulfils it, and there may be others: the list is not said to be "
    "exhaustive"
)


@dataclass(frozen=True, eq=False, repr=False)
class ThereIs(Relation):
    """The relation of the witness that is nearest to fulfilling it; see `there_is`.

    Its sides, scale and error are those of that witness, in the entry in which it is worst.

    Attributes:
        witnesses: the relation of all witnesses.
        dim: their axis.
        exhaustive: whether there are no others.
    """

    witnesses: Relation | None = None
    dim: int = -1
    exhaustive: bool = False

    @property
    def inconclusive(self) -> str:
        return "" if self.exhaustive else OTHERS

    def strengthened(self, by: float = tolerances.STRENGTHENING) -> Relation:
        """The derived mutant: that of every witness, of which another one may be the nearest."""
        return self._of(cast(Relation, self.witnesses).strengthened(by))

    def over(self, batch: tuple[int, ...]) -> Relation:
        if self.lhs.ndim >= len(batch):
            return self
        of_all = cast(Relation, self.witnesses)
        shape = (*batch, *of_all.lhs.shape)
        return self._of(replace(of_all, lhs=of_all.lhs.expand(shape), rhs=of_all.rhs.expand(shape)))

    def _of(self, witnesses: Relation) -> Relation:
        return there_is(
            witnesses,
            dim=self.dim,
            exhaustive=self.exhaustive,
            label=self.label,
            where=self.where,
        )


def there_is(
    relation: Relation,
    *,
    dim: int,
    exhaustive: bool,
    label: str = "the nearest witness",
    where: Any | None = None,
) -> Relation:
    """Assert that along an axis of witnesses at least one fulfils the relation in all its entries.

    The sides of the relation have shape (*B, W, *E): an instance has W witnesses, and the axes
    behind theirs are the entries, all of which one and the same witness has to fulfil.

    >>> from rankcheck import eq
    >>> from rankcheck.witnesses import all_permutations
    >>> x, y = torch.tensor([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]], dtype=torch.float64)
    >>> sorted_alike = eq(x[all_permutations(3)], y)  # 6 witnesses, 3 entries
    >>> there_is(sorted_alike, dim=-2, exhaustive=True).violated()
    tensor(False)

    Args:
        dim: the axis of the witnesses, counted from the end: -1, -2, ...
        exhaustive: whether the witnesses are all that there are, or one of them is as good as any.
            An instance on which all of them are proved to fail refutes the claim only then.
            Otherwise it is undecided, as a witness that nobody has listed may fulfil it.
        where: the hypothesis under which the existence is asserted, of shape (*B).

    Raises:
        TypeError: if the relation is none of `leq`, `lt` and `eq`, or has a `where` of its own.
        ValueError: if dim is not an axis counted from the end, or there are no witnesses.
    """
    if not isinstance(relation, Relation) or isinstance(relation, AnyOf | ThereIs):
        raise TypeError(
            f"there_is received {type(relation).__name__}; it takes leq(...), lt(...) or eq(...)"
        )
    if relation.where is not None:
        raise TypeError(
            "the relation of the witnesses has where=; the hypothesis is one of the instance, so "
            "it is passed to there_is"
        )
    shape = tuple(relation.lhs.shape)
    if not -len(shape) <= dim < 0:
        raise ValueError(
            f"there_is received dim={dim} for sides of shape {shape}; the axis of the witnesses is "
            f"counted from the end, from -1 to {-len(shape)}"
        )
    batch = shape[:dim]
    if 0 in shape[len(batch) :]:
        raise ValueError(f"the sides have shape {shape}; there is no witness, or no entry")
    in_balls = is_ball(relation.lhs) or is_ball(relation.rhs)
    place = (_nearest_on_balls if in_balls else _nearest)(relation, batch, shape[dim])

    def chosen(array: Any) -> Any:
        if array is None:
            return None
        wide = array if is_ball(array) else torch.as_tensor(array, device=place.device)
        return wide.expand(shape).reshape((*batch, -1)).gather(-1, place[..., None])[..., 0]

    return ThereIs(
        relation.kind,
        chosen(relation.lhs),
        chosen(relation.rhs),
        None if in_balls else chosen(relation.scale),
        None if in_balls else chosen(relation.error),
        relation.terms,
        None if where is None else truth(where, "where="),
        label,
        relation.integers,
        witnesses=relation,
        dim=dim,
        exhaustive=exhaustive,
    )


def _nearest(relation: Relation, batch: tuple[int, ...], number: int) -> torch.Tensor:
    """Of each instance the worst entry of the best witness, as a place in its sides: (*B)."""
    far = farness(relation).reshape((*batch, number, -1))
    worst, entry = far.max(-1)
    witness = worst.argmin(-1, keepdim=True)
    return (witness * far.shape[-1] + entry.gather(-1, witness))[..., 0]


def _nearest_on_balls(relation: Relation, batch: tuple[int, ...], number: int) -> torch.Tensor:
    """As `_nearest`; a witness that is proved to fail is chosen only where all of them are."""
    lhs, rhs = (side.reshape((math.prod(batch), number, -1)) for side in relation.sides())
    size = lhs.shape[-1]
    places = []
    for index in range(len(lhs)):
        worst = []
        for witness in range(number):
            entries = (
                (*_farness_on_balls(relation, lhs[index, witness, e], rhs[index, witness, e]), e)
                for e in range(size)
            )
            fails, far, entry = max(entries)
            worst.append((fails, far, witness * size + entry))
        places.append(min(worst)[-1])
    return torch.tensor(places).reshape(batch)


def _farness_on_balls(relation: Relation, lhs: Any, rhs: Any) -> tuple[bool, Fraction | float]:
    """Whether an entry is proved to fail, and by how much of its sides it may."""
    try:
        excess = Excess.of(relation.kind, lhs, rhs)
    except Undecided:  # without bounds
        return False, math.inf
    return excess.fails, excess.high / max(excess.size, tolerances.NEARLY_ZERO)
