r"""Integrals over the sphere, and Laplace's integral for the Legendre polynomials.

*Product rules.* A uniform point of $S^{d-1}$ is $(\sqrt{1-t^2}\,y,\ t)$ with $t \sim \mu_d$ and y
uniform on $S^{d-2}$, independent; so rules for $\mu_d, \mu_{d-1}, \dots, \mu_3$ and equal angles on
the circle make a rule on the sphere that is exact for polynomials of a given degree.

*Laplace's integral.* For $d \ge 3$

$$P_{d,n}(t) = \int \bigl(t + i\sqrt{1-t^2}\,u\bigr)^n\,d\mu_{d-1}(u),$$

with $u = \pm 1$, each half of the time, for d = 2 (that is Chebyshev's $\cos n\theta$). The base
has modulus at most one, hence $|P_{d,n}| \le 1$ on [-1, 1].

Source: C. Müller, *Spherical Harmonics*, LNM 17, sec. 4.
"""

from __future__ import annotations

import math
from fractions import Fraction

import torch
from torch import Tensor

from rankcheck.balls import is_ball
from rankcheck.theory.linalg import Array, power
from rankcheck.theory.scalars import scalar
from rankcheck.theory.separation.legendre import even_moment, quadrature


def sphere_rule(d: int, degree: int) -> tuple[Tensor, Tensor]:
    """Points (m, d) of S^{d-1} and weights (m,) of sum 1, exact for polynomials up to ``degree``.

    m = (degree + 1)·(degree//2 + 1)^(d-2). Raises ValueError unless d >= 2 and degree >= 0.
    """
    if d < 2 or degree < 0:
        raise ValueError(
            f"received d = {d}, degree {degree}; "
            "a rule on S^(d-1) needs d >= 2 and a degree of at least 0"
        )
    angles = 2 * math.pi * torch.arange(degree + 1, dtype=torch.float64) / (degree + 1)
    points = torch.column_stack((torch.cos(angles), torch.sin(angles)))
    weights = torch.full((degree + 1,), 1 / (degree + 1), dtype=torch.float64)
    for k in range(3, d + 1):
        t, w = quadrature(k, degree // 2 + 1)
        level = torch.sqrt(1 - t * t)[:, None, None] * points
        height = t[:, None, None].expand(-1, points.shape[0], 1)
        points = torch.cat((level, height), -1).reshape(-1, k)
        weights = (w[:, None] * weights).reshape(-1)
    return points, weights


def laplace_integral(d: int, n: int, t: Array) -> Array:
    """P_{d,n}(t) for t in [-1, 1] by Laplace's integral, entry by entry: the shape of t.

    In floats by Gauss quadrature over u, with an absolute error of about n ulps. On balls by the
    even moments of u, which give a polynomial in t with rational coefficients, exact for exact t.
    Raises ValueError unless d >= 2 and n >= 0.
    """
    if d < 2 or n < 0:
        raise ValueError(
            f"received d = {d}, degree {n}; "
            "Laplace's integral needs d >= 2 and a degree of at least 0"
        )
    if not is_ball(t):
        return _by_quadrature(d, n, t)
    below = 1 - t * t
    terms = (
        t ** (n - 2 * k) * below**k * scalar((-1) ** k * math.comb(n, 2 * k) * _moment(d, k), t)
        for k in range(n // 2 + 1)
    )
    return sum(terms, 0 * t)


def _by_quadrature(d: int, n: int, t: Tensor) -> Tensor:
    """The real part of the integral in polar coordinates: every term is at most one in size."""
    if d == 2:
        u, weights = t.new_tensor([1.0]), t.new_tensor([1.0])
    else:
        u, weights = (array.to(t.device) for array in quadrature(d - 1, n // 2 + 1))
    t = t.unsqueeze(-1)
    height = power((1 - t * t).clamp(min=0), Fraction(1, 2)) * u
    modulus = torch.sqrt(t * t + height * height)
    return (weights * modulus**n * torch.cos(n * torch.atan2(height, t))).sum(-1)


def _moment(d: int, k: int) -> Fraction:
    """The mean of u^{2k}: u has the law of a coordinate on S^{d-2}, which is ±1 for d = 2."""
    return Fraction(1) if d == 2 else even_moment(d - 1, k)
