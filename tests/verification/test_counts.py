"""Counts add up, and survive the way through JSON."""

import json

from rankcheck.verification.counts import Counts


def test_counts_add_up_with_their_reasons():
    one = Counts(1, 2, 3, {"a": 1, "b": 1}, 4)
    two = Counts(10, 20, 30, {"b": 20}, 40)
    assert one + two == Counts(11, 22, 33, {"a": 1, "b": 21}, 44)
    assert one == Counts(1, 2, 3, {"a": 1, "b": 1}, 4)
    assert one + Counts() == one
    assert (one + two).total == 33


def test_counts_in_json():
    one = Counts(1, 2, 3, {"x > 0": 2}, 4)
    assert Counts.from_json(json.loads(json.dumps(one.to_json()))) == one
    assert Counts.from_json({"evaluated": 4, "of another version": 1}) == Counts(4)
