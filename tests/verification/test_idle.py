"""Factors and terms without which nothing breaks: superfluous, or never exercised."""

from dataclasses import replace

import pytest
import torch

from rankcheck import any_of, eq, leq, lt
from rankcheck.instances.source import instances
from rankcheck.terminal import table
from rankcheck.verification.check import verify_claim
from rankcheck.verification.idle import Idle
from rankcheck.verification.profiles import Profile, Settings
from rankcheck.verification.stages import search

SMALL = Profile("small", drawn=5, batches=6, size=64, single=12)


@instances
def pairs(source, *, times=1):
    return source.tensor(low=1.0, high=8.0), times * source.tensor(low=0.0, high=8.0)


@pytest.fixture
def idle(declare, tmp_path):
    """`idle(body)`: by relation, what no instance of a claim needs."""

    def found(body, family=None, **more):
        claim = declare(body, family or pairs(), loose="of no matter", **more)
        row = verify_claim(claim, Settings(SMALL, folder=tmp_path, shrink=0))
        assert row.verdict == "holds", row.messages
        return [facts.idle for facts in row.relations]

    return found


# Bodies are at the top level: their text is looked up in this file.


def sharp(x, y):
    return leq((x * y).sqrt(), (x + y) / 2)


def too_much(x, y):
    """AM-GM times a factor that is never below 1."""
    growth = (y * y).exp()
    return leq((x * y).sqrt(), growth * (x + y) / 2)


def one_side(x, y):
    """Without y all of them are true, and stronger; without x or the 1 they are false."""
    return leq(x, x + y), leq(x, 3 * x + 0 * y), lt(x - y, x + 1)


def other_names(x, y):
    """A name that changes is not written in its place; a tuple of values is."""
    first, second = x * y, y
    total = x
    total = total + second
    x = x + 1
    return eq(first + total, y * (x - 1) + x - 1 + y)


def parameters(x, y, *, times=1, plus=0):
    one = torch.ones_like(x)
    return leq(x, times * (x + plus) * one + y)


def disjoint(x, y):
    return any_of(leq(x, x * y), leq(y, 1.0)), eq(x, x + 0.0)


def test_a_sharp_bound_needs_all(idle):
    assert idle(sharp) == [()]


def test_a_factor_that_nothing_needs_is_named_through_local_names(idle):
    assert idle(too_much) == [
        (
            "without the factor growth on the right nothing breaks",
            "without the factor y on the right nothing breaks",
        )
    ]


def test_a_factor_that_no_instance_exercises_changes_nothing(idle):
    [sentences] = idle(too_much, pairs(times=0))
    assert "without the factor growth on the right nothing changes" in sentences


def test_each_relation_and_each_side(idle):
    first, second, third = idle(one_side)
    assert first == ("without the term y on the right nothing breaks",)
    assert second == ()  # neither a number as a factor nor 0 * y
    assert third == ("without the term y on the left nothing breaks",)


def test_local_names(idle):
    assert idle(other_names) == [()]


def test_neutral_parameters_and_ones_change_nothing_by_design(idle):
    assert idle(parameters) == [("without the term y on the right nothing breaks",)]


def test_relations_inside_of_others_are_left_alone(idle):
    assert idle(disjoint) == [(), ()]


@pytest.mark.parametrize("file", ["<stdin>", "page.md"])
def test_a_body_without_a_file_of_python_has_no_text(declare, tmp_path, file):
    (tmp_path / "page.md").write_text("A page that isn't Python.")
    names = {"leq": leq}
    text = "def body(x, y):\n    return leq(x, x + y)"
    exec(compile(text, str(tmp_path / file), "exec"), names)
    assert Idle.of(declare(names["body"], pairs())).body is None


def test_it_is_shown(declare, tmp_path):
    row = verify_claim(declare(one_side, pairs(), loose="so"), Settings(SMALL, folder=tmp_path))
    lines = table.facts(row)
    place = lines.index("  without the term y on the right nothing breaks")
    assert lines[place - 1].startswith("relation 1: asserted on")


@pytest.mark.slow
def test_the_generator_of_the_inverses_exercises_the_growth_in_the_cost():
    """Its hidden layers were as wide as the space of the tangents: what grows with c_1 was idle."""
    from rankcheck.catalogue.loader import load
    from rankcheck.catalogue.selection import select

    [claim] = load(select(["bottleneck.features-become-nonnegative"]))
    many = replace(SMALL, batches=24, size=512, scope_shapes=0)
    found = search(claim, Settings(many)).swept.idle
    offset = [name for (number, name), fate in found.fates.items() if number == 1 and fate.killed]
    assert "the factor growth(excess, net.depth) on the right" in offset
