"""What `benchmarks.same` calls a difference."""

import copy

import pytest

from benchmarks.same.comparing import differences
from benchmarks.same.ledger import entries, verified

ROW = {
    "verdict": "holds",
    "instances": 1000,
    "best": {"0": 0.75, "1": None},
    "mutants": [2, 2],
    "survivors": [],
    "controls": {"2 % less": {"stage": "tight", "distance": 0.02}},
}


def changed(path, value):
    row = copy.deepcopy(ROW)
    *inside, last = path
    part = row
    for name in inside:
        part = part[name]
    part[last] = value
    return list(differences({"a": ROW}, {"a": row}, ("ledger 0",)))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("verdict",), "guarded"),
        (("instances",), 900),
        (("best", "0"), 0.7501),
        (("best", "1"), 0.5),
        (("mutants",), [1, 2]),
        (("survivors",), ["2 % less"]),
        (("controls", "2 % less", "distance"), 0.004),
        (("controls",), {}),
    ],
)
def test_what_says_less_is_a_difference(path, value):
    [line] = changed(path, value)
    assert line.startswith("ledger 0 / a / ")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("instances",), 990),
        (("instances",), 2000),
        (("best", "0"), 0.75 + 1e-9),
        (("controls", "2 % less", "distance"), 0.03),
        (("controls", "2 % less", "stage"), "swept"),
    ],
)
def test_what_a_machine_or_a_name_changes_is_none(path, value):
    assert changed(path, value) == []


def test_a_claim_that_is_gone_or_new_is_a_difference():
    [gone] = differences({"a": ROW}, {}, ())
    [new] = differences({}, {"a": ROW}, ())
    assert "gone" in gone
    assert "new" in new


def test_audits_are_compared_closely():
    [_] = differences({"x": 1.0}, {"x": 1 + 1e-8}, ("audits",))
    assert not list(differences({"x": 1.0}, {"x": 1 + 1e-8}, ("ledger 0",)))


def test_a_row_tells_how_each_control_was_broken():
    [entry] = entries(["bottleneck.growing-norms"], quick=False)
    [row] = verified(entry, 0).values()
    assert row["verdict"] == "holds"
    assert row["mutants"][0] == row["mutants"][1] > 0
    assert row["controls"]["1 + c_1/L, as printed"]["distance"] > 0
    assert row["instances"] > 1000
