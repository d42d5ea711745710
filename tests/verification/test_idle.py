"""Factors and terms without which nothing breaks: superfluous, or never exercised."""

import math
from dataclasses import replace

import pytest
import torch

from rankcheck import any_of, eq, leq, lt
from rankcheck.hunt.report import seen_anew
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


# Relations that may say nothing.


def zero(x, y):
    kernel = torch.tensor([1, 2, 1]) // 4
    smoothed = sum(k * x for k in kernel)
    return leq(smoothed.abs(), y)


def zero_alone(x, y):
    return leq((torch.tensor([1, 2, 1]) // 4).sum(), y)


def ones(x, y):
    return leq(torch.sign(x), x)


def twice(x, y):
    return eq((x * y).exp(), (x * y).exp())


def twice_by_names(x, y):
    first = torch.floor(x - y)
    second = torch.floor(x - y)
    return leq(first, second)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (zero, "the left side is 0 on every instance"),
        (zero_alone, "the left side is 0 on every instance"),
        (ones, "the left side is 1 on every instance"),
        (twice, "both sides are the same computation"),
        (twice_by_names, "both sides are the same computation"),
    ],
)
def test_a_relation_that_may_say_nothing_is_told(declare, tmp_path, body, said):
    claim = declare(body, pairs(), kind="conjecture")
    row = verify_claim(claim, Settings(SMALL, folder=tmp_path, shrink=0))
    assert row.verdict == "guarded"
    assert row.relations[0].hollow == (said,)
    assert said in table.sentence(row)
    assert f"  {said}" in table.facts(row)
    assert f"\n  of relation 1, {said}" in seen_anew(claim, 0)[1]


def written(x, y, *, least=0):
    """Numbers, parameters, arrays of one number, identities with one, and what is not drawn."""
    one = (x + y) / (x + y)
    return (
        leq(0, x), leq(least, x), leq(0 * x, x), lt(torch.zeros_like(x), x), eq(one, 1),
        leq(torch.ceil(x).long(), 2**64),
        eq(torch.ones_like(x), one), leq(math.pi / 4, x), leq(torch.tensor(-3.0), y),
    )  # fmt: skip


def huge(x, y):
    """An integer that no tensor holds is cut to the largest one that does."""
    return leq(torch.ceil(x).long(), 10 ** (400 + len(x.shape)))


def changed(x, y):
    """The text of both sides is one, and what it stands for is not."""
    first, second = x.clone(), x.clone()
    first[...] = x / 2
    return leq(first, second)


@pytest.mark.parametrize("body", [written, changed, huge, sharp])
def test_what_is_as_it_should_be_is_not(declare, tmp_path, body):
    row = verify_claim(
        declare(body, pairs(), kind="conjecture"), Settings(SMALL, folder=tmp_path, shrink=0)
    )
    assert row.verdict == "guarded", row.messages
    assert not any(facts.hollow for facts in row.relations)


def elsewhere(x, y):
    return leq(x, 9), leq(x, 0, where=y > 9)


def test_a_hunt_of_what_is_never_asserted_is_undecided(declare):
    unseen, _ = seen_anew(declare(elsewhere, pairs(), kind="conjecture"), 0)
    assert unseen == "relation 2 is asserted on 0 of 512 instances that were drawn anew"
