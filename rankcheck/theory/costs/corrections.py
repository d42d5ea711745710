r"""The expansion of the representation cost in the depth, L R⁰ + R¹ + R²/L + ..., at finite L.

R(f; Ω, L) cannot be computed in general. A proof about the corrections still gives two statements
at every finite depth: one about the *excess* ‖θ‖² − kL of networks of rank k, and, for linear maps,
the expansion of L‖A‖_{S^{2/L}}^{2/L} itself, with its remainder.

Matrices and networks have any leading batch axes, on floats (with gradients) or on balls. ``noise``
is that of :mod:`rankcheck.linalg`.

Source: A. Jacot, *Bottleneck structure in learned features*, sections 3.1 and 3.2, appendix A.
"""

from __future__ import annotations

from fractions import Fraction

import torch
from torch import Tensor

from rankcheck.balls import is_ball
from rankcheck.theory.linalg import (
    Array,
    Number,
    log_pseudo_determinant,
    power,
    rank,
    rank_threshold,
    schatten_power,
    singular_values,
)
from rankcheck.theory.networks.network import Network


def excess(net: Network, k: int | Tensor) -> Array:
    """‖θ‖² − kL, the cost of a network beyond that of its rank k, shape (*B); k an int or (*B)."""
    return net.cost() - k * net.depth


def linear_cost(A: Array, L: int, noise: float | Tensor = 0.0) -> Array:
    """L‖A‖_{S^{2/L}}^{2/L}, the least ‖θ‖² of L linear layers whose product is A, shape (*B).

    >>> linear_cost(torch.diag(torch.tensor([1.0, 8.0], dtype=torch.float64)), 3)  # 3 (1 + 4)
    tensor(15., dtype=torch.float64)
    """
    return schatten_power(A, Fraction(2, L), noise) * L


def log_gram_squared(A: Array, noise: float | Tensor = 0.0) -> Array:
    """‖log_+ AᵀA‖_F² = Σ (2 log s_i)² over the non-zero singular values, shape (*B).

    R²(x ↦ Ax) is half of it.
    """
    logs = _log_singular_values(A, noise)
    return (logs * logs).sum(-1) * 4


def cost_expansion(A: Array, L: int, noise: float | Tensor = 0.0) -> Array:
    """L·rank A + 2 log|A|_+ + ‖log_+ AᵀA‖_F²/(2L), shape (*B): three terms of `linear_cost`."""
    second = log_gram_squared(A, noise) / (2 * L)
    return second + 2 * log_pseudo_determinant(A, noise) + rank(A, noise) * L


def expansion_remainder(A: Array, L: int, noise: float | Tensor = 0.0) -> Array:
    r"""A bound of |linear_cost − cost_expansion|, shape (*B):

    .. math:: \frac{4}{3 L^2} \sum_i |\log s_i|^3 \max(1, s_i^{2/L}).

    With t = (2/L) log s it is L times Lagrange's remainder |t|³/6 · e^ξ of e^t, at the larger of
    ξ = 0 and ξ = t.
    """
    logs = _log_singular_values(A, noise)
    growth = torch.relu(logs * 2 / L).exp()
    return (logs.abs() * logs * logs * growth).sum(-1) * 4 / (3 * L * L)


def second_order(A: Array, L: int, noise: float | Tensor = 0.0) -> Array:
    r"""A lower bound of linear_cost(A) − L·rank A − 2 log|A|_+, shape (*B):

    .. math:: \frac2L \sum_i (\log s_i)^2 \Bigl(1 + \frac{2}{3L} \log s_i\Bigr),

    as e^t ≥ 1 + t + t²/2 + t³/6 for every t, here with t = (2/L) log s_i.
    """
    logs = _log_singular_values(A, noise)
    return (logs * logs * (1 + logs * 2 / (3 * L))).sum(-1) * 2 / L


def distortion(A: Array, noise: float | Tensor = 0.0) -> Array:
    """Σ (s_i − 1/s_i)² over the non-zero singular values, shape (*B); 0 for partial isometries."""
    s = _log_singular_values(A, noise).exp()
    return ((s - 1 / s) * (s - 1 / s)).sum(-1)


def secant_cost(rise: Array, radius: Array, slope: Number | Array = 0) -> Array:
    r"""A lower bound of the cost of depth two from the rise of f over an interval, shape (*B).

    A unit x ↦ v σ_a(wx + b) rises between −r and r by at most |v|((1 + a)|w| r + (1 − a)|b|), by
    cases. By Cauchy and Schwarz, and as 2|v|‖(w, b)‖ ≤ |v|² + w² + b²,

    .. math:: \|\theta\|^2 \ge \frac{2 \|f(r) - f(-r)\|}{\sqrt{(1 + a)^2 r^2 + (1 - a)^2}}.

    Args:
        rise: ‖f(r) − f(−r)‖, shape (*B).
        radius: r > 0, shape (*B).
        slope: a in (−1, 1), a number or of shape (*B).
    """
    wide, offset = (1 + slope) * radius, 1 - slope + 0 * radius
    return 2 * rise / power(wide * wide + offset * offset, Fraction(1, 2))


def _log_singular_values(A: Array, noise: float | Tensor) -> Array:
    """log s_i, shape (*B, min(m, n)), with 0 for singular values that count as zero."""
    s = singular_values(A)
    counted = s > rank_threshold(A, s, noise) if not is_ball(A) else s > 0
    return torch.where(counted, s, s.new_ones(s.shape)).log()
