"""The measure, the polynomials and rules on the sphere by numpy and scipy, nothing of rankcheck."""

import math
from fractions import Fraction

import numpy as np
from scipy.special import eval_chebyt, eval_gegenbauer, roots_jacobi


def number(d: int, n: int) -> int:
    """(2n + d - 2)(n + d - 3)!/(n!(d - 2)!), and 1 for n = 0."""
    if n == 0 or d == 2:
        return 2 if n else 1
    return (2 * n + d - 2) * math.prod(range(n + 1, n + d - 2)) // math.factorial(d - 2)


def polynomial(d: int, n: int, t: np.ndarray) -> np.ndarray:
    """P_{d,n} by Chebyshev's or Gegenbauer's polynomial."""
    if d == 2:
        return eval_chebyt(n, t)
    a = d / 2 - 1
    return eval_gegenbauer(n, a, t) / eval_gegenbauer(n, a, 1.0)


def coefficients(d: int, n: int) -> list[Fraction]:
    """The coefficients of P_{d,n} by the explicit sums for T_n and C_n^a, a = d/2 - 1."""
    found = [Fraction(0)] * (n + 1)
    a = Fraction(d - 2, 2)
    for k in range(n // 2 + 1):
        below = (-1) ** k * math.factorial(k) * math.factorial(n - 2 * k)
        if d > 2:
            above = math.prod((a + i for i in range(n - k)), start=Fraction(2 ** (n - 2 * k)))
        else:
            above = (
                Fraction(n * math.factorial(n - k - 1) * 2 ** (n - 2 * k), 2) if n else Fraction(1)
            )
        found[n - 2 * k] = above / below
    if d == 2:
        return found
    at_one = math.prod((2 * a + i for i in range(n)), start=Fraction(1)) / math.factorial(n)
    return [c / at_one for c in found]


def zonal(d: int, n: int, t: np.ndarray) -> np.ndarray:
    """√N_{d,n} P_{d,n}."""
    return math.sqrt(number(d, n)) * polynomial(d, n, t)


def measure(d: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights of μ_d: t = cos θ, dμ_d ~ sin^{d-2}θ dθ, Gauss–Legendre in θ."""
    x, weights = np.polynomial.legendre.leggauss(m)
    theta = np.pi * (x + 1) / 2
    weights = weights * np.sin(theta) ** (d - 2)
    return np.cos(theta), weights / weights.sum()


def weighted_orthonormal(t: np.ndarray, weights: np.ndarray, n_max: int) -> np.ndarray:
    """√w p_n(t), p_n orthonormal under the weights with positive leading coefficients: by QR."""
    q, r = np.linalg.qr(np.sqrt(weights)[:, None] * np.polynomial.legendre.legvander(t, n_max))
    return q * np.sign(np.diag(r))


def distance(t: np.ndarray, weights: np.ndarray, values: np.ndarray, degree: int) -> float:
    """min_p Σ w (values - p(t))² over polynomials p of this degree: by numpy.linalg.lstsq."""
    roots = np.sqrt(weights)
    powers = roots[:, None] * np.polynomial.legendre.legvander(t, degree)
    fit = np.linalg.lstsq(powers, roots * values, rcond=None)[0]
    return float(((roots * values - powers @ fit) ** 2).sum())


def sphere_points(d: int, degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights on S^{d-1}, exact to this degree: Gauss–Jacobi over equal angles."""
    angles = 2 * np.pi * np.arange(degree + 1) / (degree + 1) + 0.1
    points = np.stack((np.cos(angles), np.sin(angles)), -1)
    weights = np.full(degree + 1, 1 / (degree + 1))
    for k in range(3, d + 1):
        heights, more = roots_jacobi(degree // 2 + 1, (k - 3) / 2, (k - 3) / 2)
        points = np.concatenate(
            [
                np.column_stack((np.sqrt(1 - t * t) * points, np.full(len(points), t)))
                for t in heights
            ]
        )
        weights = np.concatenate([w * weights for w in more / more.sum()])
    return points, weights
