"""Parts of data, measured anywhere and put together: what chains and graphs have in common."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rankcheck.audit.model import ModelError
from rankcheck.audit.part import Part
from rankcheck.audit.ranks import rank_facts, ranks_and_gaps
from rankcheck.audit.result import Quantiles, RankFacts
from rankcheck.costs import effective_index_rank
from rankcheck.errors import InputError
from rankcheck.linalg import rank_threshold
from rankcheck.parallel import Done, Limits, Unfinished, Work, executor_for

__all__ = ["JacobianFacts", "check_finite", "index_rank", "jacobian_facts", "measured", "quantiles"]

#: A part whose worker dies so often ends the audit.
DEATHS = 3


def measured(
    work: Work, tasks: Iterable[Any], executor: Any, progress: Callable[[int], object] | None
) -> Iterable[Any]:
    """What the work makes of tasks, in their order, wherever and in whatever order it is done.

    Args:
        work: its tasks are pairs of a number, from 0, and one of `tasks`.
        progress: called with the lengths so far, summed.

    Raises:
        InputError: if there is no such executor, or its workers are lost.
    """
    waiting: dict[int, Any] = {}
    following = points = 0
    with closing(executor_for(executor, work)) as executor:
        for end in executor.run(enumerate(tasks), Limits(deaths=DEATHS)):
            match end:
                case Done((number, _), part):
                    waiting[number] = part
                case Unfinished((number, _)):
                    raise InputError(
                        f"part {number + 1} of the data {end.why()}; no part may be lost"
                    )
            while following in waiting:
                part = waiting.pop(following)
                following, points = following + 1, points + len(part)
                if progress is not None:
                    progress(points)
                yield part


def check_finite(merged: Part) -> None:
    """Refuse a network that is not finite somewhere on the data, or whose squares are not."""
    fine = np.isfinite(merged.traces)
    sums = (merged.gradients, *merged.second)
    if fine.all() and all(np.isfinite(total).all() for total in sums):
        return
    where = "in a sum over the data" if fine.all() else f"at point {int(fine.argmin())}"
    raise ModelError(
        f"the network overflows {where}; its values, its derivatives and their squares are finite "
        "in double precision"
    )


@dataclass(frozen=True, eq=False)
class JacobianFacts:
    """What follows from the singular values of Jacobians at points.

    Attributes:
        ranks: how many points have which numerical rank.
        undecided, gaps, singular_values: as in `DataFacts`.
        clear: which singular values (N, r) are not rounding, bools.
    """

    ranks: Mapping[int, int]
    undecided: int
    gaps: Quantiles | None
    singular_values: tuple[Quantiles, ...]
    clear: Tensor


def jacobian_facts(
    s: Tensor, noise: Tensor, shape: tuple[int, int], tolerance: float
) -> JacobianFacts:
    """The facts of Jacobians of a shape (m, n) with singular values s (N, r) and their noise (N).

    `tolerance` is the share of the largest singular value up to which one counts as zero.
    """
    shaped = s.new_empty(0, *shape)  # as rank_threshold reads it
    ranks, gaps, _ = ranks_and_gaps(shaped, s, tolerance, noise)
    facts = [rank_facts(int(r), float(g), 0.0) for r, g in zip(ranks, gaps, strict=True)]
    present = [each.gap for each in facts if each.gap is not None]
    return JacobianFacts(
        ranks=dict(sorted(Counter(ranks.tolist()).items())),
        undecided=sum(not each.separated for each in facts),
        gaps=quantiles(torch.tensor(present, dtype=torch.float64)) if present else None,
        singular_values=tuple(map(quantiles, s.unbind(-1))),
        clear=s > rank_threshold(shaped, s, noise),
    )


def index_rank(C: Tensor, tolerance: float) -> tuple[tuple[float, ...], RankFacts]:
    """The spectrum of C, the mean of JᵀJ, without rounding, and the rank of C^{1/2}."""
    values = torch.linalg.eigvalsh(C).flip(-1)
    values = torch.where(values > rank_threshold(C, values.abs()), values, 0.0)
    root = values.sqrt()
    epsilon = tolerance * float(root[0])
    rank = int(effective_index_rank(C, epsilon))
    before = float(root[rank - 1]) if rank else math.inf
    after = float(root[rank]) if rank < len(root) else 0.0
    gap = before / after if after else math.inf
    return tuple(values.tolist()), rank_facts(rank, gap, epsilon)


def quantiles(values: Tensor) -> Quantiles:
    """Least, quartiles and most of a vector."""
    five = np.quantile(values.detach().cpu().numpy(), [0, 0.25, 0.5, 0.75, 1])
    return Quantiles(*map(float, five))
