r"""What is measured at the points of the data: Jacobians, their ranks, the tangent kernel.

The points are measured in *parts* of `PART` consecutive ones, and each part in batches that fit
into `MEMORY`. Both depend on the network and the number of points alone, and sums are added in the
order of the parts, so that the result does not depend on where the parts are measured.

For |a| ≤ 1 and every x and k,

.. math::
    \|\theta\|^2 \ge L \sum_i s_i(Jf(x))^{2/L} \ge kL + 2 \sum_{i \le k} \log s_i(Jf(x)):

the first by rank.jacobian-bounds-cost, the second because :math:`e^t \ge 1 + t` for
t = (2/L) log s_i, and the terms that are left out are not negative. On a kink it holds for the
product of masked weights that stands for the Jacobian there.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rankcheck.audit.layers import dead_cost, spectra
from rankcheck.audit.model import Model, ModelError
from rankcheck.audit.part import PART, Job, Part, is_narrow, join, prepare
from rankcheck.audit.ranks import GAP, TOLERANCE, rank_facts, ranks_and_gaps
from rankcheck.audit.result import BoundByRank, DataFacts, Quantiles, RankFacts
from rankcheck.costs import effective_index_rank, excess
from rankcheck.errors import InputError
from rankcheck.linalg import power, rank_threshold, singular_values, symmetric_sqrt
from rankcheck.networks import Network, gram
from rankcheck.parallel import Done, Limits, Unfinished, Work, executor_for

__all__ = ["KERNEL_ROWS", "measure_points"]

#: The Gram matrix of the tangent kernel has at most so many rows, or those of one point.
KERNEL_ROWS = 1000
#: A part whose worker dies so often ends the audit.
DEATHS = 3
#: It is computed in tiles of so many rows, two for each layer at a time.
KERNEL_TILE = 256


def measure_points(
    model: Model,
    X: Tensor,
    *,
    device: str = "cpu",
    progress: Callable[[int], object] | None = None,
    max_rank: int | None = None,
    tolerance: float = TOLERANCE,
    values: Sequence[Tensor] | None = None,
    executor: Any = None,
) -> tuple[DataFacts, Part]:
    """What holds at the points X (N, n_0), and what was measured there.

    Args:
        progress: called with how many points are measured.
        max_rank: the bounds by rank go up to this one, and to each that occurs.
        tolerance: the share of s_1 up to which a singular value of Jf(x) counts as zero.
        values: the `spectra` of the network, if they are known.
        executor: where the parts are measured, as for `audit`.

    Raises:
        ModelError: if the network overflows at a point.
        InputError: if there is no such executor, or its workers are lost.
    """
    net = model.net
    values = spectra(net) if values is None else values
    norms = tuple(float(s.amax()) if len(s) else 0.0 for s in values)
    job = Job(net, norms, device, model.biases)
    merged = join(_parts(job, X, executor, progress))
    _check_finite(merged)
    s, noise = torch.from_numpy(merged.singular_values), torch.from_numpy(merged.noise)
    shaped = s.new_empty(0, net.widths[-1], net.widths[0])  # as rank_threshold reads it
    found, gaps, _ = ranks_and_gaps(shaped, s, tolerance, noise)
    counts = dict(sorted(Counter(found.tolist()).items()))
    clear = s > rank_threshold(shaped, s, noise)
    present = gaps[gaps.isfinite()]
    powers = torch.where(clear, power(s, Fraction(2, net.depth)), 0.0).sum(-1)
    smooth = powers[~torch.from_numpy(merged.kinks)]
    top, points = _kernel_top(net, X, job)
    spectrum, of_index = _index_rank(net, torch.from_numpy(merged.gradients) / len(X), tolerance)
    least = range((-1 if max_rank is None else max_rank) + 1)
    facts = DataFacts(
        points=len(X),
        ranks=counts,
        undecided=int((~(gaps >= GAP)).sum()),
        gaps=_quantiles(present) if len(present) else None,
        tolerance=tolerance,
        singular_values=tuple(map(_quantiles, s.unbind(-1))),
        schatten=_quantiles(powers),
        bounds=tuple(_bound(net, k, counts.get(k, 0), s, clear) for k in sorted({*counts, *least})),
        kinks=int(merged.kinks.sum()),
        kernel_trace=_quantiles(torch.from_numpy(merged.traces)),
        kernel_top=top,
        kernel_points=points,
        egop=spectrum,
        index_rank=of_index,
        least_cost=net.depth * float(smooth.max()) if len(smooth) else None,
        dead_cost=dead_cost(net, merged) if net.slope == 0 else None,
    )
    return facts, merged


def _parts(
    job: Job, X: Tensor, executor: Any, progress: Callable[[int], object] | None
) -> Iterator[Part]:
    """The parts of the data in their order, wherever and in whatever order they are measured.

    Raises:
        InputError: if there is no such executor, or its workers are lost.
    """
    waiting: dict[int, Part] = {}
    following = points = 0
    parts = enumerate(part.numpy() for part in X.detach().cpu().contiguous().split(PART))
    with closing(executor_for(executor, Work(partial(prepare, job)))) as executor:
        for end in executor.run(parts, Limits(deaths=DEATHS)):
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


def _check_finite(merged: Part) -> None:
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


def _quantiles(values: Tensor) -> Quantiles:
    """Least, quartiles and most of a vector."""
    five = np.quantile(values.detach().cpu().numpy(), [0, 0.25, 0.5, 0.75, 1])
    return Quantiles(*map(float, five))


def _bound(net: Network, k: int, points: int, s: Tensor, clear: Tensor) -> BoundByRank:
    """The excess over rank k against the largest 2 Σ_{i ≤ k} log s_i among the clear s_k."""
    logs: float | None = 0.0
    if k > 0:
        some = clear[:, k - 1] if k <= s.shape[-1] else clear[:, :0].any(-1)
        sums = 2 * s[some, :k].log().sum(-1)
        logs = float(sums.max()) if len(sums) else None
    return BoundByRank(k, points, float(excess(net, k)), logs)


def _kernel_top(net: Network, X: Tensor, job: Job) -> tuple[float, int]:
    """The largest eigenvalue of Θ(X, X)/K on K points at even distances, and K."""
    number = min(len(X), max(1, KERNEL_ROWS // net.widths[-1]))
    places = torch.arange(number) * len(X) // number
    block = max(1, KERNEL_TILE // net.widths[-1])
    K = gram(job.on_device().net, X[places].to(job.device), biases=job.biases, block=block)
    return max(0.0, float(torch.linalg.eigvalsh(K)[-1])) / number, number


def _index_rank(net: Network, C: Tensor, tolerance: float) -> tuple[tuple[float, ...], RankFacts]:
    """The spectrum of the EGOP and its rank, from the mean of JᵀJ or of GᵀG (see `is_narrow`)."""
    if is_narrow(net):
        root = singular_values(symmetric_sqrt(C) @ net.weights[0])
        small = torch.diag(root * root)  # the rest of the spectrum of C_f is 0
        missing = net.widths[0] - len(root)
    else:
        small, missing = C, 0
    values = torch.linalg.eigvalsh(small).flip(-1)
    values = torch.where(values > rank_threshold(small, values.abs()), values, 0.0)
    root = values.sqrt()
    epsilon = tolerance * float(root[0])
    rank = int(effective_index_rank(small, epsilon))
    before = float(root[rank - 1]) if rank else math.inf
    after = float(root[rank]) if rank < len(root) else 0.0
    gap = before / after if after else math.inf
    return (*values.tolist(), *[0.0] * missing), rank_facts(rank, gap, epsilon)
