"""Networks side by side against networks of torch, one at a time."""

import itertools

import pytest
import torch
from torch import nn

from rankcheck.experiments.stack import Stack, generators

WIDTHS = (3, 5, 4, 6, 2)


def stack(linear=0, biases=(True,) * 4, seeds=(0, 1, 2)):
    """Networks with biases that are not zero, where there are any."""
    made = Stack.random(WIDTHS, generators(seeds), dtype=torch.float64)
    draw = torch.Generator().manual_seed(9)
    found = [
        torch.randn(b.shape, generator=draw, dtype=b.dtype) if has else None
        for b, has in zip(made.biases, biases, strict=True)
    ]
    return Stack(made.weights, found, linear=linear)


def sequential(stack, run):
    """One of the networks, made of layers of torch."""
    layers = []
    for number, (W, b) in enumerate(zip(stack.weights, stack.biases, strict=True), 1):
        layer = nn.Linear(*W.shape[:0:-1], bias=b is not None, dtype=torch.float64)
        with torch.no_grad():
            layer.weight.copy_(W[run])
            if b is not None:
                layer.bias.copy_(b[run])
        layers.append(layer)
        if number > stack.linear and number < stack.depth:
            layers.append(nn.ReLU())
    return nn.Sequential(*layers)


@pytest.mark.parametrize("linear", [0, 1, 3])
@pytest.mark.parametrize(
    "biases", [(True,) * 4, (False,) * 4, (False, True, False, True), (True, False, True, False)]
)
def test_each_run_is_a_network_of_torch(linear, biases):
    many = stack(linear, biases)
    x = torch.randn(3, 6, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    for run in range(3):
        net = sequential(many, run)
        assert torch.allclose(many(x)[run], net(x[run]), rtol=1e-12, atol=1e-12)
        # One set of points for all runs.
        assert torch.allclose(many(x[0])[run], net(x[0]), rtol=1e-12, atol=1e-12)
        assert float(many.costs()[run]) == pytest.approx(
            sum(float((p.detach() ** 2).sum()) for p in net.parameters())
        )
        plain = many.network(run)
        assert plain.depth == many.depth - linear
        assert torch.allclose(plain(x[run]), net(x[run]), rtol=1e-11, atol=1e-11)


def test_what_a_run_draws_does_not_depend_on_the_others():
    both = Stack.random(WIDTHS, generators((7, 8)))
    alone = Stack.random(WIDTHS, generators((8,)))
    for p, q in zip(both.parameters, alone.parameters, strict=True):
        assert torch.equal(p[1], q[0])
    first, second = generators((7, 8))
    assert not torch.equal(torch.randn(4, generator=first), torch.randn(4, generator=second))


def test_the_first_weights_have_the_variance_of_their_fan_in():
    wide = Stack.random((300, 200, 100), generators((0,)))
    for W, columns in zip(wide.weights, (300, 200), strict=True):
        assert float(W.var()) * columns == pytest.approx(2, rel=0.05)  # the usual gain is √2
        assert abs(float(W.mean())) < 0.01
    assert all(bool((b == 0).all()) for b in wide.biases)


def test_the_parameters_of_the_runs_are_apart():
    many = stack()
    x = torch.ones(4, 3, dtype=torch.float64)
    for p, run in itertools.product(many.parameters, range(3)):
        p.requires_grad_()
        p.grad = None
        many(x)[run].sum().backward()
        others = [number for number in range(3) if number != run]
        assert bool((p.grad[others] == 0).all())
