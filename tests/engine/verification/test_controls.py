"""Controls go through the stages of a claim, and say how near they came where they survive."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from rankcheck import eq, leq
from rankcheck.claims.claim import Need
from rankcheck.claims.variants import variant
from rankcheck.engine.verification.counts import Counts
from rankcheck.errors import InputError
from rankcheck.theory.instances.source import instances
from rankcheck.theory.scalars import constant


@instances
def wide_integers(source):
    return constant(source.integer(0, 2**50), source.tensor())


@instances
def long_vectors(source, *, low=-8.0, high=8.0):
    return source.tensor(5, low=low, high=high)


@instances
def numbers(source, *, low=0.0, high=8.0):
    return source.tensor(low=low, high=high)


def small_only(x, *, least=-1.0):
    """Hypothesis draws small integers first; few of those drawn evenly are small."""
    return leq(least + 0 * x, x)


def one_vector(x, *, allowed=2):
    """A sweep hardly meets one vector of 3^5; the enumeration of all small ones does."""
    there = (x - (x.new_zeros(5) + torch.tensor([1.0, -1, 0, 1, -1]).double())).abs().sum(-1)
    return leq(torch.where(there == 0, 2.0, 0.0 * there), allowed + 0 * there)


@pytest.mark.parametrize(
    ("body", "family", "setting"),
    [
        (small_only, wide_integers(), {"least": 2.0**20}),
        (one_vector, long_vectors(), {"allowed": 1}),
    ],
)
def test_a_mutant_that_only_one_stage_catches_is_caught(declare, verify, body, family, setting):
    row = verify(declare(body, family, loose="so", mutants={"m": setting}))
    assert (row.verdict, row.messages) == ("holds", ())
    assert "m" in row.broken_by


class Hunted:
    """What a hunt says that has found nothing."""

    violation: Any = None
    margin, counts = 0.25, Counts(evaluated=1000)


def test_what_survives_is_hunted_and_nothing_else(declare, verify):
    asked = []

    def hunter(control, seed):
        asked.append((control.title, seed))
        return Hunted()

    def body(x, *, by=1.0):
        return leq(x, (x * x + 1) * by)

    family = {"needs": {"n": Need(numbers(low=1.0))}, "loose": None}
    claim = declare(body, numbers(), mutants={"false": {"by": 0.1}, "true": {"by": 2}}, **family)
    row = verify(claim, hunter=hunter, shrink=0)
    title = "A statement of the tests"
    # The best ratio of the claim is 1/2, so no instance kills its derived mutant.
    names = ["without 'n'", "2 % stronger", "mutant 'true'"]
    assert asked == [(f"{title} ({name})", 0) for name in names]
    assert row.mutants.survivors == ("bound 2 % stronger", "true")


def unproved(control, seed):
    hunted = Hunted()
    hunted.violation = SimpleNamespace(
        conclusive=False, judgement=SimpleNamespace(reason="so it is")
    )
    return hunted


def impossible(control, seed):
    raise InputError("there is no way")


@pytest.mark.parametrize(
    ("hunter", "why"),
    [
        (unproved, "a violation in floats is not proved: so it is"),
        (impossible, "it could not be hunted: there is no way"),
    ],
)
def test_a_hunt_that_decides_nothing_says_why(declare, verify, hunter, why):
    claim = declare(lambda x, *, k=1: eq(x, x + 0 * k), numbers(), mutants={"m": {"k": 2}})
    row = verify(claim, hunter=hunter, shrink=0)
    assert row.verdict == "failed"
    assert why in row.messages[0]


def test_controls_by_name(declare):
    def body(x, *, by=1.0):
        return leq(x, 8 * by + 0 * x), eq(x, x, label="same")

    need = Need(numbers(low=1.0), {"by": 0.5})
    claim = declare(body, numbers(), mutants={"m": {"by": 0.25}}, needs={"n": need})
    x = torch.tensor([6.0]).double()
    assert variant(claim, "m").relations((x,))[0].rhs.tolist() == [2]
    without = variant(claim, "n")
    assert (without.instances, without.relations((x,))[0].rhs.tolist()) == (need.instances, [4])
    [bound] = variant(claim, "bound 2 % stronger (relation 1)").relations((x,))
    [same] = variant(claim, "one side 2 % off (same)").relations((x,))
    assert bound.rhs.tolist() == [7.84]
    assert same.label == "same"
    assert bool(same.violated())
    assert len({variant(claim, name).statement_hash for name in ("m", "n")}) == 2
    with pytest.raises(
        InputError, match="no control 'o'; its mutants and hypotheses are: 'm', 'n'"
    ):
        variant(claim, "o")


@instances
def lists(source):
    return source.tensor(source.integer(1, 3))


def test_a_relation_that_some_shapes_do_not_have_has_a_derived_mutant(declare, verify):
    """The second relation has room, so its mutant goes through all shapes, with one entry too."""

    def body(x):
        first = eq(x, x, label="first")
        more = leq(x[..., -1] * 0, 1, label="second")
        return first if x.shape[-1] == 1 else (first, more)

    [message] = verify(declare(body, lists())).messages
    assert "2 % stronger (second)' survives" in message
