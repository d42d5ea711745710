r"""The objective whose infimum over the scales of the units is Φ_L.

With B = D_a W (rows b_k = a_k w_k), q = 2/(L−1) and h = q/2 = 1/(L−1),

.. math:: \Phi_L(W, a) = \inf_{\lambda > 0, \|\lambda\| = 1} \|D_\lambda^{-1} B\|_{S^q}^{2/L}
                       = e^{2 F^* / L}, \qquad F^* = \inf_u F(u), \quad
          F(u) = \log \|D_{e^{-u}} B\|_{S^q} + \tfrac12 \log \sum_k e^{2 u_k}.

F does not change when a constant is added to u, so the sphere is no constraint. Rows b_k = 0 cost
nothing and take λ_k = 0; they are left out below. Write M = D_λ^{-1} B, T = tr(MMᵀ)^h,
P = (MMᵀ)^h and p_k = P_kk / T, a probability vector.

**F is convex.** Let MMᵀ = Σ s_i v_i v_iᵀ have full rank (the general case is a limit of convex
functions), let x be a direction, X_ij = Σ_k x_k v_ki v_kj. Perturbation theory gives

    T'  = −q Σ_i s_i^h X_ii,      T'' = q Σ_ij Ψ_ij X_ij²,
    Ψ_ij = (s_i + s_j)(s_i^h − s_j^h)/(s_i − s_j) ≥ 0,  Ψ_ii = q s_i^h,

so by Cauchy and Schwarz T'² ≤ q² (Σ s_i^h)(Σ s_i^h X_ii²) ≤ T T'', for every q > 0: log T is
convex, and so is log Σ e^{2u}. The gradient of F is g = λ² − p for ‖λ‖ = 1.

:func:`scaled_schatten_power` and :func:`phi_at` evaluate the objective on floats or balls.
:class:`Rows` is the form in which the solver and the certificate take their instances: floats,
zero matrices left out, rows of length 1 with the logarithms of their lengths beside them, columns
reduced to m = min(K, D) by an orthonormal basis V of the row space.

Source: Ongie & Willett, arXiv 2305.15598, lemma on Φ_L; the convexity is derived above.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import torch
from torch import Tensor

from rankcheck.balls import NoBallForm, is_ball
from rankcheck.theory.linalg import RANK_FACTOR, Array, Number, power, schatten_power

EPS = torch.finfo(torch.float64).eps


def scaled_schatten_power(W: Array, a: Array, lam: Array, q: Number) -> Array:
    r"""‖D_λ^{-1} D_a W‖_{S^q}^q ‖λ‖^q, shape (*B), for W (*B, K, D), a and λ > 0 (*B, K).

    It is invariant under scaling of λ. A row with a_k w_k = 0 contributes nothing, even where
    λ_k = 0. Rational λ keep the matrix rational, so balls prove its rank.
    """
    B = a.unsqueeze(-1) * W
    silent = B.abs().sum(-1) == 0
    scale = torch.where(silent, lam.new_ones(lam.shape), lam)
    length = (lam * lam).sum(-1)
    return schatten_power(B / scale.unsqueeze(-1), q) * power(length, Fraction(q) / 2)


def phi_at(W: Array, a: Array, L: int, lam: Array) -> Array:
    """‖D_λ^{-1} D_a W‖_{S^q}^{2/L} for λ scaled to the unit sphere, q = 2/(L−1); shape (*B).

    Φ_L is its infimum over λ > 0, so every value is an upper bound of Φ_L. Runs on floats, with
    gradients, and on balls. Raises ValueError for L < 2 or shapes that do not fit.

    >>> W, a = torch.eye(2, dtype=torch.float64), torch.tensor([1.0, 4.0], dtype=torch.float64)
    >>> phi_at(W, a, 2, torch.tensor([1.0, 2.0], dtype=torch.float64))  # the path norm, 1 + 4
    tensor(5., dtype=torch.float64)
    """
    check(W, a, L)
    return power(scaled_schatten_power(W, a, lam, Fraction(2, L - 1)), Fraction(L - 1, L))


def check(W: Array, a: Array, L: int) -> None:
    if L < 2:
        raise ValueError(f"received depth {L}; Φ_L is defined for L >= 2")
    if W.ndim < 2 or tuple(a.shape) != tuple(W.shape[:-1]) or 0 in W.shape[-2:]:
        raise ValueError(
            f"received W of shape {tuple(W.shape)} and a of shape {tuple(a.shape)}; "
            "W has shape (*B, K, D) with K, D >= 1, and a has shape (*B, K)"
        )


class Rows(NamedTuple):
    """The N instances with D_a W ≠ 0, rows scaled to length 1 and reduced to m = min(K, D) columns.

    Attributes:
        Y: (N, K, m), b_k V/‖b_k‖; the last m − rank columns are zero.
        log_norm: (N, K), log‖b_k‖ less its maximum ``log_scale``, and 0 where ``active`` is false.
        active: (N, K), whether b_k ≠ 0.
        rank: (N), the rank of D_a W.
        cosine: (N), a lower bound of cos θ, where θ is the angle between V and the row space.
        log_scale: (N).
        instance: (N), the index in the flattened batch.
    """

    Y: Tensor
    log_norm: Tensor
    active: Tensor
    rank: Tensor
    cosine: Tensor
    log_scale: Tensor
    instance: Tensor

    def take(self, index: Tensor | slice) -> Rows:
        """The instances at the given positions."""
        return Rows(*(field[index] for field in self))

    def matrix(self, u: Tensor) -> Tensor:
        """D_λ^{-1} B V e^{−log_scale} at λ = e^u, shape (N, K, m)."""
        return self.Y * (self.log_norm - u).exp().unsqueeze(-1)

    def square(self, u: Tensor) -> Tensor:
        """λ² at λ = e^u, shape (N, K), with 0 for rows b_k = 0."""
        return torch.where(self.active, (2 * u).exp(), 0.0)

    def kept(self, descending: bool) -> Tensor:
        """Which of the m ordered singular values count towards the rank, bools (N, m)."""
        m = self.Y.shape[-1]
        place = torch.arange(m, device=self.Y.device)
        place = place if descending else place.flip(-1)
        return place < self.rank.unsqueeze(-1)


def rounding_threshold(rows: int, columns: int, largest: Tensor) -> Tensor:
    """τ, a bound in operator norm of the rounding error of a matrix of this shape."""
    return RANK_FACTOR * max(rows, columns) * EPS * largest


def prepare(W: Array, a: Array) -> Rows:
    """The instances of W (*B, K, D) and a (*B, K) as :class:`Rows`, without gradients.

    The rank of D_a W is decided on the rows scaled to length 1. Raises NoBallForm on balls.
    """
    if is_ball(W) or is_ball(a):
        raise NoBallForm("the solver of Φ_L", "use phi, which proves its result on balls")
    K, D = W.shape[-2:]
    B = (a.unsqueeze(-1) * W).reshape(-1, K, D).detach()
    instance = B.abs().amax((-2, -1)).nonzero()[:, 0]
    B = B[instance]
    largest = B.abs().amax(-1, keepdim=True)  # divided out first, so that no square underflows
    active = largest[..., 0] > 0
    B = B / torch.where(largest > 0, largest, 1.0)
    length = torch.linalg.vector_norm(B, dim=-1, keepdim=True)
    Y = B / torch.where(length > 0, length, 1.0)
    log_norm = torch.where(active, (largest * length)[..., 0], 1.0).log()
    log_scale = torch.where(active, log_norm, -math.inf).amax(-1)
    log_norm = torch.where(active, log_norm - log_scale.unsqueeze(-1), 0.0)

    _, s, Vh = torch.linalg.svd(Y, full_matrices=False)
    error = rounding_threshold(K, D, s[:, :1])
    known = (s > error).sum(-1)
    rows = Rows(Y, log_norm, active, known, s[:, 0], log_scale, instance)
    last = s.gather(-1, (known - 1).clamp(0).unsqueeze(-1))
    sine = torch.where(last > 0, error / torch.where(last > 0, last, 1.0), 1.0).clamp(max=1.0)
    cosine = torch.where(known == D, 1.0, (1 - sine[:, 0] ** 2).sqrt())
    kept = rows.kept(descending=True)[..., : s.shape[-1]]
    return rows._replace(Y=Y @ (Vh * kept.unsqueeze(-1)).mT, cosine=cosine)


def on_sphere(u: Tensor, active: Tensor) -> Tensor:
    """u less the constant that makes Σ e^{2u_k} = 1 over the active rows; 0 at the other rows."""
    masked = torch.where(active, u, -math.inf)
    return torch.where(active, u - torch.logsumexp(2 * masked, -1, keepdim=True) / 2, 0.0)
