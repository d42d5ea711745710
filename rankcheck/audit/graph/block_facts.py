"""What is measured of the blocks of a network, and what may be said of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from rankcheck.audit.graph.affordable import evenly, is_dense, number_of_points
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

__all__ = ["block_facts", "block_jobs"]

#: Blocks are measured at so many of their inputs at most, at even distances,
MOST = 128
#: and in so many operations, all of them together, or each at one point.
OPERATIONS = 2**38
#: Of so many singular values the distribution is kept.
SHOWN = 32


def block_jobs(graph: Graph, parts: Sequence[Block], X: Tensor) -> list[Points]:
    """The blocks, each followed by its branch if it has one, and their inputs at points of X.

    A block that treats rows, such as tokens, alike and alone is that of one row, and the rows of
    its inputs are its points.
    """
    X = X[evenly(len(X), min(len(X), MOST))]
    values = graph.values(X, dict.fromkeys(part.start for part in parts))
    alone = [in_rows(part) or part for part in parts]
    share = OPERATIONS // max(1, sum(len(_measured(part)) for part in alone))
    jobs = []
    for part, one in zip(parts, alone, strict=True):
        Z, most = values[part.start], len(X) * (part.graph.widths[0] // one.graph.widths[0])
        number = min(number_of_points(g, min(most, MOST), share) for g in _measured(one))
        Z = Z[evenly(len(Z), number)] if one is part else rows_of(part.graph, Z, number)
        jobs += [Points(g, Z) for g in _measured(one)]
    return jobs


def _measured(part: Block) -> list[Graph]:
    """What is measured of a block: itself, and its branch."""
    return [part.graph] if part.branch is None else [part.graph, part.branch]


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
    graph, *branches = _measured(alone or part)
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
        complete=is_dense(graph),
    )
    if not branches:
        return facts
    of_branch = _ranks(branches[0], next(measured), tolerance)
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
