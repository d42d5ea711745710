"""Cheapest networks of constants, and the last bias as a hidden unit."""

from __future__ import annotations

import pytest
import torch

from rankcheck.networks import Network
from rankcheck.witnesses.constants import constant_network, last_bias_as_unit, least_constant_cost

GRID = torch.linspace(-4, 4, 33, dtype=torch.float64)


@pytest.mark.parametrize("depth", [2, 3, 9])
def test_the_network_is_the_constant_at_the_least_cost(depth):
    net = constant_network(GRID, depth)
    assert net.depth == depth
    for x in (0.0, -3.0):
        assert torch.allclose(net(torch.full((33, 1), x, dtype=torch.float64))[:, 0], GRID)
    assert torch.allclose(net.cost(), least_constant_cost(GRID))


def test_no_split_between_two_layers_is_cheaper():
    """The least c_1 + c_2 with c_2 (1 + c_1) = v², by a search over c_1."""
    first = torch.linspace(0, 6, 6001, dtype=torch.float64)
    least = (first + GRID.unsqueeze(-1) ** 2 / (1 + first)).amin(-1)
    assert torch.allclose(least, least_constant_cost(GRID), atol=1e-6)


def test_a_constant_has_a_hidden_layer():
    with pytest.raises(ValueError, match="received depth 1"):
        constant_network(GRID, 1)


def test_the_last_bias_as_a_unit():
    g = torch.Generator().manual_seed(0)
    shapes = ((4, 2), (3, 4), (2, 3))
    weights = tuple(torch.randn(7, m, n, dtype=torch.float64, generator=g) for m, n in shapes)
    biases = tuple(torch.randn(7, m, dtype=torch.float64, generator=g) for m, _ in shapes)
    net = Network(weights, biases, -0.5)
    moved = last_bias_as_unit(net)
    x = torch.randn(7, 2, dtype=torch.float64, generator=g)
    assert torch.allclose(moved(x), net(x))
    assert torch.allclose(moved.cost(), net.cost() + 1)
    assert moved.widths == (2, 4, 4, 2)
    assert not moved.biases[-1].any()
    with pytest.raises(ValueError, match="depth 1"):
        last_bias_as_unit(Network(weights[:1], biases[:1]))
