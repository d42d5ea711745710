"""The cross example: formula, network, and two points of the cross with one value."""

import numpy as np
import pytest
import scipy.optimize
import torch

from rankcheck.theory.witnesses.cross_example import (
    cross,
    cross_as_printed,
    cross_network,
    equal_values,
)
from tests.draws import random_network

from ._plain import plain


def grid():
    axis = torch.arange(-8.0, 9, dtype=torch.float64) / 4
    return torch.cartesian_prod(axis, axis)


def by_hand(x, y):
    m = min(abs(x), abs(y))
    return [m if x > 0 else -m, m if y > 0 else -m]


@pytest.mark.oracle("rankcheck.witnesses.cross", "the formula in Python numbers")
def test_formula():
    expected = torch.tensor([by_hand(x, y) for x, y in grid().tolist()], dtype=torch.float64)
    assert torch.equal(cross(grid()), expected)


def functions(batch, seed):
    return random_network((2, 6, 6, 1), batch=batch, seed=seed)


@pytest.mark.oracle(
    "rankcheck.witnesses.cross_as_printed", "the two cases as printed, in Python numbers"
)
def test_the_printed_map_case_by_case():
    def case(x, y):
        first, second = (1 if x >= 0 else -1), (1 if y >= 0 else -1)
        return [x, second * abs(x)] if abs(x) >= abs(y) else [first * abs(y), y]

    expected = [case(x, y) for x, y in grid().tolist()]
    assert cross_as_printed(grid()).tolist() == expected


@pytest.mark.oracle("rankcheck.witnesses.cross_network", "the formula in Python numbers")
def test_the_network_in_numpy():
    net = plain(cross_network())
    assert net.widths == (2, 4, 6, 2)
    assert not net.slope
    x = np.concatenate((grid().numpy(), np.random.default_rng(0).normal(size=(300, 2))))
    np.testing.assert_allclose(net(x), [by_hand(*p) for p in x.tolist()], atol=1e-14)


@pytest.mark.oracle(
    "rankcheck.witnesses.equal_values",
    "scipy.optimize.brentq on the arm, and the closed form for linear g",
)
def test_the_value_is_taken_again_on_another_arm():
    g = functions((40,), 5)
    found = equal_values(g, g.biases[-1][..., 0], steps=12)
    net = plain(g)
    low, high, point = (p.numpy()[:, None] for p in (found.low, found.high, found.point))
    target = net(point)[:, 0, 0]
    assert (np.abs(point) == 1).all()
    for i in range(40):
        arm = np.sign(high[i, 0])
        ends = [low[i, 0] @ arm / 2, high[i, 0] @ arm / 2]
        assert tuple(arm) != tuple(point[i, 0])
        assert np.array_equal(low[i, 0], ends[0] * arm)
        assert ends[1] - ends[0] == 2.0**-12

        def gap(t, i=i, arm=arm):
            return net(np.broadcast_to(t * arm, (40, 1, 2)))[i, 0, 0] - target[i]

        again = scipy.optimize.brentq(gap, *ends)  # raises if the signs at the ends agree
        assert 0 <= again <= 1
    # g = a x + b y rises by ±(a + b) and ±(a − b); the smaller rise lies at |smaller/larger|.
    for a, b in ((1.0, 0.25), (-2.0, 0.5), (0.3, 3.0), (-1.0, -4.0)):
        row = torch.tensor([a, b], dtype=torch.float64)
        found = equal_values(lambda x, row=row: (x @ row).unsqueeze(-1), row[0], steps=30)
        smaller, larger = sorted((abs(a + b), abs(a - b)))
        assert found.low.abs().max() <= smaller / larger <= found.high.abs().max()
