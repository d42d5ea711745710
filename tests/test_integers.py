"""Integers of any size, compared through 64 bits."""

import pytest

from rankcheck import eq, leq
from rankcheck.integers import LIMIT, comparable


@pytest.mark.parametrize(
    ("a", "b"),
    [(3, 5), (-7, -7), (LIMIT, LIMIT - 1), (10**400, 10**400 + 1), (-(10**40), 10**40), (2**63, 0)],
)
def test_the_order_is_kept(a, b):
    left, right = comparable(a, b)
    assert (left < right, left == right) == (a < b, a == b)
    assert max(abs(left), abs(right)) <= LIMIT
    assert bool(leq(*comparable(a, b)).violated()) == (a > b)
    assert bool(eq(*comparable(a, b)).violated()) == (a != b)


def test_small_ones_stay_as_they_are():
    assert comparable(12, -3) == (12, -3)
