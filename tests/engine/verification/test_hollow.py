"""Relations that may say nothing: a side never varies, or both sides are one computation."""

import math

import pytest
import torch

from rankcheck import eq, leq, lt
from rankcheck.engine.hunt.report import seen_anew
from rankcheck.engine.verification.check import verify_claim
from rankcheck.engine.verification.profiles import Profile, Settings
from rankcheck.theory.instances.source import instances

SMALL = Profile("small", drawn=5, batches=6, size=64, single=12)


@instances
def pairs(source):
    return source.tensor(low=1.0, high=8.0), source.tensor(low=0.0, high=8.0)


# Bodies are at the top level: their text is looked up in this file.


def sharp(x, y):
    return leq((x * y).sqrt(), (x + y) / 2)


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
    assert said in seen_anew(claim, 0)[1]


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
