"""Small parts of the shrinking and of the messages, each by itself."""

import math
from fractions import Fraction

import pytest
import torch

from rankcheck import leq
from rankcheck.counterexamples import folder_of
from rankcheck.counterexamples.certificate import CertificateError
from rankcheck.counterexamples.describe import approximately_both
from rankcheck.counterexamples.message import raised_message
from rankcheck.counterexamples.replay import replay
from rankcheck.counterexamples.shrinking.cropping import _kept
from rankcheck.counterexamples.shrinking.entries import _patterns, _simpler
from rankcheck.counterexamples.shrinking.handover import choices
from rankcheck.instances.source import instances


def test_zero_has_no_sign_in_the_choices(record):
    """-0.0 lies outside [0, 1] for Hypothesis."""
    [value] = choices(record([-0.0]))
    assert math.copysign(1.0, value) == 1.0


def test_patterns_of_a_matrix_are_simple():
    values = torch.tensor([[1.3, -0.7], [0.2, 2.6]], dtype=torch.float64)
    found = [pattern.tolist() for pattern in _patterns(values)]
    assert found[:4] == [
        [[0, 0], [0, 0]],
        [[1, 0], [0, 1]],
        [[1, 1], [1, 1]],
        [[1, -1], [1, 1]],
    ]
    assert [[1, -1], [0, 3]] in found
    for pattern in _patterns(values):
        if pattern.tolist() not in found[:4]:
            assert ((pattern - values).abs() <= 0.5).all()
    assert next(_patterns(values[0])).tolist() == [0, 0]
    assert len(list(_patterns(values[0]))) == len(found) - 1


def test_simpler_numbers_are_roundings():
    found = list(_simpler(1.6875))
    assert found[:3] == [0, 1, -1]
    assert {1, 2, 1.5, 1.75} <= set(found)
    assert all(abs(value - 1.6875) <= 1 for value in found[3:])


def test_two_numbers_are_told_apart():
    near, one = 1 + Fraction(1, 10**7), Fraction(1)
    assert approximately_both(near, one) == ("1.0000001", "1")
    assert approximately_both(one, near) == ("1", "1.0000001")


def test_the_indices_that_are_kept():
    assert [kept.tolist() for kept in _kept(4, 3)] == [[0, 1, 2], [1, 2, 3], [0, 2, 3], [0, 1, 3]]
    assert [kept.tolist() for kept in _kept(4, 2)] == [[0, 1], [2, 3]]


def test_a_generator_that_raises_again_is_shown_by_its_numbers(declare, record):
    @instances
    def broken(source):
        raise RuntimeError("no instance")

    claim = declare(lambda x: leq(x, x), broken())
    error = RuntimeError("no instance")
    text = raised_message(claim, record([2.0]), broken(), error, by="generator")
    first, *_, last = text.splitlines()
    assert first == "t.made-up failed: its generator raised RuntimeError: no instance"
    assert last == "  drawn: broken(): [[2]]"


@pytest.mark.parametrize("left", [False, True])
def test_a_certificate_that_is_not_stored(declare, scalars, tmp_path, monkeypatch, left):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "claims.py"
    file.touch()
    claim = declare(lambda x: leq(x, 7.0), scalars(), kind="refuted", file=file)
    if left:
        (tmp_path / ".rankcheck").mkdir()
        (tmp_path / ".rankcheck" / "t.made-up.json").touch()
    said = "to store .*t.made-up.json there: .* --again" if left else "to search for a count"
    with pytest.raises(CertificateError, match=rf"no certificate at .*; {said}"):
        replay(folder_of(claim) / "t.made-up.json", claim=claim)
