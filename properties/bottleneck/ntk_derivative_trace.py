"""Proposition 9/18 of `bottleneck`, first half, for the trace in place of the norm."""

from fractions import Fraction

import torch

from rankcheck import Network, bound, leq, linalg, networks, paper
from rankcheck.instances import (
    Source,
    instances,
    networks_at_points,
    orthogonal,
    positive,
    semi_orthogonal,
)

from ._slopes import least_slope


@instances
def balanced_bottlenecks(source: Source):
    """Jf of any rank k, its square roots in the outer layers, multiples of I_k in between.

    W_1 = c_1 √Σ Vᵀ, W_ℓ = (c_ℓ/c_{ℓ−1}) I and W_L = U √Σ/c_{L−1}, with c such that all layers add
    as much to the trace. The units are active at x, or all on the negative side of a slope.
    """
    depth, k = source.integer(2, 5), source.integer(1, 2)
    n, m = k + source.integer(0, 1), k + source.integer(0, 1)
    side = source.choice((0, 1, -1))
    slope = source.tensor(low=0.125, high=0.5) * side
    root = source.tensor(1, k, low=0.5, high=2.0)
    V, U = orthogonal(source, n)[..., :k], semi_orthogonal(source, m, k)
    s = (root * root).sum(-1, keepdim=True)
    m_a = torch.where(slope == 0, torch.ones_like(slope), slope.abs())[..., None, None]
    # n s/c_1² = m_a² s² c_{ℓ−1}²/c_ℓ² = m s c_{L−1}², the kernel's summands: c_ℓ² = n q^{ℓ}/s.
    q = linalg.power(s * s / (n * m), Fraction(1, depth)) / linalg.power(
        m_a, Fraction(2 * depth - 2, depth)
    )
    steps = linalg.power(q, Fraction(1, 2))
    first = linalg.power(n * q / s, Fraction(1, 2))
    sign, turn = (1, 1) if side == 0 else (-1, side)
    last = linalg.power(n * linalg.power(q, depth - 1) / s, Fraction(1, 2)) * linalg.power(
        m_a, depth - 1
    )
    into = sign * first * root.mT * V.mT
    middle = turn * steps * linalg.eye(k, like=root)
    weights = (into, *[middle] * (depth - 2), turn * (U * root) / last)
    x = (V @ (positive(source, k).unsqueeze(-1))).squeeze(-1)
    return Network.linear(weights, slope), x


@bound(
    "bottleneck.ntk-derivative-trace",
    paper("rankcheck", "docs/proofs/ntk-trace.md, Theorem 3"),
    instances=networks_at_points(),
    tight=balanced_bottlenecks(),
    mutants={
        "inputs and outputs to the power 1.04/L": {"ends": Fraction(26, 25)},
        "the slope to the power 1.96 - 1.96/L": {"of_slope": Fraction(49, 25)},
    },
    audit="at points: |a| ≤ 1; inputs × outputs",
)
def test_ntk_derivative_trace(net, x, *, ends=1, of_slope=2):
    r"""A Jacobian with a large nuclear norm makes the mixed derivative of the kernel large.

    With $m = |a|$ for $a \ne 0$ and $m = 1$ for ReLU, and $\Theta$ over the weights, or over weights
    and biases, where $Jf(x) \ne 0$,

    $$\operatorname{tr} \partial^2_{xy} \Theta(x, x) \ge
      L\,m^{2 - 2/L}\,(n_0 n_L)^{1/L}\,\|Jf(x)\|_*^{2 - 2/L}.$$

    It is the trace companion of bottleneck.ntk-derivative-every-slope, and counts all directions: for
    $Jf(x)$ with $k$ singular values 1 it says $L k^{2 - 2/L} (n_0 n_L)^{1/L} \ge L k^2$. Equality for
    Jacobians of every rank, depth and slope.

    Proof: docs/proofs/ntk-trace.md.
    """
    L, J = net.depth, net.jacobian(x)
    derivative = networks.ntk_mixed_derivative(net, x)
    trace = torch.diagonal(derivative, dim1=-2, dim2=-1).sum(-1)
    size = linalg.power(linalg.nuclear_norm(J), Fraction(2 * L - 2, L))
    count = linalg.power(linalg.scalar(net.widths[0] * net.widths[-1], size), Fraction(ends) / L)
    slopes = linalg.power(least_slope(net, x), Fraction(of_slope * (L - 1), L))
    return leq(L * slopes * count * size, trace, where=linalg.frobenius_squared(J) > 0)
