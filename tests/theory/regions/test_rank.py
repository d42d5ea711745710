"""The largest rank over all regions: which exact ranks are computed, against all of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rankcheck.networks import Network
from rankcheck.regions import region_arrays, regions
from rankcheck.theory.regions.cells import Regions
from rankcheck.theory.regions.rank import _proved, highest_rank, jacobian_rank


def ranks_by_numpy(net, cells):
    """The rank of W_L D_{L−1} ... D_1 W_1 on each region; the entries are small dyadic numbers."""
    found = []
    for pattern in cells.patterns:
        J, left = net.weights[0].numpy(), pattern
        for W in net.weights[1:]:
            J = W.numpy() @ (np.where(left[: len(J)], 1, net.slope)[:, None] * J)
            left = left[W.shape[1] :]
        found.append(np.linalg.matrix_rank(J))
    return np.array(found)


NETWORKS = [
    ((2, 3, 3, 2), 0.0, 1),
    ((2, 2, 3, 2), 0.0, 2),
    ((2, 3, 2, 3, 2), 0.0, 3),
    ((2, 3, 3, 2), 0.5, 4),
    ((3, 2, 2), 0.0, 5),
]


@pytest.fixture(params=NETWORKS, ids=str)
def case(request):
    widths, slope, seed = request.param
    g = np.random.default_rng(seed)
    shapes = zip(widths[1:], widths[:-1], strict=True)
    net = Network.of(
        [g.integers(-2, 3, shape).astype(float) for shape in shapes],
        [g.integers(-2, 3, n) / 2 for n in widths[1:]],
        slope,
    )
    cells = regions(net, -2, 2)
    ranks = ranks_by_numpy(net, cells)
    assert len(cells) > 3
    assert slope != 0 or ranks.min() < ranks.max()
    return cells, ranks


@pytest.fixture
def computed(monkeypatch):
    """The regions whose exact Jacobian is taken, in their order."""
    seen: list[int] = []
    plain = Regions.exact_jacobian

    def noted(self, region):
        seen.append(region)
        return plain(self, region)

    monkeypatch.setattr(Regions, "exact_jacobian", noted)
    return seen


@pytest.mark.oracle("rankcheck.regions.highest_rank", "numpy's ranks over all patterns")
@pytest.mark.oracle("rankcheck.regions.jacobian_rank", "numpy's ranks over all patterns")
@pytest.mark.parametrize("exact", [False, True])
def test_the_largest_rank_against_all_patterns(case, exact):
    cells, ranks = case
    found = highest_rank(cells, exact=exact)
    assert found.rank == ranks.max() == ranks[found.region]
    net = Network.of(cells.weights, cells.biases, cells.slope)
    assert jacobian_rank(net, -2, 2, exact=exact) == found
    J = net.jacobian(torch.tensor([float(t) for t in found.point], dtype=torch.float64))
    assert np.linalg.matrix_rank(J) == found.rank


def test_guesses_decide_the_order_and_not_the_rank(case):
    """With guesses that are wrong, no region that has the largest rank may be skipped."""
    cells, ranks = case
    g = np.random.default_rng(0)
    for guesses in (ranks, -ranks, 0 * ranks, *(g.integers(0, 3, (5, len(ranks))))):
        best, region = _proved(cells, guesses)
        assert best == ranks.max() == ranks[region]


def test_regions_that_cannot_have_a_larger_rank_are_skipped(case, computed):
    """Those with too few active neurons in a layer; with right guesses one region comes first."""
    cells, ranks = case
    limits = np.full(len(cells), min(np.linalg.matrix_rank(W) for W in cells.weights))
    if cells.slope == 0:
        ends = np.cumsum([len(W) for W in cells.weights[:-1]])[:-1]
        for signs in np.split(cells.patterns, ends, axis=1):
            limits = np.minimum(limits, signs.sum(axis=1))
    _proved(cells, ranks)
    first, *others = computed
    assert first == int(ranks.argmax())
    above = np.flatnonzero(limits > ranks.max()).tolist()
    assert sorted(others) == [region for region in above if region != first]
    computed.clear()
    _proved(cells, -ranks)  # in ascending order, each as soon as it can be better
    best, expected = -1, []
    for region in np.argsort(ranks, kind="stable").tolist():
        if limits[region] > best:
            expected.append(region)
            best = max(best, int(ranks[region]))
    assert computed == expected


def cancelling(seed, slope):
    """W_2 W_1 = [A, −A] [B + C; B] = AC: large products of integers leave a small one of rank one.

    All units are inactive, or all are active for a ReLU network.
    """
    g = np.random.default_rng(seed)
    A, B = g.integers(2**25, 2**26, (2, 2)), g.integers(2**29, 2**30, (2, 2))
    C = np.outer(g.integers(1, 4, 2), g.integers(1, 4, 2))
    first = np.concatenate((B + C, B)).astype(float)
    second = np.concatenate((A, -A), 1).astype(float)
    bias = np.full(4, 2.0**40 if slope == 0 else -(2.0**40))
    arrays = [torch.from_numpy(array) for array in (first, second, bias, np.zeros(2))]
    return Network.unchecked_slope(arrays[:2], arrays[2:], slope)


@pytest.mark.parametrize("slope", [0.0, 0.5, 1024.0])
@pytest.mark.parametrize("seed", range(2))
def test_rounding_of_the_jacobian_does_not_add_to_its_rank(seed, slope):
    """The rounding of the products is of size 8, times the slope; the other singular value 0."""
    net = cancelling(seed, slope)
    cells = regions(net, -1, 1)
    assert len(cells) == 1
    assert highest_rank(cells, exact=True).rank == highest_rank(cells).rank == 1
    assert region_arrays(net, -1, 1).ranks.tolist() == [1]
    assert np.linalg.matrix_rank(cells.jacobians[0]) == 2
