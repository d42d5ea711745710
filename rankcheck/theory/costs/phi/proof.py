r"""Φ_L between two ball arrays: the certificate of `rankcheck.theory.costs.phi.bracket`, in balls.

For every λ > 0 on the unit sphere, with u = log λ and p_k = P_kk / tr P for P = (MMᵀ)^{1/(L−1)},

    F(u) ≥ F* ≥ F(u) − ½ KL(p ‖ λ²) ≥ F(u) − ½ Σ_k (p_k − λ_k²)²/λ_k²,

so Φ_L lies between e^{2F(u)/L} exp(−Σ_k (p_k − λ_k²)²/(L λ_k²)) and e^{2F(u)/L}. The λ is that of
the solver in floats, taken as exact; its error of about 10⁻¹⁴ enters squared.
"""

from __future__ import annotations

from fractions import Fraction

import torch

from rankcheck.balls import balls
from rankcheck.theory.costs.phi.functional import phi_at
from rankcheck.theory.linalg import Array, power, spectral_function


def proved_ends(W: Array, a: Array, L: int, lam: Array) -> tuple[Array, Array]:
    """lower ≤ Φ_L(W, a) ≤ upper, both (*B), for balls W (*B, K, D), a (*B, K) and λ > 0 (*B, K).

    Raises Undecided where it is open whether a row of D_a W vanishes.
    """
    W, a, lam = balls(W), balls(a), balls(lam)
    B = a.unsqueeze(-1) * W
    silent = B.abs().sum(-1) == 0
    lam = torch.where(silent, 0.0, lam)
    upper = phi_at(W, a, L, lam)
    M = B / torch.where(silent, 1.0, lam).unsqueeze(-1)
    gram = M @ M.mT
    h = Fraction(1, L - 1)
    P = gram if L == 2 else spectral_function(gram, lambda x: power(x.clamp(min=0), h))
    diagonal = P.diagonal(dim1=-2, dim2=-1)
    zero = silent.all(-1, keepdim=True)
    p = torch.where(silent, 0.0, diagonal / torch.where(zero, 1.0, diagonal.sum(-1, keepdim=True)))
    square = lam * lam / torch.where(zero, 1.0, (lam * lam).sum(-1, keepdim=True))
    divergence = ((p - square) ** 2 / torch.where(silent, 1.0, square)).sum(-1)
    return upper * torch.exp(-divergence / L), upper
