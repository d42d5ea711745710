"""Du, Hu, Lee: gradient flow conserves the balance of each hidden unit, and of the layers of a
linear network."""

from fractions import Fraction
from itertools import pairwise

import torch

from rankcheck import Network, eq, identity, linalg, networks, paper
from rankcheck.instances import Source, instances, networks_with_inputs, positive


@instances
def networks_and_losses(source: Source, *, biases=True):
    """A network of depth two or more, points, the derivatives of a loss in the values at them, and
    a rate of descent. Units may be at their kinks."""
    net, x = networks_with_inputs(
        depth=(2, 4), width=(1, 3), points=(1, 3), biases=biases, differentiable=False
    )(source)
    return net, x, source.tensor(x.shape[-2], net.widths[-1]), positive(source, high=1.0)


@instances
def linear_networks_and_losses(source: Source, *, biases=False):
    """The same with the identity for the activation."""
    net, *rest = networks_and_losses(biases=biases)(source)
    return Network.unchecked_slope(net.weights, net.biases, 1.0), *rest


def with_biases(net, gradient):
    """⟨w_in, ∂w_in⟩ + b ∂b of each hidden unit, by layers."""
    parts = zip(net.weights, net.biases, *gradient, strict=True)
    return [(w * dw).sum(-1) + b * db for w, b, dw, db in parts][:-1]


def without_biases(net, gradient):
    """⟨w_in, ∂w_in⟩ of each hidden unit, by layers."""
    return [(w * dw).sum(-1) for w, dw in zip(net.weights, gradient[0], strict=True)][:-1]


def sizes(net, x, u, gradient, rate):
    """What is summed in ⟨w, ∂w⟩, as a product of norms; and in the squares after a step."""
    square = linalg.frobenius_squared(u) * (linalg.frobenius_squared(x) + x.shape[-2])
    for cost in net.layer_costs():
        square = square * (cost + 1)
    moved = net.cost() + rate * rate * net.with_parameters(*gradient).cost()
    return linalg.power(square, Fraction(1, 2)).unsqueeze(-1), moved.unsqueeze(-1)


@identity(
    "field.balance-under-gradient-flow",
    paper("du2018", "on the weights of each neuron, as recalled"),
    instances=networks_and_losses(),
    mutants={
        "the biases forgotten": {"incoming": without_biases},
        "conserved by steps of descent": {"order": 3},
    },
    audit="left out: an identity of the formulas: both sides are the same for every network",
)
def test_balance_under_gradient_flow(net, x, u, rate, *, incoming=with_biases, order=2):
    r"""Gradient flow conserves how far each hidden unit is from balance.

    For each hidden unit of a leaky ReLU network let $D = \|w_{in}\|^2 + b^2 - \|w_{out}\|^2$, with
    its incoming and outgoing weights and its bias (none, in print). Under $\dot\theta = -\nabla F$
    $$\frac{d}{dt} D = -2 \bigl( \langle w_{in}, \partial_{w_{in}} F \rangle + b\, \partial_b F
    - \langle w_{out}, \partial_{w_{out}} F \rangle \bigr) = 0 ,$$
    because the activation $\sigma$ is homogeneous: $\sigma'(z) z = \sigma(z)$. So a step of gradient
    descent changes $D$ to the second order in its rate only: $D(\theta - \eta \nabla F) =
    D(\theta) + \eta^2 D(\nabla F)$.

    Checked at one instant, for every loss: it enters by its derivatives $u_i$ in the values
    $f(x_i)$, which are drawn. Where a unit is at its kink, its derivative is taken as 1. That the
    flow has a solution is not checked.
    """
    gradient = networks.value_gradient(net, x, u)
    outgoing = [(w * dw).sum(-2) for w, dw in zip(net.weights, gradient[0], strict=True)][1:]
    size, moved_size = sizes(net, x, u, gradient, rate)
    before, after, change = (
        torch.cat(networks.neuron_imbalances(each), -1)
        for each in (net, networks.sgd_step(net, gradient, rate), net.with_parameters(*gradient))
    )
    return (
        eq(
            torch.cat(incoming(net, gradient), -1),
            torch.cat(outgoing, -1),
            scale=size,
            label="gradient flow",
        ),
        eq(
            after - before,
            (rate**order).unsqueeze(-1) * change,
            scale=moved_size + size,
            label="a step of descent",
        ),
    )


def layer_differences(weights):
    """W_{ℓ+1}ᵀ W_{ℓ+1} − W_ℓ W_ℓᵀ for ℓ = 1..L − 1, all entries in a row."""
    pairs = [V.mT @ V - W @ W.mT for W, V in pairwise(weights)]
    return torch.cat([pair.flatten(-2) for pair in pairs], -1)


@identity(
    "field.layer-balance-under-gradient-flow",
    paper("du2018", "on linear networks, as recalled"),
    instances=linear_networks_and_losses(),
    needs={
        "the activation is linear": networks_and_losses(biases=False),
        "no biases": linear_networks_and_losses(biases=True),
    },
    mutants={
        "the transpose on one side": {"turned": True},
        "conserved by steps of descent": {"order": 3},
    },
    audit="left out: a network that is read has an activation, or is one affine map",
)
def test_layer_balance_under_gradient_flow(net, x, u, rate, *, turned=False, order=2):
    r"""Gradient flow of a linear network conserves how far its layers are from balance.

    For $f(x) = W_L \cdots W_1 x$ and every loss $F$ of the values at points,
    $W_{\ell+1}^\top \partial_{W_{\ell+1}} F = \partial_{W_\ell} F\, W_\ell^\top$. So with
    $D_\ell = W_{\ell+1}^\top W_{\ell+1} - W_\ell W_\ell^\top$ gradient flow has $\frac{d}{dt} D_\ell = 0$,
    and a step of gradient descent $D(\theta - \eta \nabla F) = D(\theta) + \eta^2 D(\nabla F)$. With
    an activation only the diagonal of $D_\ell$ is conserved
    (field.balance-under-gradient-flow).

    Checked at one instant, as there.
    """
    gradient = networks.value_gradient(net, x, u)
    G, W = gradient[0], net.weights
    outer = [(V.mT @ H).flatten(-2) for V, H in zip(W[1:], G[1:], strict=True)]
    inner = [H @ V.mT for V, H in zip(W[:-1], G[:-1], strict=True)]
    inner = [(A.mT if turned else A).flatten(-2) for A in inner]
    size, moved_size = sizes(net, x, u, gradient, rate)
    after = networks.sgd_step(net, gradient, rate).weights
    return (
        eq(torch.cat(outer, -1), torch.cat(inner, -1), scale=size, label="gradient flow"),
        eq(
            layer_differences(after) - layer_differences(W),
            (rate**order).unsqueeze(-1) * layer_differences(G),
            scale=moved_size + size,
            label="a step of descent",
        ),
    )
