from __future__ import annotations

import math
from fractions import Fraction

import pytest
import torch

from rankcheck import leq
from rankcheck.engine.hunt.arena import Shape
from rankcheck.engine.hunt.points import ShapedSource
from rankcheck.sharpen.fitting import refits
from rankcheck.sharpen.gauge import Gauge
from rankcheck.sharpen.task import POLISH, Task, run_task
from rankcheck.theory.instances.source import instances

PLACE = torch.tensor([0.3, -1.7, 2.9, -0.1], dtype=torch.float64)


@instances
def vectors(source):
    return source.tensor(4)


@instances
def chains(source):
    """Numbers x_1, ..., x_n and y_1, ..., y_n in turn, then z."""
    n = source.integer(1, 4)
    pairs = [(source.tensor(), source.tensor()) for _ in range(n)]
    return torch.stack([x for pair in pairs for x in pair], -1), source.tensor()


@pytest.fixture
def peak(declare):
    """A claim whose ratio is 1/2 at one point, and less elsewhere."""
    return declare(lambda x: leq(1 + 0 * x[..., 0], 2 + (x - PLACE).square().sum(-1)), vectors())


def at(*values):
    source = ShapedSource((), 0)
    source.tensor(len(values))
    return source.record.instance(0).with_tensors([torch.tensor(values, dtype=torch.float64)])


def test_an_instance_is_polished_to_the_top_near_it(peak):
    start = at(0.0, -1.0, 2.0, 0.5)
    outcome = run_task(peak, Task((Shape("instances", ()),), 0, POLISH, (start,)))
    (found,) = outcome.findings
    assert Fraction(1, 2) * (1 - Fraction(1, 10**12)) < found.attained.low <= Fraction(1, 2)


def test_what_is_not_better_than_what_is_known_is_not_judged(peak):
    known = {("relation 1", ()): math.log(0.5)}
    outcome = run_task(
        peak, Task((Shape("instances", ()),), 0, POLISH, (at(0, 0, 0, 0),), known=known)
    )
    assert outcome.findings == []
    assert outcome.heights


def test_an_instance_of_another_length_fits_with_a_run_repeated_or_left_out(declare):
    claim = declare(lambda x, z: leq(x.sum(-1), 1 + z * z), chains())
    source = ShapedSource((2,), 0)
    claim.instances(source)
    values = [torch.tensor(float(n), dtype=torch.float64) for n in range(1, 6)]
    two = source.record.instance(0).with_tensors(values)

    def fits(length):
        gauge = Gauge(claim, Shape("instances", (length,)))
        return [[float(t) for t in one.tensors] for one in refits(gauge, two, 24)]

    assert fits(2) == [[1, 2, 3, 4, 5]]
    assert [1, 2, 3, 4, 3, 4, 5] in fits(3)
    assert [1, 2, 1, 2, 3, 4, 5] in fits(3)
    assert [1, 2, 5] in fits(1)
    assert [3, 4, 5] in fits(1)
