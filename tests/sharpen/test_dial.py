from __future__ import annotations

from fractions import Fraction

import pytest

from rankcheck.sharpen.run import sharpen
from rankcheck.sharpen.search import Search
from rankcheck.sharpen.values import DECIMAL, RATIONAL, WHOLE, Dial, taken


@pytest.fixture
def turned(sharp, tmp_path):
    """`turned("hill", "factor=0..2")`: where a dial makes a claim false."""

    def make(name, dial, tasks=3):
        return sharpen(sharp(name), dial=dial, budget=None, tasks=tasks, folder=tmp_path).dial

    return make


def test_a_frontier_lies_between_what_is_proved_false_and_what_survived(turned):
    found = turned("hill", "factor=0..3")
    (survived_from, survived_to), (false_from, false_to) = found.survived, found.false
    assert (survived_from, false_to) == (0, 3)
    assert survived_to <= 1 < false_from
    assert false_from - survived_to < Fraction(1, 4)
    assert found.monotone
    for probe in found.probes:
        assert probe.refuted == (probe.value > 1)
        if probe.refuted:
            assert probe.best.attained.refutes


def test_a_claim_that_is_false_or_true_for_every_value_has_no_frontier(turned):
    false, true = turned("hill", "factor=2..3"), turned("hill", "factor=0..1/2")
    assert (false.survived, true.false) == (None, None)
    assert len(false.probes) > 2


def test_an_answer_that_changes_twice_is_told(turned):
    found = turned("window", "c=0..1")
    assert found.false is not None
    assert not found.monotone


@pytest.fixture
def lazy(monkeypatch):
    """`lazy(values)`: searches look for nothing at these values of a dial."""

    def make(values):
        real = Search.run

        def run(search, *arguments, **options):
            if search.dial[1] not in values:
                real(search, *arguments, **options)

        monkeypatch.setattr(Search, "run", run)

    return make


def test_an_instance_that_refutes_one_value_is_tried_at_those_that_survived(turned, lazy):
    """Nothing is looked for at the end, 5; what refutes 2, inside, refutes that as well."""
    lazy({Fraction(5)})
    found = turned("hill", "factor=0..5")
    assert found.monotone
    assert found.false == (2, 5)
    assert found.probes[-1].best.attained.low > 1


@pytest.mark.parametrize(
    ("name", "dial", "values"),
    [
        ("hill", "factor=0..2", RATIONAL),
        ("decimal", "factor=0..3", DECIMAL),
        ("whole", "terms=1..8", WHOLE),
    ],
)
def test_a_dial_takes_the_numbers_that_the_body_does(sharp, name, dial, values):
    assert taken(sharp(name), Dial.parse(dial)) is values


def test_values_between_are_simple():
    a, b = Fraction(2, 5), Fraction(1, 2)
    assert RATIONAL.between(a, b) == RATIONAL.between(b, a) == Fraction(4, 9)
    assert RATIONAL.between(Fraction(-2), Fraction(0)) == -1
    assert DECIMAL.between(a, b) == Fraction(44, 100)
    assert WHOLE.between(Fraction(1), Fraction(8)) == 4
    assert WHOLE.between(Fraction(4), Fraction(5)) is None


def test_a_dial_of_whole_numbers_ends_at_neighbours(turned):
    found = turned("whole", "terms=1..8")
    assert found.whole
    assert found.survived == (1, 4)
    assert found.false == (5, 8)


def test_a_value_without_instances_is_not_said_to_have_survived(sharp, tmp_path):
    claim = sharp("narrow")
    result = sharpen(claim, dial="least=0..100", budget=None, tasks=2, folder=tmp_path)
    assert result.dial.probes
    assert all(probe.value < 8 for probe in result.dial.probes)
    assert result.dial.survived[1] < 8


def test_ctrl_c_keeps_the_values_that_were_tried(sharp, tmp_path):
    def interrupt(state):
        if state.doing == "factor = 3":
            raise KeyboardInterrupt

    claim, arguments = sharp("hill"), {"budget": None, "tasks": 2, "folder": tmp_path}
    result = sharpen(claim, dial="factor=0..3", progress=interrupt, **arguments)
    assert result.interrupted
    assert [probe.value for probe in result.dial.probes] == [0]
    assert "interrupted" in result.message
