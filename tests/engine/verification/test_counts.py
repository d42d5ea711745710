"""Counts add up."""

from rankcheck.engine.verification.counts import Counts


def test_counts_add_up_with_their_reasons():
    one = Counts(1, 2, 3, {"a": 1, "b": 1}, 4)
    two = Counts(10, 20, 30, {"b": 20}, 40)
    assert one + two == Counts(11, 22, 33, {"a": 1, "b": 21}, 44)
    assert one == Counts(1, 2, 3, {"a": 1, "b": 1}, 4)
    assert one + Counts() == one
    assert (one + two).total == 33
