"""Balancing keeps the function, lowers the cost, and reaches the minimum."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from rankcheck.balls import BallArray, Undecided
from rankcheck.networks import Network
from rankcheck.theory.networks.balancing import (
    balance_layers,
    balance_neurons,
    layer_imbalances,
    layer_rescaling,
    neuron_imbalances,
)

WIDTHS = [(3, 2), (1, 1, 1), (2, 4, 4, 3), (1,) * 13, (4, 4, 4, 4, 4)]


def network(widths, batch=(20,), slope=0.25, spread=0, biases=True, seed=0):
    g = torch.Generator().manual_seed(seed)

    def draw(*shape):
        x = torch.randn(*batch, *shape, dtype=torch.float64, generator=g)
        return x * torch.exp2(torch.randint(-spread, spread + 1, x.shape, generator=g).double())

    W = [draw(n, m) for m, n in pairwise(widths)]
    return Network(W, [draw(n) * biases for n in widths[1:]], slope)


@pytest.mark.parametrize(("spread", "biases"), [(0, True), (10, False)])
@pytest.mark.parametrize("widths", WIDTHS)
@pytest.mark.parametrize("balance", [balance_layers, balance_neurons])
def test_balancing(balance, widths, spread, biases):
    net = network(widths, spread=spread, biases=biases)
    balanced = balance(net)
    X = torch.randn(
        20, 6, widths[0], dtype=torch.float64, generator=torch.Generator().manual_seed(1)
    )
    torch.testing.assert_close(
        balanced(X), net(X), rtol=1e-9, atol=1e-9 * float(net(X).abs().max())
    )
    assert (balanced.cost() <= net.cost() * (1 + 1e-12)).all()
    scale = balanced.cost().unsqueeze(-1)
    assert (layer_imbalances(balanced).abs() <= 1e-12 * scale).all()
    if balance is balance_neurons:
        assert (balanced.cost() <= balance_layers(net).cost() * (1 + 1e-12)).all()
        for imbalance in neuron_imbalances(balanced):
            assert (imbalance.abs() <= 1e-12 * scale).all()


def on_balls(net):
    return net.map_arrays(BallArray.exact)


def in_numpy(net):
    """Weights and biases of a single network."""
    return [w.numpy() for w in net.weights], [b.numpy() for b in net.biases]


def rescaled(weights, biases, scales):
    """Row i of hidden layer ℓ times scales[ℓ][i], and column i of the next layer over it."""
    ones = [np.ones(len(b)) for b in biases]
    after = [s * one for s, one in zip((*scales, 1.0), ones, strict=True)]
    before = [np.ones(weights[0].shape[1]), *after[:-1]]
    W = [s[:, None] * w / t for w, s, t in zip(weights, after, before, strict=True)]
    return W, [s * b for b, s in zip(biases, after, strict=True)]


@pytest.mark.parametrize("widths", [(3, 2), (2, 1, 1), (2, 3, 2), (2, 3, 2, 1, 2)])
@pytest.mark.parametrize("single", [True, False])
@pytest.mark.oracle("rankcheck.networks.balance_neurons", "scipy.optimize.minimize")
@pytest.mark.oracle("rankcheck.networks.balance_layers", "scipy.optimize.minimize")
def test_balancing_against_a_general_minimiser(widths, single):
    net = network(widths, batch=(), spread=1)
    weights, biases = in_numpy(net)
    sizes = list(widths[1:-1]) if single else [1] * (len(widths) - 2)

    def scales(u):
        return np.split(np.exp(u), np.cumsum(sizes)[:-1]) if sizes else []

    def cost(u):
        return sum((x * x).sum() for arrays in rescaled(weights, biases, scales(u)) for x in arrays)

    u = np.zeros(sum(sizes))
    if sizes:
        u = minimize(cost, u, method="BFGS", options={"gtol": 1e-9}).x
    balanced = balance_neurons(net) if single else balance_layers(net)
    assert balanced.cost().item() == pytest.approx(cost(u), rel=1e-11)
    W, b = rescaled(weights, biases, scales(u))
    for mine, theirs in zip((*balanced.weights, *balanced.biases), (*W, *b), strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("widths", WIDTHS[:3])
@pytest.mark.oracle("rankcheck.networks.layer_imbalances", "loops over layers and neurons in numpy")
@pytest.mark.oracle(
    "rankcheck.networks.neuron_imbalances", "loops over layers and neurons in numpy"
)
def test_imbalances_written_out(widths):
    net = network(widths, batch=(3,))
    layers, neurons = layer_imbalances(net), neuron_imbalances(net)
    assert layers.shape == (3, len(widths) - 2)
    assert len(neurons) == len(widths) - 2
    for k in range(3):
        weights, biases = in_numpy(net[k])
        for i, size in enumerate(widths[1:-1]):
            single = [
                np.linalg.norm([*weights[i][j], biases[i][j]]) ** 2
                - np.linalg.norm(weights[i + 1][:, j]) ** 2
                for j in range(size)
            ]
            np.testing.assert_allclose(neurons[i][k].numpy(), single, rtol=1e-10, atol=1e-13)
            assert layers[k, i].item() == pytest.approx(sum(single), rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("widths", WIDTHS[:3])
@pytest.mark.oracle("rankcheck.networks.layer_rescaling", "the values of f, in numpy")
def test_rescaling_layers_multiplies_the_function(widths):
    """For every α: weights that are α_ℓ W_ℓ, and values Πα·f, which determine the biases."""
    net = network(widths, batch=())
    g = np.random.default_rng(0)
    alphas = g.uniform(0.2, 3, len(widths) - 1)

    def values(weights, biases, x):
        for i, (w, b) in enumerate(zip(weights, biases, strict=True)):
            x = w @ (x if i == 0 else np.where(x > 0, x, 0.25 * x)) + b
        return x

    tensors = [torch.tensor(alpha, dtype=torch.float64) for alpha in alphas]
    for given in (alphas.tolist(), tensors):
        W, b = in_numpy(layer_rescaling(net, given))
        for scaled, weights, alpha in zip(W, net.weights, alphas, strict=True):
            np.testing.assert_allclose(scaled, alpha * weights.numpy(), rtol=1e-14)
        for x in g.standard_normal((5, widths[0])):
            expected = alphas.prod() * values(*in_numpy(net), x)
            np.testing.assert_allclose(values(W, b, x), expected, rtol=1e-10, atol=1e-12)


def test_dead_neurons_vanish():
    W = [
        [[1, 0], [0, 0], [3, 1]],  # neuron 2 has no input
        [[1, 5, 0], [2, 5, 0]],  # neuron 3 has no output
        [[0, 1]],  # neuron (2, 1) has no output
    ]
    net = Network.of(W, [[1, 0, 0], [0, 1], [4]])
    balanced = balance_neurons(net)
    w_1, w_2, w_3 = balanced.weights
    assert not w_1[1:].any()
    assert not w_2[:, 1:].any()
    assert not w_2[0].any()
    assert w_3[0, 0] == 0
    assert balanced.biases[0][1:].tolist() == [0, 0]
    x = torch.tensor([[1.0, 2], [-3, 0.5], [-0.5, 0]]).double()
    torch.testing.assert_close(balanced(x), net(x))
    assert balanced.cost() < net.cost()
    dead_layer = Network.of([[[1.0]], [[0.0]], [[2.0]]], [[1], [0], [3]])
    for balance in (balance_layers, balance_neurons):
        zero = balance(dead_layer)
        assert [w.item() for w in zero.weights] == [0, 0, 0]
        assert [b.item() for b in zero.biases] == [0, 0, 3]


@pytest.mark.parametrize("batch", [(), (2,)])
@pytest.mark.parametrize("balance", [balance_layers, balance_neurons])
def test_gradients_are_those_of_the_minimiser(balance, batch):
    net = network((2, 2, 1, 1), batch=batch)

    def arrays(*p):
        balanced = balance(Network(p[:3], p[3:]))
        return balanced.weights + balanced.biases

    leaves = [p.requires_grad_() for p in net.weights + net.biases]
    assert torch.autograd.gradcheck(arrays, leaves, eps=1e-5, atol=1e-6)


def test_layer_rescaling_is_exact_on_balls():
    net = network((2, 3, 2), batch=(2,), biases=True)
    exact = on_balls(net)
    alpha = BallArray.exact([Fraction(1, 3), Fraction(5, 7)])
    x = BallArray.exact(torch.ones(2, 2).double())
    scaled = layer_rescaling(exact, [alpha, 1 / alpha])
    assert bool((scaled(x) == exact(x)).all())
    tripled = layer_rescaling(exact, [Fraction(1, 3), 9])
    assert bool((tripled(x) == 3 * exact(x)).all())
    imbalance = layer_imbalances(exact)
    assert imbalance.is_exact()
    torch.testing.assert_close(imbalance.midpoints(), layer_imbalances(net))


def test_errors():
    net = network((2, 3, 2), batch=())
    with pytest.raises(ValueError, match="received 3 factors for 2 layers"):
        layer_rescaling(net, [1, 1, 1])


@pytest.mark.parametrize("widths", [(2, 3), (1, 1, 1), (3, 4, 4, 2)])
@pytest.mark.parametrize("balance", [balance_layers, balance_neurons])
def test_the_balanced_network_on_balls(widths, balance):
    net = network(widths, batch=(4,), biases=True)
    for w in net.weights[:1]:
        w[1, 0] = 0
        w[2] = 0
    net.biases[0][1, 0] = 0  # a dead neuron
    net.biases[0][2] = 0  # a dead layer
    before = on_balls(net)
    exact, floats = balance(before), balance(net)
    for x, y in zip(exact.weights + exact.biases, floats.weights + floats.biases, strict=True):
        torch.testing.assert_close(x.midpoints(), y, rtol=1e-9, atol=1e-9)
        assert (x.radii() < 1e-10).all()
    # In balance, to 30 digits, and of the same function: the same masks have the same Jacobian.
    imbalances = neuron_imbalances(exact) if balance is balance_neurons else [
        layer_imbalances(exact)
    ]  # fmt: skip
    for imbalance in imbalances:
        assert (imbalance.abs() < 1e-30).all()
    x = BallArray.exact(torch.ones(4, widths[0]).double() / 2)
    assert ((exact(x) - before(x)).abs() < 1e-28).all()
    assert (exact.cost() <= before.cost() + 1e-28).all()


@pytest.mark.oracle("rankcheck.networks.balance_neurons", "a closed form, on balls")
def test_the_scales_on_balls_against_a_closed_form():
    """For x ↦ v·relu(w x) the scale is (v/w)^½, so both weights become (vw)^½."""
    net = Network([BallArray.exact([[2]]), BallArray.exact([[3]])],
                  [BallArray.exact([0]), BallArray.exact([7])])  # fmt: skip
    balanced = balance_neurons(net)
    for weight in balanced.weights:
        assert ((weight**2 - 6).abs() < 1e-35).all()
        assert (weight.radii() < 1e-15).all()
    assert (balanced.biases[1] == 7).all()
    wide = Network([BallArray.exact([[2]]).sqrt(), BallArray.exact([[3]]).sqrt()], net.biases)
    assert ((balance_neurons(wide).weights[0] ** 4 - 6).abs() < 1e-34).all()
    vanishing = wide.weights[0] - wide.weights[0]
    with pytest.raises(Undecided):
        balance_neurons(Network([vanishing, wide.weights[1]], net.biases))
