"""The sign test against binomial coefficients, and against throwing coins."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from rankcheck.claims.trials import LEVEL, mostly, sign_test


@pytest.mark.parametrize("runs", range(1, 13))
def test_against_binomial_coefficients(runs):
    for successes in range(runs + 1):
        tail = Fraction(sum(comb(runs, k) for k in range(successes, runs + 1)), 2**runs)
        assert sign_test(successes, runs) == pytest.approx(float(tail), rel=1e-12)


def test_most_is_more_than_half_at_the_level():
    def holds(outcomes):
        return not bool(mostly(outcomes, "so").violated().any())

    assert holds([True] * 5)
    assert holds([True] * 7 + [False])
    assert not holds([True] * 4 + [False])
    assert not holds([True] * 9 + [False] * 7)


def test_fair_coins_rarely_pass():
    """The level is kept: if half of all runs succeed, at most 5 % of experiments pass."""
    throws = np.random.default_rng(0).binomial(8, 0.5, size=20_000)
    passed = sum(sign_test(int(successes), 8) <= LEVEL for successes in throws) / len(throws)
    assert 0.025 < passed < LEVEL


@pytest.mark.parametrize("wrong", [(-1, 3), (4, 3), (0, 0)])
def test_what_is_no_count(wrong):
    with pytest.raises(ValueError, match="successes in"):
        sign_test(*wrong)
