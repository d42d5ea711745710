"""The bound on the rounding of Jacobians, against exact rationals."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.linalg import operator_norm
from rankcheck.networks import Network
from rankcheck.theory.networks.rounding import product_noise

from .test_network import WIDTHS, exactly, network, normal


@pytest.mark.parametrize("slope", [0, "array"])
@pytest.mark.parametrize("widths", [*WIDTHS, (6, 9, 9, 9, 9, 9, 2)])
@pytest.mark.parametrize("points", [(), (3,)])
def test_it_bounds_the_rounding_error(widths, slope, points):
    net = network(widths, (2,), slope)
    x = normal(2, *points, widths[0], seed=3)
    at = net.at(x)
    W = net.weights[0] if not points else net.weights[0].unsqueeze(1)
    J = at.outer_jacobians[0] @ W
    exact = exactly(net).jacobian(BallArray.exact(x))
    error = (BallArray.exact(J) - exact).midpoints()
    noise = product_noise(at, [operator_norm(w) for w in net.weights])
    assert noise.shape == (2, *points)
    assert (torch.linalg.matrix_norm(error, 2) <= noise).all()
    proved = product_noise(at, [operator_norm(w) for w in net.weights], probes=0)
    assert proved.shape == noise.shape
    assert (noise <= proved).all()
    size = torch.stack([operator_norm(w) for w in net.weights]).prod(0)
    scale = size if not points else size.unsqueeze(-1)
    assert (proved <= 1e-11 * scale).all()


@pytest.mark.parametrize("widths", [[64] * 30 + [4], [40] * 60 + [4]])
def test_dense_networks_have_jacobians_far_above_the_bound(widths):
    """Absolute values multiply to more than the Jacobian itself, and norms do at depth 60."""
    shapes = enumerate(pairwise(widths))
    net = Network.linear([normal(n, m, seed=i) * (2 / m) ** 0.5 for i, (m, n) in shapes])
    x = normal(2, widths[0], seed=9)
    at = net.at(x)
    J = at.outer_jacobians[0] @ net.weights[0]
    assert (at.jacobian_noise > operator_norm(J)).all()
    noise = product_noise(at, [operator_norm(w) for w in net.weights])
    assert (noise < 1e-7 * operator_norm(J)).all()
    for index in range(2):  # in longer floats, with the same masks
        product = net.weights[0].numpy().astype(np.longdouble)
        for w, d in zip(net.weights[1:], at.masks, strict=True):
            product = w.numpy().astype(np.longdouble) @ (d[index].numpy()[:, None] * product)
        error = np.linalg.norm((product - J[index].numpy()).astype(float), 2)
        assert 0 < error <= noise[index]


def test_an_error_of_a_late_layer_grows_in_the_first_ones():
    """G_2 = 0.1 + 0.2 − 0.3 should be 0, and is 5.6e-17; the first layer multiplies it by 10^8."""
    layers = [[[1e8]], [[0.1], [0.2], [0.3]], [[1.0, 1.0, -1.0]]]
    net = Network.linear([torch.tensor(w, dtype=torch.float64) for w in layers])
    at = net.at(torch.ones(1, dtype=torch.float64))
    error = float(at.outer_jacobians[0] @ net.weights[0])
    assert error > 5e-9
    noise = float(product_noise(at, [operator_norm(w) for w in net.weights]))
    assert error <= noise < 1e-6
