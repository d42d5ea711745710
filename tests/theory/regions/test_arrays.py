"""The regions of a batch of networks: each network's own, with gradients, and exact on balls."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
import torch

from rankcheck import leq
from rankcheck.balls import BallArray, NoBallForm
from rankcheck.engine.counterexamples.judge import judge
from rankcheck.instances import integer_network, network, read_choices
from rankcheck.networks import Network
from rankcheck.regions import region_arrays, regions
from rankcheck.theory.instances.drivers import BatchSource
from rankcheck.theory.instances.source import instances
from tests.draws import batch_of

from .test_regions import by_linear_programmes, random_network

SHAPES = [(network, 1), (network, 2), (network, 3), (integer_network, 2)]


def batch(generator, inputs, seed, size=5, depth=(1, 3)):
    options = {"depth": depth, "width": (2, 4), "inputs": inputs, "outputs": 2}
    return batch_of(lambda source: generator(source, **options), BatchSource(seed, size))[0]


def stacked(nets):
    """ReLU networks as one with a batch axis."""
    layers = zip(*(net.weights for net in nets), strict=True)
    biases = zip(*(net.biases for net in nets), strict=True)
    return Network(map(torch.stack, layers), map(torch.stack, biases))


@pytest.mark.parametrize(("generator", "inputs"), SHAPES)
def test_a_batch_has_the_regions_of_each_network(generator, inputs):
    for seed in range(3):
        net = batch(generator, inputs, seed)
        cells = region_arrays(net, -2, 2)
        volumes, interior, jacobians = cells.volumes, cells.interior, cells.jacobians
        for i, count in enumerate(cells.count.tolist()):
            alone = regions(net[i], -2, 2)
            assert count == len(alone) == cells.present[i].sum()
            assert (cells.patterns[i, :count].numpy() == alone.patterns).all()
            for found, other in (
                (volumes, alone.volume()),
                (interior, alone.interior),
                (jacobians, alone.jacobians),
            ):
                assert np.allclose(found[i, :count], other, rtol=1e-12, atol=1e-12)
            assert (volumes[i, count:] == 0).all()
            for repeated in (interior, jacobians, cells.vertices):
                assert (repeated[i, count:] == repeated[i, :1]).all()


@pytest.mark.slow
@pytest.mark.oracle("rankcheck.regions.region_arrays", "scipy.optimize.linprog over all patterns")
def test_patterns_are_those_of_brute_force():
    nets = [random_network((2, 3, 2, 1), seed) for seed in range(3)]
    cells = region_arrays(stacked(nets), -1.0, 1.0)
    for i, net in enumerate(nets):
        rows = cells.patterns[i, : cells.count[i]].tolist()
        assert {tuple(row) for row in rows} == by_linear_programmes(net, -1.0, 1.0)
        assert len(rows) == len({tuple(row) for row in rows})


def test_boxes_and_slopes_differ_by_network():
    line = torch.ones(3, 1, 1, dtype=torch.float64)
    slopes = torch.tensor([0.0, 0.5, -0.5], dtype=torch.float64)
    low = torch.tensor([[-1.0], [-2.0], [1.0]], dtype=torch.float64)
    cells = region_arrays(Network.linear((line, line), slopes), low, 3)
    assert cells.count.tolist() == [2, 2, 1]
    assert cells.volumes.sum(-1).tolist() == [4.0, 5.0, 2.0]
    assert cells.jacobians.amin((1, 2, 3)).tolist() == [0.0, 0.5, 1.0]


def test_networks_that_share_nothing_but_the_pools():
    """Equal units in one network of the batch are none of the others."""
    rows = [[[1, 0], [1, 0]], [[1, 0], [0, 1]], [[1, 0], [-2, 0]], [[0, 0], [0, 1]]]
    first = torch.tensor(rows, dtype=torch.float64)
    net = Network.linear((first, torch.ones(4, 1, 2, dtype=torch.float64)))
    assert region_arrays(net, -1, 1).count.tolist() == [2, 4, 2, 2]


@pytest.mark.parametrize(("generator", "inputs"), SHAPES)
def test_numbers_on_balls_are_those_of_rational_arithmetic(generator, inputs):
    net = batch(generator, inputs, seed=4, size=2, depth=(3, 3))[0]
    cells = region_arrays(net.map_arrays(BallArray.exact), -2, 2)
    alone = regions(net, -2, 2)
    count = range(len(alone))
    assert cells.count == len(alone)
    exact = [alone.exact_interior(region) for region in count]
    assert (cells.interior == BallArray.exact(exact)).all()
    assert (cells.volumes == BallArray.exact(alone.exact_volume())).all()
    maps = [alone.exact_jacobian(region) for region in count]
    assert cells.ranks.tolist() == [J.rank() for J in maps]
    assert (cells.jacobians == BallArray.exact([J.tolist() for J in maps])).all()


def test_on_balls_a_slope_is_the_decimal_that_was_written():
    """At the slope 1/10 the kink is at 1/2; at the float 0.1 it is beside it."""
    weights = [[[1.0]], [[-10.0]], [[1.0]]]
    biases = [[-1.0], [-0.5], [0.0]]
    exact = Network(map(BallArray.exact, weights), map(BallArray.exact, biases), 0.1)
    cells = region_arrays(exact, -1, 2)
    assert sorted(cells.vertices.flatten().midpoints().tolist()) == [-1, 0.5, 0.5, 1, 1, 2]
    assert (cells.vertices == Fraction(1, 2)).sum() == 2
    with pytest.raises(NoBallForm, match="binary fractions"):
        region_arrays(exact, -0.1, 2)


def test_gradients_are_those_of_finite_differences():
    """Along a line through corners, slopes, weights and biases that have no simple values."""
    net = stacked([random_network((2, 3, 2, 2), seed) for seed in range(3)])
    slopes = torch.tensor([0.25, -0.5, 0.0], dtype=torch.float64)
    starts = [torch.tensor([-2.0, -1.5], dtype=torch.float64), slopes, *net.weights, *net.biases]
    generator = torch.Generator().manual_seed(0)
    steps = [torch.rand(x.shape, generator=generator, dtype=torch.float64) for x in starts]

    def numbers(t):
        low, slope, *arrays = (x + t * step for x, step in zip(starts, steps, strict=True))
        cells = region_arrays(Network(arrays[:3], arrays[3:], slope), low, 2)
        assert t != 0 or cells.count.amin() > 3
        found = (cells.volumes, cells.jacobians, cells.interior)
        return sum((x.flatten() * torch.linspace(1, 2, x.numel())).sum() for x in found)

    torch.autograd.gradcheck(numbers, torch.zeros((), dtype=torch.float64, requires_grad=True))


def neighbours(cells, index=0):
    """The pairs of neighbours of one network, by the numbers of the regions."""
    numbers = torch.arange(cells.patterns.shape[1]).expand(cells.patterns.shape[:2])
    pairs = torch.stack(cells.across(numbers), -1)
    return {tuple(sorted(pair)) for pair in pairs[index][cells.neighbours[index]].tolist()}


@pytest.mark.parametrize("d", [1, 2, 3])
def test_orthants_have_one_neighbour_for_each_coordinate(d):
    eye = torch.eye(d, dtype=torch.float64).expand(2, d, d)
    net = Network.linear((eye * torch.tensor([[[1.0]], [[0.0]]]), eye))
    cells = region_arrays(net, -1, 1)
    assert cells.neighbours.sum(-1).tolist() == [d * 2 ** (d - 1), 0]
    here, there = cells.across(cells.patterns)
    flipped = (here != there).sum(-1)
    assert (flipped == cells.neighbours).all()  # one unit, and none beside the end of the list


def test_pairs_of_neighbours_are_those_of_eulers_formula():
    """F regions and V vertices inside the box have F + V − 1 sides inside it (Euler, 1758)."""
    for seed in range(4):
        net = batch(network, 2, seed, depth=(2, 3))
        cells = region_arrays(net, -2, 2)
        for i, count in enumerate(cells.count.tolist()):
            exact = regions(net[i], -2, 2)
            inside = {
                tuple(point)
                for region in range(count)
                for point in exact.exact_vertices(region)
                if max(map(abs, point)) < 2
            }
            pairs = neighbours(cells, i)
            assert len(pairs) == cells.neighbours[i].sum() == count + len(inside) - 1
            assert all(a < b < count for a, b in pairs)


def test_jacobians_of_neighbours_differ_by_rank_one_at_most():
    net = batch(integer_network, 3, seed=5, depth=(3, 3))
    cells = region_arrays(net, -2, 2)
    here, there = cells.across(cells.jacobians)
    assert cells.neighbours.sum() > 10
    assert torch.linalg.matrix_rank(here - there, atol=1e-9).max() == 1


def test_boxes_of_four_dimensions_have_regions_and_no_neighbours():
    eye = torch.eye(4, dtype=torch.float64)
    cells = region_arrays(Network.linear((eye, eye)), -1, 1)
    assert cells.count == 16
    assert cells.volumes.tolist() == [1.0] * 16
    with pytest.raises(ValueError, match="up to dimension 3"):
        cells.across(cells.volumes)


def test_a_batch_is_refused_where_one_network_is_taken():
    net = batch(network, 2, seed=0)
    with pytest.raises(ValueError, match="region_arrays takes a batch"):
        regions(net, -1, 1)


@instances
def shallow(source):
    n = source.integer(2, 3)
    return Network((source.tensor(n, 2), source.tensor(1, n)), (source.tensor(n), source.tensor(1)))


def at_most(net, *, less=1):
    n = net.widths[1]
    return leq(region_arrays(net, -1, 1).count, 1 + n + comb(n, 2) - less)


def test_a_claim_about_the_number_of_regions_is_certified(declare):
    claim = declare(at_most, shallow())
    cross = read_choices(shallow(), [2, [[1, 0], [0, 1]], [[1, 1]], [0, 0], [0]])
    assert judge(claim, cross).finding == "refuted"
    lines = read_choices(shallow(), [2, [[1, 0], [1, 0]], [[1, 1]], [0, 0.5], [0]])
    assert judge(claim, lines).finding == "satisfied"
