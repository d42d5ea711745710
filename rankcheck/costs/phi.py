r"""Φ_L, the cost of a two-layer function behind L − 1 linear layers, with a certificate.

With B = D_a W (rows b_k = a_k w_k), q = 2/(L−1) and h = q/2 = 1/(L−1),

.. math:: \Phi_L(W, a) = \inf_{\lambda > 0, \|\lambda\| = 1} \|D_\lambda^{-1} B\|_{S^q}^{2/L}
                       = e^{2 F^* / L}, \qquad F^* = \inf_u F(u), \quad
          F(u) = \log \|D_{e^{-u}} B\|_{S^q} + \tfrac12 \log \sum_k e^{2 u_k}.

F does not change when a constant is added to u, so the sphere is no constraint. Rows b_k = 0 cost
nothing and take λ_k = 0; they are left out of what follows. Write M = D_λ^{-1} B, T = tr(MMᵀ)^h,
P = (MMᵀ)^h and p_k = P_kk / T, a probability vector.

**F is convex.** Let MMᵀ = Σ s_i v_i v_iᵀ be of full rank (the general case is a limit of convex
functions), x a direction, X_ij = Σ_k x_k v_ki v_kj. Perturbation theory gives

    T'  = −q Σ_i s_i^h X_ii,      T'' = q Σ_ij Ψ_ij X_ij²,
    Ψ_ij = (s_i + s_j)(s_i^h − s_j^h)/(s_i − s_j) ≥ 0,  Ψ_ii = q s_i^h,

so by Cauchy and Schwarz T'² ≤ q² (Σ s_i^h)(Σ s_i^h X_ii²) ≤ T T'', for every q > 0: log T is
convex, and so is log Σ e^{2u}. The gradient of F is g = λ² − p for ‖λ‖ = 1.

**Descent.** For h ≤ 1, T = tr(Bᵀ D_λ^{-2} B)^h is concave in the numbers λ_k^{-2}, hence below its
tangent: T(μ) ≤ T(λ) (1 − h + h Σ_k p_k λ_k²/μ_k²). On the sphere the right-hand side is least, and
at most T(λ), at μ_k² ∝ λ_k √p_k: the monotone fixed point. Where they lower F further, Newton steps
are taken in its place; as 0 ≼ ∇² log‖M‖_{S^q} ≼ 2 D_p (for h ≤ 1, Ψ_ij ≤ s_i^h + s_j^h), a
diagonal scaling brings the Newton matrix close to [1, 2], and a few Chebyshev steps solve it
without forming it.

**Certificate.** A convex function lies above its tangents, so log‖D_{e^{-v}}B‖_{S^q} is at least
its value at u less Σ p_k (v_k − u_k), for every v. What remains is the least value over v of
½ log Σ e^{2v_k} − Σ p_k v_k: half the entropy of p (Gibbs). So, for every u with ‖λ‖ = 1,

    F(u) ≥ F* ≥ F(u) − ½ KL(p ‖ λ²) ≥ F(u) − ½ Σ_k (p_k − λ_k²)²/λ_k²,

the last by t log t − t + 1 ≤ (t − 1)². The gap is of second order in the gradient.

**Rounding.** The bracket is proved for the numbers that were really computed, up to the standard
assumption on the SVD: the computed triplets are exact for M + E with ‖E‖_op ≤ τ(M), the rank
threshold of :mod:`rankcheck.linalg` (which also absorbs the rounding of M's entries). So each
singular value is off by τ at most. With η = τ(M)/s_r(M) ≤ 1/16, the Gram matrices of M and M + E
lie within factors (1 ± η)² of each other in the Loewner order, which t ↦ t^{h−1} reverses; p_k,
computed as Σ_i s_i^{q−2} (m_k·v_i)² over its sum, is off by a factor of at most
((1 + η)/(1 − η))^4 ≤ 1 + 12 η, and |p_k − λ_k²| is enlarged by as much. Where η > 1/16 the
certificate says nothing, and ‖B‖_{S^{2/L}}^{2/L} stands in for it. The lower end is never below
path^{2/L} either.

Columns are first reduced to m = min(K, D) by an orthonormal basis V of the row space. As
s_i(D_v^{-1} B V) ≤ s_i(D_v^{-1} B) for every v and whatever V is, the lower end does not depend on
how well V fits, or on the rank being right; the upper end is divided by cos θ, θ the angle between
V and the true row space.

Source: Ongie & Willett, arXiv 2305.15598, lemma on Φ_L; the convexity, the descent and the
certificate are derived above.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import torch
from torch import Tensor

from rankcheck.balls import NoBallForm, is_ball
from rankcheck.linalg import RANK_FACTOR, Array, Number, power, schatten_power

__all__ = ["PhiBracket", "phi", "phi_at", "phi_certificate", "scaled_schatten_power"]

EPS = torch.finfo(torch.float64).eps
#: Entries of the (instances, K, min(K, D)) block that is solved at a time: it stays in the cache.
BLOCK = 1 << 17
#: Chebyshev steps to a Newton direction: each divides the error by 5.8.
CHEBYSHEV_STEPS = 3
#: No Newton step changes a λ_k by more than the factor e².
LONGEST_STEP = 2.0


def scaled_schatten_power(W: Array, a: Array, lam: Array, q: Number) -> Array:
    r"""‖D_λ^{-1} D_a W‖_{S^q}^q ‖λ‖^q, shape (*B), for W (*B, K, D), a and λ > 0 (*B, K).

    Does not change when λ is multiplied by a number. A row with a_k w_k = 0 contributes nothing,
    also where λ_k = 0. Rational λ keep the matrix rational, so balls prove its rank.
    """
    B = a.unsqueeze(-1) * W
    silent = B.abs().sum(-1) == 0
    scale = torch.where(silent, lam.new_ones(lam.shape), lam)
    length = (lam * lam).sum(-1)
    return schatten_power(B / scale.unsqueeze(-1), q) * power(length, Fraction(q) / 2)


def phi_at(W: Array, a: Array, L: int, lam: Array) -> Array:
    """‖D_λ^{-1} D_a W‖_{S^q}^{2/L} for λ scaled to the unit sphere, q = 2/(L−1); shape (*B).

    The objective whose infimum over λ > 0 is Φ_L, so an upper bound of it at every λ. Runs on
    balls, with gradients in floats. Raises ValueError for L < 2 or shapes that do not fit.
    """
    _check(W, a, L)
    return power(scaled_schatten_power(W, a, lam, Fraction(2, L - 1)), Fraction(L - 1, L))


@dataclass(frozen=True, eq=False)
class PhiBracket:
    """lower ≤ Φ_L(W, a) ≤ upper, both of shape (*B).

    ``lam`` (*B, K) is the point on the sphere where the upper end is attained, with 0 for rows
    a_k w_k = 0. ``iterations`` (*B) counts spectral decompositions. ``converged`` (*B) says whether
    the certificate closed to the tolerance asked for; where it is false the bracket still holds.
    ``upper / lower`` exceeds 1 by that tolerance and the rounding margin, which grows with the
    condition number of D_λ^{-1} D_a W.
    """

    lower: Tensor
    upper: Tensor
    lam: Tensor
    iterations: Tensor
    converged: Tensor

    @property
    def gap(self) -> Tensor:
        """(upper − lower)/upper, shape (*B); 0 for the zero matrix."""
        return torch.where(self.upper > 0, (self.upper - self.lower) / self.upper, 0.0)


def phi(
    W: Array,
    a: Array,
    L: int,
    *,
    rank: Tensor | None = None,
    tolerance: float = 1e-12,
    max_iterations: int = 100,
) -> PhiBracket:
    """Φ_L(W, a) for W (*B, K, D) and a (*B, K), L ≥ 2, each instance to a relative gap.

    ``rank`` (*B) is the rank of D_a W where it is known; else it is that of the rows scaled to
    length 1, by the threshold of :func:`rankcheck.linalg.rank`. The upper end is for a matrix of
    this rank: a singular value that counts as zero counts nothing. No gradients.

    Raises ValueError for L < 2 or shapes that do not fit, NoBallForm on balls.
    """
    _check(W, a, L)
    rows = _prepare(W, a, rank)
    count, K = rows.log_norm.shape
    u = rows.log_norm.new_zeros(count, K)
    iterations = torch.zeros(count, dtype=torch.long, device=u.device)
    block = max(1, BLOCK // max(1, rows.Y.shape[-1] * K))
    for first in range(0, count, block):
        part = slice(first, first + block)
        u[part], iterations[part] = _solve(rows.take(part), L, tolerance, max_iterations)
    return _bracket(rows, W, L, u, iterations, tolerance)


def phi_certificate(
    W: Array, a: Array, L: int, lam: Tensor, *, rank: Tensor | None = None
) -> PhiBracket:
    """The bracket that λ > 0 (*B, K) alone proves, by the tangent of the convex F at λ.

    Every λ gives one; it is narrow near the minimiser, which is how :func:`phi` ends.
    """
    _check(W, a, L)
    rows = _prepare(W, a, rank)
    u = lam.expand(a.shape).reshape(-1, a.shape[-1])[rows.instance].log()
    u = _on_sphere(u, rows.active)
    iterations = torch.ones(len(u), dtype=torch.long, device=u.device)
    return _bracket(rows, W, L, u, iterations, 1e-12)


def _check(W: Array, a: Array, L: int) -> None:
    if L < 2:
        raise ValueError(f"Φ_L is defined for depths L >= 2, received {L}")
    if W.ndim < 2 or tuple(a.shape) != tuple(W.shape[:-1]) or 0 in W.shape[-2:]:
        raise ValueError(
            "W has shape (*B, K, D) with K, D >= 1 and a has shape (*B, K), "
            f"received {tuple(W.shape)} and {tuple(a.shape)}"
        )


class _Rows(NamedTuple):
    """The N instances with D_a W ≠ 0, rows scaled to length 1 and reduced to m = min(K, D) columns.

    Y (N, K, m) is b_k V/‖b_k‖, its last m − rank columns zero. ``log_norm`` (N, K) is log‖b_k‖ less
    its maximum ``log_scale`` (N), and 0 where ``active`` is false (b_k = 0). ``cosine`` is at most
    cos θ, and ``instance`` the place in the flattened batch.
    """

    Y: Tensor
    log_norm: Tensor
    active: Tensor
    rank: Tensor
    cosine: Tensor
    log_scale: Tensor
    instance: Tensor

    def take(self, index: Tensor | slice) -> _Rows:
        return _Rows(*(field[index] for field in self))

    def matrix(self, u: Tensor) -> Tensor:
        """D_λ^{-1} B V e^{−log_scale} at λ = e^u, shape (N, K, m)."""
        return self.Y * (self.log_norm - u).exp().unsqueeze(-1)

    def square(self, u: Tensor) -> Tensor:
        """λ², 0 at silent rows."""
        return torch.where(self.active, (2 * u).exp(), 0.0)

    def kept(self, descending: bool) -> Tensor:
        """Which of m ordered singular values belong to the rank, shape (N, m)."""
        m = self.Y.shape[-1]
        place = torch.arange(m, device=self.Y.device)
        place = place if descending else place.flip(-1)
        return place < self.rank.unsqueeze(-1)


def _threshold(rows: int, columns: int, largest: Tensor) -> Tensor:
    """τ: what rounding may add to a matrix of this shape, in operator norm."""
    return RANK_FACTOR * max(rows, columns) * EPS * largest


def _prepare(W: Array, a: Array, rank: Tensor | None) -> _Rows:
    if is_ball(W) or is_ball(a):
        raise NoBallForm("Φ_L", "state the claim through phi_at, at given λ")
    K, D = W.shape[-2:]
    B = (a.unsqueeze(-1) * W).reshape(-1, K, D).detach()
    instance = B.abs().amax((-2, -1)).nonzero()[:, 0]
    B = B[instance]
    largest = B.abs().amax(-1, keepdim=True)  # first, so that no square underflows
    active = largest[..., 0] > 0
    B = B / torch.where(largest > 0, largest, 1.0)
    length = torch.linalg.vector_norm(B, dim=-1, keepdim=True)
    Y = B / torch.where(length > 0, length, 1.0)
    log_norm = torch.where(active, (largest * length)[..., 0], 1.0).log()
    log_scale = torch.where(active, log_norm, -math.inf).amax(-1)
    log_norm = torch.where(active, log_norm - log_scale.unsqueeze(-1), 0.0)

    _, s, Vh = torch.linalg.svd(Y, full_matrices=False)
    error = _threshold(K, D, s[:, :1])
    known = (s > error).sum(-1) if rank is None else rank.reshape(-1)[instance]
    rows = _Rows(Y, log_norm, active, known, s[:, 0], log_scale, instance)
    last = s.gather(-1, (known - 1).clamp(0).unsqueeze(-1))
    sine = torch.where(last > 0, error / torch.where(last > 0, last, 1.0), 1.0).clamp(max=1.0)
    cosine = torch.where(known == D, 1.0, (1 - sine[:, 0] ** 2).sqrt())
    kept = rows.kept(descending=True)[..., : s.shape[-1]]
    return rows._replace(Y=Y @ (Vh * kept.unsqueeze(-1)).mT, cosine=cosine)


def _on_sphere(u: Tensor, active: Tensor) -> Tensor:
    """u less a constant, so that Σ e^{2u_k} = 1 over the active rows, and 0 at the others."""
    masked = torch.where(active, u, -math.inf)
    return torch.where(active, u - torch.logsumexp(2 * masked, -1, keepdim=True) / 2, 0.0)


class _Spectrum(NamedTuple):
    """MMᵀ = U diag(s) Uᵀ for N instances, and what F needs of it; entries beyond the rank are 0."""

    U: Tensor  # (N, K, m)
    s: Tensor  # (N, m), 1 beyond the rank
    sh: Tensor  # s^h
    T: Tensor  # (N, 1)
    p: Tensor  # (N, K)
    condition: Tensor  # s_1(M)/s_r(M), (N)

    @classmethod
    def at(cls, rows: _Rows, u: Tensor, h: float, accurate: bool) -> _Spectrum:
        """By the Gram matrix, which resolves s_r(M)/s_1(M) to √ε, or by the SVD: to ε."""
        M = rows.matrix(u)
        kept = rows.kept(descending=accurate)
        if accurate:
            U, sigma, _ = torch.linalg.svd(M, full_matrices=False)
            s = (sigma * sigma).clamp_min(torch.finfo(M.dtype).tiny)
        else:
            s, V = torch.linalg.eigh(M.mT @ M)
            s = torch.maximum(s, EPS * s[:, -1:])
            U = (M @ V) / s.sqrt().unsqueeze(-2)
        condition = (s.amax(-1) / torch.where(kept, s, math.inf).amin(-1)).sqrt()
        s = torch.where(kept, s, 1.0)
        U = U * kept.unsqueeze(-2)
        sh = torch.where(kept, s**h, 0.0)
        T = sh.sum(-1, keepdim=True)
        p = ((U * U) @ sh.unsqueeze(-1)).squeeze(-1) / T
        return cls(U, s, sh, T, p, condition)

    def newton_direction(self, square: Tensor, h: float, steps: int) -> Tensor:
        """x with ∇²F x ≈ −g, by Chebyshev steps for the spectrum [1, 2], scaled by D_{p + λ²}.

        ∇² log‖M‖ x = 2 p∘x − diag(U (κ∘X) Uᵀ)/T − q p pᵀx with X = Uᵀ D_x U and
        κ_ij = s_i^h + s_j^h − Ψ_ij, which vanishes where s_i or s_j does.
        """
        s, sh, p, U = self.s, self.sh, self.p, self.U
        difference, total = s.unsqueeze(-1) - s.unsqueeze(-2), s.unsqueeze(-1) + s.unsqueeze(-2)
        near = difference.abs() < 1e-6 * total
        secant = (sh.unsqueeze(-1) - sh.unsqueeze(-2)) / torch.where(near, 1.0, difference)
        slope = torch.where(near, h * (total / 2) ** (h - 1), secant)
        kappa = (sh.unsqueeze(-1) + sh.unsqueeze(-2) - total * slope) / self.T.unsqueeze(-1)

        diagonal = (2 * (p + square)).unsqueeze(-1)
        outer = torch.stack((math.sqrt(2 * h) * p, math.sqrt(2) * square), -1)

        def hessian(x: Tensor) -> Tensor:
            curved = ((U @ (kappa * (U.mT @ (x * U)))) * U).sum(-1, keepdim=True)
            return diagonal * x - curved - outer @ (outer.mT @ x)

        weight = torch.where(diagonal > 0, diagonal / 2, 1.0)
        residual = (p - square).unsqueeze(-1)
        x, step, ratio = torch.zeros_like(residual), residual / weight / 1.5, 1 / 3
        for _ in range(steps):
            x = x + step
            residual = residual - hessian(step)
            following = 1 / (6 - ratio)
            step = following * ratio * step + 4 * following * residual / weight
            ratio = following
        return (x + step).squeeze(-1)


def _divergence(p: Tensor, square: Tensor, doubt: float | Tensor = 0.0) -> Tensor:
    """A bound of KL(p ‖ λ²), shape (N), for p known to within a factor 1 ± doubt."""
    distance = (p - square).abs() + doubt * p
    return (distance**2 / torch.where(square > 0, square, 1.0)).sum(-1)


def _solve(rows: _Rows, L: int, tolerance: float, max_iterations: int) -> tuple[Tensor, Tensor]:
    """Minimise F for each instance: u on the sphere, and the number of decompositions.

    Starts at λ_k² ∝ ‖b_k‖^{2/L}: exact for L = 2, and for orthogonal rows. Instances leave when
    their certificate closes; those on which the Gram matrix is too coarse go on with the SVD.
    """
    h = 1 / (L - 1)
    solution = _on_sphere(rows.log_norm / L, rows.active)
    iterations = torch.zeros(len(solution), dtype=torch.long, device=solution.device)
    pending = torch.arange(len(solution), device=solution.device)
    for accurate in (False, True):
        here, u, coarse = rows.take(pending), solution[pending], []
        point, fallback, best = u, u, u.new_full((len(u),), math.inf)
        for count in range(1, max_iterations + 1):
            if not len(pending):
                break
            spectrum = _Spectrum.at(here, u, h, accurate)
            square = here.square(u)
            F = spectrum.T.squeeze(-1).log() / (2 * h)
            noise = EPS * (spectrum.condition if accurate else spectrum.condition**2)
            worse = ~(best + 1e-12 + noise >= F)
            back = worse.unsqueeze(-1)
            point, best = torch.where(back, point, u), torch.fmin(best, F)

            divergence = _divergence(spectrum.p, square)
            closed = divergence <= tolerance * L
            ended = closed | (divergence <= (8 * noise) ** 2)
            going = (~ended).nonzero()[:, 0]
            if len(going) < len(pending) or count == max_iterations:
                out = torch.ones_like(ended) if count == max_iterations else ended
                solution[pending[out]] = torch.where(ended.unsqueeze(-1), u, point)[out]
                iterations[pending[out]] += count
                coarse.append(pending[out & ~closed])
                if bool(out.all()):
                    break

            descent = (u + spectrum.p.clamp_min(1e-300).log() / 2) / 2
            step = spectrum.newton_direction(square, h, CHEBYSHEV_STEPS)
            length = step.abs().amax(-1, keepdim=True)
            newton = u + step * (LONGEST_STEP / length.clamp_min(LONGEST_STEP))
            u = _on_sphere(torch.where(back, fallback, newton), here.active)
            fallback = torch.where(back, fallback, descent)
            if len(going) < len(pending):
                pending, here = pending[going], here.take(going)
                u, point, fallback, best = u[going], point[going], fallback[going], best[going]
        pending = torch.cat(coarse) if coarse else pending[:0]
    return solution, iterations


def _bracket(
    rows: _Rows, W: Tensor, L: int, u: Tensor, iterations: Tensor, tolerance: float
) -> PhiBracket:
    """Both ends at u, with their rounding margins; see the head of the module."""
    (*batch, K, D), h = W.shape, 1 / (L - 1)
    q = 2 * h
    M = rows.matrix(u)
    _, sigma, Vh = torch.linalg.svd(M, full_matrices=False)
    kept = rows.kept(descending=True)
    tau = _threshold(K, D, sigma[:, :1])
    above = torch.where(kept, (sigma + tau) ** q, 0.0).sum(-1).log() / q
    below = torch.where(kept, (sigma - tau).clamp_min(0) ** q, 0.0).sum(-1).log() / q
    units = 4 * (K + D + 8) * EPS
    margin = units * (1 + 1 / q + above.abs() + rows.log_scale.abs())

    smallest = torch.where(kept, sigma, math.inf).amin(-1, keepdim=True)
    eta = (tau / smallest.clamp_min(torch.finfo(M.dtype).tiny)).squeeze(-1)
    weights = torch.where(kept, torch.where(kept, sigma, 1.0) ** (q - 2), 0.0)
    P = ((M @ Vh.mT) ** 2 @ weights.unsqueeze(-1)).squeeze(-1)
    p, square = P / P.sum(-1, keepdim=True), rows.square(u)
    divergence = _divergence(p, square, 12 * eta.unsqueeze(-1) + units)
    proved = torch.where(eta <= 1 / 16, below - margin - divergence / 2, -math.inf)

    path = rows.log_norm.exp().masked_fill(~rows.active, 0.0).sum(-1).log() - margin
    proved = torch.maximum(proved, path)
    void = (eta > 1 / 16).nonzero()[:, 0]
    if len(void):
        some = rows.take(void)
        s = torch.linalg.svdvals(some.Y * some.log_norm.exp().unsqueeze(-1))
        s = (s - _threshold(K, D, s[:, :1])).clamp_min(0)
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
    return PhiBracket(
        spread(lower, 0.0),
        spread(upper, 0.0),
        spread(lam, K**-0.5, K),
        spread(iterations, 0),
        spread(closed, True),
    )
