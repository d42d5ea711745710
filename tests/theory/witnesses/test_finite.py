"""Finite sets of witnesses, against itertools and scipy."""

import itertools

import pytest
import torch
from scipy.optimize import linear_sum_assignment

from rankcheck.balls import BallArray
from rankcheck.networks import Network
from rankcheck.witnesses import all_permutations, all_signs, permuted_units


def random(*shape, seed=0):
    draw = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=draw, dtype=torch.float64)


@pytest.mark.oracle("rankcheck.witnesses.all_permutations", "scipy.optimize.linear_sum_assignment")
def test_the_best_permutation_is_that_of_the_assignment_problem():
    for n in range(1, 6):
        costs = random(n, n, seed=n)
        places, columns = linear_sum_assignment(costs.numpy())
        every = all_permutations(n)
        assert len({tuple(row) for row in every.tolist()}) == len(every)
        sums = costs[torch.arange(n), every].sum(-1)
        assert sums.min().item() == pytest.approx(costs.numpy()[places, columns].sum())
        assert every[0].tolist() == list(range(n))
        assert every[sums.argmin()].tolist() == columns.tolist()


@pytest.mark.oracle("rankcheck.witnesses.all_signs", "itertools.product")
def test_all_signs():
    v = random(3)
    for like in (v, BallArray.exact(v)):
        every = all_signs(3, like=like)
        assert type(every) is type(like)
        values = every.midpoints() if isinstance(every, BallArray) else every
        assert [tuple(row) for row in values.tolist()] == list(itertools.product((1, -1), repeat=3))


@pytest.mark.oracle("rankcheck.witnesses.permuted_units", "the values of the network itself")
@pytest.mark.parametrize("slope", [0.25, random(4).tanh()])
def test_permuted_units_compute_the_same_function(slope):
    widths = (2, 3, 2, 1)
    pairs = list(itertools.pairwise(widths))
    weights = [random(4, n, m, seed=n) for m, n in pairs]
    net = Network(weights, [random(4, n, seed=9) for _, n in pairs], slope)
    every = permuted_units(net)
    assert every.batch == (4, 12)
    x = random(4, 2)
    value = every(x[:, None].expand(4, 12, 2))
    torch.testing.assert_close(value, net(x)[:, None].expand(4, 12, 1))
    torch.testing.assert_close(every.cost(), net.cost()[:, None].expand(4, 12))
    assert len({tuple(w.flatten().tolist()) for w in every.weights[1][0]}) == 12
    for of_all, own in zip(every.weights, net.weights, strict=True):
        assert (of_all[:, 0] == own).all()
    exact = permuted_units(net[0].map_arrays(BallArray.exact))
    assert (exact.biases[0].midpoints() == every.biases[0][0]).all()
    assert (exact.weights[1].midpoints() == every.weights[1][0]).all()


def test_without_hidden_units_there_is_one_order():
    assert permuted_units(Network.of([[[1.0, 2.0]]])).weights[0].tolist() == [[[1.0, 2.0]]]


def test_sets_that_are_too_large_or_empty_are_refused():
    for make in (
        lambda: all_permutations(7),
        lambda: all_signs(10, like=random(1)),
        lambda: permuted_units(Network.linear([random(6, 1), random(2, 6), random(1, 2)])),
    ):
        with pytest.raises(ValueError, match="at most 720"):
            make()
    with pytest.raises(ValueError, match="n = 0"):
        all_permutations(0)
    with pytest.raises(ValueError, match="n = 0"):
        all_signs(0, like=random(1))
