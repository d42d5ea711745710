"""Gradient flow, at one instant: the balance of hidden units and of linear layers, which it conserves
(Du, Hu, Lee), and the product of balanced linear layers (Arora, Cohen, Hazan)."""

from fractions import Fraction
from itertools import pairwise
from math import prod

import torch

from rankcheck import Network, eq, identity, linalg, networks, paper
from rankcheck.instances import Source, instances, networks_with_inputs, positive, semi_orthogonal


@instances
def networks_and_losses(source: Source, *, biases=True):
    """A network of depth two or more, points, the derivatives of a loss in the values at them, and
    a rate of descent. Units may be at their kinks."""
    net, x = networks_with_inputs(
        depth=(2, 4), width=(1, 3), points=(1, 3), biases=biases, differentiable=False
    )(source)
    return net, x, source.tensor(len(x), net.widths[-1]), positive(source, high=1.0)


@instances
def linear_networks_and_losses(source: Source, *, biases=False):
    """The same with the identity for the activation."""
    net, *rest = networks_and_losses(biases=biases)(source)
    return Network.unchecked_slope(net.weights, net.biases, 1.0), *rest


def conserved(balance, sides, net, gradient, x, u, rate, order):
    """The relations of both claims: the flow keeps the balance, and a step changes it by η² D(∇F)."""
    square = linalg.frobenius_squared(u) * (linalg.frobenius_squared(x) + len(x))
    square = prod((cost + 1 for cost in net.layer_costs()), start=square)
    size = linalg.power(square, Fraction(1, 2))  # of what is summed in ⟨w, ∂w⟩
    after, slope = networks.sgd_step(net, gradient, rate), net.with_parameters(*gradient)
    moved = net.cost() + rate * rate * slope.cost() + size
    D, D_after, D_slope = (torch.cat(balance(each)) for each in (net, after, slope))
    return (
        eq(*map(torch.cat, sides), scale=size, label="gradient flow"),
        eq(D_after - D, rate**order * D_slope, scale=moved, label="a step of descent"),
    )


def layer_imbalances(net):
    """W_{ℓ+1}ᵀ W_{ℓ+1} − W_ℓ W_ℓᵀ for ℓ = 1..L − 1, the entries of each in a row."""
    return [(V.mT @ V - W @ W.mT).flatten() for W, V in pairwise(net.weights)]


@identity(
    "field.balance-under-gradient-flow",
    paper("du2018", "on the weights of each neuron, as recalled"),
    instances=networks_and_losses(),
    mutants={
        "the biases forgotten": {"incoming": lambda w, b, dw, db: (w * dw).sum(1)},
        "conserved by steps of descent": {"order": 3},
    },
    audit="left out: an identity of the formulas: both sides are the same for every network",
)
def test_balance_under_gradient_flow(
    net, x, u, rate, *, incoming=lambda w, b, dw, db: (w * dw).sum(1) + b * db, order=2
):
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
    layers = list(zip(net.weights, net.biases, *gradient, strict=True))
    sides = [incoming(*one) for one in layers[:-1]], [(w * dw).sum(0) for w, _, dw, _ in layers[1:]]
    return conserved(networks.neuron_imbalances, sides, net, gradient, x, u, rate, order)


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
    layers = list(zip(net.weights, gradient[0], strict=True))
    outer, inner = [W.mT @ G for W, G in layers[1:]], [G @ W.mT for W, G in layers[:-1]]
    sides = [A.flatten() for A in outer], [(A.mT if turned else A).flatten() for A in inner]
    return conserved(layer_imbalances, sides, net, gradient, x, u, rate, order)


@instances
def balanced_linear_networks_and_losses(source: Source, *, factor=1.0):
    r"""A balanced linear network, points, and the derivatives of a loss in the values at them.

    $W_\ell = U_\ell T U_{\ell-1}^\top$ with $T$ diagonal and $U_\ell$ with orthonormal columns; every
    balanced linear network is of this form, up to the range of $T$. The first layer is multiplied by
    `factor`, and the last is divided by it.
    """
    L, k = source.integer(1, 4), source.integer(1, 3)
    widths = [k + source.integer(0, 3 - k) for _ in range(L + 1)]
    alive = torch.arange(k) < k - source.integer(0, k, [3] * k + [1])
    t = positive(source, k, low=0.5, high=1.5)
    T = torch.diag_embed(torch.where(alive, t, 0 * t))
    weights = [V @ T @ U.mT for U, V in pairwise([semi_orthogonal(source, n, k) for n in widths])]
    weights[0], weights[-1] = factor * weights[0], weights[-1] / factor
    x = source.tensor(source.integer(1, 3), widths[0], low=-2.0, high=2.0)
    net = Network.unchecked_slope(weights, [0 * W[:, 0] for W in weights], 1.0)
    return net, x, source.tensor(len(x), widths[-1], low=-2.0, high=2.0)


@instances
def unbalanced_linear_networks_and_losses(source: Source):
    """The same with the first layer doubled and the last one halved."""
    return balanced_linear_networks_and_losses(factor=2.0)(source)


@identity(
    "field.end-to-end-flow",
    paper("arora2018", "Theorem 1, as recalled"),
    instances=balanced_linear_networks_and_losses(),
    needs={"the layers are balanced": unbalanced_linear_networks_and_losses()},
    mutants={
        "exponents with L + 1 below": {"layers": 1},
        "exponents 2 % larger": {"larger": Fraction(51, 50)},
        "a projection for the power zero": {"zeroth": linalg.range_projection},
        "without the last layer": {"first": 1},
    },
    audit="left out: a network that is read has an activation, or is one affine map",
)
def test_end_to_end_flow(
    net, x, u, *, layers=0, larger=1, zeroth=lambda A: linalg.eye(len(A), A), first=0
):
    r"""The matrix that a balanced linear network computes follows a flow of its own.

    Let $W = W_L \cdots W_1$ with $W_{\ell+1}^\top W_{\ell+1} = W_\ell W_\ell^\top$ for all $\ell$.
    Under the gradient flow $\dot W_\ell = -\partial_{W_\ell} F$ of a loss $F$ of the values at points
    $$\frac{d}{dt} W = -\sum_{j=1}^{L} (W W^\top)^{\frac{L-j}{L}} \, \nabla F(W) \,
    (W^\top W)^{\frac{j-1}{L}} ,$$
    where $\nabla F(W) = \sum_i u_i x_i^\top$ is the gradient of the loss of one linear layer, and a
    power $0$ is the identity. Checked at one instant; that the layers stay balanced is
    field.layer-balance-under-gradient-flow.
    """
    L, partial = net.depth, net.partial_jacobians(x[0])
    W, gradient = net.jacobian(x[0]), u.mT @ x
    parts = zip(partial.outer, networks.value_gradient(net, x, u)[0], partial.inner, strict=True)
    velocity = sum(outer @ G @ inner for outer, G, inner in parts)
    left, right = W @ W.mT, W.mT @ W

    def powers(A, j):
        return linalg.symmetric_power(A, Fraction(j, L + layers) * larger) if j else zeroth(A)

    terms = (powers(left, j) @ gradient @ powers(right, L - 1 - j) for j in range(first, L))
    flow = sum(terms, start=0 * velocity)
    size = linalg.power(linalg.frobenius_squared(gradient), Fraction(1, 2))
    size = prod((1 + linalg.frobenius_squared(V) for V in net.weights[1:]), start=size)
    return eq(-velocity, -flow, scale=size)
