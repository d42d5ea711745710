"""Extremal instances made small: few entries and simple numbers, and the ratio that they had."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch

from rankcheck import eq, leq
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.records.ratio import attained
from rankcheck.linalg import schatten_power
from rankcheck.sharpen.small import KEEP, made_small
from rankcheck.theory.instances.choices import read_choices
from rankcheck.theory.instances.drivers import BatchSource
from rankcheck.theory.instances.networks import balanced_linear_networks
from rankcheck.theory.instances.source import instances


@instances
def numbers(source, *, low=-8.0, high=8.0):
    return source.tensor(low=low, high=high)


@instances
def vectors(source, *, size=(1, 12)):
    return source.tensor(source.integer(*size))


def sum_and_length(x):
    """(Σ x)² ≤ n ‖x‖²: attained where all entries are equal."""
    return leq(x.sum(-1) ** 2, x.shape[-1] * (x * x).sum(-1))


def ratio(instance, number=0):
    return next(one.low for one in attained(instance) if one.number == number)


def of(claim, choices):
    return Instance(claim, claim.instances, read_choices(claim.instances, choices))


def entries(instance):
    return sum(tensor.numel() for tensor in instance.record.tensors)


def test_a_known_extremal_instance(declare):
    """Nearly equal entries of a vector of 12: one entry is enough."""
    claim = declare(sum_and_length, vectors())
    big = of(claim, [12, [3 + i / 2**13 for i in range(12)]])
    small = made_small(big, 0, budget=5)
    assert ratio(small) == 1
    assert small.record.integers == (1,)
    assert small.record.tensors[0].abs().tolist() == [1.0]


def test_the_ratio_is_kept_up_to_the_share(declare):
    """With entries in [-8, 8], of which the first is 1, the ratio 1 is not attained."""

    @instances
    def beside_one(source):
        return source.tensor(4)

    def body(x):
        y = torch.cat((x.new_ones(*x.shape[:-1], 1) / 3, x), -1)
        return leq(y.sum(-1) ** 2, 5 * (y * y).sum(-1))

    claim = declare(body, beside_one())
    big = of(claim, [[0.333251953125, 0.333343505859375, 0.333319091796875, 0.33331298828125]])
    small = made_small(big, 0, budget=5)
    assert ratio(big) * (1 - KEEP) <= ratio(small) < 1


def test_an_irrational_optimum_keeps_what_can_be_kept(declare):
    """|x| (2 - x²) is at most (2/3)^{3/2} · 2: attained at no rational x."""

    claim = declare(lambda x: leq(x * (2 - x * x), 1 + 0 * x), numbers(low=0.0, high=1.5))
    big = of(claim, [0.816496580927726])
    small = made_small(big, 0)
    assert ratio(small) >= ratio(big) * (1 - KEEP)
    [x] = small.record.tensors
    assert Fraction(float(x)).denominator < Fraction(0.816496580927726).denominator


def test_another_relation_is_kept(declare):
    """The second relation is extremal where two entries are equal, the first one with one entry."""

    def body(x):
        squares = (x * x).sum(-1)
        return leq(squares, x.abs().sum(-1) ** 2), leq(x[..., 0] * x[..., -1] * 2, squares)

    claim = declare(body, vectors(size=(2, 6)))
    big = of(claim, [3, [2.5, 0.0, 2.5]])
    assert made_small(big, 0).record.tensors[0].count_nonzero() == 1
    small = made_small(big, 1)
    assert small.record.integers == (2,)
    assert small.record.tensors[0].abs().tolist() == [1.0, 1.0]


def test_the_deviation_of_an_identity_is_kept(declare):
    claim = declare(lambda x: eq(x.sum(-1), 2 * x.sum(-1)), vectors())
    big = of(claim, [5, [1.5, 2.25, 1.0, 3.0, 7.125]])
    small = made_small(big, 0)
    assert ratio(small) == ratio(big) == Fraction(1, 2)
    assert entries(small) == 1


def test_without_a_ratio_the_instance_comes_back(declare):
    claim = declare(lambda x: leq(-(x.sum(-1) ** 2), 1 + 0 * x.sum(-1)), vectors())
    for number in (0, 3):
        one = of(claim, [2, [1.0, 2.0]])
        assert made_small(one, number) is one


def test_an_instance_that_breaks_a_hypothesis_comes_back(declare):
    @instances
    def positive(source):
        x = source.tensor()
        source.require(x > 0, "x > 0")
        return x

    claim = declare(lambda x: leq(x, 2 * x), positive())
    record = of(declare(sum_and_length, numbers()), [-1.0]).record
    one = Instance(claim, claim.instances, record)
    assert made_small(one, 0) is one


@pytest.mark.slow
def test_the_conjecture_of_the_readme(declare):
    """10/9 at a balanced linear network: one neuron is enough."""

    def body(net, x):
        power = schatten_power(net.jacobian(x), Fraction(2, net.depth))
        return leq(power, 0.9 * net.cost() / net.depth)

    claim = declare(body, balanced_linear_networks())
    source = BatchSource(3)
    claim.instances(source)
    big = Instance(claim, claim.instances, source.record.instance(0))
    small = made_small(big, 0, budget=5)
    assert ratio(small) == Fraction(10, 9)
    assert small.exact[0].widths == (1, 1)
    assert entries(small) < entries(big)
