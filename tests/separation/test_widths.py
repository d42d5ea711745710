"""The widths of the separation: exact integers, the printed expression, the crossover."""

import math
from fractions import Fraction

import mpmath
import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.separation.legendre import multiplicity
from rankcheck.separation.widths import (
    allowed_norms,
    allowed_norms_as_printed,
    crossover,
    depth_three_width,
    depth_two_bound,
    depth_two_bound_as_printed,
    depth_two_bound_sharper,
    depth_two_width,
    growth_exponent,
    guaranteed_error,
    log10_depth_two_bound,
    separation_table,
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
    assert log10_depth_two_bound(8) == -math.inf
    assert depth_two_width(8) == 0
    assert depth_two_bound(18, LIKE) < 1 < depth_two_bound(19, LIKE)
    assert depth_two_width(19) == 2
    assert next(d for d in range(2, 40) if depth_two_bound_sharper(d, LIKE) > 1) == 16
    for d in range(2, 60):
        assert depth_two_bound_sharper(d, LIKE) > depth_two_bound(d, LIKE) or d < 9


def test_the_printed_expression_claims_more_than_is_derived():
    for d in (10, 15, 19):
        assert bool(depth_two_bound_as_printed(d, BALL) > depth_two_bound(d, BALL))
    assert depth_two_bound_as_printed(10, LIKE).item() == pytest.approx(6.277e-4, rel=1e-3)
    assert depth_two_bound(10, LIKE).item() == pytest.approx(4.944e-4, rel=1e-3)
    # Far out it claims less: 2^{d+1} is then small beside the numerator.
    assert bool(depth_two_bound_as_printed(30, BALL) < depth_two_bound(30, BALL))


def test_doubles_and_logarithms_agree():
    for d in (20, 50, 200):
        assert math.log10(depth_two_bound(d, LIKE)) == pytest.approx(log10_depth_two_bound(d))
    assert depth_two_bound(400, LIKE).item() == math.inf
    assert log10_depth_two_bound(400) == pytest.approx(math.log10(depth_two_width(400)))


def test_the_crossover():
    assert crossover(limit=200) == 44
    assert crossover(math.sqrt(slides_error()), limit=200) == 41
    rows = {row.d: row for row in separation_table((2, 43, 44, 100))}
    assert rows[43].depth_two < rows[43].depth_three
    assert rows[44].depth_two > rows[44].depth_three
    assert rows[2].log10_depth_two == -math.inf
    assert rows[100].log10_depth_two - rows[100].log10_depth_three > 40
    with pytest.raises(ValueError, match="not shown to be wider at d = 30"):
        crossover(limit=30)


def test_the_width_of_depth_three():
    assert depth_three_width(2, 0.5) == pytest.approx(16 * math.pi * 64)
    assert slides_error() == pytest.approx(2.7425e-4, rel=1e-4)
    # Its weights of 2πd³ obey the bound 2^d that depth two is held to from d = 15 on.
    assert [2 * math.pi * d**3 <= 2**d for d in range(13, 17)] == [False, False, True, True]


def test_the_growth_is_towards_half_d_log_d():
    low, high = growth_exponent(range(30, 60)), growth_exponent(range(500, 1001, 100))
    assert 0.3 < low < 0.5
    assert 0.37 < high < 0.5
    ratios = [log10_depth_two_bound(d) / math.log10(2) / d / math.log2(d) for d in (50, 200, 1000)]
    assert ratios == sorted(ratios)
    with pytest.raises(ValueError, match="each with a positive bound"):
        growth_exponent((5, 30))


def test_on_balls_the_bound_is_an_enclosure():
    bound = depth_two_bound(25, BALL)
    assert bool(bound > Fraction(728))
    assert bool(bound < Fraction(729))
    with pytest.raises(ValueError, match="d >= 2; received d = 1"):
        depth_two_bound(1, LIKE)
    with pytest.raises(ValueError, match="an error > 0"):
        depth_three_width(3, 0.0)


def test_the_bound_is_where_the_theorem_guarantees_the_error():
    """τ²/2 is left at the derived width, and less at the printed one where that is larger."""
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
