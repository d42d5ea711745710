"""Arora, Cohen, Hazan: the product of the layers of a balanced linear network follows a flow of its
own."""

from fractions import Fraction
from itertools import pairwise

import torch

from rankcheck import Network, eq, identity, linalg, networks, paper
from rankcheck.instances import Source, instances, positive, semi_orthogonal


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
    bases = [semi_orthogonal(source, n, k) for n in widths]
    weights = [out @ T @ into.mT for into, out in pairwise(bases)]
    weights[0], weights[-1] = factor * weights[0], weights[-1] / factor
    biases = [W.new_zeros(W.shape[:-1]) for W in weights]
    x = source.tensor(source.integer(1, 3), widths[0], low=-2.0, high=2.0)
    net = Network.unchecked_slope(weights, biases, 1.0)
    return net, x, source.tensor(x.shape[-2], widths[-1], low=-2.0, high=2.0)


@instances
def unbalanced_linear_networks_and_losses(source: Source):
    """The same with the first layer doubled and the last one halved."""
    return balanced_linear_networks_and_losses(factor=2.0)(source)


def identity_power(A):
    """A⁰ = I."""
    return linalg.eye(A.shape[-1], A)


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
def test_end_to_end_flow(net, x, u, *, layers=0, larger=1, zeroth=identity_power, first=0):
    r"""The matrix that a balanced linear network computes follows a flow of its own.

    Let $W = W_L \cdots W_1$ with $W_{\ell+1}^\top W_{\ell+1} = W_\ell W_\ell^\top$ for all $\ell$.
    Under the gradient flow $\dot W_\ell = -\partial_{W_\ell} F$ of a loss $F$ of the values at points
    $$\frac{d}{dt} W = -\sum_{j=1}^{L} (W W^\top)^{\frac{L-j}{L}} \, \nabla F(W) \,
    (W^\top W)^{\frac{j-1}{L}} ,$$
    where $\nabla F(W) = \sum_i u_i x_i^\top$ is the gradient of the loss of one linear layer, and a
    power $0$ is the identity. Checked at one instant; that the layers stay balanced is
    field.layer-balance-under-gradient-flow.
    """
    L, partial = net.depth, net.partial_jacobians(x[..., 0, :])
    W, gradient = net.jacobian(x[..., 0, :]), u.mT @ x
    parts = zip(partial.outer, networks.value_gradient(net, x, u)[0], partial.inner, strict=True)
    velocity = sum(outer @ G @ inner for outer, G, inner in parts)
    left, right = W @ W.mT, W.mT @ W

    def powers(A, j):
        return linalg.symmetric_power(A, Fraction(j, L + layers) * larger) if j else zeroth(A)

    terms = (powers(left, j) @ gradient @ powers(right, L - 1 - j) for j in range(first, L))
    flow = sum(terms, start=0 * velocity)
    size = linalg.power(linalg.frobenius_squared(gradient), 0.5)
    for V in net.weights[1:]:
        size = size * (1 + linalg.frobenius_squared(V))
    return eq(-velocity.flatten(-2), -flow.flatten(-2), scale=size.unsqueeze(-1))
