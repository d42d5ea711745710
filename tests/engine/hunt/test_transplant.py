from __future__ import annotations

from fractions import Fraction

import torch

from rankcheck import leq
from rankcheck.engine.hunt.arena import Arena, Shape
from rankcheck.engine.hunt.points import ShapedSource
from rankcheck.engine.hunt.strategies import Perturb
from rankcheck.engine.hunt.transplant import fitted, transplanted
from rankcheck.linalg import schatten_power
from rankcheck.theory.instances.drivers import BatchSource
from rankcheck.theory.instances.source import instances
from tests.draws import batch_of

from .test_strategies import claim_of


def tight_and_fitted(claim, seed):
    source = BatchSource(seed, 1)
    net = claim.tight(source)[0]
    return net, fitted(claim, Shape("tight", source.record.integers), seed)


def test_a_tight_shape_fits_where_the_family_has_room_for_it(hunted):
    claim = hunted("deep")
    for seed in range(2):
        net, shape = tight_and_fitted(claim, seed)
        if net.depth > 5 or max(net.widths) > 3:
            assert shape is None
        else:
            assert claim.instances(ShapedSource(shape.integers, seed, 1))[0].widths == net.widths


def test_tight_networks_are_carried_over_and_stay_tight(hunted):
    claim = hunted("deep")
    shape = next(shape for seed in range(12) if (shape := tight_and_fitted(claim, seed)[1]))
    sample = transplanted(Arena(claim, shape), 0, 5)
    (net, x), _ = batch_of(claim.instances, sample.record)
    # Networks of least cost for their map.
    least = schatten_power(net.jacobian(x), Fraction(2, net.depth))
    assert torch.allclose(net.cost() / net.depth, least)


@instances
def squares(source):
    x = source.tensor(2)
    return x * x


@instances
def pairs(source):
    return source.tensor(2)


def test_what_a_generator_computes_is_not_carried_over():
    claim = claim_of(lambda x: (_ for _ in ()), squares(), tight=pairs())
    arena = Arena(claim, Shape("instances", ()))
    assert transplanted(arena, 0, 3) is None


@instances
def points(source, *, longest=4):
    return source.tensor(source.integer(1, longest))


@instances
def squared_points(source):
    x = source.tensor(source.integer(1, 4))
    return x * x


def test_a_shape_fits_if_one_part_is_carried_over_and_does_not_if_none_is():
    tight = Shape("tight", (3,))
    claim = claim_of(lambda x: leq(0, (x * x).sum(-1)), points(), tight=points(longest=3))
    assert fitted(claim, tight, 0) == Shape("instances", (3,))
    claim = claim_of(lambda x: leq(0, x.sum(-1)), squared_points(), tight=points(longest=3))
    assert fitted(claim, tight, 0) is None


@instances
def small_points(source):
    return source.tensor(source.integer(1, 4), low=-1.0, high=1.0)


def test_what_is_carried_over_stays_in_the_range_of_the_family():
    claim = claim_of(lambda x: leq(0, (x * x).sum(-1)), small_points(), tight=points())
    sample = transplanted(Arena(claim, Shape("instances", (3,))), 0, 64)
    (values,) = sample.record.tensors
    assert values.shape == (64, 3)
    assert bool((values.abs() <= 1).all())
    assert len({tuple(row) for row in values.tolist()}) > 10


def test_nothing_is_carried_over_to_tight_shapes_or_single_instances_or_other_shapes():
    def body(x):
        return leq(0, (x * x).sum(-1))

    claim = claim_of(body, points(), tight=points(longest=3))
    assert transplanted(Arena(claim, Shape("tight", (3,))), 0, 4) is None
    assert transplanted(Arena(claim, Shape("instances", (4,))), 0, 4) is None
    single = claim_of(lambda x: leq(0, x.sum().item() ** 2), points(), tight=points(longest=3))
    alone = Arena(single, Shape("instances", (3,)))
    alone.sample(0, 4)
    assert transplanted(alone, 0, 4) is None
    assert transplanted(Arena(claim_of(body, points()), Shape("instances", (3,))), 0, 4) is None


def test_perturbing_a_tight_instance_breaks_a_bound_that_is_false_beside_it():
    """A bound that is broken in a disc of radius 1/1000 around a tight point that is not simple."""

    def body(x):
        far = (x[..., 0] - 0.7853981) ** 2 + (x[..., 1] - 0.318309) ** 2
        return leq(torch.where(far < 1e-6, 1 + far, 0 * far), 1 + 0 * far, where=x[..., 0] > -9)

    @instances
    def near(source):
        x = source.tensor(2)
        return 0 * x + torch.tensor([0.7853981, 0.318309], dtype=torch.float64)

    without = Arena(claim_of(body, pairs()), Shape("instances", ()))
    Perturb().search(without, 0)
    assert not without.offers
    arena = Arena(claim_of(body, pairs(), tight=near()), Shape("instances", ()))
    Perturb().search(arena, 0)
    assert arena.offers
