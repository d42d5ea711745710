r"""A claim evaluated on one network and some of its data, and where it is closest to failing.

The bodies of the claims take `net.jacobian_noise(x)` for what counts as zero. That bound, a product
of absolute values, grows by a factor of order √n a layer: beyond some ten layers of width 512 it
exceeds every singular value of Jf. For a network with more than `WIDE` units in a layer the smaller
of it and `rankcheck.theory.networks.rounding.product_noise` is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from rankcheck.audit.result import Side
from rankcheck.claims.claim import Claim
from rankcheck.claims.labels import relation_name
from rankcheck.claims.relations import Relation
from rankcheck.claims.signs import RelationKind
from rankcheck.engine.counterexamples.instance import by_instance
from rankcheck.engine.verification.batches import Drawn, evaluate_instances
from rankcheck.engine.verification.mapped import beside
from rankcheck.theory.instances.record import Entries, Record
from rankcheck.theory.instances.source import Instances
from rankcheck.theory.linalg import Array, operator_norm
from rankcheck.theory.networks import Network
from rankcheck.theory.networks.rounding import product_noise

#: Numbers in the arrays of one batch of points.
BATCH = 2**22
#: Up to this width the product of absolute values is sharp enough.
WIDE = 16
#: The fields of an `Outcome` that have an entry for each point.
_ARRAYS = ("lhs", "rhs", "tolerance", "asserted", "violated")


@dataclass(frozen=True, eq=False)
class Outcome:
    """One relation of a claim, at n points or pairs, or once: then n = 1.

    Attributes:
        label: of the relation; empty if the claim has one relation without a name.
        kind: as of a `Relation`.
        lhs, rhs, tolerance: its sides, and what is rounding, (n, E) for E entries each.
        asserted: where the hypothesis of the relation holds.
        violated: where it fails by more than the tolerance, or a side is not a number.
    """

    label: str
    kind: RelationKind
    lhs: Tensor
    rhs: Tensor
    tolerance: Tensor
    asserted: Tensor
    violated: Tensor

    @property
    def points(self) -> int:
        """At how many points or pairs."""
        return len(self.lhs)

    @property
    def finite(self) -> Tensor:
        """Where the relation is asserted between two finite sides."""
        sides = self.lhs.isfinite() & self.rhs.isfinite() & self.tolerance.isfinite()
        return self.asserted & sides

    @property
    def unknown(self) -> Tensor:
        """Where it is asserted and sides that are not finite do not satisfy it."""
        return self.violated & ~self.finite

    @property
    def failing(self) -> Tensor:
        """Where it is violated between finite sides."""
        return self.violated & self.finite

    @property
    def slack(self) -> Tensor:
        """rhs − lhs, or −|rhs − lhs| for `eq`."""
        difference = self.rhs - self.lhs
        return -difference.abs() if self.kind == "eq" else difference

    @property
    def closeness(self) -> Tensor:
        """The slack relative to the larger side, (n, E); infinite where it is not asserted.

        Sides that are rounding count as far apart as two sides can be, 2.
        """
        size = torch.maximum(self.lhs.abs(), self.rhs.abs())
        clear = (size > self.tolerance) | self.violated
        relative = torch.where(clear, self.slack / torch.where(clear, size, 1.0), 2.0)
        return torch.where(self.finite, relative, torch.inf)

    def reordered(self, order: Tensor) -> Outcome:
        """The same with its points in another order."""
        return Outcome(self.label, self.kind, *(getattr(self, name)[order] for name in _ARRAYS))

    @cached_property
    def worst(self) -> tuple[int, int] | None:
        """The point and the entry at which it is closest to failing; None if there is none."""
        if not bool(self.finite.any()):
            return None
        place = int(self.closeness.reshape(-1).argmin())
        return place // self.lhs.shape[1], place % self.lhs.shape[1]

    def side(self, place: int | None) -> Side:
        """The sides at the worst point, if there is one, whose number in the data is `place`."""
        lhs, rhs, slack, tolerance = (
            float(array[self.worst]) for array in (self.lhs, self.rhs, self.slack, self.tolerance)
        )
        asserted = int(self.asserted.any(-1).sum())
        return Side(self.label, self.kind, lhs, rhs, slack, tolerance, place, asserted)


@torch.no_grad()
def at_points(
    claim: Claim,
    net: Network,
    x: Tensor,
    *more: Tensor,
    numbers: int,
    late: Callable[[], bool] = lambda: False,
) -> tuple[Outcome, ...]:
    """A claim about a network and a point or a pair, at each x of (n, n_0) or (n, 2, n_0).

    Args:
        more: what else the body takes, the same at all points.
        numbers: how many numbers the arrays of the body have for each point.
        late: asked after each batch of points; the others are left out if it is true.
    """
    shape, low, high = tuple(x.shape[1:]), float(x.min()) - 1, float(x.max()) + 1
    family = Instances(
        f"points of the network of widths {net.widths}",
        lambda source: (net, source.tensor(*shape, low=low, high=high), *more),
        at_points,
    )
    batches = []
    for some in x.split(max(1, BATCH // numbers)):
        record = Record((Entries(some, shape, low, high),))
        evaluation = evaluate_instances(claim, family, Drawn(record))
        if evaluation.raised:
            raise evaluation.raised[0].error
        (part,) = evaluation.parts
        batches.append(_outcomes(part.relations))
        if late():
            break
    joined = []
    for same in zip(*batches, strict=True):
        arrays = [torch.cat([getattr(part, name) for part in same]) for name in _ARRAYS]
        joined.append(Outcome(same[0].label, same[0].kind, *arrays))
    return tuple(joined)


@torch.no_grad()
def on_data(claim: Claim, net: Network, *data: Tensor) -> tuple[Outcome, ...]:
    """A claim about a network and data (N, n_0), or about a network alone."""
    return _outcomes(beside([tuple(one.spread() for one in claim.relations((net, *data)))]))


def _outcomes(relations: Sequence[Relation]) -> tuple[Outcome, ...]:
    """The relations of a batch of instances; all arrays on the CPU."""
    outcomes = []
    for index, relation in enumerate(relations):
        label = relation.label
        if not label and len(relations) > 1:
            label = relation_name(label, index)
        sides = (relation.lhs, relation.rhs, relation.tolerance)
        arrays = (*sides, relation.asserted, relation.violated())
        outcomes.append(Outcome(label, relation.kind, *map(_flat, arrays)))
    return tuple(outcomes)


def _flat(array: Tensor) -> Tensor:
    rows = by_instance(array.detach().cpu())
    return rows if rows.dtype == torch.bool else rows.double()


class SharpNetwork(Network):
    """A network in floats; `norms` has ‖W_1‖_op, ..., ‖W_L‖_op, without axes."""

    norms: tuple[Array, ...]

    def jacobian_noise(self, x: Array) -> Array:
        """The smaller of the two bounds, shape (*B, [N])."""
        at = self.at(x)
        plain = at.jacobian_noise
        # Here the product starts with the first layer, and the other bound is not of it.
        if self.widths[0] < self.widths[-1]:
            return plain
        return torch.minimum(
            plain.nan_to_num(nan=torch.inf), product_noise(at, self.norms, probes=0)
        )


def sharp(net: Network) -> Network:
    """The network itself if it is narrow, otherwise with the sharper bound; without batch axes."""
    if max(net.widths) <= WIDE:
        return net
    norms = tuple(map(operator_norm, net.weights))
    return _with_norms(net.weights, net.biases, net.slope, norms)


def _with_norms(weights: object, biases: object, slope: object, norms: object) -> SharpNetwork:
    net = SharpNetwork.unchecked_slope(weights, biases, slope)  # type: ignore[arg-type]
    object.__setattr__(net, "norms", norms)
    assert isinstance(net, SharpNetwork)
    return net
