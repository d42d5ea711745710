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

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import torch
from torch import Tensor

from rankcheck.audit.layers import dead_cost, spectra
from rankcheck.audit.merged import check_finite, index_rank, jacobian_facts, measured, quantiles
from rankcheck.audit.model import Model
from rankcheck.audit.part import PART, Job, Part, is_narrow, join, prepare
from rankcheck.audit.ranks import TOLERANCE
from rankcheck.audit.result import BoundByRank, DataFacts, RankFacts
from rankcheck.costs import excess
from rankcheck.linalg import power, singular_values, symmetric_sqrt
from rankcheck.networks import Network, gram
from rankcheck.parallel import Work

__all__ = ["KERNEL_ROWS", "measure_points"]

#: The Gram matrix of the tangent kernel has at most so many rows, or those of one point.
KERNEL_ROWS = 1000
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
    job = Job(net, tuple(float(s.amax()) if len(s) else 0.0 for s in values), device)
    parts = (part.numpy() for part in X.detach().cpu().contiguous().split(PART))
    merged = join(measured(Work(partial(prepare, job)), parts, executor, progress))
    check_finite(merged)
    facts = _facts(net, X, merged, device, max_rank, tolerance)
    return replace(facts, dead_cost=dead_cost(net, merged) if net.slope == 0 else None), merged


def _facts(
    net: Network,
    X: Tensor,
    merged: Part,
    device: str,
    max_rank: int | None,
    tolerance: float,
) -> DataFacts:
    s = torch.from_numpy(merged.singular_values)
    noise = torch.from_numpy(merged.noise)
    found = jacobian_facts(s, noise, (net.widths[-1], net.widths[0]), tolerance)
    powers = torch.where(found.clear, power(s, Fraction(2, net.depth)), 0.0).sum(-1)
    smooth = powers[~torch.from_numpy(merged.kinks)]
    top, points = _kernel_top(net, X, device)
    spectrum, of_index = _index_rank(net, torch.from_numpy(merged.gradients) / len(X), tolerance)
    least = range((-1 if max_rank is None else max_rank) + 1)
    return DataFacts(
        points=len(X),
        ranks=found.ranks,
        undecided=found.undecided,
        gaps=found.gaps,
        tolerance=tolerance,
        singular_values=found.singular_values,
        schatten=quantiles(powers),
        bounds=tuple(
            _bound(net, k, found.ranks.get(k, 0), s, found.clear)
            for k in sorted({*found.ranks, *least})
        ),
        kinks=int(merged.kinks.sum()),
        kernel_trace=quantiles(torch.from_numpy(merged.traces)),
        kernel_top=top,
        kernel_points=points,
        egop=spectrum,
        index_rank=of_index,
        least_cost=net.depth * float(smooth.max()) if len(smooth) else None,
    )


def _bound(net: Network, k: int, points: int, s: Tensor, clear: Tensor) -> BoundByRank:
    """The excess over rank k against the largest 2 Σ_{i ≤ k} log s_i among the clear s_k."""
    logs: float | None = 0.0
    if k > 0:
        some = clear[:, k - 1] if k <= s.shape[-1] else clear[:, :0].any(-1)
        sums = 2 * s[some, :k].log().sum(-1)
        logs = float(sums.max()) if len(sums) else None
    return BoundByRank(k, points, float(excess(net, k)), logs)


def _kernel_top(net: Network, X: Tensor, device: str) -> tuple[float, int]:
    """The largest eigenvalue of Θ(X, X)/K on K points at even distances, and K."""
    number = min(len(X), max(1, KERNEL_ROWS // net.widths[-1]))
    places = torch.arange(number) * len(X) // number
    on_device = Job(net, (), device).on_device().net
    block = max(1, KERNEL_TILE // net.widths[-1])
    K = gram(on_device, X[places].to(device), biases=True, block=block)
    return max(0.0, float(torch.linalg.eigvalsh(K)[-1])) / number, number


def _index_rank(net: Network, C: Tensor, tolerance: float) -> tuple[tuple[float, ...], RankFacts]:
    """The spectrum of the EGOP and its rank, from the mean of JᵀJ or of GᵀG (see `is_narrow`)."""
    if is_narrow(net):
        root = singular_values(symmetric_sqrt(C) @ net.weights[0])
        small = torch.diag(root * root)  # the rest of the spectrum of C_f is 0
        missing = net.widths[0] - len(root)
    else:
        small, missing = C, 0
    spectrum, rank = index_rank(small, tolerance)
    return (*spectrum, *[0.0] * missing), rank
