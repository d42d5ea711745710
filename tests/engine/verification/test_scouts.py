"""Scouts: which shapes they visit, in which order, and what no large batch finds."""

from dataclasses import replace

import pytest
import torch

from rankcheck import eq, leq
from rankcheck.engine.verification.profiles import PROFILES
from rankcheck.engine.verification.scouts import FEW, ScoutSource, Visited
from rankcheck.engine.verification.search import sweep
from rankcheck.engine.verification.tally import Tally
from rankcheck.theory.instances.source import instances

QUICK = PROFILES["quick"]
#: The sweep alone: nothing is enumerated, and Hypothesis draws next to nothing.
ALONE = replace(QUICK, drawn=2, scope_shapes=0)


@instances
def boxes(source, *, most=10):
    """One of `most`³ shapes, and three vectors."""
    sizes = [source.integer(1, most) for _ in range(3)]
    return (*(source.tensor(size) for size in sizes), source.tensor(6))


def scouted(family, count, *, simplest=lambda number: True, visited=None, seed=0):
    """The shapes of so many scouts, in order; fewer if that is all there are."""
    visited = visited or Visited()
    shapes = []
    for number in range(count):
        if visited.everywhere:
            break
        source = ScoutSource(visited, simplest(number), seed + number, 2)
        family(source)
        visited.add(source.record)
        shapes.append(source.record.integers)
    return shapes


def test_the_simplest_shapes_come_first():
    shapes = scouted(boxes(), 40)
    assert shapes[:4] == [(1, 1, 1), (1, 1, 2), (1, 2, 1), (2, 1, 1)]
    far = [sum((size - 1).bit_length() for size in shape) for shape in shapes]
    assert far == sorted(far)
    assert {(1, 1, 8), (1, 8, 1), (8, 1, 1)} <= set(shapes)


@pytest.mark.parametrize("simplest", [True, False, None])
def test_no_shape_is_visited_twice_and_none_is_left_out(simplest):
    def rule(number):
        return number % 2 == 0 if simplest is None else simplest

    visited = Visited()
    shapes = scouted(boxes(most=3), 100, simplest=rule, visited=visited)
    assert len(shapes) == len(set(shapes)) == visited.shapes == 27
    assert visited.everywhere


def test_shapes_are_drawn_by_their_weights_until_they_are_visited():
    @instances
    def seldom(source):
        return source.tensor(2), source.integer(0, 1, (99, 1)) and source.integer(1, 2**40)

    firsts = [scouted(seldom(), 1, simplest=lambda _: False, seed=seed)[0] for seed in range(20)]
    assert firsts.count((0,)) > 15
    shapes = scouted(seldom(), 30, simplest=lambda number: number % 2 == 0)
    assert len(set(shapes)) == 30
    assert (0,) in shapes


def test_a_generator_that_raises_at_a_shape_is_not_asked_there_again(declare):
    @instances
    def partly(source):
        size = source.integer(1, 6)
        source.require(torch.tensor(size != 1), "there are two")
        if size == 2:
            raise ValueError("two")
        return source.tensor(size)

    tally = Tally()
    claim = declare(lambda x: leq((x * x).sum(-1), 64.5 * x.shape[-1]), partly())
    assert sweep(claim, claim.instances, QUICK, 0, tally) is None
    assert tally.visited.shapes == 6
    assert tally.counts.rejected >= FEW
    assert tally.raised


def fails_at(*shape):
    """A body that is false at one shape on a fifth of the instances, and true elsewhere."""

    def body(x, y, z, w):
        here = (x.shape[-1], y.shape[-1], z.shape[-1]) == shape
        return leq(w[..., 0] * w[..., 1] if here else 0 * w[..., 0], 1 + 0 * w[..., 0])

    return body


def counts_at(*shape):
    """A count with equality everywhere, but where there are zeros at one shape."""

    def body(x, y, z, w):
        here = (x.shape[-1], y.shape[-1], z.shape[-1]) == shape
        signs = (w > 0).sum(-1) + (w < 0).sum(-1)
        return eq(signs, torch.full_like(signs, 6) if here else (w != 0).sum(-1))

    return body


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "shape"), [(fails_at, (2, 1, 2)), (fails_at, (1, 6, 1)), (counts_at, (1, 1, 3))]
)
def test_what_is_false_at_one_simple_shape_of_a_thousand_is_refuted(declare, verify, body, shape):
    """Without scouts, a sweep has 24 of the 1000 shapes, and none of them need be this one."""
    claim = declare(body(*shape), boxes(), loose="a test")
    assert verify(claim, ALONE, shrink=0).verdict == "refuted"
    assert verify(claim, replace(ALONE, shapes=0), shrink=0).verdict != "refuted"


def test_a_sweep_has_as_many_instances_with_scouts_as_without(declare, verify):
    claim = declare(lambda x, y, z, w: leq(w.abs().amax(-1), 8.0), boxes(), loose="a test")
    profile = replace(ALONE, batches=4, shapes=10)
    with_scouts, without = (verify(claim, replace(profile, shapes=n)) for n in (10, 0))
    assert with_scouts.swept.evaluated == 10 * FEW + 4 * 512 - 10 * FEW // 512 * 512
    assert without.swept.evaluated == 4 * 512
    assert with_scouts.shapes >= 10
    assert without.shapes <= 4


@pytest.mark.parametrize("high", [True, False])
def test_what_is_false_at_an_end_of_the_range_alone_is_found(declare, high):
    @instances
    def vectors(source):
        return source.tensor(source.integer(1, 4))

    claim = declare(lambda x: leq((x if high else -x).amax(-1), 7.99999), vectors())
    profile = replace(QUICK, batches=1, shapes=4)
    assert sweep(claim, claim.instances, profile, 0, Tally()) is not None
