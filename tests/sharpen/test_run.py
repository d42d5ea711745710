from __future__ import annotations

import math
from fractions import Fraction

import pytest

from rankcheck.engine.counterexamples import replay
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.records.file import Records
from rankcheck.engine.records.ratio import attained
from rankcheck.errors import InputError
from rankcheck.sharpen import run as run_
from rankcheck.theory.instances.choices import read_choices


@pytest.fixture
def sharpened(sharp, tmp_path):
    """`sharpened("readme", tasks=…)`: without a clock, so that a test does not depend on one."""

    def make(name, *, tasks=6, **settings):
        settings = {"budget": None, "shrink": 0.3, "folder": tmp_path, **settings}
        return run_.sharpen(sharp(name), tasks=tasks, **settings)

    return make


def test_the_constant_of_a_false_statement_and_its_certificate(sharp, sharpened):
    result = sharpened("readme", tasks=3)
    (only,) = result.relations
    assert only.best.attained.low == Fraction(10, 9)
    assert only.looks_like[0].text == "10/9"
    assert "all biases are 0" in only.special
    assert result.refuted
    assert result.certified
    replayed = replay(result.certificate, claim=sharp("readme"))
    assert replayed.refuted
    assert not replayed.changed
    assert "10/9" in result.message


def test_an_irrational_supremum_is_reached_and_recognised(sharpened):
    (only,) = sharpened("irrational").relations
    assert only.ratio == pytest.approx(math.sqrt(0.5), rel=1e-14)
    assert only.best.attained.low <= only.best.attained.high < Fraction(7071067811866, 10**13)
    assert only.looks_like[0].digits >= 10
    assert "√2" in only.looks_like[0].text


def test_whatever_is_reported_is_proved_again_from_its_numbers(sharp, sharpened):
    for name in ("readme", "irrational", "integers"):
        claim = sharp(name)
        for relation in sharpened(name, tasks=4).to_json()["relations"]:
            for one in [relation["best"], relation["small"], *(g["best"] for g in relation["by"])]:
                record = read_choices(claim.instances, one["choices"])
                (proved,) = attained(Instance(claim, claim.instances, record))
                assert proved.written == one["ratio"]


def test_a_ratio_that_balls_do_not_confirm_is_never_reported(sharpened):
    result = sharpened("artefact")
    (only,) = result.relations
    assert only.best.attained.low == only.best.attained.high == 1
    assert all(ratio <= 1 for _, ratio in only.history)
    assert not result.refuted
    assert result.certificate is None


def test_what_floats_contradict_is_no_refutation(sharpened):
    result = sharpened("disagree")
    (only,) = result.relations
    assert not result.refuted
    assert result.certificate is None
    assert only.best is None or only.best.attained.low <= 1
    assert any("floats and balls disagree" in told for told in (only.why, *result.troubles))


def test_a_ratio_without_bound_has_growing_instances(sharpened):
    (only,) = sharpened("unbounded").relations
    ratios = [one.attained.value for one in only.growing]
    assert len(ratios) >= 3
    assert ratios == sorted(ratios)
    assert ratios[-1] > 1000 * ratios[0]
    assert only.looks_like == ()


def test_shapes_without_entries_are_searched_along_their_integers(sharpened):
    (only,) = sharpened("integers", tasks=20).relations
    assert only.best.attained.low == Fraction(9, 10)
    assert only.best.key == (30,)
    (grows,) = sharpened("grows", tasks=20).relations
    assert grows.best.key == (40,)


def test_where_the_right_side_vanishes_no_factor_repairs_a_bound(sharp, sharpened):
    result = sharpened("zero")
    (only,) = result.relations
    assert result.refuted
    assert "no factor repairs it" in only.why
    assert replay(result.certificate, claim=sharp("zero")).refuted


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("negative", "its right side was positive at no instance"),
        ("floats", "no ball form: floats alone"),
    ],
)
def test_nothing_is_certified_and_the_reason_is_told(sharpened, name, why):
    result = sharpened(name, tasks=2)
    assert why in result.relations[0].why
    assert not result.certified
    assert not result.refuted


def test_relations_that_are_never_asserted_or_have_no_ratio_are_named(sharpened):
    never, other = sharpened("never", tasks=2).relations
    assert never.best is None
    assert "where=" in never.why
    assert other.ratio == pytest.approx(0.64)


def test_sides_of_both_signs_are_measured_where_the_right_one_is_positive(sharpened):
    result = sharpened("both", tasks=2)
    (only,) = result.relations
    assert only.best.attained.low == Fraction(1, 2)
    assert 0.3 < only.measured < 0.7
    assert "its right side is not positive" in result.message


def test_identities_have_a_deviation(sharpened):
    (true,) = sharpened("identity").relations
    assert true.best is None or true.best.attained.low == 0
    false = sharpened("no-identity")
    assert false.refuted
    assert false.relations[0].ratio == pytest.approx(3 - 2 * math.sqrt(2), rel=1e-9)


def test_bodies_without_batch_or_gradient(sharpened):
    assert sharpened("singles", tasks=4).relations[0].best.attained.low == 1
    assert sharpened("jumps", tasks=8).relations[0].ratio == 0.8
    assert sharpened("strict").relations[0].ratio == 0.5


def test_the_next_run_goes_on_from_what_was_left(sharp, sharpened, tmp_path):
    first = sharpened("irrational")
    left = Records.of(sharp("irrational"), tmp_path / "records" / "sharp.irrational.json")
    assert left.best("relation 1").ratio == first.relations[0].best.attained.written
    again, fresh = (
        sharpened("irrational", tasks=1, seed=1, folder=folder).relations[0].history[0][1]
        for folder in (tmp_path, tmp_path / "other")
    )
    assert again == first.relations[0].ratio > fresh


def test_a_run_without_a_clock_depends_on_its_seed_alone(sharpened, tmp_path):
    def told(folder):
        relations = sharpened("irrational", tasks=3, shrink=0.0, folder=folder).relations
        return [one.best.to_json() for one in relations]

    assert told(tmp_path / "one") == told(tmp_path / "other")


def test_ctrl_c_ends_the_search_and_tells_what_was_found(sharpened):
    def interrupt(state):
        if state.best:
            raise KeyboardInterrupt

    result = sharpened("irrational", tasks=50, progress=interrupt)
    assert result.interrupted
    assert result.relations[0].ratio > 0.5
    assert "interrupted" in result.message


@pytest.mark.slow
def test_worker_processes_find_the_same_constant(sharpened):
    result = sharpened("readme", tasks=4, workers=2)
    assert result.relations[0].best.attained.low == Fraction(10, 9)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"dial": "nothing=0..1"}, "sharp.hill has no dial 'nothing'"),
        ({"dial": "factor=1..0"}, "the interval of factor is 1..0"),
        ({"dial": "factor=a..b"}, "received the dial 'factor=a..b'; a dial is NAME=LO..HI"),
        ({"budget": 0.0}, "the budget is 0.0"),
        ({"tasks": 0}, "received 0 tasks"),
        ({"tasks": None}, "neither a budget nor tasks is given"),
        ({"workers": 0}, "received 0 workers"),
        ({"shrink": -1.0}, "shrink is -1.0"),
    ],
)
def test_wrong_input_is_refused_with_the_rule(sharpened, arguments, says):
    with pytest.raises(InputError) as raised:
        sharpened("hill", **arguments)
    assert says in str(raised.value)


def test_a_parameter_that_is_no_number_is_no_dial(sharpened):
    with pytest.raises(InputError, match="a dial is a parameter whose value is a number"):
        sharpened("text", dial="word=0..1")
