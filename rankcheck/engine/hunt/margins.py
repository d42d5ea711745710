r"""The margin of a relation: what a hunt minimises.

For `lhs <= rhs` the margin is $(\text{rhs} - \text{lhs}) / m$ with
$m = \max(|\text{lhs}|, |\text{rhs}|, \text{scale})$, for `lhs == rhs` it is
$-|\text{lhs} - \text{rhs}| / m$: negative exactly where the relation fails, zero at equality, and
without unit. An instance has a margin for each relation of its claim, the least over the entries of
that relation. It is infinite where both sides vanish, and where the hypothesis of the relation
does not hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import torch

from rankcheck.claims.relations import Relation
from rankcheck.claims.signs import SIGNS
from rankcheck.engine.counterexamples.instance import by_instance, excess, wide

#: The distance of sides of opposite signs; larger than the logarithm of any ratio of floats.
FAR = 2000.0


@dataclass(frozen=True, eq=False)
class Margins:
    """The margins of a batch of B instances under R relations.

    Attributes:
        relative: shape (R, B), the margins.
        distance: shape (R, B), ordered as the margins. For a bound with sides of one sign it is
            `log(rhs / lhs)`, which has a gradient where one side is far below the other and all
            margins are close to 1. Zero within the tolerance.
        steady: shape (R, B), the margins with the gradient of the numerator alone. A descent on it
            cannot lower a margin by enlarging the denominator, and it has a gradient where the
            relative margin is constant, as for `f(x) <= 0`.
        beyond: shape (B), how far a violation lies beyond the tolerance, relative to the sides;
            `-inf` where there is none, `inf` where a side is not a number.
        absolute: shape (B), the same in absolute terms.
        valid: shape (B), whether the instance lies inside the hypotheses of the claim and of one of
            its relations.
    """

    relative: torch.Tensor
    distance: torch.Tensor
    steady: torch.Tensor
    beyond: torch.Tensor
    absolute: torch.Tensor
    valid: torch.Tensor

    @property
    def least(self) -> torch.Tensor:
        """The least margin of each instance, shape (B)."""
        return self.relative.detach().amin(0)

    def select(self, index: torch.Tensor) -> Margins:
        """The margins of some of the instances."""
        return Margins(*(getattr(self, field.name)[..., index] for field in fields(self)))


def margins(relations: Sequence[Relation], valid: torch.Tensor) -> Margins:
    """The margins of the relations of a batch.

    Args:
        valid: shape (B), which instances satisfy the hypotheses.
    """
    relative, distance, steady, asserted = zip(*(_of(r, valid) for r in relations), strict=True)
    inside = torch.stack(asserted).any(0)
    beyond = torch.where(inside, excess(relations), -torch.inf)
    absolute = beyond
    if bool((beyond > -torch.inf).any()):
        absolute = excess(relations, relative=False)
        absolute = torch.where(inside, absolute, -torch.inf)
    return Margins(
        torch.stack(relative), torch.stack(distance), torch.stack(steady), beyond, absolute, inside
    )


def join(batches: Sequence[Margins]) -> Margins:
    """The margins of several batches, as one batch; a relation that one lacks is not asserted."""
    most = max(len(one.relative) for one in batches)
    names = [field.name for field in fields(Margins)]

    def rows(one: Margins, name: str) -> torch.Tensor:
        values = getattr(one, name)
        missing = most - len(values) if values.ndim == 2 else 0
        return (
            values
            if not missing
            else torch.cat((values, values.new_full((missing, values.shape[1]), torch.inf)))
        )

    return Margins(*(torch.cat([rows(one, name) for one in batches], -1) for name in names))


def _of(relation: Relation, valid: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """The relative margin, distance and steady margin of a relation, and where it is asserted.

    Each has shape (B).
    """
    asserted = relation.asserted & wide(valid.to(relation.lhs.device), relation.lhs)
    least = (by_instance(each).amin(1) for each in _by_entry(relation, asserted))
    return (*least, by_instance(asserted).any(1))


def _by_entry(relation: Relation, asserted: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """The relative margin, distance and steady margin, in the shape of the sides."""
    size = relation.size
    if relation.exact:
        size = size.clamp(min=1)
    elif relation.scale is not None:
        size = torch.maximum(size, torch.as_tensor(relation.scale).abs())
    matters = asserted & (size > 0)
    size = torch.where(matters, size, 1.0)
    relative = -relation.excess.double() / size
    steady = -relation.excess.double() / size.detach()
    return tuple(
        torch.where(matters & margin.isfinite(), margin, torch.inf)
        for margin in (relative, _distance(relation, relative), steady)
    )


def _distance(relation: Relation, relative: torch.Tensor) -> torch.Tensor:
    """The distance (see `Margins`), in the shape of the sides."""
    if not SIGNS[relation.kind].bound or relation.exact:
        return relative
    lhs, rhs = relation.lhs, relation.rhs
    one_sign = (lhs.sign() == rhs.sign()) & (lhs != 0)
    logs = [torch.where(one_sign, side.abs(), 1.0).log() for side in (lhs, rhs)]
    ratio = (logs[1] - logs[0]) * rhs.detach().sign()
    apart = relative + (FAR - 1) * relative.detach().sign()
    close = relation.excess.detach().abs() <= relation.tolerance.detach()
    return torch.where(close, 0.0, torch.where(one_sign, ratio, apart))
