r"""Φ_L between two proved numbers: the solver, and the certificate at its result.

Notation as in :mod:`rankcheck.theory.costs.phi.functional`.

**Certificate.** A convex function lies above its tangents, so log‖D_{e^{-v}}B‖_{S^q} is at least
its value at u less Σ p_k (v_k − u_k), for every v. What remains is the least value over v of
½ log Σ e^{2v_k} − Σ p_k v_k: half the entropy of p (Gibbs). So, for every u with ‖λ‖ = 1,

    F(u) ≥ F* ≥ F(u) − ½ KL(p ‖ λ²) ≥ F(u) − ½ Σ_k (p_k − λ_k²)²/λ_k²,

the last by t log t − t + 1 ≤ (t − 1)². The gap is of second order in the gradient.

**Rounding.** The bracket is proved for the numbers that were computed, under the standard
assumption on the SVD: the computed triplets are exact for M + E with ‖E‖_op ≤ τ(M), the rank
threshold of :mod:`rankcheck.linalg` (which also absorbs the rounding of M's entries). So each
singular value is off by τ at most. With η = τ(M)/s_r(M) ≤ 1/16, the Gram matrices of M and M + E
lie within factors (1 ± η)² of each other in the Loewner order, which t ↦ t^{h−1} reverses; p_k,
computed as Σ_i s_i^{q−2} (m_k·v_i)² over its sum, is off by a factor of at most
((1 + η)/(1 − η))^4 ≤ 1 + 12 η, and |p_k − λ_k²| is enlarged by as much. Where η > 1/16 the
certificate proves nothing, and ‖B‖_{S^{2/L}}^{2/L} replaces it. The lower end is never below
path^{2/L} either.

**Columns.** As s_i(D_v^{-1} B V) ≤ s_i(D_v^{-1} B) for every v and every orthonormal V, the lower
end needs neither that V fits the row space well nor that the rank is right; the upper end is
divided by cos θ, where θ is the angle between V and the true row space.

Source: the certificate is derived above.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from rankcheck.balls import BallArray, as_batch, balls, is_ball
from rankcheck.theory.costs.phi.functional import EPS, Rows, check, prepare, rounding_threshold
from rankcheck.theory.costs.phi.proof import proved_ends
from rankcheck.theory.costs.phi.solver import divergence_bound, solve
from rankcheck.theory.linalg import Array

BLOCK = 1 << 17
"""Entries of the (instances, K, min(K, D)) block that is solved at a time, to stay in the cache."""


@dataclass(frozen=True, eq=False)
class PhiBracket:
    """lower ≤ Φ_L(W, a) ≤ upper, both of shape (*B): ball arrays if W or a is one.

    In floats ``upper / lower`` exceeds 1 by the tolerance of the solver and a rounding margin that
    grows with the condition number of D_λ^{-1} D_a W.

    Attributes:
        lower, upper: the two ends.
        lam: (*B, K), the λ on the unit sphere whose objective is ``upper``; 0 for a_k w_k = 0. On
            balls the λ that was tried, not scaled.
        iterations: (*B), the number of spectral decompositions.
        converged: (*B), whether the certificate closed to the tolerance. The bracket holds either
            way.
    """

    lower: Array
    upper: Array
    lam: Array
    iterations: Tensor
    converged: Tensor

    @property
    def gap(self) -> Array:
        """(upper − lower)/upper, shape (*B); 0 for the zero matrix."""
        return torch.where(self.upper > 0, (self.upper - self.lower) / self.upper, 0.0)


def phi(
    W: Array,
    a: Array,
    L: int,
    *,
    tolerance: float = 1e-12,
    max_iterations: int = 100,
) -> PhiBracket:
    """Φ_L(W, a) between two bounds, for W (*B, K, D), a (*B, K) and L ≥ 2; no gradients.

    In floats the upper end is that of a matrix of the rank of the rows scaled to length 1, by the
    threshold of :func:`rankcheck.linalg.rank`: singular values beyond it are left out.

    On balls the bounds are proved without any assumption; for rational units they are about
    10⁻²⁵ apart.

    Args:
        W, a: the units.
        L: the depth.
        tolerance: the relative gap at which an instance is done.
        max_iterations: spectral decompositions for each instance, at each of the two accuracies.

    Raises ValueError for L < 2 or shapes that do not fit; on balls Undecided where it is open
    whether a row of D_a W vanishes.

    >>> bracket = phi(torch.eye(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64), 5)
    >>> bool((bracket.lower <= 3) & (3 <= bracket.upper) & (bracket.gap < 1e-12))
    True
    """
    check(W, a, L)
    if is_ball(W) or is_ball(a):
        W, a = balls(W), balls(a)
        # No tolerance: the solver ends where rounding does, as the gap is quadratic in its error.
        guess = phi(W.midpoints(), a.midpoints(), L, tolerance=0, max_iterations=max_iterations)
        return _proved(W, a, L, guess.lam, guess.iterations, tolerance)
    units = W.detach(), a.detach()
    return PhiBracket(*as_batch(lambda W, a: _solved(W, a, L, tolerance, max_iterations), *units))


def _solved(
    W: Tensor, a: Tensor, L: int, tolerance: float, max_iterations: int
) -> tuple[Tensor, ...]:
    """The fields of the bracket in floats, of all instances at once: some take longer."""
    rows = prepare(W, a)
    count, K = rows.log_norm.shape
    u = rows.log_norm.new_zeros(count, K)
    iterations = torch.zeros(count, dtype=torch.long, device=u.device)
    block = max(1, BLOCK // max(1, rows.Y.shape[-1] * K))
    for first in range(0, count, block):
        part = slice(first, first + block)
        u[part], iterations[part] = solve(rows.take(part), L, tolerance, max_iterations)
    return bracket_at(rows, W, L, u, iterations, tolerance)


def _proved(
    W: Array, a: Array, L: int, lam: Array, iterations: Tensor, tolerance: float
) -> PhiBracket:
    """The bracket on balls at λ; 1 takes the place of a λ_k that underflowed to 0."""
    if not is_ball(lam):
        lam = BallArray.exact(torch.where(lam > 0, lam, 1.0))
    lower, upper = proved_ends(W, a, L, lam.expand(a.shape))
    gap = balls(upper - lower).midpoints()
    return PhiBracket(lower, upper, lam, iterations, gap <= tolerance * balls(upper).midpoints())


def bracket_at(
    rows: Rows, W: Tensor, L: int, u: Tensor, iterations: Tensor, tolerance: float
) -> tuple[Tensor, ...]:
    """The fields of the bracket, on the batch of W: the ends, at u, by the certificate."""
    (*batch, K, D), h = W.shape, 1 / (L - 1)
    q = 2 * h
    M = rows.matrix(u)
    _, sigma, Vh = torch.linalg.svd(M, full_matrices=False)
    kept = rows.kept(descending=True)
    tau = rounding_threshold(K, D, sigma[:, :1])
    above = torch.where(kept, (sigma + tau) ** q, 0.0).sum(-1).log() / q
    below = torch.where(kept, (sigma - tau).clamp_min(0) ** q, 0.0).sum(-1).log() / q
    units = 4 * (K + D + 8) * EPS
    margin = units * (1 + 1 / q + above.abs() + rows.log_scale.abs())

    smallest = torch.where(kept, sigma, math.inf).amin(-1, keepdim=True)
    eta = (tau / smallest.clamp_min(torch.finfo(M.dtype).tiny)).squeeze(-1)
    weights = torch.where(kept, torch.where(kept, sigma, 1.0) ** (q - 2), 0.0)
    P = ((M @ Vh.mT) ** 2 @ weights.unsqueeze(-1)).squeeze(-1)
    p, square = P / P.sum(-1, keepdim=True), rows.square(u)
    divergence = divergence_bound(p, square, 12 * eta.unsqueeze(-1) + units)
    proved = torch.where(eta <= 1 / 16, below - margin - divergence / 2, -math.inf)

    path = rows.log_norm.exp().masked_fill(~rows.active, 0.0).sum(-1).log() - margin
    proved = torch.maximum(proved, path)
    void = (eta > 1 / 16).nonzero()[:, 0]
    if len(void):
        some = rows.take(void)
        s = torch.linalg.svdvals(some.Y * some.log_norm.exp().unsqueeze(-1))
        s = (s - rounding_threshold(K, D, s[:, :1])).clamp_min(0)
        plain = torch.where(some.kept(descending=True), s ** (2 / L), 0.0).sum(-1).log() * L / 2
        proved[void] = torch.maximum(proved[void], plain - margin[void])

    def spread(values: Tensor, otherwise: float, *shape: int) -> Tensor:
        count = math.prod(batch)
        full = values.new_full((count, *shape), otherwise)
        full[rows.instance] = values
        return full.reshape((*batch, *shape))

    upper = above + margin - rows.cosine.log()
    lower, upper = ((2 / L * (F + rows.log_scale)).exp() for F in (proved, upper))
    lam = torch.where(rows.active, u.exp(), 0.0)
    closed = (divergence <= tolerance * L) & (eta <= 1 / 16)
    return (
        spread(lower, 0.0),
        spread(upper, 0.0),
        spread(lam, K**-0.5, K),
        spread(iterations, 0),
        spread(closed, True),
    )
