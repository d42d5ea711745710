"""Balanced networks of cost L + O(1) whose layers are all of rank two."""

import numpy as np
import pytest
import torch

from rankcheck.theory.witnesses.two_dimensional_layers import (
    points_on_a_line,
    two_dimensional_layers,
)

from ._plain import plain

ONE = torch.ones((), dtype=torch.float64)


def test_the_depth_is_checked():
    with pytest.raises(ValueError, match="received depth 0"):
        two_dimensional_layers(0, ONE)


@pytest.mark.parametrize("slope", [0.0, -0.5])
@pytest.mark.oracle("rankcheck.witnesses.points_on_a_line", "t u + u⊥ in numpy")
@pytest.mark.oracle(
    "rankcheck.witnesses.two_dimensional_layers",
    "u uᵀx + u⊥, hidden values, balance and cost, in numpy",
)
def test_the_network_in_numpy(slope):
    u, across = np.array([1.0, 1.0]) / np.sqrt(2), np.array([1.0, -1.0]) / np.sqrt(2)
    t = np.array([3.0, 4.5, 11.0])
    x = t[:, None] * u + across
    np.testing.assert_allclose(points_on_a_line(torch.tensor(t)).numpy(), x, atol=1e-15)
    for L in (1, 2, 5, 60):
        net = plain(two_dimensional_layers(L, ONE, slope))
        assert net.widths == (2,) * (L + 1)
        values = net.layers(x)
        np.testing.assert_allclose(values[-1], (x @ u)[:, None] * u + across, atol=1e-12)
        sizes = [(L + 1) / ((n + 1) * (L + 1 - n)) for n in range(L + 1)]
        for alpha, size in zip(values[1:], sizes[1:], strict=True):
            np.testing.assert_allclose(alpha @ u, size * t, rtol=1e-12)
            beta = alpha @ across
            assert np.ptp(beta) < 1e-12
            assert 7 / 18 * size**2 - 1e-12 <= beta[0] ** 2 <= 7 * size**2
        incoming = [
            (w**2).sum(-1) + b[0] ** 2
            for w, b in zip(net.weights[:-1], net.biases[:-1], strict=True)
        ]
        outgoing = [(w**2).sum(-2) for w in net.weights[1:]]
        for one, other in zip(incoming, outgoing, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-11)
        assert net.cost <= L + 10
