r"""What is measured at the points of the data: Jacobians, their ranks, the tangent kernel.

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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import torch
from torch import Tensor

from rankcheck.audit.model import Model, ModelError
from rankcheck.audit.ranks import GAP, TOLERANCE, rank_facts, ranks_and_gaps
from rankcheck.audit.result import BoundByRank, DataFacts, Quantiles, RankFacts
from rankcheck.theory.costs import effective_index_rank, egop, excess
from rankcheck.theory.linalg import (
    frobenius_squared,
    power,
    rank_threshold,
    singular_values,
    symmetric_sqrt,
)
from rankcheck.theory.networks import AtPoints, Network, gram
from rankcheck.theory.networks.rounding import product_noise
from rankcheck.theory.networks.tangent_kernel import ntk_trace_at

#: The most points in a batch.
MOST = 256
#: Bytes for what one batch of points needs at a time.
MEMORY = 2**27
#: The Gram matrix of the tangent kernel has at most so many rows, or those of one point.
KERNEL_ROWS = 1000


@dataclass(eq=False)
class Seen:
    """What was measured at n points, on the CPU.

    Attributes:
        singular_values: of Jf(x), (n, min(n_0, n_L)).
        noise: a bound of their rounding, (n).
        traces: tr Θ(x, x), (n); NaN or infinite where the network overflows.
        kinks: whether a hidden pre-activation is 0, (n).
        gradients: Σ JᵀJ, of the Jacobian of the first layer → f if that has fewer columns than f.
        second: Σ_i α_ℓ(x_i) α_ℓ(x_i)ᵀ for ℓ = 1..L with α_L = f, shapes (n_ℓ, n_ℓ).
        above: of the hidden layers, bools (n_ℓ): the pre-activation is > 0 at some point.
        below: the same for < 0.
    """

    singular_values: Tensor
    noise: Tensor
    traces: Tensor
    kinks: Tensor
    gradients: Tensor
    second: list[Tensor]
    above: list[Tensor]
    below: list[Tensor]


def see(
    net: Network,
    X: Tensor,
    norms: Sequence[float],
    biases: tuple[bool, ...],
    *,
    device: str = "cpu",
    progress: Callable[[int], object] = lambda done: None,
) -> Seen:
    """Measure at X (N, n_0), in batches that fit into `MEMORY`.

    Args:
        norms: ‖W_ℓ‖_op, which bound the rounding of Jacobians.
        biases: of each affine map, whether its bias is a parameter, as the kernel takes it.
        device: where it is measured.
        progress: called with how many points are measured.
    """
    there = on_device(net, device)
    total: Seen | None = None
    rows: list[tuple[Tensor, ...]] = []
    for x in X.split(batch_size(net)):
        one = _batch(there, x.to(device), norms, biases)
        rows.append((one.singular_values, one.noise, one.traces, one.kinks))
        if total is None:
            total = one
        else:
            sums = zip((total.gradients, *total.second), (one.gradients, *one.second), strict=True)
            for mine, more in sums:
                mine += more
            pairs = zip((*total.above, *total.below), (*one.above, *one.below), strict=True)
            for mine, more in pairs:
                mine |= more
        progress(sum(len(noise) for _, noise, _, _ in rows))
    assert total is not None
    joined = map(torch.cat, zip(*rows, strict=True))
    total.singular_values, total.noise, total.traces, total.kinks = joined
    return total


def on_device(net: Network, device: str) -> Network:
    """The network with its parameters there."""
    arrays = [[a.to(device) for a in side] for side in (net.weights, net.biases)]
    return net.with_parameters(*arrays)


def _batch(net: Network, x: Tensor, norms: Sequence[float], biases: tuple[bool, ...]) -> Seen:
    at = net.at(x)
    G = _compressed(net, at)
    J = G @ net.weights[0]  # the kernel needs G: this is nearly free
    fine = torch.isfinite(J).all(-1).all(-1)  # LAPACK refuses others
    finite = torch.where(fine[:, None, None], J, 0.0)
    noise = product_noise(at, [x.new_tensor(norm) for norm in norms])
    if len(G[0]) < net.widths[-1]:
        size = frobenius_squared(at.outer_jacobians[0]).sqrt() * norms[0]
        noise = noise + size * (2 * (net.widths[-1] + 1) * torch.finfo(torch.float64).eps)
    s = singular_values(finite)
    missing = min(net.widths[0], net.widths[-1]) - s.shape[-1]  # a narrow layer leaves them out
    rows = (G if _is_narrow(net) else J).flatten(0, 1)
    return Seen(
        singular_values=torch.nn.functional.pad(s, (0, missing)).cpu(),
        noise=noise.cpu(),
        traces=torch.where(fine, ntk_trace_at(at, biases), torch.nan).cpu(),
        kinks=(~at.is_differentiable).cpu(),
        gradients=egop(rows, rows.new_ones(len(rows))).cpu(),
        second=[(a.mT @ a).cpu() for a in (*at.activations[1:], at.value)],
        above=[(z > 0).any(0).cpu() for z in at.preactivations[:-1]],
        below=[(z < 0).any(0).cpu() for z in at.preactivations[:-1]],
    )


def _compressed(net: Network, at: AtPoints) -> Tensor:
    """G_1, or Uᵀ G_1 with fewer rows that has the same singular values, (N, r, n_1).

    Through a hidden layer of width r < n_L, f has rank at most r: with U an orthonormal basis of
    the image of its Jacobian to f, UUᵀG_1 = G_1. Multiplications by U and decompositions are
    stable, so their rounding is that of a product.
    """
    G = at.outer_jacobians
    place = min(range(net.depth), key=lambda layer: net.widths[layer + 1])
    if net.widths[place + 1] == net.widths[-1]:
        return G[0]
    return torch.linalg.qr(G[place]).Q.mT @ G[0]


def _is_narrow(net: Network) -> bool:
    """Whether α̃_1 → f has fewer inputs than f: then Σ JᵀJ = W_1ᵀ (Σ GᵀG) W_1 with the smaller."""
    return net.widths[1] < net.widths[0]


def batch_size(net: Network, memory: int = MEMORY) -> int:
    """How many points are measured at a time: those whose arrays fit into `memory` bytes, or one.

    A point needs n_L Σ n_ℓ numbers for the Jacobians of the layers, two products, the Jacobian and
    its singular values beside them, and a few numbers for each neuron.
    """
    inputs, outputs = net.widths[0], net.widths[-1]
    neurons = sum(net.widths)
    numbers = outputs * (neurons + 2 * max(net.widths) + 2 * inputs) + 6 * neurons
    return max(1, min(MOST, memory // (8 * numbers)))


def measure_points(
    model: Model,
    X: Tensor,
    spectra: Sequence[Tensor],
    *,
    device: str = "cpu",
    progress: Callable[[int], object] = lambda done: None,
) -> tuple[DataFacts, Seen]:
    """What holds at the points X (N, n_0), and what was measured there.

    Args:
        spectra: the singular values of W_1, ..., W_L.
        device, progress: as for `see`.

    Raises:
        ModelError: if the network overflows at a point.
    """
    net = model.net
    norms = [float(s[0]) for s in spectra]
    seen = see(net, X, norms, model.biases, device=device, progress=progress)
    _check_finite(seen)
    s = seen.singular_values
    shaped = s.new_empty(0, net.widths[-1], net.widths[0])  # as rank_threshold reads it
    found, gaps = ranks_and_gaps(shaped, s, seen.noise)
    counts = dict(sorted(Counter(found.tolist()).items()))
    clear = s > rank_threshold(shaped, s, seen.noise)
    present = gaps[gaps.isfinite()]
    powers = torch.where(clear, power(s, Fraction(2, net.depth)), 0.0).sum(-1)
    smooth = powers[~seen.kinks]
    kernel_top, kernel_points = _kernel_top(on_device(net, device), X.to(device), model.biases)
    spectrum, index_rank = _index_rank(net, seen.gradients / len(X))
    facts = DataFacts(
        points=len(X),
        ranks=counts,
        undecided=int((~(gaps >= GAP)).sum()),
        gaps=_quantiles(present) if len(present) else None,
        singular_values=tuple(map(_quantiles, s.unbind(-1))),
        schatten=_quantiles(powers),
        bounds=tuple(_bound(net, k, number, s, clear) for k, number in counts.items()),
        kinks=int(seen.kinks.sum()),
        kernel_trace=_quantiles(seen.traces),
        kernel_top=kernel_top,
        kernel_points=kernel_points,
        egop=spectrum,
        index_rank=index_rank,
        least_cost=net.depth * float(smooth.max()) if len(smooth) else None,
        dead_cost=_dead_cost(net, seen.above) if net.slope == 0 else None,
    )
    return facts, seen


def _check_finite(seen: Seen) -> None:
    """Refuse a network that is not finite somewhere on the data, or whose squares are not."""
    fine = seen.traces.isfinite()
    if fine.all() and all(total.isfinite().all() for total in (seen.gradients, *seen.second)):
        return
    where = "in a sum over the data" if fine.all() else f"at point {int(fine.int().argmin())}"
    raise ModelError(
        f"the network overflows {where}; its values, its derivatives and their squares are finite "
        "in double precision"
    )


def _quantiles(values: Tensor) -> Quantiles:
    """Least, quartiles and most of a vector."""
    return Quantiles(*map(float, np.quantile(values.numpy(), [0, 0.25, 0.5, 0.75, 1])))


def _bound(net: Network, k: int, points: int, s: Tensor, clear: Tensor) -> BoundByRank:
    """The excess over rank k against the largest 2 Σ_{i ≤ k} log s_i among the clear s_k."""
    sums = 2 * s[clear[:, k - 1], :k].log().sum(-1) if k else s.new_zeros(1)
    return BoundByRank(k, points, float(excess(net, k)), float(sums.max()))


def _kernel_top(net: Network, X: Tensor, biases: tuple[bool, ...]) -> tuple[float, int]:
    """The largest eigenvalue of Θ(X, X)/K on K points at even distances, and K."""
    number = min(len(X), max(1, KERNEL_ROWS // net.widths[-1]))
    places = torch.arange(number) * len(X) // number
    K = gram(net, X[places.to(X.device)], biases)
    return max(0.0, float(torch.linalg.eigvalsh(K)[-1])) / number, number


def _index_rank(net: Network, C: Tensor) -> tuple[tuple[float, ...], RankFacts]:
    """The spectrum of the EGOP and its rank, from the mean of JᵀJ or of GᵀG (see `_is_narrow`)."""
    missing = 0
    if _is_narrow(net):
        root = singular_values(symmetric_sqrt(C) @ net.weights[0])
        missing = net.widths[0] - len(root)
        C = torch.diag(root * root)  # the rest of the spectrum is 0
    values = torch.linalg.eigvalsh(C).flip(-1)
    values = torch.where(values > rank_threshold(C, values.abs()), values, 0.0)
    root = values.sqrt()
    rank = int(effective_index_rank(C, TOLERANCE * float(root[0])))
    before = float(root[rank - 1]) if rank else math.inf
    after = float(root[rank]) if rank < len(root) else 0.0
    facts = rank_facts(rank, before / after if after else math.inf)
    return (*values.tolist(), *[0.0] * missing), facts


def _dead_cost(net: Network, above: Sequence[Tensor]) -> float:
    """‖θ‖² minus that of the network without the neurons that are nowhere above 0 on the data."""
    alive = [torch.ones(net.widths[0]), *(one.double() for one in above)]
    alive.append(torch.ones(net.widths[-1]))
    lost = 0.0
    for w, b, before, after in zip(net.weights, net.biases, alive[:-1], alive[1:], strict=True):
        both = after.unsqueeze(-1) * before  # 1 where both ends are alive
        lost += float((w * w * (1 - both)).sum()) + float((b * b * (1 - after)).sum())
    return lost
