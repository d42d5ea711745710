"""Lemma on Φ_L (Ongie & Willett), slides A of `linear`: the best common scale, in closed form."""

from fractions import Fraction

import torch

from rankcheck import costs, eq, identity, leq, linalg, paper
from rankcheck.instances import Source, away_from_zero, instances, low_rank, positive


@instances
def units_with_rescalings(source: Source):
    """W ≠ 0 of any rank, a with all a_k ≠ 0, a depth L ≥ 2, λ > 0 (K) and a number t > 0."""
    K, D = source.integer(1, 4), source.integer(1, 4)
    W = low_rank(source, K, D, source.integer(1, min(K, D)))
    silent = (W == 0).all(-1).all(-1)[..., None, None]
    W = torch.where(silent, torch.ones_like(W), W)
    lam, t = positive(source, K), positive(source)
    return W, away_from_zero(source, K), source.integer(2, 8), lam, t


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
    outer = ((a / lam) * (a / lam)).sum(-1)
    inner = linalg.schatten_power(lam.unsqueeze(-1) * W, Fraction(2, L - 1))
    mean = linalg.power(outer, Fraction(1, L) * factor) * linalg.power(
        inner, Fraction(L - 1, L) * factor
    )
    least = scaled_cost(W, a, L, best(W, a, L, lam).unsqueeze(-1) * lam)
    return (
        eq(least, mean, terms=2**10, label="at the best scale"),
        leq(mean, scaled_cost(W, a, L, t.unsqueeze(-1) * lam), label="at every scale"),
        eq(mean, costs.phi_at(W, a, L, a.abs() / lam), terms=2**10, label="on the sphere"),
    )
