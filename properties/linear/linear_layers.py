"""Linear layers of `linear`: what they compute at which cost; the function-space perspective."""

import math
from fractions import Fraction
from itertools import pairwise

import torch

from rankcheck import bound, construction, costs, eq, identity, leq, linalg, paper
from rankcheck.instances import (
    Source,
    away_from_zero,
    balanced_factors,
    instances,
    matrix,
    positive,
)

from ._helpers import nonzero_weights, product


@instances
def factors_and_outer_weights(source: Source, *, layers=(1, 5)):
    """Any factors W_1..W_{L−1} whose shapes chain, and outer weights a."""
    widths = [source.integer(1, 4) for _ in range(source.integer(*layers) + 1)]
    return [source.tensor(n, m) for m, n in pairwise(widths)], source.tensor(widths[-1])


@instances
def balanced_layers(source: Source, *, layers=(1, 5)):
    """Factors of least cost for their product, and outer weights a."""
    factors = balanced_factors(source, layers=layers, low=0.5)
    return factors, source.tensor(len(factors[-1]))


def rounding(factors):
    """A bound of the rounding error of the product of the factors."""
    return math.prod(linalg.frobenius_squared(W).sqrt() for W in factors) * 2.0**-46


@bound(
    "linear.factorisation-cost",
    paper("linear", "slides A, Lemma (Ongie & Willett)"),
    instances=factors_and_outer_weights(),
    tight=balanced_layers(),
    mutants={
        "exponent 2.04/(L − 1)": {"exponent": Fraction(51, 25)},
        "exponent 1.96/(L − 1)": {"exponent": Fraction(49, 25)},
    },
)
def test_factorisation_cost(factors, a, *, exponent=2):
    r"""No factorisation into linear layers is cheaper than a Schatten quasi-norm.

    $\frac1L \|a\|^2 + \frac{L-1}L \|W\|_{S^q}^q \le \frac1L (\|a\|^2 + \sum_j \|W_j\|_F^2)$ for
    every factorisation $W = W_{L-1} \cdots W_1$, $q = 2/(L-1)$, with equality for the balanced one,
    whose layers have the singular values $s_i(W)^{1/(L-1)}$.

    So the left side is the least cost of a factorisation of $W$; linear.layers-are-free attains it
    for a given $W$.
    """
    n = len(factors)
    power = linalg.schatten_power(product(factors), Fraction(exponent, n), rounding(factors))
    least = (a @ a + n * power) / (n + 1)
    return leq(least, costs.linear_layers_cost(factors, a), terms=2**12)


@bound(
    "linear.nuclear-norm",
    paper("linear", "slides B, Three-Layer Network"),
    instances=factors_and_outer_weights(layers=(2, 2)),
    tight=balanced_layers(layers=(2, 2)),
    mutants={
        "exponent 1.02 of the singular values": {"exponent": Fraction(51, 50)},
        "exponent 0.98 of the singular values": {"exponent": Fraction(49, 50)},
    },
)
def test_nuclear_norm(factors, a, *, exponent=1):
    r"""Two linear layers cost the nuclear norm.

    $\|W_2 W_1\|_* \le \frac12 \|W_1\|_F^2 + \frac12 \|W_2\|_F^2$, with equality for $W_2 = U
    S^{1/2}$, $W_1 = S^{1/2} V^\top$: for $L = 3$ the least over $W_2 W_1 = W$ is $\|W\|_*$.
    """
    norm = linalg.schatten_power(product(factors), exponent, rounding(factors))
    cost = sum(linalg.frobenius_squared(factor) for factor in factors) / 2
    return leq(norm, cost, terms=2**12)


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
        x = activation(W @ x)
    return a @ torch.relu(factors[-1] @ x + b) + c


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
    # The sum of the absolute values of all that is added on the way.
    scale = layer_by_layer([W.abs() for W in factors], b.abs(), a.abs(), c.abs(), x.abs())
    return eq(deep, net(x)[0], scale=scale)


@instances
def units_and_depths(source: Source):
    """A two-layer network W, b, a, c, a depth L, and a point."""
    K, D = source.integer(1, 4), source.integer(1, 4)
    W, b, a, c = matrix(source, K, D), source.tensor(K), source.tensor(K), source.tensor()
    return W, b, a, c, source.integer(2, 7), source.tensor(D)


def rounding_of_power(W, q):
    """The change of Σ s_i^q when rounding changes each singular value by 2⁻⁴⁶ s_1."""
    s = linalg.singular_values(W)
    relative = 2.0**-46 * s[0] / torch.where(s > 0, s, 1.0)
    return (linalg.power(s, q) * relative.clamp(max=1.0)).sum()


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
    length = (linalg.frobenius_squared(W) * (x @ x)).sqrt()
    scale = a.abs().sum() * (length + b.abs().sum()) + c.abs()
    two = costs.two_layer_network(W, b, a, c)(x)[0]
    cost, error = costs.least_linear_layers_cost(W, a, L), rounding_of_power(W, Fraction(2, L - 1))
    return (
        eq(layer_by_layer(factors, b, a, c, x, activation), two, scale=scale, label="the function"),
        eq(costs.linear_layers_cost(factors, a), cost, error=error, label="the cost"),
        eq(len(factors) + 1, L, label="the depth"),
    )


@instances
def parameters_and_data(source: Source):
    """Factors W_1..W_{L−1}, b, a, c; data x, y; and a weight η > 0."""
    layers, K = source.integer(1, 5), source.integer(1, 4)
    widths = [source.integer(1, 4) for _ in range(layers)] + [K]
    factors = [source.tensor(n, m) for m, n in pairwise(widths)]
    x = source.tensor(source.integer(1, 3), widths[0])
    b, a, c = source.tensor(K), source.tensor(K), source.tensor()
    return factors, b, a, c, x, source.tensor(len(x)), positive(source)


@instances
def balanced_parameters_and_data(source: Source):
    """Factors of least cost for their product, and a of the same norm; the data are fitted."""
    factors = balanced_factors(source, layers=(1, 5), low=0.5)
    K, D = len(factors[-1]), factors[0].shape[1]
    a = away_from_zero(source, K)
    norm = linalg.power(linalg.frobenius_squared(factors[-1]) / (a @ a), Fraction(1, 2))
    a, b, c = norm * a, source.tensor(K), source.tensor()
    x = source.tensor(source.integer(1, 3), D)
    y = costs.two_layer_network(product(factors), b, a, c)(x)[:, 0]
    return factors, b, a, c, x, y, positive(source)


def loss(W, b, a, c, x, y):
    """The mean squared error of h on the data."""
    error = costs.two_layer_network(W, b, a, c)(x)[:, 0] - y
    return (error * error).mean()


@bound(
    "linear.parameters-above-functions",
    paper("linear", "slides A, Regularized Empirical Risk Minimization; slides B, Function Space"),
    instances=parameters_and_data(),
    tight=balanced_parameters_and_data(),
    mutants={
        "η in function space 2 % larger": {"weight": 1.02},
        "the cost at a uniform λ": {"scales": torch.ones_like},
    },
)
def test_parameters_above_functions(factors, b, a, c, x, y, eta, *, weight=1.0, scales=torch.abs):
    r"""No parameters do better than their function does in function space.

    $\ell(h_\theta) + \eta\,R_L(h_\theta) \le \ell(h_\theta) + \eta\,C_L(\theta)$ for every $\theta =
    (W_{L-1}, \dots, W_1, a, b, c)$ and data loss $\ell$, here the mean squared error. $R_L(h_\theta)
    \le \Phi_L(W, a)$, $W = W_{L-1} \cdots W_1$, and $\Phi_L(W, a)$ is at most its objective at
    $\lambda_k = |a_k| / \|a\|$, which stands for it here. Balanced layers with $\|W_j\|_F = \|a\|$
    attain that.

    With linear.functions-have-parameters the infima over $\theta$ and over functions agree. Nothing
    is claimed about when they are attained.
    """
    W, L = product(factors), len(factors) + 1
    error, least = loss(W, b, a, c, x, y), costs.phi_at(W, a, L, scales(a))
    cost = costs.linear_layers_cost(factors, a)
    return leq(error + eta * weight * least, error + eta * cost, terms=2**12)


@instances
def functions_and_data(source: Source):
    """W ≠ 0 of any rank, b, a with all a_k ≠ 0, c; a depth, λ > 0; data x, y; and η > 0."""
    W = nonzero_weights(source)
    K, D = W.shape
    b, a, c = source.tensor(K), away_from_zero(source, K), source.tensor()
    x = source.tensor(source.integer(1, 3), D)
    L, lam = source.integer(2, 7), positive(source, K)
    return W, b, a, c, L, lam, x, source.tensor(len(x)), positive(source)


def scaled_layers(W, b, a, L, lam):
    """Factors, b and a of L layers for the function of W, b, a, at the cost of its units at λ."""
    nu = a.abs() / lam
    nu = costs.best_scale(W, a, L, nu) * nu
    return costs.balanced_factors(nu.unsqueeze(-1) * W, L - 1), nu * b, a / nu


def layers_as_they_are(W, b, a, L, lam):
    """Factors of W itself."""
    return costs.balanced_factors(W, L - 1), b, a


def without_the_biases(W, b, a, L, lam):
    """The same layers with the biases as they were."""
    factors, _, scaled = scaled_layers(W, b, a, L, lam)
    return factors, b, scaled


@construction(
    "linear.functions-have-parameters",
    paper("linear", "slides A, Regularized Empirical Risk Minimization; slides B, Function Space"),
    instances=functions_and_data(),
    mutants={
        "the units are not scaled": {"witness": layers_as_they_are},
        "the biases are not scaled": {"witness": without_the_biases},
    },
    witness=scaled_layers,
    no_ball="singular vectors are irrational: the factors come from a float SVD",
)
def test_functions_have_parameters(W, b, a, c, L, lam, x, y, eta, *, witness=scaled_layers):
    r"""Every function has parameters that cost as much as its units do at any scales λ.

    For $(W, b, a, c)$ with $W \ne 0$ and all $a_k \ne 0$, $L \ge 2$ and $\lambda > 0$ there are
    $W_{L-1}, \dots, W_1$, $a'$ and $b'$ with $h_\theta = h_{(W,b,a,c)}$ and $C_L(\theta) =
    \|D_\lambda^{-1} D_aW\|_{S^q}^{2/L}\,\|\lambda\|^{2/L}$, $q = 2/(L-1)$: rescale unit $k$ by $\nu_k
    = t|a_k|/\lambda_k$ with the best $t$, and factorise $D_\nu W$ into balanced layers. The infimum
    over $\lambda$ and over the networks for a function $f$ is $R_L(f)$. So
    $\inf_\theta \ell(h_\theta) + \eta\,C_L(\theta) = \inf_f \ell(f) + \eta\,R_L(f)$.

    Checked: the values at the data, and the objective.
    """
    factors, biases, outer = witness(W, b, a, L, lam)
    V, cost = product(factors), costs.phi_at(W, a, L, lam)
    given, found = costs.two_layer_network(W, b, a, c), costs.two_layer_network(V, biases, outer, c)
    length = (linalg.frobenius_squared(W) * (x * x).sum(-1)).sqrt().amax()
    size = a.abs().sum() * (length + b.abs().sum()) + c.abs()
    objective = loss(V, biases, outer, c, x, y) + eta * costs.linear_layers_cost(factors, outer)
    in_function_space = loss(W, b, a, c, x, y) + eta * cost
    scale = (size + y.abs().amax()) ** 2 + eta * cost
    return (
        eq(found(x), given(x), scale=size, terms=2**12, label="the function"),
        eq(objective, in_function_space, scale=scale, terms=2**12, label="the objective"),
    )
