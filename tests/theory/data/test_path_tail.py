"""The tail of the shortest path against integrals."""

import math

import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from rankcheck.theory.data.path_tail import likely_length, log_path_tail


@pytest.mark.oracle("rankcheck.data.log_path_tail", "scipy.integrate")
def test_the_volume_of_two_steps_by_integration():
    """∫∫ 1[|d_1| + |d_2| ≤ t] in R^k is (kω_k)² ∫ r^(k−1) (t − r)^k/k dr; there are 3 orders."""
    for k, sphere in ((1, 2.0), (2, 2 * math.pi), (3, 4 * math.pi)):
        t = 0.7
        volume, _ = quad(lambda r, k=k, t=t: r ** (k - 1) * (t - r) ** k / k, 0, t)
        expected = 3 * sphere**2 * volume * 1.5**2
        assert log_path_tail(3, k, t, 1.5) == pytest.approx(math.log(expected), rel=1e-9)


@pytest.mark.parametrize(("k", "sphere"), [(1, 2.0), (2, 2 * math.pi), (3, 4 * math.pi)])
@pytest.mark.oracle("rankcheck.data.likely_length", "a root of an integral, by scipy")
def test_the_length_as_a_root_of_an_integral(k, sphere):
    """Two points: one ball. Three points: the volume of two steps, as above, and three orders."""

    def tail(t):
        return 3 * (1.5 * sphere) ** 2 * quad(lambda r: r ** (k - 1) * (t - r) ** k / k, 0, t)[0]

    for level in (1e-3, 0.4):
        root = brentq(lambda t, level=level: tail(t) - level, 1e-4, 2, xtol=1e-14, rtol=1e-13)
        assert likely_length(3, k, level, 1.5) == pytest.approx(root, rel=1e-8)
        one_ball = (level / (1.5 * sphere / k)) ** (1 / k)
        assert likely_length(2, k, level, 1.5) == pytest.approx(one_ball, rel=1e-12)


@pytest.mark.parametrize(
    "arguments", [(1, 2, 0.5), (3, 0, 0.5), (3, 2, 0.0), (3, 2, 1.0), (3, 2, 0.5, 0.0)]
)
def test_errors(arguments):
    with pytest.raises(ValueError, match="received"):
        likely_length(*arguments)
