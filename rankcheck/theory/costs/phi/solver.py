r"""The minimiser of F: damped Newton steps, with a monotone fixed point as the fallback.

Notation as in :mod:`rankcheck.theory.costs.phi.functional`.

**Descent.** For h ≤ 1, T = tr(Bᵀ D_λ^{-2} B)^h is concave in the numbers λ_k^{-2}, hence below its
tangent: T(μ) ≤ T(λ) (1 − h + h Σ_k p_k λ_k²/μ_k²). On the sphere the right-hand side is least, and
at most T(λ), at μ_k² ∝ λ_k √p_k: the monotone fixed point. Newton steps replace it wherever they
lower F further. As 0 ≼ ∇² log‖M‖_{S^q} ≼ 2 D_p (for h ≤ 1, Ψ_ij ≤ s_i^h + s_j^h), a diagonal
scaling brings the spectrum of the Newton matrix close to [1, 2], so a few Chebyshev steps solve the
system without forming the matrix.

**Stopping.** An instance is done when the certificate of :mod:`rankcheck.theory.costs.phi.bracket`
closes, that is when the bound of KL(p ‖ λ²)/L falls below the tolerance, or when rounding hides the
gradient.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from rankcheck.theory.costs.phi.functional import EPS, Rows, on_sphere

CHEBYSHEV_STEPS = 3
"""Chebyshev steps for a Newton direction: each divides the error by 5.8."""

LONGEST_STEP = 2.0
"""No Newton step changes a λ_k by more than the factor e^LONGEST_STEP."""


class Spectrum(NamedTuple):
    """MMᵀ = U diag(s) Uᵀ for N instances, and the quantities of F that it gives.

    Attributes:
        U: (N, K, m), with zero columns beyond the rank.
        s: (N, m), 1 beyond the rank.
        sh: (N, m), s^h, 0 beyond the rank.
        T: (N, 1), tr(MMᵀ)^h.
        p: (N, K), the diagonal of (MMᵀ)^h over T.
        condition: (N), s_1(M)/s_r(M).
    """

    U: Tensor
    s: Tensor
    sh: Tensor
    T: Tensor
    p: Tensor
    condition: Tensor

    @classmethod
    def at(cls, rows: Rows, u: Tensor, h: float, accurate: bool) -> Spectrum:
        """The spectrum at λ = e^u.

        From the Gram matrix, which resolves s_r(M)/s_1(M) to √ε; if ``accurate``, from the SVD,
        which resolves it to ε.
        """
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
        """x (N, K) with ∇²F x ≈ −g, by Chebyshev steps for the spectrum [1, 2] after scaling.

        The scaling is D_{p + λ²}, and ``square`` is λ².

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


def divergence_bound(p: Tensor, square: Tensor, doubt: float | Tensor = 0.0) -> Tensor:
    """Σ_k (p_k − λ_k²)²/λ_k² ≥ KL(p ‖ λ²), shape (N), for p known up to a factor 1 ± doubt."""
    distance = (p - square).abs() + doubt * p
    return (distance**2 / torch.where(square > 0, square, 1.0)).sum(-1)


def solve(rows: Rows, L: int, tolerance: float, max_iterations: int) -> tuple[Tensor, Tensor]:
    """The minimiser u of F on the sphere, (N, K), and the number of decompositions, (N).

    Starts at λ_k² ∝ ‖b_k‖^{2/L}, the minimiser for L = 2 and for orthogonal rows. An instance is
    done when its certificate closes. Instances that rounding stops first are solved again with the
    SVD in place of the Gram matrix, from where they stopped.
    """
    h = 1 / (L - 1)
    solution = on_sphere(rows.log_norm / L, rows.active)
    iterations = torch.zeros(len(solution), dtype=torch.long, device=solution.device)
    pending = torch.arange(len(solution), device=solution.device)
    for accurate in (False, True):
        here, u, coarse = rows.take(pending), solution[pending], []
        point, fallback, best = u, u, u.new_full((len(u),), math.inf)
        for count in range(1, max_iterations + 1):
            if not len(pending):
                break
            spectrum = Spectrum.at(here, u, h, accurate)
            square = here.square(u)
            F = spectrum.T.squeeze(-1).log() / (2 * h)
            noise = EPS * (spectrum.condition if accurate else spectrum.condition**2)
            worse = ~(best + 1e-12 + noise >= F)
            back = worse.unsqueeze(-1)
            point, best = torch.where(back, point, u), torch.fmin(best, F)

            divergence = divergence_bound(spectrum.p, square)
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
            u = on_sphere(torch.where(back, fallback, newton), here.active)
            fallback = torch.where(back, fallback, descent)
            if len(going) < len(pending):
                pending, here = pending[going], here.take(going)
                u, point, fallback, best = u[going], point[going], fallback[going], best[going]
        pending = torch.cat(coarse) if coarse else pending[:0]
    return solution, iterations
