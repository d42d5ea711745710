"""Claims over integers: every instance of a range is decided, exactly."""

from fractions import Fraction

import pytest
import torch

import rankcheck
from rankcheck import eq, leq, lt
from rankcheck.balls import BallArray
from rankcheck.decide.prove.range import Ranged, draws_entries, prove_range, ranged
from rankcheck.decide.prove.settings import Settings
from rankcheck.theory.instances.source import instances


@instances
def triangles(source, *, n=(1, 6)):
    m = source.integer(*n)
    return m, source.integer(0, m)


@instances
def odd(source):
    n = source.integer(0, 9)
    source.require(torch.tensor(n % 2 == 1), "n is odd")
    return n, source.integer(0, n)


@instances
def sometimes(source):
    if source.choice((False, True)):
        return source.tensor()
    return source.integer(1, 3)


def pascal(n, k, *, more=0):
    return leq(k + more, n)


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def drawn(family):
    return [record.integers for record in ranged(family)]


def test_every_choice_comes_once_the_smallest_first():
    found = drawn(triangles())
    assert sorted(found) == [(m, k) for m in range(1, 7) for k in range(m + 1)]
    above = [m - 1 + k for m, k in found]
    assert above == sorted(above)


def test_rejected_choices_are_gone_through_as_far_as_they_are_drawn():
    assert set(drawn(odd())) == {(n,) for n in range(0, 9, 2)} | {
        (n, k) for n in range(1, 10, 2) for k in range(n + 1)
    }


def test_all_instances_are_proved(declare):
    claim = declare(pascal, triangles(), mutants={"more": {"more": 1}, "less": {"more": -1}})
    result = rankcheck.prove(claim)
    [one] = result.proved
    assert (one.proof.paths, one.whole, one.proof.method) == (27, True, "range")
    assert one.proof.controls == {"more": "false", "less": "proved"}


def test_a_range_that_is_not_whole_says_so(declare):
    found = prove_range(declare(pascal, triangles()), Settings(), most=10)
    assert isinstance(found, Ranged)
    assert (found.whole, found.seen, found.proof.paths) == (False, 10, 10)


def test_instances_outside_the_hypotheses_do_not_count(declare):
    found = prove_range(declare(pascal, odd()), Settings())
    assert isinstance(found, Ranged)
    assert (found.whole, found.proof.paths) == (True, 30)


@pytest.mark.parametrize(
    ("body", "proved"),
    [
        # Equality up to 2⁻⁸⁰ satisfies a search, and proves nothing.
        (lambda x, n: eq((2 * x).sqrt() ** 2, 2 * x), False),
        (lambda x, n: leq((2 * x).sqrt() ** 2, 2 * x), False),
        (lambda x, n: leq((2 * x).sqrt(), 2 * x), True),
        (lambda x, n: eq(x * (x + 1) / 3, (x * x + x) * Fraction(1, 3)), True),
        (lambda x, n: eq(n * (n + 1), n * n + n), True),
        (lambda x, n: lt(n, n + 1), True),
        (lambda x, n: lt(n, n), False),
    ],
)
def test_what_is_proved_is_exact(declare, body, proved):
    def exact(n, k):
        return body(BallArray.exact(torch.tensor(float(n))), n)

    found = prove_range(declare(exact, triangles()), Settings())
    assert isinstance(found, Ranged) == proved
    if not proved:
        assert "on the instance 1, 0" in found.reason


def test_an_instance_that_fails_is_no_accusation(declare):
    claim = declare(lambda n, k: leq(n, 3), triangles())
    result = rankcheck.prove(claim)
    assert result.proved == ()
    assert "false" not in result.message


def test_generators_with_entries_are_no_ranges(declare, scalars):
    assert draws_entries(scalars())
    assert not draws_entries(triangles())
    claim = declare(lambda x: leq(x, 9), sometimes())
    assert "draws entries at some integers" in prove_range(claim, Settings()).reason
