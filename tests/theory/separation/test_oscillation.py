"""Sines in the Legendre basis against quadrature and scipy; the lemma and each of its steps."""

import math
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
import torch
from flint import arb
from scipy.special import beta, gammaln, jv

from rankcheck.balls import BallArray
from rankcheck.theory.separation.oscillation import (
    density_lower_bound,
    distance_lower_bound,
    example_tail,
    plane_wave_coefficients,
    plane_wave_degrees,
    plane_wave_tails,
    sign_change_lower_bound,
    sine_against_degree,
    sine_coefficients,
    sine_distance_bound,
    sine_energy,
    sine_tail,
)

from .independent import distance, measure, number, weighted_orthonormal

LIKE = torch.zeros((), dtype=torch.float64)
BALL = BallArray.exact(0)


@pytest.mark.oracle("rankcheck.separation.sine_coefficients", "scipy.special.jv")
def test_coefficients_against_scipy_at_a_high_frequency():
    d = 20
    omega, n = math.pi * d**3, np.arange(401)
    log_factor = [math.log(number(d, int(k))) / 2 for k in n] + gammaln(d / 2)
    log_factor += (d / 2 - 1) * math.log(2 / omega)
    signs = np.where(n % 2 == 1, (-1.0) ** ((n - 1) // 2), 0)
    expected = signs * np.exp(log_factor) * jv(n + d / 2 - 1, omega)
    got = sine_coefficients(d, d**6, 400, LIKE).numpy()
    np.testing.assert_allclose(got, expected, rtol=1e-7, atol=1e-13 * np.abs(expected).max())


@pytest.mark.parametrize(("d", "q"), [(2, 64), (3, 29), (4, Fraction(7, 3)), (10, 100), (25, 3)])
@pytest.mark.oracle("rankcheck.separation.sine_coefficients", "numpy.linalg.qr of powers")
@pytest.mark.oracle("rankcheck.separation.plane_wave_coefficients", "numpy.linalg.qr of powers")
@pytest.mark.oracle("rankcheck.separation.sine_energy", "Gauss–Legendre by numpy")
@pytest.mark.oracle("rankcheck.separation.sine_tail", "numpy.linalg.lstsq")
def test_waves_against_numpy(d, q):
    """Integrals with Gauss–Legendre points in θ, t = cos θ, and polynomials by numpy."""
    omega = math.pi * math.sqrt(q)
    t, weights = measure(d, 200)
    roots = np.sqrt(weights)
    basis = weighted_orthonormal(t, weights, 24)
    expected = (roots * np.exp(1j * omega * t)) @ basis
    a = plane_wave_coefficients(d, q, 24, LIKE).numpy()
    np.testing.assert_allclose(1j ** np.arange(25) * a, expected, atol=1e-12)
    np.testing.assert_allclose(sine_coefficients(d, q, 24, LIKE), expected.imag, atol=1e-12)
    sine = np.sin(omega * t)
    assert sine_energy(d, q, LIKE).item() == pytest.approx(weights @ sine**2, abs=1e-13)
    for n in (1, 2, 5, 12):
        rest = distance(t, weights, sine, n - 1)
        assert sine_tail(d, q, n, LIKE).item() == pytest.approx(rest, abs=1e-13)


@pytest.mark.parametrize(("d", "q", "n"), [(3, 1, 20), (3, 1, 60), (2, 2, 31), (5, 4, 45)])
@pytest.mark.oracle("rankcheck.separation.sine_tail", "mpmath.besselj at 200 digits")
@pytest.mark.oracle("rankcheck.separation.sine_energy", "mpmath.besselj at 200 digits")
def test_small_tails_and_energies_keep_their_digits(d, q, n):
    """Beside tensors they are right to the last digit, far below the precision of 128 bits."""
    with mpmath.workdps(200):
        half = mpmath.mpf(d) / 2

        def wave(k: int, omega: mpmath.mpf) -> mpmath.mpf:
            bessel = (
                mpmath.gamma(half) * (2 / omega) ** (half - 1) * mpmath.besselj(k + half - 1, omega)
            )
            return mpmath.sqrt(number(d, k)) * bessel

        tail = sum(wave(k, mpmath.pi * mpmath.sqrt(q)) ** 2 for k in range(n, n + 30) if k % 2)
        assert sine_tail(d, q, n, LIKE).item() == pytest.approx(float(tail), rel=1e-15, abs=0)
        small = Fraction(q, 10**60)
        energy = (1 - wave(0, 2 * mpmath.pi * mpmath.sqrt(q) / mpmath.mpf(10) ** 30)) / 2
        assert sine_energy(d, small, LIKE).item() == pytest.approx(float(energy), rel=1e-15, abs=0)
    balls = sine_tail(d, q, n, BALL)
    assert abs(balls.midpoints().item() - float(tail)) <= balls.radii().item()


@pytest.mark.oracle("rankcheck.separation.plane_wave_degrees", "all ratios of terms by mpmath")
@pytest.mark.oracle("rankcheck.separation.plane_wave_tails", "sums by scipy.special.jv and mpmath")
def test_tails_of_plane_waves_against_mpmath():
    """The terms N_k c_k² and N_k c_k, c_k = Γ(d/2)(ω/2)^k/Γ(k + d/2), written out."""
    for d, q in (
        (2, Fraction(1, 4)),
        (2, 30),
        (3, Fraction(1, 100)),
        (3, 4),
        (4, 1),
        (7, Fraction(50, 3)),
        (12, 16),
    ):
        omega = mpmath.pi * mpmath.sqrt(mpmath.mpf(Fraction(q).numerator) / Fraction(q).denominator)
        half, top = mpmath.mpf(d) / 2, 90
        sizes = [mpmath.gamma(half) * (omega / 2) ** k / mpmath.gamma(k + half) for k in range(top)]
        squares = [number(d, k) * c * c for k, c in enumerate(sizes)]
        uniform = [number(d, k) * c for k, c in enumerate(sizes)]
        halved = [
            all(2 * later <= now for now, later in (*pairwise(squares[n:]), *pairwise(uniform[n:])))
            for n in range(60)
        ]
        least = plane_wave_degrees(d, q)
        assert least == halved.index(True)
        for n in (least, least + 1, least + 5):
            bounds = [x.item() for x in plane_wave_tails(d, q, n, LIKE)]
            for terms, bound in zip((squares, uniform), bounds, strict=True):
                ratio = terms[n + 1] / terms[n]
                assert bound == pytest.approx(float(terms[n] / (1 - ratio)), rel=1e-13)
                assert float(sum(terms[n:])) <= bound * (1 + 1e-12)
            k = np.arange(n, top)
            roots = np.sqrt([float(number(d, i)) for i in range(n, top)])
            factor = math.gamma(d / 2) * (2 / float(omega)) ** (d / 2 - 1)
            a = roots * factor * jv(k + d / 2 - 1, float(omega))
            assert (a**2).sum() <= bounds[0] * (1 + 1e-12)
            assert (np.abs(a) * roots).sum() <= bounds[1] * (1 + 1e-12)


@pytest.mark.parametrize("d", [2, 3, 4])
@pytest.mark.oracle("rankcheck.separation.example_tail", "numpy.linalg.lstsq")
def test_the_tail_of_the_example_is_a_distance_to_polynomials(d):
    t, weights = measure(d, 400)
    rest = distance(t, weights, np.sin(math.pi * d**3 * t), d * d - 1)
    assert example_tail(d, LIKE).item() == pytest.approx(rest, abs=1e-12)


def close_to(value: BallArray, expected: mpmath.mpf) -> bool:
    """Whether a ball is within 1e-35 of a number of 40 digits."""
    return bool(
        abs(mpmath.mpf(arb(value.elements.item()).str(40, radius=False)) - expected) < 1e-35
    )


@pytest.mark.oracle("rankcheck.separation.distance_lower_bound", "mpmath, and numpy.linalg.lstsq")
@pytest.mark.oracle("rankcheck.separation.density_lower_bound", "mpmath, and scipy.special.beta")
@pytest.mark.oracle(
    "rankcheck.separation.sign_change_lower_bound", "exact fractions, and numpy.linalg.lstsq"
)
def test_the_printed_bounds_and_what_they_bound():
    for d in (2, 3, 4, 9):
        with mpmath.workdps(40):
            below = mpmath.sqrt(d) / (2 * mpmath.e * mpmath.pi)
            assert close_to(density_lower_bound(d, BALL), below)
        t = np.linspace(-1, 1, 9) / math.sqrt(d)
        assert ((1 - t * t) ** ((d - 3) / 2) / beta(0.5, (d - 1) / 2) >= float(below)).all()
        t, weights = measure(d, 100)
        for m, k in ((1, 0), (2, 0), (2, 1), (5, 3)):
            with mpmath.workdps(40):
                bound = mpmath.mpf(m - k) / (4 * mpmath.e * mpmath.pi * m)
                assert close_to(distance_lower_bound(m, k, BALL), bound)
            sine = np.sin(math.pi * math.sqrt(d) * m * t)
            assert distance(t, weights, sine, k) >= distance_lower_bound(m, k, LIKE).item()
    x, weights = np.polynomial.legendre.leggauss(60)
    for frequency, k, expected in (
        (1, 0, Fraction(1, 2)),
        (3, 1, Fraction(1, 3)),
        (Fraction(7, 2), 1, Fraction(2, 7)),
        (2.75, 0, Fraction(4, 11)),
    ):
        assert bool(sign_change_lower_bound(frequency, k, BALL) == BallArray.exact(expected))
        assert distance(x, weights, np.sin(math.pi * float(frequency) * x), k) >= expected


@pytest.mark.parametrize("d", [3, 4, 9])
@pytest.mark.oracle("rankcheck.separation.sine_distance_bound", "numpy.linalg.lstsq")
@pytest.mark.oracle("rankcheck.separation.sine_against_degree", "numpy.linalg.lstsq")
def test_the_sharper_bounds_and_what_they_bound(d):
    t, weights = measure(d, 300)
    golden = (1 + math.sqrt(5)) / 2
    for m, k, odd in ((1, 0, ()), (2, 1, (1,)), (3, 2, (1,)), (5, 3, (1, 3)), (6, 5, (1, 3, 5))):
        sine = np.sin(math.pi * math.sqrt(d) * m * t)
        lost = golden * sum(2 * (2 * n + 1) for n in odd) / (math.pi * m) ** 2
        bound = sine_distance_bound(d, d * m * m, k, LIKE).item()
        energy = (weights * sine**2).sum() / weights.sum()
        assert bound == pytest.approx(energy - (d - 2) * lost / (2 * d), abs=1e-12)
        wide = sine_against_degree(m, k, LIKE).item()
        waves = 1 / (math.sqrt(2 * math.pi) * math.pi * m)
        assert wide == pytest.approx((1 - waves - lost) / 2, abs=1e-12)
        assert wide <= bound <= distance(t, weights, sine, k) + 1e-12  # equal for k = 0


def test_errors_state_the_rule():
    with pytest.raises(ValueError, match=r"received d = 1, q = 3, .*d >= 2, q > 0"):
        sine_tail(1, 3, 2, LIKE)
    for function in (sine_energy, lambda d, q, _: plane_wave_degrees(d, q)):
        with pytest.raises(ValueError, match=r"received d = 2, q = 0, degree 0; .*d >= 2, q > 0"):
            function(2, 0, LIKE)
    with pytest.raises(ValueError, match="degree -1"):
        sine_coefficients(3, 3, -1, LIKE)
    with pytest.raises(ValueError, match="received degree 1; a geometric series"):
        plane_wave_tails(3, 4, 1, LIKE)
