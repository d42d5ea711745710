"""What is said of a sharpening: in each state the constant first, and nothing unproved."""

from __future__ import annotations

from fractions import Fraction

import pytest

from rankcheck.claims.signs import SIGNS
from rankcheck.sharpen.sentences import headline, shown, standing
from rankcheck.sharpen.words import message, paragraphs

from .made import CLAIM, STATES, dial, instance, probe, relation, sharpened

#: The first line of each state, without the name of the claim, and what else is said.
SAID = {
    "loose": (
        ": lhs/rhs reaches 0.2601300475: on all that was tried, the right side could be 3.844 "
        "times smaller",
        ["looks like 1/(√2 e) (16 digits agree); that is no proof",
         "attained by: depth 2, slope 0, W_1 = [[1]], b_1 = [0], x = [1/2] (lhs 1/4, rhs 31/32)",
         "    W_1 is a multiple of an orthogonal matrix",
         "by depth of net:", "    1  0.24", "    2  0.2601300475",
         "the record before, 0.26, is beaten: 0.26013", "360 shapes, 123456 instances, seed 0",
         "  record: records/rank.jacobian-bounds-cost.json"],
    ),
    "sharp": (
        ": lhs/rhs reaches 1: equality is attained, and no factor below 1 on the right would do",
        ["the record before, 1, stands"],
    ),
    "nearly": (
        ": lhs/rhs reaches 1 - 2.3e-16: the right side cannot be smaller by more than 2.3e-14 %",
        ["    2  1 - 2.3e-16"],
    ),
    "refuted": (
        ", upper: false as written: lhs/rhs reaches 1.2519244; with the right side times 1.25193 "
        "nothing that was tried breaks it",
        ["1.25192 is attained by: depth 4", "    2  1.134942922",
         "extrapolated in depth of net: the limit is 1.3863 ± 0.004 (a polynomial of degree 2 in "
         "1/depth); 1.2802 is expected at 5",
         ", lower: lhs/rhs reaches 0.97: on all that was tried, the right side could be 3 % "
         "smaller",
         "  certificate: rankcheck replay .rankcheck/rank.jacobian-bounds-cost.json"],
    ),
    "unbounded": (
        ": false as written: lhs/rhs reaches 1000000 and grows with the instance; no bound is in "
        "sight",
        ["growing instances:", "    1e+6 at: x = [1000000] (lhs 1000000, rhs 1)"],
    ),
    "growth": (
        ": false as written: lhs/rhs reaches 3; with the right side times 3 nothing",
        ["extrapolated in depth of net: it grows as depth; 4 is expected at 4"],
    ),
    "negative": (
        ": lhs/rhs reaches -0.25: on all that was tried, the left side is not proved to be "
        "positive",
        [],
    ),
    "nothing": (": no ratio is certified: the body uses torch.svd, which has no ball form", []),
    "vanishing": (
        ", wholly: false as written: it fails where its right side is not positive, so that no "
        "factor repairs it",
        [", partly: false as written: it fails where its right side is not positive; elsewhere "
         "lhs/rhs reaches 0.5"],
    ),
    "identity": (
        ", sum: the two sides agree: on all that was tried, no difference is proved",
        [", trace: false as written: the sides differ by 0.25 of the larger one"],
    ),
    "shapes": (
        ": lhs/rhs reaches 0.02: on all that was tried, the right side could be 50 times smaller",
        ["by depth of net, width of net:", "    3, 2  0.000002"],
    ),
    "interrupted": (
        ": lhs/rhs reaches 0.2601300475",
        ["interrupted after 3.2 of 10 s, 360 shapes, 100 instances (20 rejected), seed 0",
         "3 times: polish: a gradient raised RuntimeError"],
    ),
    "frontier": (
        ", exponent: proved false at all tried from 0 to 2/5; survived at all tried from 9/20 to "
        "1; open between 2/5 and 9/20",
        ["    2/5   proved false  lhs/rhs 1.031234568",
         "    9/20  survived      lhs/rhs 0.9876543211, 120000 instances",
         "    1     survived      120000 instances", "exponent = 2/5 is refuted by: depth 3"],
    ),
    "all_false": (
        ", exponent: proved false at all tried from 0 to 1; no value survived",
        ["exponent = 1 is refuted by"],
    ),
    "all_survived": (
        ", exponent: no value is proved false; survived at all tried from 0 to 1", []
    ),
    "jagged": (
        ", rank: proved false at all tried from 1 to 3; survived at 2; the two alternate, so there "
        "is no one frontier",
        [],
    ),
    "neighbours": (", rank: proved false at 4; survived at all tried from 1 to 3", []),
}  # fmt: skip


@pytest.mark.parametrize("state", STATES)
def test_what_is_said_in_each_state(state):
    first, others = SAID[state]
    lines = message(STATES[state]()).splitlines()
    assert lines[0].startswith(CLAIM + first)
    for wanted in others:
        assert any(wanted in line for line in lines), wanted


def test_what_is_absent():
    same = relation("1", "1", trend={"limit": 1.0, "error": 0.0, "next": [3, 1.0], "model": "m"})
    assert "extrapolated" not in message(sharpened(same))
    assert "looks like" not in message(STATES["refuted"]())
    assert "attained" not in message(STATES["nothing"]())
    assert "open" not in message(STATES["neighbours"]())
    assert "attained" not in paragraphs(STATES["identity"]())[0].lines
    assert "by depth" not in message(sharpened(relation("0.5")))
    one = relation("1", looks_like=[{"text": "1", "latex": "1", "digits": 17}])
    assert "looks like" not in message(sharpened(one))


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


def test_a_long_table_loses_its_middle():
    ratios = [f"0.{n}" for n in range(11, 51)]
    lines = message(sharpened(relation(*ratios))).splitlines()
    begin = lines.index("  by depth of net:") + 1
    assert lines[begin + 6 : begin + 11] == [
        "    7   0.17", "    … 30 more, in --json", "    38  0.48", "    39  0.49", "    40  0.5"
    ]  # fmt: skip
    assert "more" not in message(sharpened(relation(*ratios[:11])))
    assert "by depth of net: the same from 1 to 40" in message(sharpened(relation(*["1"] * 40)))
    probes = message(sharpened(dial=dial(*(probe(str(n), n < 5, "2") for n in range(30)))))
    assert "… 20 more, in --json" in probes


def test_one_of_a_kind():
    data = sharpened(relation("1"), shapes=1, counts={"evaluated": 1, "rejected": 0})
    assert "s, 1 shape, 1 instance, seed 0" in message(data)


def test_a_run_without_a_budget():
    data = sharpened(relation("1"), budget=None)
    assert message(data).splitlines()[-1].startswith("9.8 s, 360 shapes")


def test_long_sides_are_rounded():
    one = instance("0.5", lhs="1/3", rhs="66666666666666666666/100000000000000000000")
    assert "(lhs 1/3, rhs 0.6666666667)" in message(sharpened(relation(best=one, small=one)))


def test_the_nearest_false_value_is_shown():
    """Below what survived it is the largest one, above it the least one."""
    above = dial(probe("1", False, "0.5"), probe("2", True, "1.5"), probe("3", True, "9"))
    assert "exponent = 2 is refuted by" in message(sharpened(dial=above))
