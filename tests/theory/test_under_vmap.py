"""What looks at values gets the whole batch under `torch.func.vmap`, and gives the same numbers."""

from itertools import pairwise

import pytest
import torch
from torch.func import grad, vmap

from rankcheck.balls import mapping
from rankcheck.costs import egop_gaussian, phi
from rankcheck.networks import Network, balance_layers, balance_neurons
from rankcheck.regions import linear_pieces, region_arrays
from tests.draws import normal


def parameters(widths, count=6, seed=0):
    """Weights and biases of networks, one of which has a dead unit."""
    W = [normal(seed + n, count, n, m) for m, n in pairwise(widths)]
    b = [normal(seed - n, count, n) for n in widths[1:]]
    if len(W) > 1:
        W[0][1, 0], b[0][1, 0] = 0, 0
    return *W, *b


def of(arrays, slope=0.0):
    return Network(arrays[: len(arrays) // 2], arrays[len(arrays) // 2 :], slope)


def mapped(function, *arrays):
    """The function of each instance, as a claim is mapped over them."""

    def of_one(*instance):
        with mapping("claim.py"):
            return function(*instance)

    return vmap(of_one)(*arrays)


@pytest.mark.parametrize("widths", [(3, 2), (3, 4, 2), (2, 3, 3, 1)])
@pytest.mark.parametrize("balance", [balance_layers, balance_neurons])
def test_balancing(balance, widths):
    def balanced(*arrays):
        net = balance(of(arrays))
        return *net.weights, *net.biases

    arrays = parameters(widths)
    assert all(map(torch.equal, mapped(balanced, *arrays), balanced(*arrays)))

    def cubes(*arrays):
        return sum((x**3).sum() for x in balanced(*arrays))

    places = tuple(range(len(arrays)))
    found = mapped(grad(cubes, argnums=places), *arrays)
    leaves = [x.clone().requires_grad_() for x in arrays]
    expected = torch.autograd.grad(cubes(*leaves), leaves)
    for ours, theirs in zip(found, expected, strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-11, atol=1e-11)


def test_phi():
    W, a = normal(1, 5, 4, 3), normal(2, 5, 4)
    W[2] = 0

    def fields(W, a):
        bracket = phi(W, a, 5)
        return bracket.lower, bracket.upper, bracket.lam, bracket.iterations, bracket.converged

    assert all(map(torch.equal, mapped(fields, W, a), fields(W, a)))


def test_gradient_products_under_a_gaussian():
    units = normal(3, 5, 4, 3), normal(4, 5, 4), normal(5, 5, 4)
    assert torch.equal(mapped(egop_gaussian, *units), egop_gaussian(*units))


@pytest.mark.parametrize("inputs", [1, 2])
def test_regions(inputs):
    """All attributes, for boxes of their own and for slopes; R is that of the whole batch."""
    arrays = parameters((inputs, 3, 2, 2))
    low, slope = -1 - normal(6, 6, inputs) ** 2, normal(7, 6).tanh()
    names = ["count", "present", "patterns", "vertices", "interior", "volumes", "neighbours"]
    names += ["jacobians", "jacobian_noise", "ranks"]

    def parts(slope, low, *arrays):
        cells = region_arrays(of(arrays, slope), low, 2.0)
        pieces = (linear_pieces(cells),) if inputs == 1 else ()
        return *(getattr(cells, name) for name in names), *cells.across(cells.volumes), *pieces

    expected = parts(slope, low, *arrays)
    assert all(map(torch.equal, mapped(parts, slope, low, *arrays), expected))


def test_gradients_of_regions():
    arrays = parameters((2, 3, 2))

    def size(*arrays):
        cells = region_arrays(of(arrays), -1, 1)
        return (cells.volumes * (cells.jacobians**2).sum((-2, -1))).sum(-1)

    places = tuple(range(len(arrays)))
    found = mapped(grad(size, argnums=places), *arrays)
    leaves = [x.clone().requires_grad_() for x in arrays]
    expected = torch.autograd.grad(size(*leaves).sum(), leaves, materialize_grads=True)
    for ours, theirs in zip(found, expected, strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-11, atol=1e-11)
