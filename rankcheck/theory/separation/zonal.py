r"""Inner products of zonal functions on the sphere, by a formula and by two independent methods.

With $h_n(x, x') = \sqrt{N_{d,n}}\,P_n(\langle x, x' \rangle)$ and $L_n^v(x) = h_n(v, x)$, all norms
those of the uniform probability on $S^{d-1}$ (or its square),

$$\langle L_i^v, L_j^w \rangle = \delta_{ij}\,P_i(\langle v, w \rangle), \qquad
  \langle h_i, L_j^v \otimes L_k^w \rangle
    = \delta_{ij}\,\delta_{ik}\,P_i(\langle v, w \rangle) / \sqrt{N_{d,i}} .$$

The second follows from the first: integrating over x leaves $\delta_{ij} P_i(\langle x', v\rangle)
= \delta_{ij} L_i^v(x')/\sqrt{N_{d,i}}$.

*By moments.* $\langle v, x\rangle^a \langle w, x\rangle^b$ has the mean that it has for a Gaussian
x, a sum over the number k of mixed pairs (Isserlis), divided by d(d+2)···(d+a+b-2). This gives
polynomials in c = ⟨v, w⟩ with rational coefficients: exact on balls, accurate in floats for degrees
up to about 12.

*By quadrature.* x has the coordinates $t$ along v and $\sqrt{1-t^2}\,u$ along the part of w that is
orthogonal to v, with $t \sim \mu_d$ and $u \sim \mu_{d-1}$ independent. For floats, of any degree.

Source: T. Kocák, *Depth separation for neural networks* (slides, 2019), "Separable functions",
after A. Daniely, COLT 2017; C. Müller, *Spherical Harmonics*, LNM 17 (Funk–Hecke).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import torch
from torch import Tensor

from rankcheck.balls import NoBallForm, is_ball
from rankcheck.theory.linalg import Array
from rankcheck.theory.scalars import scalar, square_root
from rankcheck.theory.separation.legendre import (
    legendre,
    monomials,
    multiplicity,
    orthonormal_table,
    quadrature,
)


def zonal_inner_product(d: int, i: int, j: int, c: Array) -> Array:
    """⟨L_i^v, L_j^w⟩ = δ_ij P_i(c) for c = ⟨v, w⟩, entry by entry: the shape of c."""
    return legendre(d, i, c) if i == j else 0 * c


def cross_inner_product(d: int, i: int, j: int, k: int, c: Array) -> Array:
    """⟨h_i, L_j^v ⊗ L_k^w⟩ = δ_ij δ_ik P_i(c)/√N_{d,i} for c = ⟨v, w⟩: the shape of c."""
    if i == j == k:
        return legendre(d, i, c) / square_root(multiplicity(d, i), c)
    return 0 * c


# By moments


def zonal_by_moments(d: int, i: int, j: int, c: Array) -> Array:
    """⟨L_i^v, L_j^w⟩ for c = ⟨v, w⟩ from the mixed moments of the sphere: the shape of c."""
    root = square_root(multiplicity(d, i) * multiplicity(d, j), c)
    return _horner(_zonal_polynomial(d, i, j), c) * root


def cross_by_moments(d: int, i: int, j: int, k: int, c: Array) -> Array:
    """⟨h_i, L_j^v ⊗ L_k^w⟩ for c = ⟨v, w⟩ from the moments, first over x, then over x'."""
    product = math.prod(multiplicity(d, n) for n in (i, j, k))
    inner = _zonal_polynomial(d, i, j)
    return _horner(_mean_of_product(d, inner, monomials(d, k)), c) * square_root(product, c)


def _zonal_polynomial(d: int, i: int, j: int) -> tuple[Fraction, ...]:
    """The coefficients of E P_i(⟨v, x⟩) P_j(⟨w, x⟩) in the powers of c = ⟨v, w⟩."""
    return _mean_of_product(d, monomials(d, i), monomials(d, j))


@lru_cache(maxsize=1024)
def _mean_of_product(
    d: int, p: tuple[Fraction, ...], q: tuple[Fraction, ...]
) -> tuple[Fraction, ...]:
    """The coefficients of E p(⟨v, x⟩) q(⟨w, x⟩) in the powers of c, for polynomials p and q."""
    total = [Fraction(0)] * min(len(p), len(q))
    for a, left in enumerate(p):
        for b, right in enumerate(q):
            if left * right == 0 or (a + b) % 2:
                continue
            norm = math.prod(range(d, d + a + b, 2))
            for k in range(a % 2, min(a, b) + 1, 2):
                pairs = math.comb(a, k) * math.comb(b, k) * math.factorial(k)
                pairs *= _pairings(a - k) * _pairings(b - k)
                total[k] += left * right * Fraction(pairs, norm)
    return tuple(total)


def _pairings(n: int) -> int:
    """(n - 1)!!, the number of ways to pair n things, n even."""
    return math.prod(range(1, n, 2))


def _horner(coefficients: Sequence[Fraction], c: Array) -> Array:
    result = 0 * c
    for coefficient in reversed(coefficients):
        result = result * c + scalar(coefficient, c)
    return result


# By quadrature


def zonal_by_quadrature(d: int, i: int, j: int, c: Tensor) -> Tensor:
    """⟨L_i^v, L_j^w⟩ for c = ⟨v, w⟩ by Gauss quadrature over (t, u), exact up to rounding.

    Raises NoBallForm on balls, as :func:`cross_by_quadrature` does.
    """
    t, value, weight = _rotated(d, i + j, c)
    return (weight * _orthonormal(d, i, t) * _orthonormal(d, j, value)).sum((-2, -1))


def cross_by_quadrature(d: int, i: int, j: int, k: int, c: Tensor) -> Tensor:
    """⟨h_i, L_j^v ⊗ L_k^w⟩ for c = ⟨v, w⟩ by quadrature over x, then over x'."""
    t, value, weight = _rotated(d, min(i, j) + k, c)
    # h_i(x, x') = L_i^{x'}(x), and ⟨x', v⟩ = t.
    inner = zonal_by_quadrature(d, i, j, t.squeeze(-1)).unsqueeze(-1)
    return (weight * inner * _orthonormal(d, k, value)).sum((-2, -1))


def _rotated(d: int, degree: int, c: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """⟨v, x⟩ (m, 1), ⟨w, x⟩ (*c, m, m') and weights (m, m') of a rule exact up to ``degree``."""
    if is_ball(c):
        raise NoBallForm("Gauss quadrature", "use the moments")
    t, t_weight = quadrature(d, degree // 2 + 1)
    if d == 2:
        u = torch.tensor([-1.0, 1.0], dtype=torch.float64)
        u_weight = torch.tensor([0.5, 0.5], dtype=torch.float64)
    else:
        u, u_weight = quadrature(d - 1, degree // 2 + 1)
    t, c = t.to(c.device)[:, None], c[..., None, None]
    across = torch.sqrt((1 - t * t) * (1 - c * c).clamp(min=0)) * u.to(c.device)
    return t, c * t + across, (t_weight[:, None] * u_weight).to(c.device)


def _orthonormal(d: int, n: int, t: Tensor) -> Tensor:
    return orthonormal_table(d, n, t)[..., n]
