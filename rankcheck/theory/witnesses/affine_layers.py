r"""An affine map on a bounded domain as a network of any depth, at the least cost but a constant.

Let $A = P \operatorname{diag}(s) Q^T$ with orthonormal columns of P (m × k) and Q (n × k), s > 0,
and let $u \ge 0$ satisfy $Q^T x \ge -u$ on Ω, coordinate by coordinate. For $L \ge 2$ and
$r = s^{1/L}$ put

.. math:: W_1 = \operatorname{diag}(r) Q^T,\ b_1 = r \odot u, \qquad
          W_\ell = \operatorname{diag}(r),\ b_\ell = 0, \qquad
          W_L = P \operatorname{diag}(r),\ b_L = b - P (s \odot u).

All pre-activations are ≥ 0 on Ω, so the network equals $x \mapsto Ax + b$ there for every slope,
and

.. math:: \|\theta\|^2 = L \sum_i s_i^{2/L} + \sum_i s_i^{2/L} u_i^2 + |b - P (s \odot u)|^2 .

The first term is $L\,\|A\|_{S^{2/L}}^{2/L}$. No network of depth L that computes the map on an open
set costs less. The others are at most
$C = \sum_i \max(1, s_i) u_i^2 + |b - P (s \odot u)|^2$, whatever L is.

Used by rank.cost-of-affine-maps. Source: A. Jacot, *Implicit bias of large depth networks: a notion
of rank for nonlinear functions*, Theorem 4.3; the constant is ours.
"""

from __future__ import annotations

from fractions import Fraction

import torch

from rankcheck.theory.linalg import Array, Number, power
from rankcheck.theory.networks.network import Network


def affine_layers(
    P: Array,
    s: Array,
    Q: Array,
    b: Array,
    u: Array,
    depth: int,
    slope: Number | Array = 0,
) -> Network:
    """The network of this depth ≥ 2 for x ↦ P diag(s) Qᵀx + b, wherever Qᵀx ≥ −u.

    Args:
        P, Q: orthonormal columns, (*B, m, k) and (*B, n, k).
        s, u: s > 0 and u ≥ 0, (*B, k).
        b: (*B, m).

    Raises:
        ValueError: if depth < 2.
    """
    if depth < 2:
        raise ValueError(f"received depth {depth}; the network has at least two layers")
    r = power(s, Fraction(1, depth))
    scales = torch.diag_embed(r)
    last = b - (P @ (s * u).unsqueeze(-1)).squeeze(-1)
    weights = [scales @ Q.mT, *[scales] * (depth - 2), P @ scales]
    biases = [r * u, *[0 * s] * (depth - 2), last]
    return Network(weights, biases, slope)


def affine_excess(P: Array, s: Array, b: Array, u: Array) -> Array:
    """C, a bound of ‖θ‖² − L‖A‖_{S^{2/L}}^{2/L} at every depth L ≥ 2, shape (*B)."""
    last = b - (P @ (s * u).unsqueeze(-1)).squeeze(-1)
    largest = torch.maximum(s, torch.ones_like(s))
    return (largest * u * u).sum(-1) + (last * last).sum(-1)
