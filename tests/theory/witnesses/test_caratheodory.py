"""Fewer units with the same values at data, against linear programs and ranks."""

import numpy as np
import pytest
import scipy.optimize
import torch

from rankcheck.balls import BallArray
from rankcheck.networks import Network, unit_costs
from rankcheck.witnesses import (
    cheaper_combination,
    fewer_units,
    fewer_units_in_span,
    null_vector,
)

#: Data, outputs, inputs, units.
SIZES = [(1, 1, 1, 1), (1, 1, 2, 4), (2, 1, 2, 5), (2, 2, 3, 8), (3, 2, 1, 9), (1, 3, 2, 5)]


def integers(*shape, seed=0, low=-3, high=3):
    return torch.from_numpy(np.random.default_rng(seed).integers(low, high + 1, shape)).double()


def networks(points, outputs, inputs, units, seed, count=20):
    W, V = integers(count, units, inputs, seed=seed), integers(count, outputs, units, seed=seed + 1)
    b, c = integers(count, units, seed=seed + 2), integers(count, outputs, seed=seed + 3)
    x = integers(count, points, inputs, seed=seed + 4)
    return Network.of((W, V), (b, c), 0.25), x


def live(net):
    return (net.weights[1] != 0).any(-2).sum(-1)


def sums_of_costs(net):
    return unit_costs(net).sum(-1)


@pytest.mark.oracle("rankcheck.witnesses.cheaper_combination", "scipy.optimize.linprog")
@pytest.mark.parametrize(("rows", "count"), [(1, 1), (1, 4), (2, 5), (3, 3), (4, 9)])
def test_combinations_lie_between_a_linear_program_and_the_start(rows, count):
    columns, costs = integers(30, rows, count), integers(30, count, seed=1, low=0)
    t = cheaper_combination(columns, costs)
    assert (t >= 0).all()
    torch.testing.assert_close((columns @ t.unsqueeze(-1)).squeeze(-1), columns.sum(-1))
    for z, c, factors in zip(columns.numpy(), costs.numpy(), t.numpy(), strict=True):
        least = scipy.optimize.linprog(c, A_eq=z, b_eq=z.sum(-1), bounds=(0, None))
        assert least.fun - 1e-9 <= c @ factors <= c.sum() + 1e-9
        kept = z[:, factors > 0]
        assert np.linalg.matrix_rank(kept) == kept.shape[1] if kept.size else True


@pytest.mark.oracle("rankcheck.witnesses.null_vector", "numpy.linalg.matrix_rank")
@pytest.mark.parametrize(("rows", "count"), [(1, 1), (1, 3), (2, 3), (3, 3), (4, 3), (3, 6)])
def test_null_vectors(rows, count):
    A = integers(40, rows, count, low=-1, high=1)
    live_columns = integers(40, count, seed=1) > -2
    found = null_vector(A, live_columns)
    assert (A @ found.unsqueeze(-1)).abs().amax() < 1e-12
    assert (found[~live_columns] == 0).all()
    ranks = np.linalg.matrix_rank(torch.where(live_columns.unsqueeze(-2), A, 0))
    assert ((found != 0).any(-1).numpy() == (ranks < live_columns.sum(-1).numpy())).all()


@pytest.mark.oracle("rankcheck.witnesses.fewer_units", "scipy.optimize.linprog")
@pytest.mark.parametrize("seed", [0, 10])
@pytest.mark.parametrize("size", SIZES)
def test_fewer_units(size, seed):
    net, x = networks(*size, seed)
    new = fewer_units(net, x)
    points, outputs, _, units = size
    assert new.widths[1] == min(units, points * outputs)
    torch.testing.assert_close(new(x), net(x), atol=1e-10, rtol=1e-10)
    before, after = sums_of_costs(net), sums_of_costs(new)
    assert (after <= before + 1e-9).all()
    z = (net.activations(x)[1].unsqueeze(-2) * net.weights[1].unsqueeze(-3)).flatten(-3, -2)
    for one, c, cost in zip(z.numpy(), unit_costs(net).numpy(), after.numpy(), strict=True):
        least = scipy.optimize.linprog(c, A_eq=one, b_eq=one.sum(-1), bounds=(0, None))
        assert cost >= least.fun - 1e-7 * (1 + abs(least.fun))


@pytest.mark.oracle("rankcheck.witnesses.fewer_units_in_span", "numpy.linalg.matrix_rank")
@pytest.mark.parametrize("size", [*SIZES, (2, 4, 2, 9), (2, 3, 1, 8)])
def test_fewer_units_with_outer_weights_in_the_span_of_the_values(size):
    net, x = networks(*size, 3)
    new = fewer_units_in_span(net, x)
    points, outputs, *_ = size
    assert (live(new) <= points * min(points, outputs)).all()
    torch.testing.assert_close(new(x), net(x), atol=1e-10, rtol=1e-10)
    assert (sums_of_costs(new) <= sums_of_costs(net) + 1e-9).all()
    if points < outputs:
        values = (net(x) - net.biases[-1].unsqueeze(-2)).numpy()
        both = np.concatenate((values, new.weights[1].mT.numpy()), -2)
        rank = np.linalg.matrix_rank
        assert (rank(both, tol=1e-9) == rank(values, tol=1e-9)).all()


@pytest.mark.parametrize("witness", [fewer_units, fewer_units_in_span])
def test_values_are_exact_on_balls(witness):
    # Lengths 5 and 13: the costs are rational, and ties are decided.
    W, V = [[3, 4], [4, -3], [5, 12], [3, 4], [0, 0]], [[3, 0, -4, 3, 1], [4, 0, 3, 4, 0]]
    net = Network.of((W, V), (5 * [1], [1, 0])).map_arrays(lambda a: BallArray.exact(a.tolist()))
    x = BallArray.exact([[1, 1]])
    new = witness(net, x)
    assert bool((new(x) == net(x)).all())
    assert bool(sums_of_costs(new) <= sums_of_costs(net))


def test_costs_of_ones_own():
    W, V = [[1.0], [1.0]], [[1.0, 1.0]]
    net, x = Network.of((W, V)), torch.ones(1, 1, dtype=torch.float64)
    cheap = fewer_units(net, x, torch.tensor([1.0, 3.0], dtype=torch.float64))
    assert cheap.weights[1].tolist() == [[2.0]]


def test_independent_units_stay():
    """N units, each active at one of N points: no fewer of them have these values."""
    eye = torch.eye(4, dtype=torch.float64)
    net = Network.linear((eye, torch.ones(1, 4, dtype=torch.float64)))
    new = fewer_units(net, eye)
    assert new.weights[1].tolist() == net.weights[1].tolist()


def test_what_has_no_units_or_no_data():
    net = Network.of([[[1.0]], [[1.0]]])
    with pytest.raises(ValueError, match="N points for each network"):
        fewer_units(net, torch.ones(1, dtype=torch.float64))
    deep = Network.of([[[1.0]], [[1.0]], [[1.0]]])
    for witness in (fewer_units, fewer_units_in_span):
        with pytest.raises(ValueError, match="network of depth 2"):
            witness(deep, torch.ones(1, 1, dtype=torch.float64))
