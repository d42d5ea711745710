"""Linear layers, slides A and B of `linear`: L − 1 linear layers compute what one layer computes,
and the balanced ones do so at the least cost."""

from fractions import Fraction
from itertools import pairwise

import torch

from rankcheck import Network, construction, costs, eq, identity, linalg, paper, tolerances
from rankcheck.instances import Source, instances, matrix

from ._layers import product


@instances
def linear_layers(source: Source):
    """Factors W_1..W_{L−1}, b, a, c of a network with L − 1 linear layers, and a point."""
    widths = [source.integer(1, 4) for _ in range(source.integer(1, 5) + 1)]
    factors = [source.tensor(n, m, low=-3.0, high=3.0) for m, n in pairwise(widths)]
    K, D = widths[-1], widths[0]
    return factors, source.tensor(K), source.tensor(K), source.tensor(), source.tensor(D)


def linear(z):
    """No activation."""
    return z


def layer_by_layer(factors, b, a, c, x, activation=linear):
    """aᵀ[W_{L−1}(··· (W_1 x)) + b]_+ + c, layer by layer."""
    for W in factors[:-1]:
        x = activation((W @ x.unsqueeze(-1)).squeeze(-1))
    z = (factors[-1] @ x.unsqueeze(-1)).squeeze(-1) + b
    return (a * torch.relu(z)).sum(-1) + c


def size(factors, b, a, c, x):
    """The sum of the absolute values of all that is added on the way."""
    biases = [W.new_zeros(W.shape[:-1]) for W in factors[:-1]]
    net = Network((*factors, a.unsqueeze(-2)), (*biases, b, c.unsqueeze(-1)))
    return tolerances.network_scale(net, x).squeeze(-1)


@identity(
    "linear.reparameterisation",
    paper("linear", "slides A and B"),
    instances=linear_layers(),
    mutants={"ReLU between the layers": {"activation": torch.relu}},
)
def test_reparameterisation(factors, b, a, c, x, *, activation=linear):
    r"""Linear layers in front of a ReLU layer are one layer.

    $a^\top [W_{L-1} \cdots W_1 x + b]_+ + c$, evaluated layer by layer, is the two-layer network
    $a^\top [W x + b]_+ + c$ with $W = W_{L-1} \cdots W_1$.
    """
    net = costs.two_layer_network(product(factors), b, a, c)
    deep = layer_by_layer(factors, b, a, c, x, activation)
    return eq(deep, net(x).squeeze(-1), scale=size(factors, b, a, c, x))


@instances
def units_and_depths(source: Source):
    """A two-layer network W, b, a, c, a depth L, and a point."""
    K, D = source.integer(1, 4), source.integer(1, 4)
    W, b, a, c = matrix(source, K, D), source.tensor(K), source.tensor(K), source.tensor()
    return W, b, a, c, source.integer(2, 7), source.tensor(D)


def rounding(W, q):
    """The change of Σ s_i^q when rounding changes each singular value by 2⁻⁴⁶ s_1."""
    s = linalg.singular_values(W)
    relative = 2.0**-46 * s[..., :1] / torch.where(s > 0, s, torch.ones_like(s))
    return (linalg.power(s, q) * relative.clamp(max=1.0)).sum(-1)


def last_two_merged(W, n):
    """n factors of W: a balanced factorisation into n + 1 factors, the last two merged."""
    *first, before, last = costs.balanced_factors(W, n + 1)
    return (*first, last @ before)


@construction(
    "linear.layers-are-free",
    paper("linear", "slides A, Linear layers; slides B, Why care about linear layers?"),
    instances=units_and_depths(),
    mutants={
        "ReLU between the layers": {"activation": torch.relu},
        "layers that are not balanced": {"witness": last_two_merged},
    },
    witness=costs.balanced_factors,
    no_ball="singular vectors are irrational: the factors come from a float SVD",
)
def test_layers_are_free(W, b, a, c, L, x, *, activation=linear, witness=costs.balanced_factors):
    r"""Every two-layer function is one of L layers, for every L, at the least cost.

    For $W = U S V^\top$ and $L \ge 2$ the layers $S^{1/(L-1)} V^\top$, $S^{1/(L-1)}$, ..., $U
    S^{1/(L-1)}$ compute $a^\top[Wx + b]_+ + c$ and cost $\frac1L \|a\|^2 + \frac{L-1}L
    \|W\|_{S^q}^q$, $q = 2/(L-1)$. With linear.reparameterisation, the capacity is the same at every
    depth; the cost is not.
    """
    factors = witness(W, L - 1)
    length = (linalg.frobenius_squared(W) * (x * x).sum(-1)).sqrt()
    scale = a.abs().sum(-1) * (length + b.abs().sum(-1)) + c.abs()
    two = costs.two_layer_network(W, b, a, c)(x).squeeze(-1)
    cost, error = costs.least_linear_layers_cost(W, a, L), rounding(W, Fraction(2, L - 1))
    return (
        eq(layer_by_layer(factors, b, a, c, x, activation), two, scale=scale, label="the function"),
        eq(costs.linear_layers_cost(factors, a), cost, error=error, label="the cost"),
        eq(len(factors) + 1, L, label="the depth"),
    )
