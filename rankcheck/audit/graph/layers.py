"""What is measured of the linear maps of a network that is no chain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from rankcheck.audit.graph.balance import imbalance
from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.graph.linear_map import DiagonalMap, LinearMap
from rankcheck.audit.graph.scalable import Scalable
from rankcheck.audit.layers import effective_rank, participation
from rankcheck.audit.model import ModelError
from rankcheck.audit.ranks import NEAR, TOLERANCE, most_common, rank_facts, ranks_and_gaps
from rankcheck.audit.result import LayerFacts, RankFacts
from rankcheck.witnesses.projections import isometry_distance

__all__ = ["LARGEST", "measure_maps", "most_rank"]

#: So many singular values are computed where not all are affordable.
LARGEST = 16


def measure_maps(
    graph: Graph,
    tolerance: float = TOLERANCE,
    rank: int | None = None,
    *,
    hidden: Sequence[Scalable] = (),
) -> list[LayerFacts]:
    """The facts of each linear map, in order; those of the data are left out.

    A map whose parameters occur several times is one, with the size that it has at the first place.

    Args:
        tolerance: the share of its largest singular value up to which a singular value is zero.
        rank: k of the audit; by default the rank that most maps have.
        hidden: the units that can be rescaled, for `imbalance`.

    Raises:
        ModelError: the iteration for the singular values of a map does not end.
    """
    behind = {(one.source.name, one.source.parameters): imbalance(one) for one in hidden}
    maps: dict[object, LinearMap] = {}
    for layer in graph.layers.values():
        for one in layer.maps:
            maps.setdefault((one.name, one.parameters), one)
    found = []
    for one in maps.values():
        try:
            s, complete = one.singular_values(LARGEST)
        except ArithmeticError as error:
            raise ModelError(f"the layer {one.name!r}: {error}") from error
        facts = LayerFacts(
            name=one.name,
            shape=one.block,
            weights=one.weights,
            bias=one.bias,
            singular_values=tuple(s.tolist()),
            near_one=int(((s - 1).abs() <= NEAR).sum()),
            rank=_rank(one, s, complete, tolerance),
            stable_rank=one.frobenius_squared() / float(s[0]) ** 2 if s[0] > 0 else 0.0,
            effective_rank=effective_rank(s) if complete else None,
            participation=participation(s) if complete else None,
            imbalance=behind.get((one.name, one.parameters)),
            kind=one.kind,
            complete=complete,
            copies=one.copies,
        )
        found.append(facts)
    k = most_rank(found) if rank is None else rank
    both = zip(found, maps.values(), strict=True)
    return [replace(facts, distance=_distance(one, facts, k)) for facts, one in both]


def most_rank(layers: Sequence[LayerFacts]) -> int:
    """The rank that most maps have, the smallest of several; norms aside.

    Where the rank is only known to be at least a number, it counts if there are no others.
    """
    linear = [facts for facts in layers if not facts.kind.endswith("norm")]
    known = [facts for facts in linear if facts.complete or facts.rank.separated]
    return most_common(Counter(facts.rank.rank for facts in known or linear))


def _rank(one: LinearMap, s: Tensor, complete: bool, tolerance: float) -> RankFacts:
    """The rank; where none of the largest singular values counts as zero, it is undecided."""
    count, gap, threshold = map(float, ranks_and_gaps(s.new_empty(0, *one.block), s, tolerance))
    if not complete and count == len(s):
        return RankFacts(len(s), None, threshold, separated=False)
    return rank_facts(int(count), gap, threshold)


def _distance(one: LinearMap, facts: LayerFacts, k: int) -> float | None:
    """Σ (s_i − 1_{i ≤ k})², which is ‖A‖_F² − 2 Σ_{i ≤ k} s_i + k; of norms it says nothing."""
    s = facts.singular_values
    if k > len(s) or isinstance(one, DiagonalMap):
        return None
    if facts.complete:
        return float(isometry_distance(torch.tensor(s, dtype=torch.float64), torch.tensor(k)))
    return max(0.0, one.frobenius_squared() - 2 * sum(s[:k]) + k)
