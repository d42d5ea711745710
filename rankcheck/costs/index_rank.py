r"""The expected gradient outer product C_f = E[∇f ∇fᵀ], and the index rank that it defines.

rank_I(f) = rank C_f, its range is the principal subspace, rank_{I,ε}(f) counts the singular values
of C_f^{1/2} above ε, and the mixed variation is MV(f; q) = ‖C_f^{1/2}‖_{S^q}. For vector-valued f,
C_f = E[JᵀJ].

Three ways to C_f: exactly for h(x) = aᵀ[Wx + b]_+ + c under a Gaussian (:func:`egop_gaussian`);
exactly for any network under the uniform law on a box (:func:`egop_box`); from gradients at points,
for any law (:func:`egop`). Only the support of the law enters the index rank: a unit that is
inactive on all of it does not count.

Numbers: C_f squares singular values, so that in floats the small ones of C_f^{1/2} are lost below
√ε of the largest. Where q < 1 makes them matter, use the factor A with AᵀA = C_f
(:func:`egop_root`): ‖C_f^{1/2}‖_{S^q} = ‖A‖_{S^q}.

Source: slides A and B of `linear`; Constantine, *Active subspaces*, 2015.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import torch
from scipy.special import owens_t
from torch import Tensor

from rankcheck.balls import BallArray, NoBallForm, is_ball
from rankcheck.linalg import (
    Array,
    Number,
    power,
    range_projection,
    rank,
    schatten_power,
    singular_values,
)
from rankcheck.networks.network import Network
from rankcheck.regions import regions
from rankcheck.scalars import scalar

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "bivariate_normal_cdf",
    "effective_index_rank",
    "effective_rank_bound",
    "effective_rank_threshold",
    "effective_rank_threshold_as_printed",
    "egop",
    "egop_box",
    "egop_gaussian",
    "egop_root",
    "index_rank",
    "mixed_variation",
    "principal_directions",
    "principal_subspace",
    "singular_value_decay_bound",
    "two_layer_network",
]

PAIRS_AT_ONCE = 1 << 22
"""Entries of the (*B, rows, K, D) differences of rows that exist at a time."""


def two_layer_network(W: Array, b: Array, a: Array, c: Array | None = None) -> Network:
    """h(x) = aᵀ[Wx + b]_+ + c for W (*B, K, D), a and b (*B, K), c (*B) or 0."""
    c = (0 * a[..., 0]) if c is None else c
    return Network((W, a.unsqueeze(-2)), (b, c.unsqueeze(-1)))


# From C_f


def index_rank(C: Array) -> Tensor:
    """rank_I(f) = rank C_f, an integer tensor (*B): proved on balls, by a threshold in floats."""
    return rank(C)


def effective_index_rank(C: Array, epsilon: Number | Array) -> Tensor:
    """rank_{I,ε}(f) = #{i: σ_i(C_f^{1/2}) > ε}, strictly; int64, shape (*B).

    ε is a number or an array (*B), ≥ 0. On balls a σ_i that cannot be told from ε is Undecided.
    """
    epsilon = scalar(epsilon, C) if isinstance(epsilon, Number) else epsilon.unsqueeze(-1)
    return (singular_values(C) > epsilon * epsilon).sum(-1)


def mixed_variation(C: Array, q: Number) -> Array:
    """MV(f; q) = ‖C_f^{1/2}‖_{S^q} = (Σ σ_i(C_f)^{q/2})^{1/q}, shape (*B), q > 0."""
    return power(schatten_power(C, Fraction(q) / 2), 1 / Fraction(q))


def principal_subspace(C: Array) -> Array:
    """The orthogonal projection onto range C_f, shape (*B, D, D): rational for rational C_f.

    f(x + u) = f(x) on the support for every u that it sends to 0, as vᵀ C_f v = E[(vᵀ∇f)²].
    """
    return range_projection(C)


def principal_directions(C: Array) -> tuple[Tensor, Tensor]:
    """σ_i(C_f^{1/2}) descending, (*B, D), and their directions as columns, (*B, D, D). Floats."""
    if is_ball(C):
        raise NoBallForm("principal_directions", "use principal_subspace")
    values, vectors = torch.linalg.eigh(C)
    return values.flip(-1).clamp_min(0).sqrt(), vectors.flip(-1)


# C_f from points


def egop_root(gradients: Array, weights: Array | None = None) -> Array:
    """A with AᵀA = C_f, shape (*B, N, D): the rows √p_n ∇f(x_n).

    Gradients (*B, N, D) at N points of probabilities ``weights`` (*B, N), or 1/N each. On balls the
    rows are rational where the weights are squares of rationals.
    """
    if weights is None:
        count = gradients.shape[-2]
        return gradients / power(scalar(count, gradients), Fraction(1, 2))
    return power(weights, Fraction(1, 2)).unsqueeze(-1) * gradients


def egop(gradients: Array, weights: Array | None = None) -> Array:
    """Σ_n p_n ∇f(x_n) ∇f(x_n)ᵀ, shape (*B, D, D), for gradients (*B, N, D).

    For N points drawn from a law this is the Monte Carlo estimate of C_f; for a law on N points it
    is C_f. A vector-valued f brings n_L rows for each point, each with the point's probability.
    """
    if weights is None:
        return gradients.mT @ gradients / gradients.shape[-2]
    return (weights.unsqueeze(-1) * gradients).mT @ gradients


# C_f of a network under the uniform law on a box


def egop_box(
    net: Network,
    low: float | Sequence[float] | np.ndarray,
    high: float | Sequence[float] | np.ndarray,
    *,
    exact: bool = False,
) -> Array:
    """C_f for x uniform on [low, high]: Σ volume · JᵀJ over the cells, shape (D, D).

    One network without batch axes, of any depth. With ``exact`` the result is a BallArray of
    rational numbers, for the weights as the floats that they are. Errors as for
    :func:`rankcheck.regions.regions`.
    """
    cells = regions(net, low, high)
    if not exact:
        share = torch.as_tensor(cells.volume())
        share = (share / share.sum()).sqrt()
        root = (torch.as_tensor(cells.jacobians.copy()) * share[:, None, None]).flatten(0, 1)
        return root.mT @ root
    volumes = cells.exact_volume()
    gradients = [BallArray.exact(cells.exact_jacobian(r).tolist()) for r in range(len(cells))]
    total = sum(volumes, Fraction(0))
    first, *rest = (
        J.mT @ J * (volume / total) for J, volume in zip(gradients, volumes, strict=True)
    )
    return sum(rest, start=first)


# C_f of a two-layer network under a Gaussian


def egop_gaussian(
    W: Array, b: Array, a: Array, mean: Tensor | None = None, factor: Tensor | None = None
) -> Tensor:
    r"""C_h for h(x) = aᵀ[Wx + b]_+ + c and x = mean + factor·ξ, ξ standard normal; (*B, D, D).

    .. math:: C_h = (D_aW)^\top \Pi\, (D_aW), \qquad \Pi_{kl} = P(z_k > 0,\ z_l > 0),
              \quad z = Wx + b,

    an orthant probability of two Gaussians for each pair of units. W (*B, K, D), a and b (*B, K);
    ``mean`` (D) and ``factor`` (D, D') broadcast, and are 0 and the identity by default. A unit
    that does not depend on ξ is active where z_k ≥ 0. Floats only, no gradients.
    """
    if is_ball(W):
        raise NoBallForm("egop_gaussian", "use egop_box(..., exact=True)")
    W, b, a = W.detach(), b.detach(), a.detach()
    center = b if mean is None else b + (W @ mean.detach().unsqueeze(-1)).squeeze(-1)
    rows = W if factor is None else W @ factor.detach()
    spread = torch.linalg.vector_norm(rows, dim=-1)
    fixed = spread == 0
    safe = torch.where(fixed, 1.0, spread)
    h = torch.where(fixed, 0.0, center / safe)
    both = bivariate_normal_cdf(h.unsqueeze(-1), h.unsqueeze(-2), angles(rows / safe.unsqueeze(-1)))
    alone = torch.where(fixed, (center >= 0).to(W.dtype), torch.special.ndtr(h))
    either = fixed.unsqueeze(-1) | fixed.unsqueeze(-2)
    joint = torch.where(either, alone.unsqueeze(-1) * alone.unsqueeze(-2), both)
    B = a.unsqueeze(-1) * W
    C = B.mT @ joint @ B
    return (C + C.mT) / 2


def angles(units: Tensor) -> Tensor:
    """The angles in [0, π] between unit vectors (*B, K, D), shape (*B, K, K), to a few ε each.

    2 atan2(|u − v|, |u + v|) (Kahan); the arc cosine of uᵀv loses half of the digits at 0 and π.
    """
    *batch, K, D = units.shape
    step = max(1, PAIRS_AT_ONCE // max(1, math.prod(batch) * K * D))
    parts = []
    for first in range(0, K, step):
        u, v = units[..., first : first + step, None, :], units[..., None, :, :]
        apart = torch.linalg.vector_norm(u - v, dim=-1)
        parts.append(2 * torch.atan2(apart, torch.linalg.vector_norm(u + v, dim=-1)))
    return torch.cat(parts, -2)


def bivariate_normal_cdf(h: Tensor, k: Tensor, angle: Tensor) -> Tensor:
    """P(X ≤ h, Y ≤ k) for standard normals of correlation cos(angle), angle in [0, π].

    By Owen's T function (Owen 1956): ½Φ(h) + ½Φ(k) − T(h, a_h) − T(k, a_k) − δ, where
    a_h = (k − ρh)/(h √(1 − ρ²)), and δ = ½ if hk < 0, or hk = 0 and h + k < 0; else δ = 0. The
    angle in place of ρ keeps the digits for correlations near ±1, which are allowed; as a function
    of (h, k, angle) the value is well conditioned, to about 1e-16 absolute. Arguments broadcast.
    """
    h, k, angle = torch.broadcast_tensors(h, k, angle)
    sine = angle.sin()
    # cos(angle) = ±(1 − near), with near exact to the last digits
    positive = angle <= math.pi / 2
    near = 2 * torch.where(positive, angle / 2, (math.pi - angle) / 2).sin() ** 2

    def slope(x: Tensor, y: Tensor) -> Tensor:
        above = torch.where(positive, (y - x) + x * near, (y + x) - x * near)
        # At angle 0 or π the quotient is infinite, or 0 where x and y agree.
        ratio = above / torch.where(sine > 0, sine, 1.0)
        ratio = torch.where((sine > 0) | (above == 0), ratio, above.sign() * math.inf)
        return torch.where(x == 0, above.sign() * math.inf, ratio / torch.where(x == 0, 1.0, x))

    def owen(x: Tensor, y: Tensor) -> Tensor:
        return torch.as_tensor(owens_t(x.cpu().numpy(), slope(x, y).cpu().numpy()), device=x.device)

    product, total = h * k, h + k
    delta = torch.where((product < 0) | ((product == 0) & (total < 0)), 0.5, 0.0)
    value = (torch.special.ndtr(h) + torch.special.ndtr(k)) / 2 - owen(h, k) - owen(k, h) - delta
    value = torch.where((h == 0) & (k == 0), 0.5 - angle / (2 * math.pi), value)
    return value.clamp(0.0, 1.0)


# What a small cost says about the spectrum


def effective_rank_bound(s: Number | Array, J: Array, epsilon: Array, L: int) -> Array:
    """s (J/(ε√s))^{2/(L−1)} ≥ rank_{I,ε}(f) for every f with Φ_L(f) ≤ s^{(L−2)/L} J^{2/L}.

    Proof. With q = 2/(L−1) and σ_i = σ_i(C_f^{1/2}), MV(f; q)^{2/L} ≤ Φ_L(f) reads
    (Σ σ_i^q)^{(L−1)/L} ≤ s^{(L−2)/L} J^{2/L}; so rank_{I,ε}(f) ε^q ≤ Σ σ_i^q ≤ s^{1−q/2} J^q.
    Tight for s equal singular values J/√s, as ε tends to them. s, J, ε > 0; shape (*B).
    """
    s = scalar(s, J) if isinstance(s, Number) else s
    q = Fraction(2, L - 1)
    return power(s, 1 - q / 2) * power(J / epsilon, q)


def effective_rank_threshold(r: Number | Array, epsilon: Array, L: int) -> Array:
    """ε√r (1 + 1/r)^{(L−1)/2}: :func:`effective_rank_bound` at s = r is < r + 1 for J below this.

    Then rank_{I,ε}(f) ≤ r, being an integer. r ≥ 1.
    """
    r = scalar(r, epsilon) if isinstance(r, Number) else r
    return epsilon * power(r, Fraction(1, 2)) * power((r + 1) / r, Fraction(L - 1, 2))


def effective_rank_threshold_as_printed(r: Number | Array, epsilon: Array, L: int) -> Array:
    """ε√r (1 + 1/√r)^{(L−1)/2}, as slides B print it. The bound is < r + √r for J below this.

    For r ≥ 2 that does not give rank_{I,ε}(f) ≤ r; it does for r = 1, where the two agree.
    """
    r = scalar(r, epsilon) if isinstance(r, Number) else r
    root = power(r, Fraction(1, 2))
    return epsilon * root * power((root + 1) / root, Fraction(L - 1, 2))


def singular_value_decay_bound(
    r: Number | Array, A: Array, k: int, L: int, *, sharp: bool = False
) -> Array:
    """((r A^{2/(L−1)} − 1)/k)^{(L−1)/2} ≥ σ_{k+1}/σ_1 for A = R/σ_1, Φ_L(f) ≤ r^{(L−2)/L} R^{2/L}.

    Proof. As in :func:`effective_rank_bound`, σ_1^q + k σ_{k+1}^q ≤ Σ σ_i^q ≤ r^{1−q/2} R^q, and
    r^{1−q/2} ≤ r for r ≥ 1. ``sharp`` keeps r^{1−q/2}: then it is attained by r equal singular
    values R/√r at k = r − 1. Shape (*B); σ_i = σ_i(C_f^{1/2}), k ≥ 1, L ≥ 2.
    """
    r = scalar(r, A) if isinstance(r, Number) else r
    q = Fraction(2, L - 1)
    base = (power(r, 1 - q / 2) if sharp else r) * power(A, q) - 1
    return power(base / k, 1 / q)
