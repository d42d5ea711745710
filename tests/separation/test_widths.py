"""The widths of the separation: exact integers, the error that they leave, and their rate."""

import math
from collections.abc import Callable

import mpmath
import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.separation.legendre import multiplicity
from rankcheck.separation.widths import (
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

LIKE = torch.zeros((), dtype=torch.float64)
BALL = BallArray.exact(0)


def numbers(d: int) -> tuple[mpmath.mpf, mpmath.mpf, mpmath.mpf]:
    """√N, τ = 1/(5eπ) and ε = 1/(50e²π²)."""
    root = mpmath.sqrt(multiplicity(d, d * d))
    return root, 1 / (5 * mpmath.e * mpmath.pi), 1 / (50 * mpmath.e**2 * mpmath.pi**2)


def slow(d: int, squared: bool) -> mpmath.mpf:
    """The derived bound from the theorem, step by step, in mpmath."""
    root, tau, error = numbers(d)
    weights = mpmath.mpf(2) ** d
    neuron = weights**2 * (1 + 2 * mpmath.sqrt(d))
    norms = (tau - (error if squared else error**2) / tau) * root / 2
    return (norms - weights) / neuron


def slow_sharper(d: int, squared: bool) -> mpmath.mpf:
    """r neurons of norm √3/2·4^d reach from ‖P_nF‖ >= 1/√(5eπ) down to the error."""
    root, tau, error = numbers(d)
    reach = mpmath.sqrt(tau) - (mpmath.sqrt(error) if squared else error)
    return reach * root / (mpmath.sqrt(3) / 2 * mpmath.mpf(4) ** d)


def slow_printed(d: int) -> mpmath.mpf:
    """As it stands on the slide."""
    root = mpmath.sqrt(multiplicity(d, d * d))
    first = 20 * mpmath.e * mpmath.pi * mpmath.mpf(2) ** (2 * d) * (1 + mpmath.sqrt(4 * d))
    return root / (first + mpmath.mpf(2) ** (d + 1))


@pytest.mark.parametrize("d", [2, 5, 10, 19, 44, 100, 333, 1000])
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
    assert [sharper_width(d) for d in (2, 12, 13)] == [1, 1, 2]
    with pytest.raises(ValueError, match="received d = 1"):
        depth_two_width(1)


def test_the_width_of_depth_three():
    assert depth_three_width(2, 0.5) == pytest.approx(16 * math.pi * 64)
    assert slides_error() == pytest.approx(2.7425e-4, rel=1e-4)
    # From d = 15 on its weights of 2πd³ satisfy the bound 2^d for depth two.
    assert [2 * math.pi * d**3 <= 2**d for d in range(13, 17)] == [False, False, True, True]
    with pytest.raises(ValueError, match="an error > 0"):
        depth_three_width(3, 0.0)


def test_the_formulas_for_every_network():
    """By hand: τ = 2, δ = 1, B = 3 in d = 4, n = 2, where N = 9 and 1 + √(4d) = 5."""
    tail, distance, size = (torch.tensor(x, dtype=torch.float64) for x in (2.0, 1.0, 3.0))
    assert multiplicity(4, 2) == 9
    assert width_as_on_the_slides(4, 2, tail, distance, size).item() == pytest.approx(
        (3 * 3 / 4 - 3) / 45
    )
    assert width_as_printed(4, 2, tail, distance, size).item() == pytest.approx(
        3 / (4 * 45 / 3 + 6)
    )
    assert width_from_the_norm(4, 2, tail, distance, size).item() == pytest.approx(
        6 / (math.sqrt(3) * 9)
    )
    assert width_as_printed(4, 2, tail, tail, size).item() == 0


def test_the_error_at_the_printed_width():
    """At least ε without the bias; with the bias at least ε² from d = 9 on, and not always ε."""
    error = slides_error_like(BALL)
    assert error.midpoints().item() == pytest.approx(slides_error(), rel=1e-15)
    for d in (2, 8, 9, 10, 19):
        norms = printed_norms(d, BALL)
        assert bool(guaranteed_error(d, norms, bias=False) > error)
        assert bool(guaranteed_error(d, norms, bias=True) > error * error) == (d >= 9)
    # In high dimensions the bias is below the working precision.
    left = guaranteed_error(1000, printed_norms(1000, BALL), bias=False)
    assert abs((left / error).midpoints().item() - 1) < 1e-15
    assert bool(guaranteed_error(10, printed_norms(10, BALL), bias=True) < error)
    # By hand at d = 10: norms of 10^-3·√N beside a bias of 2^10.
    tau, root = 1 / (5 * math.e * math.pi), math.sqrt(multiplicity(10, 100))
    norms = torch.tensor(1e-3, dtype=torch.float64)
    with_bias = guaranteed_error(10, norms, bias=True).item()
    assert with_bias == pytest.approx(tau * (tau - 2 * (1e-3 + 1024 / root)), rel=1e-13)
    assert guaranteed_error(10, norms, bias=False).item() == pytest.approx(tau * (tau - 2e-3))


def test_the_width_lies_between_powers_of_d():
    for d in (73, 100, 500, 1000):
        assert d**d <= depth_two_width(d) ** 4
        assert depth_two_width(d) ** 2 <= d**d
    assert depth_two_width(72) ** 4 < 72**72


def test_the_rate():
    """The logarithm against mpmath; what is left of it, to leading order."""
    for d in (2, 19, 300):
        with mpmath.workdps(2500):
            root, tau, _ = numbers(d)
            width = root * tau / 4 / (mpmath.mpf(4) ** d * (1 + mpmath.sqrt(4 * d)))
            expected = float(mpmath.log(width, 2))
        assert log_width(d) == pytest.approx(expected, rel=1e-14)
    for d in (100, 1000, 3000):
        left = (width_rate(d) - log_width(d)) * math.log(2)
        assert left == pytest.approx(1 / (2 * math.sqrt(d)) + 3 / (2 * d), abs=0.02 / d)
