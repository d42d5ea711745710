"""Function-space perspective, slides A and B of `linear`: minimising over parameters is minimising
over functions with their representation cost."""

from fractions import Fraction
from itertools import pairwise

import torch

from rankcheck import bound, construction, costs, eq, leq, linalg, paper
from rankcheck.instances import (
    Source,
    away_from_zero,
    balanced_factors,
    instances,
    low_rank,
    positive,
)

from ._layers import product


@instances
def parameters_and_data(source: Source):
    """Factors W_1..W_{L−1}, b, a, c; data x, y; and a weight η > 0."""
    layers, K = source.integer(1, 5), source.integer(1, 4)
    widths = [source.integer(1, 4) for _ in range(layers)] + [K]
    factors = [source.tensor(n, m) for m, n in pairwise(widths)]
    x = source.tensor(source.integer(1, 3), widths[0])
    b, a, c = source.tensor(K), source.tensor(K), source.tensor()
    return factors, b, a, c, x, source.tensor(x.shape[-2]), positive(source)


@instances
def balanced_parameters_and_data(source: Source):
    """Factors of least cost for their product, and a of the same norm; the data are fitted."""
    factors = balanced_factors(source, layers=(1, 5), low=0.5)
    K, D = factors[-1].shape[-2], factors[0].shape[-1]
    a = away_from_zero(source, K)
    norm = linalg.power(linalg.frobenius_squared(factors[-1]) / (a * a).sum(-1), Fraction(1, 2))
    a, b, c = norm.unsqueeze(-1) * a, source.tensor(K), source.tensor()
    x = source.tensor(source.integer(1, 3), D)
    y = costs.two_layer_network(product(factors), b, a, c)(x).squeeze(-1)
    return factors, b, a, c, x, y, positive(source)


def loss(W, b, a, c, x, y):
    """The mean squared error of h on the data."""
    error = costs.two_layer_network(W, b, a, c)(x).squeeze(-1) - y
    return (error * error).mean(-1)


def at_the_outer_weights(a):
    """λ = |a|."""
    return a.abs()


def uniform(a):
    """λ = 1."""
    return torch.ones_like(a)


@bound(
    "linear.parameters-above-functions",
    paper("linear", "slides A, Regularized Empirical Risk Minimization; slides B, Function Space"),
    instances=parameters_and_data(),
    tight=balanced_parameters_and_data(),
    mutants={
        "η in function space 2 % larger": {"weight": 1.02},
        "the cost at a uniform λ": {"scales": uniform},
    },
)
def test_parameters_above_functions(
    factors, b, a, c, x, y, eta, *, weight=1.0, scales=at_the_outer_weights
):
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
    error = loss(W, b, a, c, x, y)
    least = costs.phi_at(W, a, L, scales(a))
    return leq(
        error + eta * weight * least,
        error + eta * costs.linear_layers_cost(factors, a),
        terms=2**12,
    )


@instances
def functions_and_data(source: Source):
    """W ≠ 0 of any rank, b, a with all a_k ≠ 0, c; a depth, λ > 0; data x, y; and η > 0."""
    K, D = source.integer(1, 4), source.integer(1, 4)
    W = low_rank(source, K, D, source.integer(1, min(K, D)))
    silent = (W == 0).all(-1).all(-1)[..., None, None]
    W = torch.where(silent, torch.ones_like(W), W)
    b, a, c = source.tensor(K), away_from_zero(source, K), source.tensor()
    x = source.tensor(source.integer(1, 3), D)
    L, lam = source.integer(2, 7), positive(source, K)
    return W, b, a, c, L, lam, x, source.tensor(x.shape[-2]), positive(source)


def scaled_layers(W, b, a, L, lam):
    """Factors, b and a of L layers for the function of W, b, a, at the cost of its units at λ."""
    nu = a.abs() / lam
    nu = costs.best_scale(W, a, L, nu).unsqueeze(-1) * nu
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
    V = product(factors)
    given = costs.two_layer_network(W, b, a, c)(x)
    found = costs.two_layer_network(V, biases, outer, c)(x)
    length = (linalg.frobenius_squared(W).unsqueeze(-1) * (x * x).sum(-1)).sqrt()
    largest = (a.abs().sum(-1, keepdim=True) * (length + b.abs().sum(-1, keepdim=True))).amax(-1)
    size = largest + c.abs()
    cost = costs.phi_at(W, a, L, lam)
    objective = loss(V, biases, outer, c, x, y) + eta * costs.linear_layers_cost(factors, outer)
    in_function_space = loss(W, b, a, c, x, y) + eta * cost
    square = (size + y.abs().amax(-1)) ** 2
    return (
        eq(
            found.squeeze(-1),
            given.squeeze(-1),
            scale=size.unsqueeze(-1),
            terms=2**12,
            label="the function",
        ),
        eq(
            objective,
            in_function_space,
            scale=square + eta * cost,
            terms=2**12,
            label="the objective",
        ),
    )
