r"""The Legendre polynomials of dimension d, and the measure that makes them orthogonal.

$\mu_d$ is the law of one coordinate of a uniform point of the sphere $S^{d-1}$,

$$d\mu_d(t) = \frac{\Gamma(d/2)}{\sqrt\pi\,\Gamma((d-1)/2)}\,(1 - t^2)^{(d-3)/2}\,dt
  \qquad (-1 < t < 1,\ d \ge 2),$$

$P_n = P_{d,n}$ is its n-th orthogonal polynomial, scaled to $P_n(1) = 1$ (Chebyshev for d = 2,
Legendre for d = 3, in general $C_n^{(d/2-1)}(t)/C_n^{(d/2-1)}(1)$), and $N_{d,n}$, the dimension of
the space of spherical harmonics of degree n, makes $\{\sqrt{N_{d,n}}\,P_n\}_n$ orthonormal.

Source: C. Müller, *Spherical Harmonics*, LNM 17; T. Kocák, *Depth separation for neural networks*
(slides, 2019), "Legendre polynomials", after A. Daniely, COLT 2017.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import torch
from torch import Tensor

from rankcheck.theory.linalg import Array
from rankcheck.theory.scalars import pi, scalar, square_root


def legendre(d: int, n: int, t: Array) -> Array:
    r"""$P_{d,n}(t)$, entry by entry: the shape of t.

    By the three-term recurrence. In floats the absolute error is below 1e-14 on [-1, 1] for
    d <= 200, n <= 400. On balls, exact t gives exact values; the radius of an inexact t grows by a
    factor of up to 2.4 in each step, so the precision has to grow with n.

    Raises ValueError unless d >= 2 and n >= 0.

    >>> legendre(3, 2, torch.tensor([0.0, 1.0]))  # (3t² - 1)/2
    tensor([-0.5000,  1.0000])
    """
    *_, last = _recurrence(d, n, t)
    return last


def legendre_table(d: int, n_max: int, t: Array) -> Array:
    """``P_0(t), ..., P_{n_max}(t)`` along a new last axis: the shape of t, then n_max + 1."""
    return torch.stack(list(_recurrence(d, n_max, t)), dim=-1)


def orthonormal_table(d: int, n_max: int, t: Array) -> Array:
    r"""$\sqrt{N_{d,n}}\,P_n(t)$ for n = 0..n_max along a new last axis.

    On balls $\sqrt{N_{d,n}}$ is the square root of an exact integer.
    """
    roots = [square_root(multiplicity(d, n), t) for n in range(n_max + 1)]
    return legendre_table(d, n_max, t) * torch.stack(roots)


def _recurrence(d: int, n_max: int, t: Array) -> Iterator[Array]:
    """``P_0(t), ..., P_{n_max}(t)`` one after the other."""
    _validate(d, n_max)
    before, current = t.new_ones(t.shape), t
    yield before
    if n_max >= 1:
        yield current
    for n in range(2, n_max + 1):
        following = ((2 * n + d - 4) * (t * current) - (n - 1) * before) / (n + d - 3)
        before, current = current, following
        yield current


def multiplicity(d: int, n: int) -> int:
    r"""$N_{d,n} = \binom{d+n-1}{d-1} - \binom{d+n-3}{d-1}$, an exact integer.

    Raises ValueError unless d >= 2 and n >= 0.

    >>> [multiplicity(3, n) for n in range(4)]
    [1, 3, 5, 7]
    """
    _validate(d, n)
    if n == 0:
        return 1
    return math.comb(d + n - 1, d - 1) - math.comb(d + n - 3, d - 1)


def density(d: int, t: Array) -> Array:
    r"""The density of $\mu_d$ with respect to dt at points of (-1, 1): the shape of t.

    It takes +, *, / and sqrt only: $\Gamma(d/2)/(\sqrt\pi\,\Gamma((d-1)/2))$ is rational for odd d,
    and rational over $\pi$ for even d. At t = ±1 the value is the limit, infinite for d = 2.

    Raises ValueError unless d >= 2.
    """
    _validate(d, 0)
    below = 1 - t * t
    factor = scalar(_rational_normaliser(d), t)
    if d % 2:
        return below ** ((d - 3) // 2) * factor
    factor = factor / pi(t)
    if d == 2:
        return factor / torch.sqrt(below)
    return below ** ((d - 4) // 2) * torch.sqrt(below) * factor


def _rational_normaliser(d: int) -> Fraction:
    r"""$\Gamma(d/2)/(\sqrt\pi\,\Gamma((d-1)/2))$ for odd d, $\pi$ times that for even d.

    From $c_{d+2}/c_d = d/(d-1)$ with $c_2 = 1/\pi$ and $c_3 = 1/2$.
    """
    value = Fraction(1, 2) if d % 2 else Fraction(1)
    for step in range(2 + d % 2, d, 2):
        value *= Fraction(step, step - 1)
    return value


def quadrature(d: int, m: int) -> tuple[Tensor, Tensor]:
    r"""Nodes and weights, shape (m,) each: $\int p\,d\mu_d = \sum w_i p(t_i)$ for degree < 2m.

    This is the m-point Gauss–Gegenbauer rule (d = 2: Gauss–Chebyshev) with its mass scaled to 1 and
    ascending nodes. Raises ValueError unless d >= 2 and m >= 1.
    """
    _validate(d, 0)
    if m < 1:
        raise ValueError(f"received m = {m}; a quadrature rule has m >= 1 nodes")
    if d == 2:
        # The sine of a symmetric grid, so that nodes come in exact ± pairs and the middle one is 0.
        nodes = np.sin(np.pi * np.arange(1 - m, m, 2) / (2 * m))
        weights = np.full(m, 1 / m)
    else:
        from scipy.special import roots_gegenbauer  # 0.1 s, for few claims

        nodes, weights = roots_gegenbauer(m, (d - 2) / 2)
        weights = weights / weights.sum()
    return torch.from_numpy(nodes), torch.from_numpy(weights)


def even_moment(d: int, k: int) -> Fraction:
    r"""$\int t^{2k}\,d\mu_d = \frac{(2k-1)!!}{d(d+2)\cdots(d+2k-2)}$, exactly.

    Raises ValueError unless d >= 2 and k >= 0.

    >>> even_moment(3, 2)
    Fraction(1, 5)
    """
    _validate(d, k)
    value = Fraction(1)
    for i in range(k):
        value *= Fraction(2 * i + 1, d + 2 * i)
    return value


def stereographic(u: Array) -> Array:
    r"""The point $(2u, |u|^2 - 1)/(|u|^2 + 1)$ of S^{d-1}: from shape (*, d - 1) to (*, d).

    The map is rational and smooth, so it is exact on balls and has gradients. It attains every
    point but the pole (0, ..., 0, 1).
    """
    square = (u * u).sum(-1, keepdim=True)
    return torch.cat((2 * u, square - 1), -1) / (square + 1)


def monomials(d: int, n: int) -> tuple[Fraction, ...]:
    """The coefficients of P_{d,n} in the powers 1, t, ..., t^n, exactly.

    Raises ValueError unless d >= 2 and n >= 0.
    """
    _validate(d, n)
    before, current = [Fraction(1)], [Fraction(0), Fraction(1)]
    if n == 0:
        return tuple(before)
    for k in range(2, n + 1):
        raised = [Fraction(0), *((2 * k + d - 4) * c for c in current)]
        lowered = [(k - 1) * c for c in before] + [Fraction(0)] * 2
        following = [(a - b) / (k + d - 3) for a, b in zip(raised, lowered, strict=True)]
        before, current = current, following
    return tuple(current)


def _validate(d: int, n: int) -> None:
    if d < 2:
        raise ValueError(f"received d = {d}; the measure of a coordinate on S^(d-1) needs d >= 2")
    if n < 0:
        raise ValueError(f"received degree {n}; a degree is at least 0")
