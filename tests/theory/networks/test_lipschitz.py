"""Lipschitz constants of hidden maps, against autograd and against difference quotients."""

import math

import numpy as np
import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.networks import Network
from rankcheck.theory.networks.lipschitz import lipschitz_square_above, lipschitz_square_at

GENERATOR = torch.Generator().manual_seed(3)
SHAPES = [(4, 2), (3, 4), (2, 3)]
WEIGHTS = [torch.randn(*s, generator=GENERATOR, dtype=torch.float64) for s in SHAPES]
BIASES = [torch.randn(s[0], generator=GENERATOR, dtype=torch.float64) for s in SHAPES]
POINTS = torch.randn(5, 2, generator=GENERATOR, dtype=torch.float64)


def hidden_maps(net: Network):
    """(the map, what it is applied to at a point) for every α̃_ℓ and every α_ℓ → f."""
    for depth in range(1, net.depth + 1):
        yield Network(net.weights[:depth], net.biases[:depth], net.slope), lambda x: x
    for start in range(net.depth):
        upper = Network(net.weights[start:], net.biases[start:], net.slope)
        yield upper, lambda x, start=start: net.activations(x)[start]


@pytest.mark.parametrize("slope", [0.0, 0.5, -0.5])
@pytest.mark.oracle("rankcheck.networks.lipschitz_square_at", "torch.autograd")
def test_at_points_against_autograd(slope):
    net = Network(WEIGHTS, BIASES, slope)
    largest = max(
        torch.linalg.matrix_norm(torch.autograd.functional.jacobian(f, at(x)), 2).item()
        for f, at in hidden_maps(net)
        for x in POINTS
    )
    assert lipschitz_square_at(net, POINTS).item() == pytest.approx(largest**2)


@pytest.mark.parametrize("slope", [0.0, 0.5, -0.9])
def test_above_bounds_every_quotient(slope):
    net = Network(WEIGHTS, BIASES, slope)
    bound = lipschitz_square_above(net)
    assert lipschitz_square_at(net, POINTS) <= bound
    for f, _ in hidden_maps(net):
        z = 3 * torch.randn(200, 2, f.widths[0], generator=GENERATOR, dtype=torch.float64)
        rise = (f(z[:, 0]) - f(z[:, 1])).norm(dim=-1)
        assert ((rise / (z[:, 0] - z[:, 1]).norm(dim=-1)) ** 2).max() <= bound


def test_above_is_exact_on_balls():
    net = Network.of([[[0.5]], [[3.0]], [[0.25]]]).map_arrays(BallArray.exact)
    assert bool(lipschitz_square_above(net) == (0.5 * 3) ** 2)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.oracle("rankcheck.networks.lipschitz_square_above", "numpy.linalg.norm")
def test_above_against_products_of_norms_by_numpy(seed):
    """Norms around 1, so that now a product of few layers is the largest and now one of many."""
    g = np.random.default_rng(seed)
    shapes = [(4, 2), (3, 4), (3, 3), (2, 3)]
    weights = [g.standard_normal((2, *s)) * g.choice([0.2, 0.7]) for s in shapes]
    net = Network(
        [torch.from_numpy(W) for W in weights], [torch.zeros(2, s[0]).double() for s in shapes]
    )
    for i, bound in enumerate(lipschitz_square_above(net).tolist()):
        norms = [np.linalg.norm(W[i]) for W in weights]
        runs = [norms[:k] for k in range(1, 5)] + [norms[k:] for k in range(4)]
        assert bound == pytest.approx(max(map(math.prod, runs)) ** 2, rel=1e-12)
