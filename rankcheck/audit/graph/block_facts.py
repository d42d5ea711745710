"""What is measured of the blocks of a network, and what may be said of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from rankcheck.audit.graph.balance import balance_inside
from rankcheck.audit.graph.blocks import Block
from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.graph.least_cost import least_cost, unclaimed
from rankcheck.audit.graph.points import Points
from rankcheck.audit.graph.rows import in_rows, rows_of
from rankcheck.audit.graph.scalable import Scalable
from rankcheck.audit.merged import JacobianFacts, jacobian_facts
from rankcheck.audit.part import Part
from rankcheck.audit.result import BlockFacts

__all__ = ["BLOCK_POINTS", "block_facts", "block_jobs"]

#: Blocks are measured at so many of the points, or of their rows, at most, at even distances.
BLOCK_POINTS = 256
#: Of so many singular values the distribution is kept.
SHOWN = 32


def block_jobs(graph: Graph, parts: Sequence[Block], X: Tensor) -> list[Points]:
    """The blocks, each followed by its branch if it has one, and their inputs at points of X."""
    number = min(len(X), BLOCK_POINTS)
    places = torch.arange(number) * len(X) // number
    values = graph.values(X[places], dict.fromkeys(part.start for part in parts))
    return [job for part in parts for job in _jobs(part, values[part.start])]


def _jobs(part: Block, X: Tensor) -> Iterator[Points]:
    alone = in_rows(part)
    if alone is not None:
        part, X = alone, rows_of(part.graph, X, BLOCK_POINTS)
    yield Points(part.graph, X)
    if part.branch is not None:
        yield Points(part.branch, X)


def block_facts(
    parts: Sequence[Block],
    found: Sequence[Part],
    tolerance: float,
    hidden: Sequence[Scalable] = (),
) -> tuple[BlockFacts, ...]:
    """The facts of blocks.

    Args:
        found: what was measured at the points of their `block_jobs`; empty without data.
        tolerance: the share of the largest singular value up to which one counts as zero.
        hidden: the units of the whole network that can be rescaled.
    """
    measured = iter(found)
    facts = []
    for part in parts:
        imbalance, balanced = balance_inside(part.graph, hidden)
        one = _facts(part, measured if found else None, tolerance)
        facts.append(replace(one, imbalance=imbalance, balanced=balanced))
    return tuple(facts)


def _facts(part: Block, measured: Iterator[Part] | None, tolerance: float) -> BlockFacts:
    alone = in_rows(part)
    part = alone or part
    graph = part.graph
    before, after = graph.widths
    facts = BlockFacts(
        name=part.name,
        kind=part.kind,
        layers=tuple(m.name for layer in graph.layers.values() for m in layer.maps),
        shape=(after, before),
        rowwise=alone is not None,
        depth=graph.depth,
        cost=graph.stored_cost,
        unclaimed=unclaimed(graph),
    )
    if measured is None:
        return facts
    jacobians = next(measured)
    seen = _ranks(graph, jacobians, tolerance)
    s, kinks = (torch.from_numpy(a) for a in (jacobians.singular_values, jacobians.kinks))
    facts = replace(
        facts,
        least_cost=least_cost(graph, s, seen.clear, kinks),
        points=len(jacobians),
        ranks=seen.ranks,
        undecided=seen.undecided,
        gaps=seen.gaps,
        singular_values=seen.singular_values[:SHOWN],
    )
    if part.branch is None:
        return facts
    of_branch = _ranks(part.branch, next(measured), tolerance)
    return replace(
        facts,
        branch=of_branch.singular_values[:SHOWN],
        branch_ranks=of_branch.ranks,
        branch_undecided=of_branch.undecided,
    )


def _ranks(graph: Graph, measured: Part, tolerance: float) -> JacobianFacts:
    before, after = graph.widths
    s, noise = torch.from_numpy(measured.singular_values), torch.from_numpy(measured.noise)
    return jacobian_facts(s, noise, (after, before), tolerance)
