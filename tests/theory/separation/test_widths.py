"""The widths of the separation: exact integers, the error that they leave, and their rate."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import mpmath
import pytest
import torch
from flint import arb

from rankcheck.balls import BallArray
from rankcheck.theory.separation.widths import (
    depth_three_width,
    depth_two_width,
    guaranteed_error,
    log_width,
    printed_norms,
    printed_width,
    sharper_width,
    slides_error,
    slides_error_like,
    width_as_on_the_slides,
    width_as_printed,
    width_from_the_norm,
    width_rate,
)

from .independent import number

LIKE = torch.zeros((), dtype=torch.float64)
BALL = BallArray.exact(0)


def numbers(d: int) -> tuple[mpmath.mpf, mpmath.mpf, mpmath.mpf]:
    """√N, τ = 1/(5eπ) and ε = 1/(50e²π²)."""
    root = mpmath.sqrt(number(d, d * d))
    return root, 1 / (5 * mpmath.e * mpmath.pi), 1 / (50 * mpmath.e**2 * mpmath.pi**2)


def slow(d: int, squared: bool) -> mpmath.mpf:
    """The derived bound from the theorem, step by step, in mpmath."""
    root, tau, error = numbers(d)
    weights = mpmath.mpf(2) ** d
    neuron = weights**2 * (1 + 2 * mpmath.sqrt(d))
    norms = (tau - (error if squared else error**2) / tau) * root / 2
    return (norms - weights) / neuron


def slow_sharper(d: int, squared: bool) -> mpmath.mpf:
    """r neurons of norm √3/2·4^d reach from ‖P_nF‖ >= √(2/5) down to the error."""
    root, _, error = numbers(d)
    reach = mpmath.sqrt(mpmath.mpf(2) / 5) - (mpmath.sqrt(error) if squared else error)
    return reach * root / (mpmath.sqrt(3) / 2 * mpmath.mpf(4) ** d)


def slow_printed(d: int) -> mpmath.mpf:
    """As it stands on the slide."""
    root = mpmath.sqrt(number(d, d * d))
    first = 20 * mpmath.e * mpmath.pi * mpmath.mpf(2) ** (2 * d) * (1 + mpmath.sqrt(4 * d))
    return root / (first + mpmath.mpf(2) ** (d + 1))


@pytest.mark.parametrize("d", [2, 5, 10, 19, 44, 100, 333, 1000])
@pytest.mark.oracle(
    "rankcheck.separation.depth_two_width", "the derivation at 2500 digits of mpmath"
)
@pytest.mark.oracle("rankcheck.separation.sharper_width", "the derivation at 2500 digits of mpmath")
@pytest.mark.oracle("rankcheck.separation.printed_width", "as printed, at 2500 digits of mpmath")
def test_the_widths_are_the_exact_integers(d):
    def least(bound: Callable[[], mpmath.mpf]) -> int:
        with mpmath.workdps(2500):
            return max(0, int(mpmath.ceil(bound())))

    for squared in (True, False):
        assert depth_two_width(d, squared=squared) == least(lambda s=squared: slow(d, s))
        assert sharper_width(d, squared=squared) == least(lambda s=squared: slow_sharper(d, s))
    assert printed_width(d) == least(lambda: slow_printed(d))


def test_where_the_bound_says_something():
    assert [depth_two_width(d) for d in (2, 8, 9, 18, 19, 25)] == [0, 0, 1, 1, 2, 729]
    assert [sharper_width(d) for d in (2, 10, 11)] == [1, 1, 2]
    with pytest.raises(ValueError, match="received d = 1"):
        depth_two_width(1)
    with pytest.raises(ValueError, match="an error > 0"):
        depth_three_width(3, 0.0)


@pytest.mark.parametrize(("d", "n"), [(2, 3), (3, 2), (5, 9), (20, 4)])
@pytest.mark.oracle("rankcheck.separation.width_as_on_the_slides", "mpmath.findroot")
@pytest.mark.oracle(
    "rankcheck.separation.width_as_printed", "mpmath.findroot and the printed formula"
)
@pytest.mark.oracle("rankcheck.separation.width_from_the_norm", "mpmath.findroot")
def test_the_widths_leave_the_error(d, n):
    """With r neurons each bound of the distance is δ: the theorem, solved for r by mpmath."""
    tails, distances, sizes = [2.0, 0.3, 1.25], [1.0, 0.05, 1.2], [3.0, 0.5, 40.0]
    arguments = [torch.tensor(x, dtype=torch.float64) for x in (tails, distances, sizes)]
    slides = width_as_on_the_slides(d, n, *arguments).tolist()
    printed = width_as_printed(d, n, *arguments).tolist()
    norm = width_from_the_norm(d, n, *arguments).tolist()
    root = mpmath.sqrt(number(d, n))
    for i, (tail, distance, size) in enumerate(zip(tails, distances, sizes, strict=True)):
        neuron = size**2 * (1 + mpmath.sqrt(4 * d))

        def squared(r, bias, *, tail=tail, neuron=neuron, distance=distance):
            return tail * (tail - 2 * (r * neuron + bias) / root) - distance**2

        def plain(r, *, tail=tail, size=size, distance=distance):
            return tail - r * mpmath.sqrt(3) / 2 * size**2 / root - distance

        solved = mpmath.findroot(partial(squared, bias=size), 1)
        assert slides[i] == pytest.approx(float(solved), rel=1e-12)
        assert norm[i] == pytest.approx(float(mpmath.findroot(plain, 1)), rel=1e-12)
        # Without the bias, and with 2B in the denominator as printed.
        above = mpmath.findroot(partial(squared, bias=0), 1)
        assert printed[i] < above
        assert printed[i] == pytest.approx(float(root / (root / above + 2 * size)), rel=1e-12)


@pytest.mark.oracle("rankcheck.separation.slides_error", "mpmath")
@pytest.mark.oracle("rankcheck.separation.slides_error_like", "mpmath")
@pytest.mark.oracle("rankcheck.separation.printed_norms", "the printed width by mpmath")
@pytest.mark.oracle("rankcheck.separation.guaranteed_error", "the main theorem by mpmath")
def test_the_errors_against_mpmath():
    def digits(value: BallArray) -> mpmath.mpf:
        return mpmath.mpf(arb(value.elements.item()).str(36, radius=False))

    with mpmath.workdps(50):
        error = numbers(2)[2]
        assert slides_error() == pytest.approx(float(error), rel=1e-15)
        assert abs(digits(slides_error_like(BALL)) / error - 1) < 1e-33
        assert slides_error_like(LIKE).item() == float(error)
        for d in (2, 3, 9, 30, 100):
            root, tau, _ = numbers(d)
            neuron = mpmath.mpf(4) ** d * (1 + mpmath.sqrt(4 * d))
            norms = slow_printed(d) * neuron / root
            assert norms < tau / 4
            got = printed_norms(d, BALL)
            assert abs(digits(got) / norms - 1) < 1e-33
            without = tau * (tau - 2 * norms)
            with_bias = tau * (tau - 2 * (norms + mpmath.mpf(2) ** d / root))
            assert abs(digits(guaranteed_error(d, got, bias=False)) - without) < 1e-33
            assert abs(digits(guaranteed_error(d, got, bias=True)) - with_bias) < 1e-33
            got = printed_norms(d, LIKE)
            assert got.item() == pytest.approx(float(norms), rel=1e-15)
            assert guaranteed_error(d, got, bias=True).item() == pytest.approx(float(with_bias))


@pytest.mark.oracle(
    "rankcheck.separation.depth_three_width", "the widths of its parts in fractions"
)
def test_the_width_of_depth_three_from_its_parts():
    """2RL/ε units approximate an L-Lipschitz function on [-R, R] up to ε.

    The inner product needs d times t²/2 on [-2, 2], which is 2-Lipschitz, up to ε/(2Ld); the outer
    function, L-Lipschitz on [-1, 1], up to ε/2.
    """
    for d in (2, 3, 7, 40):
        for error in (Fraction(1, 2), Fraction(1, 1000)):
            lipschitz = Fraction(math.pi) * d**3
            inner = d * (2 * 2 * 2 / (error / (2 * lipschitz * d)))
            outer = 2 * lipschitz / (error / 2)
            assert outer <= inner
            assert depth_three_width(d, float(error)) == pytest.approx(float(inner), rel=1e-14)
        assert depth_three_width(d) == pytest.approx(
            float(16 * mpmath.pi * d**5 / numbers(2)[2]), rel=1e-14
        )


@pytest.mark.oracle("rankcheck.separation.log_width", "the logarithm by mpmath")
@pytest.mark.oracle("rankcheck.separation.width_rate", "the logarithm and the formula by mpmath")
def test_the_rate():
    """The logarithm and the rate against mpmath; between them what the theorem on the rate says."""
    for d in (2, 3, 19, 300, 1000):
        with mpmath.workdps(2500):
            root, tau, _ = numbers(d)
            width = root * tau / 4 / (mpmath.mpf(4) ** d * (1 + mpmath.sqrt(4 * d)))
            logarithm = mpmath.log(width, 2)
        assert log_width(d) == pytest.approx(float(logarithm), rel=1e-15)
        with mpmath.workdps(30):
            log_e = 1 / mpmath.log(2)
            constant = mpmath.log(40 * mpmath.e * mpmath.pi, 2)
            constant += mpmath.log(mpmath.pi / (2 * mpmath.e), 2) / 4
            rate = (mpmath.mpf(d) / 2 - mpmath.mpf(7) / 4) * mpmath.log(d, 2)
            rate -= (2 - log_e / 2) * d + constant
            eta = d * ((rate - logarithm) / log_e - 1 / (2 * mpmath.sqrt(d)))
        assert width_rate(d) == pytest.approx(float(rate), rel=1e-14)
        assert 3 / 8 <= eta <= 17 / 8
    for d in (100, 1000, 3000):
        left = (width_rate(d) - log_width(d)) * math.log(2)
        assert left == pytest.approx(1 / (2 * math.sqrt(d)) + 3 / (2 * d), abs=0.02 / d)
