r"""The cost of a two-layer function h(x) = aᵀ[Wx + b]_+ + c behind linear layers.

W (*B, K, D) = W_{L−1} ··· W_1, a and b (*B, K). The cost of L layers is
C_L = (‖a‖² + Σ ‖W_j‖_F²)/L; biases do not count. Its infimum over the factors and over rescalings
of the units is Φ_L(W, a), which lies between the Schatten power and the path norm of D_a W:

.. math:: \max\bigl(\|D_aW\|_{S^{2/L}}^{2/L},\ \mathrm{path}^{2/L}\bigr) \le \Phi_L(W, a)
          \le \mathrm{rank}(D_aW)^{(L-2)/L}\, \mathrm{path}^{2/L}.

Everything runs on floats, with gradients, and on balls; only the infimum itself
(:func:`rankcheck.costs.phi`), the balanced factorisation and :func:`winning_depth` need floats.

Source: Ongie & Willett, arXiv 2305.15598; slides A and B of `linear`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import torch
from torch import Tensor

from rankcheck.balls import NoBallForm, is_ball, mapped
from rankcheck.theory.costs.two_layer import path_norm_of_units, unit_rank
from rankcheck.theory.linalg import (
    Array,
    frobenius_squared,
    log_pseudo_determinant,
    power,
    rank,
    rank_threshold,
    schatten_power,
    singular_values,
)


def phi_lower(W: Array, a: Array, L: int) -> Array:
    """‖D_a W‖_{S^{2/L}}^{2/L}, a lower bound of Φ_L(W, a), shape (*B)."""
    return schatten_power(a.unsqueeze(-1) * W, Fraction(2, L))


def phi_upper(W: Array, a: Array, L: int) -> Array:
    """rank(D_a W)^{(L−2)/L} path^{2/L}, an upper bound of Φ_L(W, a), shape (*B)."""
    path = path_norm_of_units(W, a)
    count = path.new_zeros(path.shape) + unit_rank(W, a)
    return power(count, Fraction(L - 2, L)) * power(path, Fraction(2, L))


# Linear layers


def linear_layers_cost(factors: Sequence[Array], a: Array) -> Array:
    """(‖a‖² + Σ ‖W_j‖_F²)/L for the L − 1 matrices ``factors``, shape (*B).

    Raises ValueError if there are none.
    """
    if not factors:
        raise ValueError("received no factors; the cost is that of at least one linear layer")
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
    Singular values that count as zero are replaced by 0, as the n-th root of rounding is not small.

    Raises ValueError for n < 1, NoBallForm on balls.
    """
    if n < 1:
        raise ValueError(f"received n = {n}; a factorisation has n >= 1 factors")
    if is_ball(W):
        raise NoBallForm("a balanced factorisation", "singular vectors are irrational")
    if n == 1:
        return (W,)
    U, s, Vh = torch.linalg.svd(W, full_matrices=False)
    root = torch.where(s > rank_threshold(W, s), s, 0.0) ** (1 / n)
    middle = torch.diag_embed(root)
    return (root.unsqueeze(-1) * Vh, *(middle for _ in range(n - 2)), U * root.unsqueeze(-2))


def best_scale(W: Array, a: Array, L: int, lam: Array) -> Array:
    """The t > 0 at which :func:`least_linear_layers_cost` of (D_{tλ} W, D_{tλ}^{-1} a) is least.

    The cost is (X/t² + (L−1) Y t^q)/L with X = ‖D_λ^{-1} a‖² and Y = ‖D_λ W‖_{S^q}^q, so
    t = (X/Y)^{(L−1)/(2L)}, and the cost there is (X Y^{L−1})^{1/L}. For a ≠ 0 and W ≠ 0; shape
    (*B).
    """
    outer = ((a / lam) * (a / lam)).sum(-1)
    inner = schatten_power(lam.unsqueeze(-1) * W, Fraction(2, L - 1))
    return power(outer / inner, Fraction(L - 1, 2 * L))


# Depth


def winning_threshold(W: Array, a: Array, W_high: Array, a_high: Array) -> Array:
    r"""T with Φ_L(W, a) < Φ_L(W_high, a_high) for every depth L > T (L ≥ 2); shape (*B).

    With r = rank D_a W and path = path(W, a) of the first pair, R the rank and |·|_+ the
    pseudo-determinant of D_a W of the second, for r < R,

    .. math:: T = \frac{2}{\log(R/r)} \Bigl(\log\frac{\mathrm{path}}{r}
                  - \frac1R \log |D_aW_{high}|_+\Bigr).

    Proof. Put t = 2/L and let s_1..s_R be the singular values of the second. By the inequality of
    the means Σ s_i^t ≥ R |·|_+^{t/R}; so :func:`phi_upper` of the first is below :func:`phi_lower`
    of the second if log r + t log(path/r) < log R + (t/R) log|·|_+, that is if t T/2 < 1. If the
    s_i are equal, the two bounds cross at L = T.

    For r = 0 the upper bound is 0, and so is T. For r ≥ R there is no such T, and the result is nan
    (on balls, unknown), so that L > T is false for every L.
    """
    return _winning_threshold(W, a, a_high.unsqueeze(-1) * W_high)


def winning_threshold_by_gradients(W: Array, a: Array, root: Array) -> Array:
    r"""As :func:`winning_threshold`, with MV(g; 2/L)^{2/L} as the lower bound of the cost of g.

    ``root`` (*B, N, D) is a factor of C_g, as :func:`rankcheck.costs.egop_root` gives it, so T
    depends on the function g, not on a network for it. MV(g; 2/L)^{2/L} = Σ σ_i^{2/L} is at least
    R |C_g^{1/2}|_+^{2/(RL)}, so T is the threshold from weights with the same singular values. That
    it bounds the cost of g is proved at linear.mixed-variation-bound. Shape (*B).
    """
    return _winning_threshold(W, a, root)


def _winning_threshold(W: Array, a: Array, high: Array) -> Array:
    path, r, R = path_norm_of_units(W, a), unit_rank(W, a), rank(high)
    count, count_high = torch.where(r > 0, r, 1) + 0 * path, torch.where(R > 0, R, 1) + 0 * path
    excess = torch.where(r > 0, path, path.new_ones(path.shape)) / count
    margin = 2 * (excess.log() - log_pseudo_determinant(high) / count_high)
    threshold = margin / (count_high / count).log()
    none = path.new_zeros(path.shape)
    return torch.where(r < R, torch.where(r > 0, threshold, none), none / none)


def winning_depth(W: Array, a: Array, W_high: Array, a_high: Array) -> Tensor:
    """The least integer L_0 ≥ 2 above :func:`winning_threshold`, shape (*B), int64.

    For every L ≥ L_0, :func:`phi_upper` of (W, a) is below :func:`phi_lower` of the other. The
    threshold is enlarged by a bound on its rounding error, so that L_0 is never too small; it is
    too large by one if the threshold lies within that bound below an integer.

    Raises ValueError unless rank D_a W is the smaller rank in every instance, NoBallForm on balls.
    """
    if is_ball(W):
        raise NoBallForm("winning_depth", "compare L with winning_threshold")
    threshold = winning_threshold(W, a, W_high, a_high)
    r, high = unit_rank(W, a), a_high.unsqueeze(-1) * W_high
    if mapped() is None and bool(threshold.isnan().any()):
        raise ValueError(f"received ranks {r} and {rank(high)}; the first is the smaller one")
    s = singular_values(high)
    tau = rank_threshold(high, s)
    relative = torch.where(s > tau, tau / torch.where(s > tau, s, 1.0), 0.0).amax(-1)
    size = torch.where(r > 0, path_norm_of_units(W, a), 1.0).log().abs() + s[..., 0].log().abs()
    rounding = torch.finfo(s.dtype).eps * (sum(W.shape[-2:]) + 64) * (1 + size)
    error = 2 / (rank(high) / r.clamp_min(1)).log() * (relative + rounding)
    error = torch.where(r > 0, error + rounding * threshold.abs(), 0.0)
    return ((threshold + error).floor() + 1).clamp_min(2).to(torch.long)
