r"""The margin of a relation: what a hunt minimises.

For `lhs <= rhs` the margin is $(\text{rhs} - \text{lhs}) / m$ with
$m = \max(|\text{lhs}|, |\text{rhs}|, \text{scale})$, for `lhs == rhs` it is
$-|\text{lhs} - \text{rhs}| / m$: negative exactly where the relation fails, zero at equality, and
without unit. An instance has a margin for each relation of its claim, the least over the entries of
that relation. Where both sides vanish nothing is at stake, and where the hypothesis of a relation
does not hold nothing is asserted: there the margin is infinite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from rankcheck.claims.relations import Relation
from rankcheck.claims.search import excess
from rankcheck.instances.source import over_batch


@dataclass(frozen=True, eq=False)
class Margins:
    """The margins of a batch of B instances under R relations.

    Attributes:
        relative: shape (R, B), with the gradient of the margin.
        steady: the same numbers, with the gradient of the numerator alone. Descending on it cannot
            lower a margin by blowing up what it is relative to, and it has a gradient where the
            relative margin is constant, as for `f(x) <= 0`.
        beyond: shape (B), how far a violation lies beyond the tolerance, relative to the sides;
            `-inf` where there is none, `inf` where a side is not a number.
        valid: shape (B), whether the instance lies inside the hypotheses of the claim and of one of
            its relations.
    """

    relative: torch.Tensor
    steady: torch.Tensor
    beyond: torch.Tensor
    valid: torch.Tensor

    @property
    def least(self) -> torch.Tensor:
        """The least margin of each instance, shape (B)."""
        return self.relative.detach().amin(0)

    def select(self, index: torch.Tensor) -> Margins:
        """The margins of some of the instances."""
        return Margins(
            self.relative[:, index], self.steady[:, index], self.beyond[index], self.valid[index]
        )


def margins(relations: Sequence[Relation], valid: torch.Tensor) -> Margins:
    """The margins of the relations of a batch, `valid` of shape (B); or of one instance, `()`."""
    batch = tuple(valid.shape)
    relative, steady, asserted = zip(*(_of(r, valid) for r in relations), strict=True)
    inside = torch.stack(asserted).any(0)
    beyond = torch.where(inside, excess(tuple(relations), batch), -torch.inf)
    return Margins(torch.stack(relative), torch.stack(steady), beyond, inside)


def stack(singles: Sequence[Margins]) -> Margins:
    """The margins of instances that were measured one by one, as those of a batch."""
    return Margins(
        torch.stack([m.relative for m in singles], -1),
        torch.stack([m.steady for m in singles], -1),
        torch.stack([m.beyond for m in singles]),
        torch.stack([m.valid for m in singles]),
    )


def _of(relation: Relation, valid: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Both margins of a relation and where it is asserted, each of shape (B)."""
    batch = tuple(valid.shape)
    lhs, rhs = relation.lhs, relation.rhs
    valid = valid.to(lhs.device)
    size = torch.maximum(lhs.abs(), rhs.abs())
    if relation.exact:
        size = size.clamp(min=1).double()
    elif relation.scale is not None:
        size = torch.maximum(size, torch.as_tensor(relation.scale).abs())
    trailing = valid.reshape(batch + (1,) * (lhs.ndim - len(batch)))
    asserted = relation.asserted & trailing
    matters = asserted & (size > 0)
    size = torch.where(matters, size, 1.0)
    excess_ = relation.excess.double()
    both = []
    for unit in (size, size.detach()):
        margin = (-excess_ / unit).nan_to_num(nan=torch.inf, posinf=torch.inf, neginf=torch.inf)
        both.append(over_batch(torch.where(matters, margin, torch.inf), batch, torch.amin))
    return both[0], both[1], over_batch(asserted, batch, torch.any)
