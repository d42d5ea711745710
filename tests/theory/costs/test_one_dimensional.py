"""Kinks, jumps of the slope, and ∫ √(1+x²) d|f''|, against second differences in rationals."""

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from math import fsum, sqrt

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from rankcheck.balls import BallArray
from rankcheck.costs import slope_jumps, variation_with_biases
from tests.draws import normal

dyadics = st.integers(-24, 24).map(lambda n: n / 8)
units_of_one_variable = st.lists(st.tuples(dyadics, dyadics, dyadics), min_size=1, max_size=6)


def second_differences(units):
    """The jump of f' at each kink of a unit, in rationals and from values of f alone."""
    exact = [tuple(map(Fraction, unit)) for unit in units]

    def f(x):
        return sum((a * max(w * x + b, Fraction(0)) for w, b, a in exact), Fraction(0))

    kinks = sorted({-b / w for w, b, _ in exact if w != 0})
    gaps = [y - x for x, y in pairwise(kinks)]
    near = min(gaps, default=Fraction(1)) / 2
    return {t: (f(t + near) - 2 * f(t) + f(t - near)) / near for t in kinks}


def arrays(units):
    W, b, a = (torch.tensor(x, dtype=torch.float64) for x in zip(*units, strict=True))
    return W.unsqueeze(-1), b, a


@given(units_of_one_variable)
@pytest.mark.oracle("rankcheck.costs.slope_jumps", "second differences")
def test_the_jumps_are_those_of_second_differences(units):
    W, b, a = arrays(units)
    jumps = second_differences(units)
    kinks, sizes = slope_jumps(*(BallArray.exact(x) for x in (W, b, a)))
    shared = Counter(-Fraction(b) / Fraction(w) for w, b, _ in units if w != 0)
    for k, (w, b, _) in enumerate(units):
        if w == 0:
            assert bool(sizes[k] == 0)
        else:
            t = -Fraction(b) / Fraction(w)
            assert bool(kinks[k] == t)
            assert bool(sizes[k] == abs(jumps[t]) / shared[t])


@given(units_of_one_variable)
@pytest.mark.oracle("rankcheck.costs.variation_with_biases", "second differences")
def test_the_variation_is_that_of_second_differences(units):
    W, b, a = arrays(units)
    truth = fsum(sqrt(1 + float(t) ** 2) * abs(j) for t, j in second_differences(units).items())
    assert variation_with_biases(W, b, a).item() == pytest.approx(truth, rel=1e-12, abs=1e-12)
    ball = variation_with_biases(*(BallArray.exact(x) for x in (W, b, a)))
    assert ball.midpoints().item() == pytest.approx(truth, rel=1e-12, abs=1e-12)


@pytest.mark.oracle("rankcheck.costs.variation_with_biases", "scipy's least cost")
@pytest.mark.parametrize(("kink", "jump"), [(0.0, 2.0), (1.5, -3.0), (-4.0, 0.5)])
def test_the_variation_is_the_least_cost_of_two_units_at_a_kink(kink, jump):
    """Over (w, v, a) with two units at the kink, the second one turned, and the jump fixed."""

    def cost(p):
        w, v, a = p[0], p[1], p[2]
        c = (jump - a * w) / v
        return (a * a + c * c + (w * w + v * v) * (1 + kink * kink)) / 2

    least = min(minimize(cost, start).fun for start in ([1, 1, 1], [2, 0.5, -1], [0.5, 1, 0]))
    W = torch.ones(1, 1, dtype=torch.float64)
    value = variation_with_biases(W, -kink * W[:, 0], jump * W[:, 0])
    assert value.item() == pytest.approx(least, rel=1e-4)


def test_units_that_cancel_cost_nothing():
    W, b, a = arrays([(1.0, 2.0, 3.0), (-2.0, -4.0, -1.5), (0.0, 1.0, 5.0)])
    assert variation_with_biases(W, b, a) == 0
    assert variation_with_biases(*(BallArray.exact(x) for x in (W, b, a))) == 0


def test_functions_of_the_plane_have_no_kinks_here():
    a = normal(28, 5, 3)
    with pytest.raises(ValueError, match=r"received W of shape \(5, 3, 2\)"):
        slope_jumps(normal(29, 5, 3, 2), a, a)
    with pytest.raises(ValueError, match=r"received W of shape \(5, 3, 2\)"):
        variation_with_biases(normal(29, 5, 3, 2), a, a)
