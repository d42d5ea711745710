"""Scales of units and Φ_L, slides A and B of `linear`: closed forms, bounds, log-convexity."""

from dataclasses import replace
from fractions import Fraction

import torch

from rankcheck import Erratum, bound, costs, eq, identity, leq, linalg, paper, tolerances
from rankcheck.instances import (
    Source,
    away_from_zero,
    instances,
    matrix,
    orthogonal_units,
    parallel_units,
    positive,
    signs,
    unit_vectors,
    units_with_scales,
)

from ._helpers import nonzero_weights


@instances
def rescaled_units(source: Source, *, negative: bool = False):
    """W (K × D), b, a, c of a two-layer network, scales λ (K), and a point."""
    K, D = source.integer(1, 4), source.integer(1, 4)
    W, b, a, c = matrix(source, K, D), source.tensor(K), source.tensor(K), source.tensor()
    scales = positive(source, K)
    return W, b, a, c, -scales if negative else scales, source.tensor(D)


@identity(
    "linear.rescaling",
    paper("linear", "slides A, “Rescaling invariance”"),
    instances=rescaled_units(),
    needs={"λ > 0": rescaled_units(negative=True)},
    mutants={"b unscaled, as printed": {"exponent": 0}},
    errata=Erratum(
        printed=r"“$\forall \lambda > 0$, $a_k[w_k^T x - b_k]_+ + c = (a_k/\lambda)[\lambda w_k^T "
        r"x - b_k]_+ + c$. Similarly, $\forall \lambda \succ 0$, $a^T[Wx - b]_+ + c = "
        r"(D_\lambda^{-1}a)^T[D_\lambda Wx - b]_+ + c$”, on each of three overlays",
        right=r"The bias is scaled like the weights: $(a_k/\lambda)[\lambda w_k^T x - \lambda "
        r"b_k]_+$, and $D_\lambda b$. With $a = w = b = 1$, $\lambda = 2$, $x = 2$ the printed "
        "unit has the value 1 before and 3/2 after.",
        survives="All of it: biases do not count in the cost, so the least over networks takes "
        r"the scaled bias, and $\Phi_L$ does not contain it.",
    ),
)
def test_rescaling(W, b, a, c, scales, x, *, exponent=1):
    r"""A unit that is scaled before and after its activation computes the same function.

    $a^T[Wx + b]_+ + c = (D_\lambda^{-1}a)^T[D_\lambda W x + D_\lambda b]_+ + c$ for $\lambda > 0$.
    """
    net, biases = costs.two_layer_network(W, b, a, c), linalg.power(scales, exponent) * b
    rescaled = costs.two_layer_network(scales.unsqueeze(-1) * W, biases, a / scales, c)
    return eq(rescaled(x)[0], net(x)[0], scale=tolerances.network_scale(net, x)[0])


@instances
def units_with_rescalings(source: Source):
    """W ≠ 0 of any rank, a with all a_k ≠ 0, a depth L ≥ 2, λ > 0 (K) and a number t > 0."""
    W = nonzero_weights(source)
    lam, t = positive(source, len(W)), positive(source)
    return W, away_from_zero(source, len(W)), source.integer(2, 8), lam, t


def scaled_cost(W, a, L, lam):
    """The least cost of the units rescaled by λ: (‖D_λ⁻¹a‖² + (L−1)‖D_λW‖_{S^q}^q)/L."""
    return costs.least_linear_layers_cost(lam.unsqueeze(-1) * W, a / lam, L)


def two_percent_more(W, a, L, lam):
    """The best scale with an exponent 2 % larger."""
    return linalg.power(costs.best_scale(W, a, L, lam), Fraction(51, 50))


@identity(
    "linear.phi-closed-form",
    paper("linear", "slides A, Lemma on Φ_L (Ongie & Willett)"),
    instances=units_with_rescalings(),
    mutants={
        "the mean with an exponent 2 % larger": {"factor": Fraction(51, 50)},
        "the best scale with an exponent 2 % larger": {"best": two_percent_more},
    },
)
def test_phi_closed_form(W, a, L, lam, t, *, factor=1, best=costs.best_scale):
    r"""At the best scale of a direction of λ, the cost is a Schatten quasi-norm.

    For $\lambda > 0$ put $X = \|D_\lambda^{-1} a\|^2$, $Y = \|D_\lambda W\|_{S^q}^q$, $q =
    2/(L-1)$. Then $\frac1L \|D_{t\lambda}^{-1}a\|^2 + \frac{L-1}L \|D_{t\lambda}W\|_{S^q}^q \ge (X
    Y^{L-1})^{1/L}$ for every $t > 0$, with equality at $t = (X/Y)^{(L-1)/(2L)}$. The right side is
    $\|D_\mu^{-1} D_a W\|_{S^q}^{2/L}$ at $\mu_k = |a_k| / (\lambda_k \sqrt X)$, $\|\mu\| = 1$.

    If all $a_k \ne 0$, as here, every $\mu > 0$ on the sphere comes from some $\lambda$. So the
    identity implies $\Phi_L(W, a) = \inf_{\mu > 0, \|\mu\| = 1} \|D_\mu^{-1} D_a W\|_{S^q}^{2/L}$,
    and the check needs no infimum.
    """
    X = linalg.power((a / lam) @ (a / lam), Fraction(1, L) * factor)
    Y = linalg.schatten_power(lam.unsqueeze(-1) * W, Fraction(2, L - 1))
    mean = X * linalg.power(Y, Fraction(L - 1, L) * factor)
    least = scaled_cost(W, a, L, best(W, a, L, lam) * lam)
    return (
        eq(least, mean, terms=2**10, label="at the best scale"),
        leq(mean, scaled_cost(W, a, L, t * lam), label="at every scale"),
        eq(mean, costs.phi_at(W, a, L, a.abs() / lam), terms=2**10, label="on the sphere"),
    )


#: 2/(L − 1) for L = 2..7 and L = 21, and some others.
EXPONENTS = (2, 1, *(Fraction(2, n) for n in range(3, 7)), Fraction(1, 10), Fraction(7, 2), 4)


@instances
def scale_pairs(source: Source):
    """W, a, an exponent q, and μ, ν > 0: the scales μ², ν² and their midpoint μν."""
    K, D = source.integer(1, 5), source.integer(1, 4)
    W, a = matrix(source, K, D), source.tensor(K)
    return W, a, source.choice(EXPONENTS), positive(source, K), positive(source, K)


@instances
def proportional_scales(source: Source):
    """The same with ν a multiple of μ."""
    W, a, q, mu, _ = scale_pairs().build(source)
    return W, a, q, mu, positive(source, 1) * mu


def arithmetic(mu, nu):
    """The midpoint of the λ themselves, not of log λ."""
    return (mu * mu + nu * nu) / 2


@bound(
    "linear.phi-is-log-convex",
    paper("rankcheck", "the head of rankcheck.costs"),
    instances=scale_pairs(),
    tight=proportional_scales(),
    mutants={
        "exponent 2.04": {"exponent": Fraction(51, 25)},
        "exponent 1.96": {"exponent": Fraction(49, 25)},
        "the midpoint of the λ": {"midpoint": arithmetic},
    },
)
def test_phi_is_log_convex(W, a, q, mu, nu, *, exponent=2, midpoint=torch.mul):
    r"""The objective of $\Phi_L$ is convex in the logarithms of the scales.

    $F(u) = \log \|D_{e^{-u}} D_a W\|_{S^q} + \frac12 \log \sum_k e^{2u_k}$ is convex for every
    $q > 0$. So every local minimum of $F$ is global, and a tangent bounds $\Phi_L$ from below.

    Checked at midpoints, without logarithms: $G(\mu\nu)^2 \le G(\mu^2)\, G(\nu^2)$ with
    $G(\lambda) = e^{qF(\log \lambda)}$. That is enough, since $F$ is continuous where no row
    $a_k w_k$ vanishes, and such rows drop out.
    """
    G = [costs.scaled_schatten_power(W, a, lam, q) for lam in (midpoint(mu, nu), mu * mu, nu * nu)]
    return leq(linalg.power(G[0], exponent), G[1] * G[2])


def uniform_lambda(W, a):
    """λ = (1, ..., 1), which is not the λ of the path norm."""
    return torch.ones_like(a)


@bound(
    "linear.phi-sandwich",
    paper("linear", "slides A, Lemma"),
    instances=units_with_scales(),
    tight=orthogonal_units(),
    mutants={
        "the upper end at a uniform λ": {"best": uniform_lambda},
        "the lower end with exponent 2.04/L": {"below": Fraction(51, 25)},
        "the lower end with exponent 1.96/L": {"below": Fraction(49, 25)},
        "the path norm with exponent 2.04/L": {"above": Fraction(51, 25)},
        "the path norm with exponent 1.96/L": {"above": Fraction(49, 25)},
        "the rank with exponent 0.98 (L − 2)/L": {"of_rank": Fraction(49, 50)},
    },
    witness=costs.path_norm_lambda,
)
def test_phi_sandwich(W, a, L, lam, *, best=costs.path_norm_lambda, below=2, above=2, of_rank=1):
    r"""$\Phi_L$ lies between a Schatten quasi-norm and a power of the path norm.

    $\|D_a W\|_{S^{2/L}}^{2/L} \le \Phi_L \le \operatorname{rank}(D_a W)^{(L-2)/L}
    \mathrm{path}^{2/L}$ with $\mathrm{path} = \sum_k |a_k| \|w_k\|$. Here $\Phi_L$ is the infimum
    of $\|D_\lambda^{-1} D_a W\|_{S^q}^{2/L}$, $q = 2/(L-1)$, over $\lambda > 0$ with $\|\lambda\| =
    1$.

    The lower end is checked at *every* $\lambda$, the upper end at $\lambda_k^2 \propto |a_k|
    \|w_k\|$. No solver is used; linear.phi-solved checks the infimum itself.
    """
    path = costs.path_norm_of_units(W, a)
    lower = linalg.schatten_power(a.unsqueeze(-1) * W, Fraction(below, L))
    r = torch.zeros_like(path) + costs.unit_rank(W, a)
    upper = linalg.power(r, Fraction(L - 2, L) * of_rank) * linalg.power(path, Fraction(above, L))
    return (
        leq(lower, costs.phi_at(W, a, L, lam), label="the lower end, at every λ"),
        leq(costs.phi_at(W, a, L, best(W, a)), upper, label="the upper end"),
    )


def one_layer_more(W, a, L):
    """The bracket of Φ_{L+1}."""
    return costs.phi(W, a, L + 1)


def not_solved(W, a, L):
    """The cost at the λ of the path norm as both ends of the bracket, without a certificate."""
    cost = costs.phi_at(W, a, L, costs.path_norm_lambda(W, a))
    return replace(costs.phi(W, a, L), lower=cost, upper=cost)


def lower_end_too_low(W, a, L):
    """The bracket with its lower end 10⁻⁶ lower, relative to it."""
    bracket = costs.phi(W, a, L)
    return replace(bracket, lower=(1 - 1e-6) * bracket.lower)


@bound(
    "linear.phi-solved",
    paper("linear", "slides A, Lemma"),
    instances=units_with_scales(),
    tight=orthogonal_units(),
    mutants={
        "the bracket at one layer more": {"solve": one_layer_more},
        "λ of the path norm, not solved": {"solve": not_solved},
        "a lower end that is 10⁻⁶ too low": {"solve": lower_end_too_low},
    },
    no_ball="the minimising λ is irrational: it comes from a float solver",
)
def test_phi_solved(W, a, L, lam, *, solve=costs.phi):
    r"""The computed bracket of $\Phi_L$ meets the sandwich, and its lower end is below every $\lambda$.

    The bracket $[\underline\Phi, \overline\Phi]$ of the solver satisfies $\|D_a W\|_{S^{2/L}}^{2/L}
    \le \overline\Phi$, $\underline\Phi \le \operatorname{rank}(D_a W)^{(L-2)/L}
    \mathrm{path}^{2/L}$ and $\underline\Phi \le \|D_\lambda^{-1} D_a W\|_{S^q}^{2/L}$ for every
    $\lambda$. Both ends agree to $10^{-9}$ where $D_\lambda^{-1} D_a W$ at the solution is well
    conditioned on its rank; elsewhere the bracket is valid, but includes a larger rounding error.
    """
    bracket = solve(W, a, L)
    scale = torch.where(bracket.lam > 0, bracket.lam, 1.0)
    s = linalg.singular_values((a / scale).unsqueeze(-1) * W)
    conditioned = (s > 2.0**-20 * s[0]).sum() == costs.unit_rank(W, a)
    error = 1e-9 * bracket.upper
    return (
        leq(costs.phi_lower(W, a, L), bracket.upper, label="the lower end"),
        leq(bracket.lower, costs.phi_upper(W, a, L), label="the upper end"),
        leq(bracket.lower, costs.phi_at(W, a, L, lam), label="below every λ"),
        eq(bracket.lower, bracket.upper, error=error, where=conditioned, label="it closes"),
    )


@instances
def balanced_units(source: Source):
    """Rows of any direction and of length t_k², a_k = ±1, L = 2 and λ_k = t_k."""
    K, D = source.integer(1, 5), source.integer(2, 4)
    t = positive(source, K, low=0.5, high=2.0)
    rows = (t * t).unsqueeze(-1) * unit_vectors(source, K, D)
    return rows, signs(source, K), 2, t


def unsquared(W, a):
    """λ_k ∝ |a_k| ‖w_k‖, without the square root."""
    lam = costs.path_norm_lambda(W, a)
    return lam * lam


def not_normalised(W, a):
    """λ_k² = |a_k| ‖w_k‖."""
    length = linalg.power(costs.path_norm_of_units(W, a), Fraction(1, 2))
    return length * costs.path_norm_lambda(W, a)


@identity(
    "linear.path-norm",
    paper("linear", "slides A, Definition (Path Norm)"),
    instances=units_with_scales(),
    tight=balanced_units(),
    mutants={
        "λ_k ∝ |a_k| ‖w_k‖": {"best": unsquared},
        "λ of another length": {"best": not_normalised},
        "exponent 1.02": {"exponent": Fraction(51, 50)},
        "exponent 0.98": {"exponent": Fraction(49, 50)},
    },
    witness=costs.path_norm_lambda,
)
def test_path_norm(W, a, L, lam, *, best=costs.path_norm_lambda, exponent=1):
    r"""$\Phi_2$ is the path norm.

    $\Phi_2(W, a) = \sum_k |a_k| \|w_k\|$: it is at most $\|D_\lambda^{-1} D_a W\|_F$ at every
    $\lambda > 0$ with $\|\lambda\| = 1$, and equal to it at the one with $\lambda_k^2 \propto |a_k|
    \|w_k\|$. The drawn depth is not used.
    """
    path, scales = linalg.power(costs.path_norm_of_units(W, a), exponent), best(W, a)
    return (
        eq(scales @ scales, 1, where=path > 0, label="on the unit sphere"),
        eq(costs.phi_at(W, a, 2, scales), path, label="attained"),
        leq(path, costs.phi_at(W, a, 2, lam), label="at every λ"),
    )


@bound(
    "linear.phi-above-path",
    paper("linear", "slides B, Theorem"),
    instances=units_with_scales(depths=(2, 12)),
    tight=parallel_units(),
    mutants={
        "exponent 2.04/L": {"exponent": Fraction(51, 25)},
        "exponent 1.96/L": {"exponent": Fraction(49, 25)},
    },
)
def test_phi_above_path(W, a, L, lam, *, exponent=2):
    r"""No depth makes a function cheaper than a power of its path norm.

    $(\sum_k |a_k| \|w_k\|)^{2/L} \le \|D_\lambda^{-1} D_a W\|_{S^q}^{2/L}$, $q = 2/(L-1)$, at every
    $\lambda > 0$ with $\|\lambda\| = 1$. Units of one direction attain it at the $\lambda$ of the
    path norm.
    """
    path = costs.path_norm_of_units(W, a)
    return leq(linalg.power(path, Fraction(exponent, L)), costs.phi_at(W, a, L, lam))
