"""The widths of the separation: exact integers, and the error that they leave."""

import math

import mpmath
import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.separation.legendre import multiplicity
from rankcheck.separation.widths import (
    allowed_norms,
    allowed_norms_as_printed,
    depth_three_width,
    depth_two_width,
    guaranteed_error,
    slides_error,
    slides_error_like,
)

LIKE = torch.zeros((), dtype=torch.float64)
BALL = BallArray.exact(0)


def slow(d: int) -> mpmath.mpf:
    """The derived bound from the theorem, step by step, in mpmath."""
    tau = 1 / (5 * mpmath.e * mpmath.pi)
    weights = mpmath.mpf(2) ** d
    neuron = weights**2 * (1 + 2 * mpmath.sqrt(d))
    norms = (tau - tau / 2) * mpmath.sqrt(multiplicity(d, d * d)) / 2
    return (norms - weights) / neuron


@pytest.mark.parametrize("d", [2, 5, 10, 19, 44, 100, 333, 1000])
def test_the_width_is_the_exact_integer(d):
    with mpmath.workdps(2500):
        expected = max(0, int(mpmath.ceil(slow(d))))
    assert depth_two_width(d) == expected


def test_where_the_bound_says_something():
    assert [depth_two_width(d) for d in (2, 8, 9, 18, 19, 25)] == [0, 0, 1, 1, 2, 729]
    with pytest.raises(ValueError, match="received d = 1"):
        depth_two_width(1)


def test_the_width_of_depth_three():
    assert depth_three_width(2, 0.5) == pytest.approx(16 * math.pi * 64)
    assert slides_error() == pytest.approx(2.7425e-4, rel=1e-4)
    # From d = 15 on its weights of 2πd³ satisfy the bound 2^d for depth two.
    assert [2 * math.pi * d**3 <= 2**d for d in range(13, 17)] == [False, False, True, True]
    with pytest.raises(ValueError, match="an error > 0"):
        depth_three_width(3, 0.0)


def test_the_bound_is_where_the_theorem_guarantees_the_error():
    """The error is τ²/2 at the derived width, and less at the printed one where that is larger."""
    error = slides_error_like(BALL)
    assert error.midpoints().item() == pytest.approx(slides_error(), rel=1e-15)
    for d in (2, 9, 10, 300, 1000):
        left = guaranteed_error(d, allowed_norms(d, BALL))
        assert abs((left / error).midpoints().item() - 1) < 1e-30
        narrower = guaranteed_error(d, allowed_norms(d, BALL) / 2)
        assert bool(narrower > error) == (d >= 9)
    for d in (9, 10, 19):
        assert bool(guaranteed_error(d, allowed_norms_as_printed(d, BALL)) < error)
    # By hand at d = 10: norms of 10^-3·√N beside a bias of 2^10.
    tau, root = 1 / (5 * math.e * math.pi), math.sqrt(multiplicity(10, 100))
    error_left = guaranteed_error(10, torch.tensor(1e-3, dtype=torch.float64)).item()
    assert error_left == pytest.approx(tau * (tau - 2 * (1e-3 + 1024 / root)), rel=1e-13)


def test_the_width_lies_between_powers_of_d():
    for d in (73, 100, 500, 1000):
        assert d**d <= depth_two_width(d) ** 4
        assert depth_two_width(d) ** 2 <= d**d
    assert depth_two_width(72) ** 4 < 72**72
