"""The Legendre basis against scipy, mpmath, and closed forms."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import torch
from flint import arb
from scipy.special import gammaln

from rankcheck.balls import BallArray
from rankcheck.theory.separation.legendre import (
    density,
    even_moment,
    legendre,
    legendre_table,
    monomials,
    multiplicity,
    orthonormal_table,
    quadrature,
    stereographic,
)

from .independent import coefficients, measure, number, polynomial, weighted_orthonormal

GRID = torch.linspace(-1, 1, 101, dtype=torch.float64)


def exact(d: int, n: int, t: float) -> mpmath.mpf:
    """P_{d,n}(t) at 700 digits from the explicit sum, independent of the recurrence."""
    with mpmath.workdps(700):
        if d == 2:
            return mpmath.cos(n * mpmath.acos(mpmath.mpf(t)))
        # C_n^a(t) = sum_k (-1)^k (a)_{n-k} (2t)^{n-2k} / (k! (n-2k)!), a = d/2 - 1
        a, x = mpmath.mpf(d) / 2 - 1, 2 * mpmath.mpf(t)
        term = mpmath.rf(a, n) / mpmath.factorial(n) * x**n
        total = term
        for k in range(n // 2):
            term *= -(n - 2 * k) * (n - 2 * k - 1) / ((a + n - k - 1) * (k + 1) * x * x)
            total += term
        return total * mpmath.factorial(n) / mpmath.rf(2 * a, n)


@pytest.mark.parametrize("d", [2, 3, 30, 100, 200])
@pytest.mark.parametrize("n", [3, 50, 400])
@pytest.mark.oracle("rankcheck.separation.legendre", "the explicit sum at 700 digits of mpmath")
def test_agrees_with_mpmath_in_absolute_error(d, n):
    points = [-0.99609375, -0.40625, 0.0078125, 0.3, 0.75, 1.0]
    got = legendre(d, n, torch.tensor(points, dtype=torch.float64))
    for t, value in zip(points, got.tolist(), strict=True):
        assert abs(mpmath.mpf(value) - exact(d, n, t)) < 1e-13


def test_small_values_keep_their_digits():
    """At d = 100, n = 200 values of the order 1e-50 still have ten correct digits."""
    t = 0.25
    value, truth = legendre(100, 200, torch.tensor(t, dtype=torch.float64)), exact(100, 200, t)
    assert 0 < abs(truth) < 1e-40
    assert abs(value.item() / truth - 1) < 1e-10


@pytest.mark.parametrize("d", [2, 3, 4, 9, 30])
@pytest.mark.oracle("rankcheck.separation.legendre_table", "scipy.special.eval_gegenbauer")
@pytest.mark.oracle("rankcheck.separation.orthonormal_table", "numpy.linalg.qr of powers")
def test_the_tables_against_scipy_and_numpy(d):
    grid = GRID.numpy()
    expected = np.stack([polynomial(d, n, grid) for n in range(13)], -1)
    np.testing.assert_allclose(legendre_table(d, 12, GRID), expected, atol=1e-13)
    t, weights = measure(d, 60)
    table = np.sqrt(weights)[:, None] * orthonormal_table(d, 12, torch.from_numpy(t)).numpy()
    np.testing.assert_allclose(table, weighted_orthonormal(t, weights, 12), atol=1e-10)


@pytest.mark.parametrize("d", [2, 3, 4, 7])
@pytest.mark.oracle("rankcheck.separation.monomials", "the explicit sums in exact fractions")
@pytest.mark.oracle("rankcheck.separation.legendre", "the explicit sums in exact fractions (balls)")
def test_monomials_and_exact_values_against_explicit_sums(d):
    t = Fraction(2, 7)
    at = BallArray.exact([t])
    table = legendre_table(d, 9, at)
    for n in range(10):
        expected = coefficients(d, n)
        assert list(monomials(d, n)) == expected
        value = BallArray.exact([sum(c * t**k for k, c in enumerate(expected))])
        assert bool((legendre(d, n, at) == value).all())
        assert bool((table[..., n] == value).all())


@pytest.mark.parametrize("d", [2, 3, 4, 9, 200])
@pytest.mark.parametrize("m", [1, 2, 7, 16])
@pytest.mark.oracle("rankcheck.separation.quadrature", "numpy.linalg.eigh of the Jacobi matrix")
def test_quadrature_against_golub_and_welsch(d, m):
    """b_k² = k(k + d - 3)/((2k + d - 2)(2k + d - 4)), and 1/2 for d = 2, k = 1."""
    k = np.arange(2, m)
    squares = k * (k + d - 3) / ((2 * k + d - 2) * (2 * k + d - 4))
    off = np.sqrt(np.concatenate(([1 / d], squares)))[: m - 1]
    expected, vectors = np.linalg.eigh(np.diag(off, 1) + np.diag(off, -1))
    nodes, weights = quadrature(d, m)
    np.testing.assert_allclose(nodes, expected, atol=1e-13)
    np.testing.assert_allclose(weights, vectors[0] ** 2, atol=1e-13)


@pytest.mark.parametrize("d", [2, 3, 4, 5, 8, 41, 200, 1001])
@pytest.mark.oracle("rankcheck.separation.density", "scipy.special.gammaln")
def test_density_is_the_gamma_quotient(d):
    t = torch.linspace(-0.9, 0.9, 7, dtype=torch.float64)
    log_factor = gammaln(d / 2) - gammaln((d - 1) / 2) - math.log(math.pi) / 2
    expected = torch.exp(log_factor + (d - 3) / 2 * torch.log(1 - t**2))
    torch.testing.assert_close(density(d, t), expected, rtol=1e-11, atol=0)


@pytest.mark.parametrize("d", [2, 3, 4, 5, 8, 41])
@pytest.mark.oracle("rankcheck.separation.density", "mpmath.beta (balls)")
def test_density_on_balls_against_mpmath(d):
    with mpmath.workdps(40):
        third = mpmath.mpf(1) / 3
        expected = (1 - third**2) ** (mpmath.mpf(d - 3) / 2) / mpmath.beta(0.5, (d - 1) / 2)
        value = density(d, BallArray.exact(Fraction(1, 3))).elements.item()
        assert abs(mpmath.mpf(arb(value).str(36, radius=False)) / expected - 1) < 1e-33


@pytest.mark.oracle("rankcheck.separation.even_moment", "mpmath.beta")
def test_even_moments_against_mpmath():
    with mpmath.workdps(50):
        for d in (2, 3, 4, 9, 200):
            for k in (0, 1, 2, 7, 30):
                half = mpmath.mpf(1) / 2
                expected = mpmath.beta(k + half, (d - 1) * half) / mpmath.beta(half, (d - 1) * half)
                moment = even_moment(d, k)
                got = mpmath.mpf(moment.numerator) / moment.denominator
                assert abs(got / expected - 1) < 1e-45


def harmonics(d: int, n: int) -> int:
    """The dimension of the kernel of the Laplacian on homogeneous polynomials of degree n."""
    powers = [p for p in itertools.product(range(n + 1), repeat=d) if sum(p) == n]
    images = [p for p in itertools.product(range(n - 1), repeat=d) if sum(p) == n - 2]
    rows = {p: i for i, p in enumerate(images)}
    laplacian = np.zeros((len(images), len(powers)))
    for column, p in enumerate(powers):
        for i in range(d):
            if p[i] >= 2:
                image = (*p[:i], p[i] - 2, *p[i + 1 :])
                laplacian[rows[image], column] = p[i] * (p[i] - 1)
    return len(powers) - (int(np.linalg.matrix_rank(laplacian)) if images else 0)


@pytest.mark.oracle("rankcheck.separation.multiplicity", "the kernel of the Laplacian by numpy")
def test_multiplicities_count_harmonic_polynomials():
    for d, top in ((2, 8), (3, 7), (4, 5), (5, 4)):
        for n in range(top + 1):
            assert multiplicity(d, n) == harmonics(d, n) == number(d, n)


@pytest.mark.oracle(
    "rankcheck.separation.stereographic", "the sphere and the line from the pole, which meet once"
)
def test_stereographic_points_lie_on_the_sphere():
    generator = torch.Generator().manual_seed(2)
    for d in (2, 3, 6):
        u = 3 * torch.randn(5, 4, d - 1, generator=generator, dtype=torch.float64)
        x = stereographic(u)
        assert x.shape == (5, 4, d)
        torch.testing.assert_close((x * x).sum(-1), torch.ones(5, 4, dtype=torch.float64))
        torch.testing.assert_close(x[..., :-1] / (1 - x[..., -1:]), u)
    exact = stereographic(BallArray.exact([[Fraction(1, 3), -2]]))
    assert bool(((exact * exact).sum(-1) == 1).all())


def test_errors_state_the_rule():
    with pytest.raises(ValueError, match="received d = 1"):
        legendre(1, 3, GRID)
    with pytest.raises(ValueError, match="received degree -1"):
        multiplicity(3, -1)
    with pytest.raises(ValueError, match="received m = 0"):
        quadrature(3, 0)
