"""What is said of a sharpening: in each state the constant first, and nothing unproved."""

from __future__ import annotations

from fractions import Fraction

import pytest

from rankcheck.claims.signs import SIGNS
from rankcheck.sharpen.sentences import headline, shown, standing
from rankcheck.sharpen.words import message

from .made import STATES, dial, probe, relation, sharpened


@pytest.mark.parametrize("state", STATES)
def test_false_is_said_of_what_is_refuted_alone(state):
    for one in STATES[state]()["relations"]:
        assert ("false as written" in headline(one)) == one["refuted"]


@pytest.mark.parametrize(
    ("state", "fact"),
    [
        ("loose", "looks like 1/(√2 e) (16 digits agree); that is no proof"),
        ("loose", "the record before, 0.26, is beaten: 0.26013"),
        ("refuted", "rankcheck replay .rankcheck/rank.jacobian-bounds-cost.json"),
        ("refuted", "the limit is 1.3863 ± 0.004"),
        ("unbounded", "no bound is in sight"),
        ("nothing", "no ratio is certified: the body uses torch.svd, which has no ball form"),
        ("vanishing", "so that no factor repairs it"),
        ("interrupted", "interrupted after 3.2 of 10 s"),
        (
            "frontier",
            "false at all tried from 0 to 2/5; survived at all tried from 9/20 to 1; open",
        ),
        ("frontier", "exponent = 2/5 is refuted by"),
        ("all_false", "proved false at all tried from 0 to 1; no value survived"),
        ("jagged", "from 1 to 3; survived at 2; the two alternate, so there is no one frontier"),
    ],
)
def test_facts_of_a_state(state, fact):
    assert fact in message(STATES[state]())


@pytest.mark.parametrize("kind", ["leq", "lt"])
@pytest.mark.parametrize(
    ("ratio", "expected"),
    [
        ("1.0000000000000001", "false"),
        ("0.9999999", "sharp"),
        ("0.99", "loose"),
        ("0", "loose"),
    ],
)
def test_how_a_bound_stands(kind, ratio, expected):
    one = relation(ratio, kind=kind)
    assert standing(one) == expected
    assert ("false as written" in headline(one)) == (expected == "false")


def test_equal_sides_satisfy_a_weak_bound_alone():
    assert standing(relation("1")) == "sharp"
    strict = relation("1", kind="lt")
    assert standing(strict) == "false"
    assert "equal sides do not satisfy <" in headline(strict)


@pytest.mark.parametrize(
    ("ratio", "room"),
    [
        ("0.25", "4 times"),
        ("0.3", "3.333 times"),
        ("0.66666666666666666", "1.5 times"),
        ("0.67", "33 %"),
        ("0.9999", "0.01 %"),
    ],
)
def test_the_room_is_not_too_large(ratio, room):
    """The right side times what is left is still at least the ratio."""
    assert f"could be {room} smaller" in headline(relation(ratio))
    number = Fraction(room.split()[0])
    left = 1 / number if "times" in room else 1 - number / 100
    assert left >= Fraction(ratio) - Fraction(1, 10**15)


def test_what_is_left_below_a_sharp_bound_is_rounded_up():
    assert "by more than 0.00001 %" not in headline(relation("0.99999991"))
    assert headline(relation("0.99999991")).endswith("by more than 9e-6 %")


def test_a_factor_that_is_enough_is_rounded_up():
    """1.11111 times the right side would not be enough for 10/9."""
    false = relation("1.1111111111111111")
    false["best"] |= {"high": "1.1111111111111112"}
    assert "times 1.11112 nothing" in headline(false)


def test_a_ratio_near_one_does_not_read_as_one():
    assert shown("0.9999999999999999") == "1 - 1e-16"
    assert shown("1.0000000000000001") == "1 + 1e-16"
    assert shown("1e-30") == "1e-30"


def test_all_kinds_of_relations_have_a_headline():
    for kind in SIGNS:
        assert headline(relation("0.5", kind=kind))
        assert headline(relation(kind=kind)).startswith("no ratio is certified")


def test_the_nearest_false_value_is_shown():
    """Below what survived it is the largest one, above it the least one."""
    above = dial(probe("1", False, "0.5"), probe("2", True, "1.5"), probe("3", True, "9"))
    assert "exponent = 2 is refuted by" in message(sharpened(dial=above))
