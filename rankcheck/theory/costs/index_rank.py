r"""The expected gradient outer product C_f = E[∇f ∇fᵀ], and the index rank that it defines.

rank_I(f) = rank C_f, its range is the principal subspace, rank_{I,ε}(f) counts the singular values
of C_f^{1/2} above ε, and the mixed variation is MV(f; q) = ‖C_f^{1/2}‖_{S^q}. For vector-valued f,
C_f = E[JᵀJ].

There are two ways to C_f: exactly for h(x) = aᵀ[Wx + b]_+ + c under a Gaussian
(:func:`rankcheck.costs.egop_gaussian`); from gradients at points, for any law (:func:`egop`). The
index rank depends on the support of the law only: a unit that is inactive on all of it does not
count.

C_f squares the singular values of C_f^{1/2}, so floats lose those below √ε times the largest. Where
they matter, as for q < 1, use the factor A with AᵀA = C_f (:func:`egop_root`):
‖C_f^{1/2}‖_{S^q} = ‖A‖_{S^q}.

Source: slides A and B of `linear`; Constantine, *Active subspaces*, 2015.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from rankcheck.balls import NoBallForm, is_ball
from rankcheck.theory.linalg import (
    Array,
    Number,
    power,
    rank,
    rank_threshold,
    singular_values,
)
from rankcheck.theory.scalars import scalar

if TYPE_CHECKING:
    pass


# From C_f


def index_rank(C: Array) -> Tensor:
    """rank_I(f) = rank C_f, an integer tensor (*B): proved on balls, by a threshold in floats.

    >>> index_rank(egop(torch.tensor([[1.0, 0.0], [2.0, 0.0]], dtype=torch.float64)))
    tensor(1)
    """
    return rank(C)


def effective_index_rank(C: Array, epsilon: Number | Array) -> Tensor:
    """rank_{I,ε}(f) = #{i: σ_i(C_f^{1/2}) > ε}, strictly; int64, shape (*B).

    ε is a number or an array (*B), ≥ 0. In floats a σ_i that counts as zero for
    :func:`index_rank` is none, so at ε = 0 the two agree. On balls it raises Undecided if a σ_i
    cannot be told from ε.

    >>> gradients = torch.tensor([[0.1, 0.3, 0.7], [0.2, 0.6, 1.4]], dtype=torch.float64)
    >>> effective_index_rank(egop(gradients), 0)
    tensor(1)
    """
    epsilon = scalar(epsilon, C) if isinstance(epsilon, Number) else epsilon.unsqueeze(-1)
    values = singular_values(C)
    above = values > epsilon * epsilon
    return (above if is_ball(C) else above & (values > rank_threshold(C, values))).sum(-1)


def principal_directions(C: Array) -> tuple[Tensor, Tensor]:
    """σ_i(C_f^{1/2}), descending, (*B, D), and their directions as columns, (*B, D, D).

    Raises NoBallForm on balls.
    """
    if is_ball(C):
        raise NoBallForm("principal_directions", "use range_projection")
    values, vectors = torch.linalg.eigh(C)
    return values.flip(-1).clamp_min(0).sqrt(), vectors.flip(-1)


# C_f from points


def egop_root(gradients: Array, weights: Array | None = None) -> Array:
    """A with AᵀA = C_f, shape (*B, N, D): the rows √p_n ∇f(x_n).

    Gradients (*B, N, D) at N points of probabilities ``weights`` (*B, N), by default 1/N each. On
    balls the rows are rational if the weights are squares of rationals.
    """
    if weights is None:
        count = gradients.shape[-2]
        return gradients / power(scalar(count, gradients), Fraction(1, 2))
    return power(weights, Fraction(1, 2)).unsqueeze(-1) * gradients


def egop(gradients: Array, weights: Array | None = None) -> Array:
    """Σ_n p_n ∇f(x_n) ∇f(x_n)ᵀ, shape (*B, D, D), for gradients (*B, N, D).

    This is C_f for a law on N points, and the Monte Carlo estimate of C_f for N points drawn from
    any law. A vector-valued f has n_L rows for each point, each with the probability of the point.
    """
    if weights is None:
        return gradients.mT @ gradients / gradients.shape[-2]
    return (weights.unsqueeze(-1) * gradients).mT @ gradients


# Bounds of the spectrum from the cost


def effective_rank_bound(
    s: Number | Array, J: Array, epsilon: Array, L: int, *, sharp: bool = False
) -> Array:
    """s (J/(ε√s))^{2/(L−1)}, a bound of rank_{I,ε}(f) if Φ_L(f) ≤ s^{(L−2)/L} J^{2/L}.

    Proof. With q = 2/(L−1) and σ_i = σ_i(C_f^{1/2}), MV(f; q)^{2/L} ≤ Φ_L(f) reads
    (Σ σ_i^q)^{(L−1)/L} ≤ s^{(L−2)/L} J^{2/L}; so rank_{I,ε}(f) ε^q ≤ Σ σ_i^q ≤ s^{1−q/2} J^q.
    It is attained in the limit by s equal singular values J/√s, as ε tends to them from below.
    s, J, ε > 0; shape (*B).

    With ``sharp`` it is s (J/(εs))^{2/L}, by the same steps from MV(f; 2/L)^{2/L} ≤ Φ_L(f), that is
    Σ σ_i^{2/L} ≤ s^{(L−2)/L} J^{2/L}. It is smaller wherever it is at least 1.
    """
    s = scalar(s, J) if isinstance(s, Number) else s
    if sharp:
        return power(s, Fraction(L - 2, L)) * power(J / epsilon, Fraction(2, L))
    q = Fraction(2, L - 1)
    return power(s, 1 - q / 2) * power(J / epsilon, q)


def effective_rank_threshold(
    r: Number | Array, epsilon: Array, L: int, *, sharp: bool = False
) -> Array:
    """ε√r (1 + 1/r)^{(L−1)/2}, for r ≥ 1: the J at which the bound at s = r reaches r + 1.

    Below it :func:`effective_rank_bound` is < r + 1, so that rank_{I,ε}(f), an integer, is ≤ r.
    With ``sharp`` it is that of the sharp bound, εr (1 + 1/r)^{L/2}, larger by the factor √(r + 1).
    """
    r = scalar(r, epsilon) if isinstance(r, Number) else r
    if sharp:
        return epsilon * r * power((r + 1) / r, Fraction(L, 2))
    return epsilon * power(r, Fraction(1, 2)) * power((r + 1) / r, Fraction(L - 1, 2))


def effective_rank_threshold_as_printed(r: Number | Array, epsilon: Array, L: int) -> Array:
    """ε√r (1 + 1/√r)^{(L−1)/2}, as slides B print it: the J at which the bound reaches r + √r.

    For r ≥ 2 a smaller J does not imply rank_{I,ε}(f) ≤ r by that bound; from depth 14 on it
    does not at all (docs/proofs/printed-budget.md). For r = 1 the two thresholds agree.
    """
    r = scalar(r, epsilon) if isinstance(r, Number) else r
    root = power(r, Fraction(1, 2))
    return epsilon * root * power((root + 1) / root, Fraction(L - 1, 2))


def gradient_volume_bound(sigma: Array, L: int) -> Array:
    r"""n κ_n^{1/L} (σ_1···σ_n)^{2/(nL)} with κ_n = 4n/(n+1)^{1+1/n}, a lower bound of Φ_L(f).

    For the n largest σ_i = σ_i(C_f^{1/2}), of shape (*B, n), all positive; shape (*B). κ_1 = 1 and
    κ_n increases to 4. Proof: docs/proofs/printed-budget.md.

    >>> gradient_volume_bound(torch.ones(3, dtype=torch.float64), 3)  # 3 · 1.88988^(1/3)
    tensor(3.7091, dtype=torch.float64)
    """
    n = sigma.shape[-1]
    kappa = 4 * n / power(scalar(n + 1, sigma), Fraction(n + 1, n))
    roots = power(sigma, Fraction(2, n * L))
    bound = n * power(kappa, Fraction(1, L)) * roots[..., 0]
    for i in range(1, n):
        bound = bound * roots[..., i]
    return bound
