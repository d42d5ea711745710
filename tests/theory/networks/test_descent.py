"""A step of gradient descent against torch's optimiser."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.networks import Network, sgd_step, squared_error_gradient
from tests.draws import integers, normal, random_network


@pytest.mark.parametrize("widths", [(2, 3), (3, 2, 4, 1)])
@pytest.mark.parametrize("decay", [0, 0.25])
@pytest.mark.oracle("rankcheck.networks.sgd_step", "torch.optim.SGD")
def test_steps_against_torch(widths, decay):
    net, x, y = random_network(widths, -0.5), normal(7, 4, widths[0]), normal(8, 4, widths[-1])
    leaves = [t.clone().requires_grad_() for t in (*net.weights, *net.biases)]
    L, optimiser = net.depth, torch.optim.SGD(leaves, lr=0.125, weight_decay=decay)
    for _ in range(3):
        optimiser.zero_grad()
        errors = Network(leaves[:L], leaves[L:], -0.5)(x) - y
        (errors * errors).sum(-1).mean(-1).backward()
        optimiser.step()
        net = sgd_step(net, squared_error_gradient(net, x, y), 0.125, decay)
    for leaf, found in zip(leaves, (*net.weights, *net.biases), strict=True):
        torch.testing.assert_close(leaf.detach(), found)


def test_rates_are_those_of_each_network_and_exact_on_balls():
    net, x, y = random_network((2, 3, 1), batch=(5,)), normal(7, 5, 4, 2), normal(8, 5, 4, 1)
    rates = torch.arange(5).double() / 8
    steps = sgd_step(net, squared_error_gradient(net, x, y), rates, 1 - rates)
    for i in range(5):
        gradient = squared_error_gradient(net[i], x[i], y[i])
        alone = sgd_step(net[i], gradient, float(rates[i]), float(1 - rates[i]))
        pairs = zip(alone.weights + alone.biases, steps.weights + steps.biases, strict=True)
        for one, many in pairs:
            torch.testing.assert_close(one, many[i])
    W = BallArray.exact(integers(3, 2, 2))
    exact = Network.linear([W])
    step = sgd_step(exact, ([W], [0 * W[0]]), Fraction(1, 3), 1)
    assert ((3 * step.weights[0] - W) == 0).all()


def test_a_gradient_has_the_shapes_of_the_parameters():
    net = random_network((2, 3, 1))
    with pytest.raises(ValueError, match="received a gradient of shapes"):
        sgd_step(net, (net.weights, net.biases[:1]), 1)
