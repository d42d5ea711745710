from __future__ import annotations

import math

import pytest
import torch

from rankcheck import eq, leq
from rankcheck.engine.hunt.margins import join, margins
from rankcheck.engine.hunt.sample import outside


def of(*relations, batch=None, valid=None):
    size = relations[0].lhs.shape[0] if batch is None else batch
    return margins(relations, torch.ones(size, dtype=torch.bool) if valid is None else valid)


def slow(lhs, rhs, kind, scale=0.0):
    """The margin of one entry, by its definition."""
    size = max(abs(lhs), abs(rhs), scale)
    if size == 0:
        return math.inf
    return (rhs - lhs if kind == "leq" else -abs(lhs - rhs)) / size


def test_the_margin_is_what_it_is_defined_to_be():
    values = [-2.0, -0.5, 0.0, 1.0, 3.0]
    pairs = [(a, b) for a in values for b in values]
    lhs, rhs = (torch.tensor(side, dtype=torch.float64) for side in zip(*pairs, strict=True))
    for make in (leq, eq):
        for scale in (None, 2.5, -2.5):
            found = of(make(lhs, rhs, scale=None if scale is None else 0 * lhs + scale))
            wanted = [slow(a, b, make.__name__, abs(scale or 0.0)) for a, b in pairs]
            assert found.relative[0].tolist() == pytest.approx(wanted)
            assert found.steady[0].tolist() == pytest.approx(wanted)


def test_an_instance_has_the_least_margin_of_its_entries_and_a_row_for_each_relation():
    rhs = torch.tensor([[4.0, 2.0], [1.0, 8.0]], dtype=torch.float64)
    found = of(leq(torch.ones_like(rhs), rhs), leq(torch.zeros(2, dtype=torch.float64), rhs[:, 0]))
    assert found.relative.tolist() == [[0.5, 0.0], [1.0, 1.0]]
    assert found.least.tolist() == [0.5, 0.0]


def test_the_margins_of_integers_do_not_wrap():
    low, high = torch.tensor([-(2**63)]), torch.tensor([2**63 - 1])
    assert of(leq(high, low)).relative.tolist() == of(eq(high, low)).relative.tolist() == [[-1.0]]
    assert of(leq(low, high)).relative.tolist() == [[1.0]]
    assert of(leq(high, 2**70)).beyond.tolist() == [-math.inf]


def test_what_is_not_asserted_or_not_valid_has_no_margin():
    one, two = torch.ones(3, dtype=torch.float64), 2 * torch.ones(3, dtype=torch.float64)
    where = torch.tensor([True, False, True])
    found = of(leq(two, one, where=where), valid=torch.tensor([True, True, False]))
    assert found.relative.tolist() == [[-0.5, math.inf, math.inf]]
    assert found.valid.tolist() == [True, False, False]
    assert found.beyond.tolist() == [0.5, -math.inf, -math.inf]
    assert found.absolute.tolist() == [1.0, -math.inf, -math.inf]


def test_instances_outside_have_neither_margins_nor_violations():
    none = outside(3, 2)
    for name in ("relative", "distance", "steady"):
        assert getattr(none, name).tolist() == [[math.inf] * 3] * 2
    for name in ("beyond", "absolute"):
        assert getattr(none, name).tolist() == [-math.inf] * 3
    assert none.valid.tolist() == [False] * 3


def test_an_instance_counts_if_one_of_its_entries_is_asserted():
    lhs = torch.tensor([[1.0, 5.0], [5.0, 5.0]], dtype=torch.float64)
    found = of(leq(lhs, 0 * lhs + 4, where=lhs < 4))
    assert found.relative.tolist() == [[0.75, math.inf]]
    assert found.valid.tolist() == [True, False]


def test_how_far_a_violation_lies_beyond_the_tolerance():
    lhs = torch.tensor([math.nan, math.inf, 1.0, 1 + 1e-15, 4e-3, 4e2, 1.0], dtype=torch.float64)
    rhs = torch.tensor([1.0, 1.0, 1.0, 1.0, 1e-3, 1e2, 2.0], dtype=torch.float64)
    found, none = of(leq(lhs, rhs)), -math.inf
    assert found.relative[0, :3].tolist() == [math.inf, math.inf, 0.0]
    assert found.beyond.tolist() == pytest.approx([math.inf] * 2 + [none, none, 0.75, 0.75, none])
    assert found.absolute[4:].tolist() == pytest.approx([3e-3, 3e2, none])


def test_integers_have_margins_in_units_of_the_larger_one():
    lhs, rhs = torch.tensor([3, 0, 0]), torch.tensor([2, 0, 4])
    found = of(leq(lhs, rhs))
    assert found.relative.tolist() == [[pytest.approx(-1 / 3), 0.0, 1.0]]
    assert torch.equal(found.distance, found.relative)  # no logarithm of them has a gradient


def test_the_two_gradients_differ_where_the_unit_moves():
    x = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
    found = of(leq(x, 3 * x), leq(-x, 0 * x))
    gradients = [
        float(torch.autograd.grad(margin.sum(), x, retain_graph=True)[0])
        for pair in zip(found.relative, found.steady, strict=True)
        for margin in pair
    ]
    # -x <= 0 is always relatively 1 away from failing; its numerator is not.
    assert gradients == pytest.approx([0, 1 / 3, 0, 1 / 2])


def test_batches_are_joined_and_instances_selected():
    """A relation that one batch lacks is asserted nowhere in it."""
    lhs = torch.tensor([[1.0, 5.0], [2.0, 0.5], [math.nan, 0.0]], dtype=torch.float64)
    rhs = torch.full_like(lhs, 2.0)
    whole = of(leq(lhs, rhs), eq(lhs[:, 0], rhs[:, 0]))
    parts = zip(lhs.split(2), rhs.split(2), strict=True)
    joined = join([of(leq(a, b), eq(a[:, 0], b[:, 0])) for a, b in parts])
    for name in ("relative", "distance", "steady", "beyond", "valid"):
        assert torch.equal(getattr(joined, name), getattr(whole, name))
    index = torch.tensor([2, 0])
    assert torch.equal(whole.select(index).beyond, whole.beyond[index])
    fewer = join([whole, of(leq(lhs, rhs))])
    assert fewer.relative[1].tolist() == [*whole.relative[1].tolist(), *[math.inf] * 3]


def test_the_distance_orders_like_the_margin_and_goes_on_where_the_margin_ends():
    pairs = {  # by their sides, the distance
        (1e-200, 1e100): 300 * math.log(10), (1e-100, 1e100): 200 * math.log(10),
        (0.5, 1.0): math.log(2), (1.0, 1.0): 0.0, (2.0, 1.0): -math.log(2),
        (1e50, 1.0): -50 * math.log(10), (1.0, -1.0): -2001.0, (-1.0, 1.0): 2001.0,
        (-4.0, -2.0): math.log(2), (-1.0, -2.0): -math.log(2),
    }  # fmt: skip
    lhs, rhs = (torch.tensor(side, dtype=torch.float64) for side in zip(*pairs, strict=True))
    found = of(leq(lhs, rhs))
    assert found.distance[0].tolist() == pytest.approx([*pairs.values()])
    assert found.relative[0, 0] == found.relative[0, 1] == 1


def test_the_distance_is_zero_within_the_tolerance_and_the_margin_of_an_identity():
    one = torch.ones(2, dtype=torch.float64)
    off = one + torch.tensor([1e-15, 1e-3], dtype=torch.float64)
    found = of(leq(off, one), eq(off, one))
    assert found.distance[0].tolist() == pytest.approx([0, -1e-3], rel=1e-3)
    assert torch.equal(found.distance[1], found.relative[1])


def test_the_distance_has_a_gradient_where_the_margin_has_none():
    x = torch.tensor([-80.0], dtype=torch.float64, requires_grad=True)
    found = of(leq(torch.exp(x), 1 + 0 * x))
    assert torch.autograd.grad(found.distance.sum(), x, retain_graph=True)[0] == -1
    assert abs(float(torch.autograd.grad(found.relative.sum(), x)[0])) < 1e-30
