"""Lemma, slides A of `linear`: Φ_L lies between a Schatten quasi-norm and a power of the path
norm."""

from dataclasses import replace
from fractions import Fraction

import torch

from rankcheck import bound, costs, eq, leq, linalg, paper
from rankcheck.instances import orthogonal_units, units_with_scales


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
    count = linalg.power(
        torch.zeros_like(path) + costs.unit_rank(W, a), Fraction(L - 2, L) * of_rank
    )
    upper = count * linalg.power(path, Fraction(above, L))
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
    conditioned = (s > 2.0**-20 * s[..., :1]).sum(-1) == costs.unit_rank(W, a)
    error = 1e-9 * bracket.upper
    return (
        leq(costs.phi_lower(W, a, L), bracket.upper, label="the lower end"),
        leq(bracket.lower, costs.phi_upper(W, a, L), label="the upper end"),
        leq(bracket.lower, costs.phi_at(W, a, L, lam), label="below every λ"),
        eq(bracket.lower, bracket.upper, error=error, where=conditioned, label="it closes"),
    )
