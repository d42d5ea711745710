from __future__ import annotations

import math

import pytest
import torch

from rankcheck import eq, leq
from rankcheck.engine.hunt.arena import Shape
from rankcheck.sharpen.gauge import INFINITE, Gauge, NoRatioError

HERE = Shape("instances", ())


@pytest.fixture
def gauged(declare, scalars):
    """`gauged(body, x)`: the names, and the heights in floats at these numbers."""

    def make(body, *values, **settings):
        gauge = Gauge(declare(body, scalars()), HERE, **settings)
        record = gauge.sample(0, len(values)).record
        at = record.with_tensors([torch.tensor(values, dtype=torch.float64)])
        return gauge, gauge.ratios(gauge.at(at))

    return make


def test_heights_are_the_logarithms_of_ratios_above_one_too(gauged):
    gauge, heights = gauged(lambda x: (leq(x, 2 + 0 * x), leq(3 * x, 2 + 0 * x)), 1.0, 2.0, 4.0)
    assert gauge.names == ("relation 1", "relation 2")
    assert heights.exp().flatten().tolist() == pytest.approx([0.5, 1, 2, 1.5, 3, 6])


def test_rounding_makes_no_ratio(gauged):
    _, heights = gauged(lambda x: leq(x * 2.0**-60, (1 + x * 2.0**-60) - 1, scale=1 + 0 * x), 1.0)
    assert heights.tolist() == [[-math.inf]]


def test_a_bound_that_fails_without_a_positive_right_side_comes_first(gauged):
    _, heights = gauged(lambda x: leq(x, -x), 1.0, -1.0, 0.0)
    assert float(heights[0, 0]) == pytest.approx(math.log(INFINITE), abs=2)
    assert float(heights[0, 1]) < -100
    assert float(heights[0, 2]) == -math.inf


def test_an_identity_has_its_deviation_and_rounding_none(gauged):
    _, heights = gauged(lambda x: eq(x, torch.ones_like(x)), 1.0, 2.0, 1 + 2.0**-50)
    assert heights.tolist() == [[0.0, 0.5, 0.0]]


def test_a_relation_is_chosen_by_its_name(gauged):
    def two(x):
        return leq(x, 1, label="a"), leq(x, 2, label="b")

    assert gauged(two, 1.0, chosen=["b"])[0].names == ("b",)
    with pytest.raises(NoRatioError, match="a, b is none that is measured"):
        gauged(two, 1.0, chosen=["c"])
