"""The scope of a claim: every small instance, and the smallest violation among them."""

from dataclasses import replace

import torch

from rankcheck import eq, leq, lt
from rankcheck.engine.hunt import hunt
from rankcheck.engine.verification.profiles import PROFILES
from rankcheck.engine.verification.scope import enumerate_scope, scope_of
from rankcheck.engine.verification.tally import Tally
from rankcheck.theory.instances.source import instances

QUICK = PROFILES["quick"]


@instances
def lists(source):
    """Lists of one to four numbers."""
    return source.tensor(source.integer(1, 4))


@instances
def nonzero(source):
    """Two numbers, not both zero."""
    x = source.tensor(2)
    source.require((x != 0).any(-1), "x is not zero")
    return x


def product(x):
    return leq(x.prod(-1), 0 * x.sum(-1))


def test_every_instance_is_evaluated(declare):
    claim = declare(lambda x: eq(x.sum(-1), x.flip(-1).sum(-1)), lists())
    shapes, tally = scope_of(claim, QUICK), Tally()
    assert enumerate_scope(claim, shapes, tally) is None
    assert shapes.instances == tally.counts.evaluated == 3 + 9 + 27 + 81


def test_rejected_instances_are_counted(declare):
    claim = declare(lambda x: leq(-(x * x).sum(-1), 0), nonzero())
    tally = Tally()
    assert enumerate_scope(claim, scope_of(claim, QUICK), tally) is None
    assert (tally.counts.evaluated, tally.counts.rejected) == (8, 1)
    assert tally.counts.reasons == {"x is not zero": 1}


def test_the_first_violation_is_the_smallest(declare):
    """A product of two or more numbers that is positive: of two ones, before any other."""

    def body(x):
        return leq(x.prod(-1), 0, where=torch.tensor(x.shape[-1] > 1))

    claim = declare(body, lists())
    found = enumerate_scope(claim, scope_of(claim, QUICK), Tally())
    assert found.proved
    assert found.record.integers == (2,)
    assert found.record.tensors[0].tolist() == [1, 1]


def test_the_message_says_that_nothing_smaller_violates(declare, verify):
    claim = declare(product, lists())
    row = verify(claim)
    assert row.verdict == "refuted"
    assert "x = [1]" in row.messages[0]
    assert "all 120 instances" in row.messages[0]


@instances
def one(source):
    return source.tensor()


def test_what_follows_a_violation_that_is_not_decided_is_not_the_first(declare, verify, tmp_path):
    """Both sides are equal but for x = -1, which no ball can say of exponentials."""

    def body(x):
        half, proved = ((x + 2) / 2).exp(), torch.where(x < 0, 1, 0)
        return lt((x + 2).exp() + proved, half * half)

    claim = declare(body, one())
    found = enumerate_scope(claim, scope_of(claim, QUICK), Tally())
    assert found.proved
    assert found.record.tensors[0] == -1
    for message in (verify(claim).messages[0], hunt(claim, 30, folder=tmp_path).message):
        assert "the first violation that is proved among" in message


def test_the_profile_limits_the_scope(declare):
    claim = declare(product, lists())
    for most, entries, total in ((50, 3, 39), (20, 2, 12)):
        found = scope_of(claim, replace(QUICK, scope_instances=most))
        assert (found.entries, found.instances) == (entries, total)
    assert len(scope_of(claim, replace(QUICK, scope_shapes=1)).shapes) == 1
    assert scope_of(claim, replace(QUICK, scope=2)).instances == 12
    assert scope_of(claim, replace(QUICK, scope_instances=0)).instances == 0


def test_one_at_a_time_fewer_instances_are_enumerated(declare):
    seen = []

    def body(x):
        seen.append(tuple(x.tolist()))
        return eq(x.sum(), sum(x.flip(-1).tolist()))

    claim, few = declare(body, lists()), replace(QUICK, single=20)
    shapes = scope_of(claim, few)
    seen.clear()
    assert enumerate_scope(claim, shapes, Tally()) is None
    assert len(set(seen)) == shapes.instances == 12
    assert scope_of(declare(product, lists(), id="t.mapped"), few).instances == 120
