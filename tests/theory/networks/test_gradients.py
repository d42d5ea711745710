"""Gradients in the parameters against automatic differentiation, and a trained minimum."""

from __future__ import annotations

import pytest
import torch

from rankcheck.networks import Network
from rankcheck.theory.networks.gradients import (
    backpropagated_errors,
    squared_error_gradient,
    value_gradient,
)
from tests.draws import normal, random_network


def drawn(widths, batch=(), slope=0.0):
    x, y = (normal(7 + n, *batch, 4, n) for n in (widths[0], widths[-1]))
    return random_network(widths, slope, batch), x, y


@pytest.mark.parametrize("widths", [(2, 3), (2, 4, 1), (3, 2, 5, 2)])
@pytest.mark.parametrize("slope", [0.0, -0.5])
@pytest.mark.oracle("rankcheck.networks.squared_error_gradient", "torch.autograd")
def test_against_autograd(widths, slope):
    net, x, y = drawn(widths, batch=(5,), slope=slope)
    leaves = [t.clone().requires_grad_() for t in (*net.weights, *net.biases)]
    L = net.depth
    errors = Network(leaves[:L], leaves[L:], slope)(x) - y
    (errors * errors).sum(-1).mean(-1).sum().backward()
    weights, biases = squared_error_gradient(net, x, y)
    for leaf, found in zip(leaves, (*weights, *biases), strict=True):
        assert torch.allclose(leaf.grad, found)


@pytest.mark.parametrize("widths", [(2, 3), (2, 4, 1), (3, 2, 5, 2)])
@pytest.mark.parametrize("slope", [0.0, -0.5])
@pytest.mark.oracle("rankcheck.networks.value_gradient", "torch.autograd")
def test_the_gradient_of_values_against_autograd(widths, slope):
    net, x, u = drawn(widths, batch=(5,), slope=slope)
    leaves = [t.clone().requires_grad_() for t in (*net.weights, *net.biases)]
    L = net.depth
    (u * Network(leaves[:L], leaves[L:], slope)(x)).sum().backward()
    weights, biases = value_gradient(net, x, u)
    for leaf, found in zip(leaves, (*weights, *biases), strict=True):
        assert torch.allclose(leaf.grad, found)


@pytest.mark.parametrize("widths", [(2, 3), (2, 4, 1), (3, 2, 5, 2)])
@pytest.mark.oracle("rankcheck.networks.backpropagated_errors", "torch.autograd")
def test_backpropagated_errors_are_derivatives_in_the_biases_of_a_copy_a_point(widths):
    net, x, u = drawn(widths, slope=-0.5)
    copies = [w.expand(4, *w.shape) for w in net.weights]
    leaves = [b.repeat(4, 1).requires_grad_() for b in net.biases]
    (u * Network(copies, leaves, -0.5)(x)).sum().backward()
    for leaf, found in zip(leaves, backpropagated_errors(net, x, u), strict=True):
        torch.testing.assert_close(leaf.grad, found)


@pytest.mark.parametrize("function", [value_gradient, backpropagated_errors])
def test_directions_have_the_shape_of_the_values(function):
    net, x, u = drawn((2, 3, 1))
    with pytest.raises(ValueError, match="received directions of shape"):
        function(net, x, u[..., :0])


def test_targets_have_the_shape_of_the_values():
    net, x, y = drawn((2, 3, 1))
    with pytest.raises(ValueError, match="received targets of shape"):
        squared_error_gradient(net, x, y[..., :0])
