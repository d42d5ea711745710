"""Distances from the image of the Jacobian against least squares; the cost of a chain."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from rankcheck.networks import Network
from rankcheck.theory.costs.offsets import offset_cost, offset_growth, offset_price, offset_squares
from tests.draws import random_network


@pytest.mark.parametrize("slope", [0.0, 0.5, -0.5])
@pytest.mark.oracle("rankcheck.costs.offset_squares", "torch.autograd and least squares")
def test_squares_against_least_squares(slope):
    net = random_network((2, 4, 3, 4), slope, seed=1)
    x = torch.tensor([0.5, -1.0], dtype=torch.float64)
    tangent = torch.tensor([[0.6], [0.8]], dtype=torch.float64)
    squares = offset_squares(net, x, tangent)
    layers = [lambda z: z]
    for depth in range(1, 4):
        part = Network(net.weights[:depth], net.biases[:depth], slope)
        active = (lambda z: torch.where(z >= 0, z, slope * z)) if depth < 3 else (lambda z: z)
        layers.append(lambda z, part=part, active=active: active(part(z)))
    assert len(squares) == 4
    for square, layer in zip(squares, layers, strict=True):
        J = torch.autograd.functional.jacobian(layer, x) @ tangent
        value = layer(x).unsqueeze(-1)
        coefficients = (J.mT @ value) / (J.mT @ J).clamp(min=1e-30)
        rest = value - J @ coefficients
        assert square.item() == pytest.approx((rest * rest).sum().item(), abs=1e-12)


@pytest.mark.oracle("rankcheck.costs.offset_cost", "numpy.linalg.lstsq, step by step")
def test_the_cost_of_a_chain_against_least_squares():
    """A step from c to d costs the least w² + b² with wc + b = d."""
    squares = np.random.default_rng(0).uniform(0, 9, (5, 4))
    steps = [
        sum(
            (np.linalg.lstsq(np.array([[c, 1.0]]), np.array([d]), rcond=None)[0] ** 2).sum()
            for c, d in pairwise(np.sqrt(squares[:, i]))
        )
        for i in range(4)
    ]
    found = offset_cost([torch.from_numpy(u) for u in squares])
    np.testing.assert_allclose(found.numpy(), steps, rtol=1e-12)


def test_a_chain_has_two_ends():
    with pytest.raises(ValueError, match="received 1 numbers"):
        offset_cost([torch.ones(1)])


@pytest.mark.oracle("rankcheck.costs.offset_price", "a grid of chains, in numpy")
def test_the_price_of_a_step_against_a_grid_of_chains():
    """The least cost of the way from 0 to t over one stop, and what a longer way costs."""
    for t in (0.0, 0.25, 1.0, 2.25, 4.0):
        stops = np.linspace(0, 4, 4001)
        ways = stops + t / (1 + stops)
        price = offset_price(torch.tensor(t, dtype=torch.float64)).item()
        assert ways.min() == pytest.approx(price, abs=1e-6)
    assert offset_price(torch.tensor([5.0, 64.0])).tolist() == [3.0, 3.0]
    assert offset_price(torch.tensor(16.0), 64).item() == 7


@pytest.mark.parametrize("layers", [1, 2, 4])
@pytest.mark.parametrize("total", [0.5, 1.0, 3.0, 18.0])
@pytest.mark.oracle("rankcheck.costs.offset_growth", "its maximisers, and random steps")
def test_how_far_an_offset_gets(layers, total):
    """u_ℓ = e_ℓ (1 + u_{ℓ−1}) gets as far by one step if e <= 1, and by two if L = 2."""

    def end(steps):
        u = 0.0
        for e in steps:
            u = e * (1 + u)
        return u

    most = offset_growth(torch.tensor(total, dtype=torch.float64), layers).item()
    if total <= 1 or layers <= 2:
        last = min(total, (layers - 1 + total) / layers)
        assert end([*[0.0] * layers, total - last, last]) == pytest.approx(most, rel=1e-12)
    drawn = np.random.default_rng(0).dirichlet(np.ones(layers), 200) * total
    assert max(end(steps) for steps in drawn) <= most * (1 + 1e-12)
