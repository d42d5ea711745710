r"""The cost of a two-layer function h(x) = aᵀ[Wx + b]_+ + c behind linear layers.

W (*B, K, D) = W_{L−1} ··· W_1, a and b (*B, K). The cost of L layers is
C_L = (‖a‖² + Σ ‖W_j‖_F²)/L; biases do not count. Its minimum over the factors and over rescalings
of the units is Φ_L(W, a), which lies between the Schatten power and the path norm of D_a W:

.. math:: \max\bigl(\|D_aW\|_{S^{2/L}}^{2/L},\ \mathrm{path}^{2/L}\bigr) \le \Phi_L(W, a)
          \le \mathrm{rank}(D_aW)^{(L-2)/L}\, \mathrm{path}^{2/L}.

Everything runs on floats, with gradients, and on balls, but for the infimum itself
(:func:`rankcheck.costs.phi.phi`) and the factorisation, which are of floats.

Source: Ongie & Willett, arXiv 2305.15598; slides A and B of `linear`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import torch
from torch import Tensor

from rankcheck.balls import NoBallForm, is_ball
from rankcheck.costs.phi import phi
from rankcheck.linalg import (
    Array,
    frobenius_squared,
    log_pseudo_determinant,
    power,
    rank,
    rank_threshold,
    schatten_power,
    singular_values,
)

__all__ = [
    "Sandwich",
    "balanced_factors",
    "best_scale",
    "least_linear_layers_cost",
    "linear_layers_cost",
    "path_norm",
    "path_norm_lambda",
    "phi_lower",
    "phi_rates",
    "phi_upper",
    "rescale_units",
    "sandwich",
    "total_variation_of_derivative",
    "unit_rank",
    "unit_sizes",
    "winning_depth",
    "winning_threshold",
    "winning_threshold_by_gradients",
]


def unit_sizes(W: Array, a: Array) -> Array:
    """|a_k| ‖w_k‖, shape (*B, K)."""
    return a.abs() * power((W * W).sum(-1), Fraction(1, 2))


def path_norm(W: Array, a: Array) -> Array:
    """Σ_k |a_k| ‖w_k‖ = Φ_2(W, a), shape (*B)."""
    return unit_sizes(W, a).sum(-1)


def path_norm_lambda(W: Array, a: Array) -> Array:
    """The λ on the unit sphere with λ_k² ∝ |a_k| ‖w_k‖, shape (*B, K); 0 for W = 0 or a = 0.

    It minimises Φ_2, and the upper end of the sandwich holds there for every L.
    """
    sizes = unit_sizes(W, a)
    total = sizes.sum(-1, keepdim=True)
    return power(
        sizes / torch.where(total == 0, total.new_ones(total.shape), total), Fraction(1, 2)
    )


def unit_rank(W: Array, a: Array) -> Tensor:
    """rank D_a W, an integer tensor (*B), decided on rows whose largest entry is scaled to 1.

    The rank does not depend on the lengths of the rows, but a float decision does: beside a long
    row a short one looks like rounding.
    """
    largest = W.abs().amax(-1)
    silent = (a == 0) | (largest == 0)
    scale = torch.where(silent, largest.new_ones(largest.shape), largest)
    rows = W / scale.unsqueeze(-1)
    return rank(torch.where(silent.unsqueeze(-1), rows.new_zeros(rows.shape), rows))


def phi_lower(W: Array, a: Array, L: int) -> Array:
    """‖D_a W‖_{S^{2/L}}^{2/L}, shape (*B): no Φ_L is smaller."""
    return schatten_power(a.unsqueeze(-1) * W, Fraction(2, L))


def phi_upper(W: Array, a: Array, L: int) -> Array:
    """rank(D_a W)^{(L−2)/L} path^{2/L}, shape (*B): no Φ_L is larger."""
    path = path_norm(W, a)
    count = path.new_zeros(path.shape) + unit_rank(W, a)
    return power(count, Fraction(L - 2, L)) * power(path, Fraction(2, L))


def phi_rates(W: Array, a: Array, L: int) -> tuple[Array, Array]:
    """r + (2/L) log|D_a W|_+ ≤ Φ_L ≤ r (path/r)^{2/L} with r = rank D_a W: Φ_L → r, with a rate.

    The left side is below :func:`phi_lower`, as s^t ≥ 1 + t log s; the right side is
    :func:`phi_upper`. Both 0 for r = 0.
    """
    B = a.unsqueeze(-1) * W
    low = log_pseudo_determinant(B) * 2 / L + rank(B)
    return low, phi_upper(W, a, L)


# Linear layers


def linear_layers_cost(factors: Sequence[Array], a: Array) -> Array:
    """(‖a‖² + Σ ‖W_j‖_F²)/L for the L − 1 layers ``factors``, shape (*B)."""
    if not factors:
        raise ValueError("a network behind linear layers has at least one of them, received none")
    total = (a * a).sum(-1)
    for factor in factors:
        total = total + frobenius_squared(factor)
    return total / (len(factors) + 1)


def least_linear_layers_cost(W: Array, a: Array, L: int) -> Array:
    """(1/L)‖a‖² + ((L−1)/L) ‖W‖_{S^q}^q, q = 2/(L−1): the least cost over all factorisations of W.

    :func:`balanced_factors` attains it. Shape (*B).
    """
    layers = schatten_power(W, Fraction(2, L - 1))
    return ((a * a).sum(-1) + layers * (L - 1)) / L


def balanced_factors(W: Array, n: int) -> tuple[Tensor, ...]:
    """W_1, ..., W_n with W_n ··· W_1 = W and the least Σ ‖W_j‖_F², n ‖W‖_{S^{2/n}}^{2/n}.

    From W = U S Vᵀ: W_1 = S^{1/n} Vᵀ, W_j = S^{1/n}, W_n = U S^{1/n}, inner width min(K, D).
    Singular values that count as zero are dropped: the n-th root of rounding noise is not small.

    Raises ValueError for n < 1, NoBallForm on balls.
    """
    if n < 1:
        raise ValueError(f"a factorisation has n >= 1 factors, received {n}")
    if is_ball(W):
        raise NoBallForm("a balanced factorisation", "singular vectors are irrational")
    if n == 1:
        return (W,)
    U, s, Vh = torch.linalg.svd(W, full_matrices=False)
    root = torch.where(s > rank_threshold(W, s), s, 0.0) ** (1 / n)
    middle = torch.diag_embed(root)
    return (root.unsqueeze(-1) * Vh, *(middle for _ in range(n - 2)), U * root.unsqueeze(-2))


def rescale_units(W: Array, b: Array, a: Array, lam: Array) -> tuple[Array, Array, Array]:
    """(D_λ W, D_λ b, D_λ^{-1} a) for λ > 0 (*B, K): the same function."""
    return lam.unsqueeze(-1) * W, lam * b, a / lam


def best_scale(W: Array, a: Array, L: int, lam: Array) -> Array:
    """The t > 0 at which :func:`least_linear_layers_cost` of (D_{tλ} W, D_{tλ}^{-1} a) is least.

    The cost is (X/t² + (L−1) Y t^q)/L with X = ‖D_λ^{-1} a‖² and Y = ‖D_λ W‖_{S^q}^q, so
    t = (X/Y)^{(L−1)/(2L)}, where it equals (X Y^{L−1})^{1/L}. Needs a ≠ 0 and W ≠ 0. Shape (*B).
    """
    outer = ((a / lam) * (a / lam)).sum(-1)
    inner = schatten_power(lam.unsqueeze(-1) * W, Fraction(2, L - 1))
    return power(outer / inner, Fraction(L - 1, 2 * L))


# One variable


def total_variation_of_derivative(W: Array, b: Array, a: Array) -> Array:
    """∫|f''| of f(x) = Σ a_k [w_k x + b_k]_+ over the line, from the slopes beside each breakpoint.

    W (*B, K, 1), b and a (*B, K). At each breakpoint t the slope of f just right and just left of t
    is summed over the units that are active there, and the jumps are added up, coinciding
    breakpoints once. O(K²). With distinct breakpoints it equals :func:`path_norm`; coinciding ones
    can cancel. Shape (*B).
    """
    if W.shape[-1] != 1:
        raise ValueError(f"one variable: W has shape (*B, K, 1), received {tuple(W.shape)}")
    w = W[..., 0]
    bends = w != 0
    t = -b / torch.where(bends, w, w.new_ones(w.shape))
    here, unit = t.unsqueeze(-1), t.unsqueeze(-2)  # slopes at t_i, units k
    rising = (w > 0).unsqueeze(-2)
    both = (bends.unsqueeze(-1) & bends.unsqueeze(-2)).to(torch.float64)
    weight = (a * w).unsqueeze(-2)
    right = torch.where(rising, unit <= here, unit > here).to(torch.float64)
    left = torch.where(rising, unit < here, unit >= here).to(torch.float64)
    jump = ((right - left) * both * weight).sum(-1).abs()
    together = ((unit == here).to(torch.float64) * both).sum(-1)
    return (jump / torch.where(together > 0, together, 1.0)).sum(-1)


# Depth


@dataclass(frozen=True, eq=False)
class Sandwich:
    """Both ends of the sandwich of Φ_L against L, the depths along the last axis: (*B, n).

    ``lower`` ‖D_aW‖_{S^{2/L}}^{2/L}, ``path`` path^{2/L}, ``upper`` rank^{(L−2)/L} path^{2/L};
    ``phi_lower`` and ``phi_upper`` bracket Φ_L (None where it was not solved for).
    """

    depths: tuple[int, ...]
    lower: Array
    path: Array
    upper: Array
    phi_lower: Tensor | None = None
    phi_upper: Tensor | None = None


def sandwich(W: Array, a: Array, depths: Sequence[int], *, solve: bool = True) -> Sandwich:
    """The sandwich at each of ``depths`` (>= 2), with Φ_L itself unless ``solve`` is false."""
    if not depths or min(depths) < 2:
        raise ValueError(f"the sandwich has depths L >= 2, at least one, received {list(depths)}")
    path = path_norm(W, a)
    solved = [phi(W, a, L) for L in depths] if solve else []
    return Sandwich(
        tuple(depths),
        torch.stack([phi_lower(W, a, L) for L in depths], -1),
        torch.stack([power(path, Fraction(2, L)) for L in depths], -1),
        torch.stack([phi_upper(W, a, L) for L in depths], -1),
        torch.stack([bracket.lower for bracket in solved], -1) if solve else None,
        torch.stack([bracket.upper for bracket in solved], -1) if solve else None,
    )


def winning_threshold(W: Array, a: Array, W_high: Array, a_high: Array) -> Array:
    r"""T with Φ_L(W, a) < Φ_L(W_high, a_high) for every depth L > T (L ≥ 2); shape (*B).

    With r = rank D_a W and path = path(W, a) of the one, R = rank and |·|_+ the pseudo-determinant
    of D_a W of the other, for r < R,

    .. math:: T = \frac{2}{\log(R/r)} \Bigl(\log\frac{\mathrm{path}}{r}
                  - \frac1R \log |D_aW_{high}|_+\Bigr).

    Proof. Put t = 2/L and let s_1..s_R be the singular values of the other. By the inequality of
    the means Σ s_i^t ≥ R |·|_+^{t/R}; so upper end < lower end follows from
    log r + t log(path/r) < log R + (t/R) log|·|_+, that is from t T/2 < 1. For r = 0 the upper end
    is 0, and so is T; for r ≥ R there is none, and the result is nan (on balls, unknown), so that
    L > T holds for no L. Where the s_i are equal the two ends cross at L = T.
    """
    return _winning_threshold(W, a, a_high.unsqueeze(-1) * W_high, by_gradients=False)


def winning_threshold_by_gradients(W: Array, a: Array, root: Array) -> Array:
    r"""As :func:`winning_threshold`, with MV(g; q)^{2/L} as the lower end of the other function g.

    ``root`` (*B, N, D) is a factor of its C_g, as :func:`rankcheck.costs.egop_root` gives it: so T
    depends on g alone, not on a network for it. As MV(g; q)^{2/L} = (Σ σ_i^q)^{(L−1)/L} is at least
    R^{(L−1)/L} |C_g^{1/2}|_+^{2/(RL)}, T is larger than there by log R / log(R/r). Shape (*B).
    """
    return _winning_threshold(W, a, root, by_gradients=True)


def _winning_threshold(W: Array, a: Array, high: Array, *, by_gradients: bool) -> Array:
    path, r, R = path_norm(W, a), unit_rank(W, a), rank(high)
    count, count_high = torch.where(r > 0, r, 1) + 0 * path, torch.where(R > 0, R, 1) + 0 * path
    excess = torch.where(r > 0, path, path.new_ones(path.shape)) / count
    margin = 2 * (excess.log() - log_pseudo_determinant(high) / count_high)
    if by_gradients:
        margin = margin + count_high.log()
    threshold = margin / (count_high / count).log()
    none = path.new_zeros(path.shape)
    return torch.where(r < R, torch.where(r > 0, threshold, none), none / none)


def winning_depth(W: Array, a: Array, W_high: Array, a_high: Array) -> Tensor:
    """The least integer L_0 ≥ 2 above :func:`winning_threshold`, shape (*B), int64.

    For every L ≥ L_0 the upper end of the sandwich of (W, a) is below the lower end of the other.
    The threshold is first enlarged by its rounding error, so that L_0 is never too small; it is one
    too large at most, where the threshold lies that near below an integer.

    Raises ValueError unless rank D_a W is the smaller one everywhere, NoBallForm on balls.
    """
    if is_ball(W):
        raise NoBallForm("winning_depth", "compare L with winning_threshold")
    threshold = winning_threshold(W, a, W_high, a_high)
    r, high = unit_rank(W, a), a_high.unsqueeze(-1) * W_high
    if bool(threshold.isnan().any()):
        raise ValueError(f"the first rank is the smaller one, received {r} and {rank(high)}")
    s = singular_values(high)
    tau = rank_threshold(high, s)
    relative = torch.where(s > tau, tau / torch.where(s > tau, s, 1.0), 0.0).amax(-1)
    size = torch.where(r > 0, path_norm(W, a), 1.0).log().abs() + s[..., 0].log().abs()
    rounding = torch.finfo(s.dtype).eps * (sum(W.shape[-2:]) + 64) * (1 + size)
    error = 2 / (rank(high) / r.clamp_min(1)).log() * (relative + rounding)
    error = torch.where(r > 0, error + rounding * threshold.abs(), 0.0)
    return ((threshold + error).floor() + 1).clamp_min(2).to(torch.long)
