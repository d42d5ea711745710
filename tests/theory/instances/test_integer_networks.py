"""Integer networks have integer entries, and regions of every rank occur."""

import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.regions import regions
from rankcheck.theory import linalg
from rankcheck.theory.instances.drivers import BatchSource, ReplaySource
from rankcheck.theory.instances.integer_networks import (
    DYADIC_SLOPES,
    integer_box,
    integer_factors,
    integer_network,
    unimodular,
)
from rankcheck.theory.instances.points import distinct_points
from tests.draws import batch_of


def is_whole(array):
    return bool((array == array.round()).all())


def test_networks_are_whole_and_of_every_rank():
    highest, slopes, varied, bent = set(), set(), 0, 0
    for seed in range(150):
        source = BatchSource(seed)
        net = integer_network(source, width=(1, 3))
        low, high = integer_box(source, net.widths[0])
        assert all(map(is_whole, (*net.weights, *net.biases, low, high)))
        assert (high - low >= 2).all()
        assert (low >= -4).all()
        assert (high <= 4).all()
        cells = regions(net, low, high)
        ranks = linalg.rank(torch.from_numpy(cells.jacobians.copy()))
        highest.add(int(ranks.max()))
        slopes.add(net.slope)
        varied += bool((ranks != ranks[0]).any())
        bent += len(cells) > 1
    assert highest == {0, 1, 2, 3}
    assert slopes == set(DYADIC_SLOPES)
    assert bent >= 50
    assert varied >= 10


def test_networks_at_a_point_keep_the_signal():
    """Whole numbers still, clear of kinks at the point, and few Jacobians that are zero there."""
    ranks = []
    for seed in range(200):
        source = BatchSource(seed)
        at = source.tensor(2, low=-3.0, high=3.0).round()
        net = integer_network(source, width=(1, 3), inputs=2, at=at)
        assert all(map(is_whole, (*net.weights, *net.biases)))
        assert net.is_differentiable_at(at)
        ranks.append(int(linalg.rank(net.jacobian(at))))
    assert ranks.count(0) < 30
    assert ranks.count(1) > 60
    assert ranks.count(2) > 30


@pytest.mark.parametrize("n", [1, 2, 3])
def test_unimodular_matrices(n):
    determinants, sizes = set(), set()
    for seed in range(20):
        source = BatchSource(seed, 8)
        floats, _ = batch_of(lambda source: unimodular(source, n), source)
        assert is_whole(floats)
        A = unimodular(ReplaySource(source.record.instance(0), BallArray.exact), n)
        assert is_whole(torch.linalg.inv(A))
        determinants |= {round(d) for d in torch.linalg.det(floats).tolist()}
        sizes.add(float(floats.abs().max()))
    assert determinants == {-1, 1}
    assert len(sizes) > 1 or n == 1


@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (3, 2, 1), (2, 3, 2), (3, 3, 3)])
def test_factors_have_their_rank(m, n, k):
    (U, V), _ = batch_of(lambda source: integer_factors(source, m, n, k), BatchSource(0, 64))
    assert is_whole(U)
    assert is_whole(V)
    assert (linalg.rank(U @ V) == k).all()
    assert (linalg.rank(U) == k).all()
    assert len({tuple(A.flatten().tolist()) for A in U @ V}) > 5 or (m, n) == (k, k)


@pytest.mark.parametrize("count", [1, 2, 5, 9])
@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_points_are_distinct(count, dimension):
    aligned = 0
    for seed in range(30):
        x, _ = batch_of(lambda s: distinct_points(s, count, dimension), BatchSource(seed, 32))
        assert x.shape == (32, count, dimension)
        apart = (x.unsqueeze(-2) - x.unsqueeze(-3)).abs().amax(-1)
        others = ~torch.eye(count, dtype=torch.bool)
        assert (apart[:, others] >= 1).all()
        first = x[..., 0].sort(-1).values
        aligned += int((first.diff(dim=-1) == 0).any())
    if count > 2 and dimension > 1:
        assert aligned > 0  # the first coordinate alone does not always tell them apart
