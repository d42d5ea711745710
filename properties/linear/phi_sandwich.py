import torch

from rankcheck import claim, eq, leq, paper
from rankcheck.costs import (
    path_norm_lambda,
    phi,
    phi_at,
    phi_lower,
    phi_upper,
)
from rankcheck.instances.matrices import matrix, positive, semi_orthogonal
from rankcheck.instances.source import Source, instances


@instances
def units_with_scales(source: Source):
    """Weights W (K × D), outer weights a (K), a depth L ≥ 2, and λ > 0 (K)."""
    K, D = source.integer(1, 5), source.integer(1, 4)
    W, a = matrix(source, K, D), source.tensor(K)
    return W, a, source.integer(2, 8), positive(source, K)


@instances
def orthogonal_units(source: Source):
    """Orthogonal rows w_k of length t_k^L, a_k = 1, and λ_k = t_k: the least Φ_L for these rows.

    Half of the time all t_k are one, where the upper end is reached as well.
    """
    K = source.integer(1, 4)
    D = source.integer(K, 4)
    L = source.integer(2, 6)
    t = positive(source, K, low=0.5, high=2.0)
    if source.integer(0, 1) == 1:
        t = 0 * t + 1
    rows = semi_orthogonal(source, D, K).mT
    return t.unsqueeze(-1) ** L * rows, 0 * t + 1, L, t


def uniform_lambda(W, a):
    """λ = (1, ..., 1)/√K: not where the path norm is attained."""
    ones = torch.ones_like(a)
    return ones / ones.shape[-1] ** 0.5


@claim(
    "linear.phi-sandwich",
    kind="bound",
    title="Φ_L lies between a Schatten quasi-norm and a power of the path norm",
    source=paper("linear", "slides A, Lemma"),
    instances=units_with_scales(),
    tight=orthogonal_units(),
    mutants={"the upper end at a uniform λ": {"best": uniform_lambda}},
    witness="rankcheck.costs.path_norm_lambda",
)
def test_phi_sandwich(W, a, L, lam, *, best=path_norm_lambda):
    r"""$\|D_a W\|_{S^{2/L}}^{2/L} \le \|D_\lambda^{-1} D_a W\|_{S^q}^{2/L}$ at *every* $\lambda > 0$,
    $\|\lambda\| = 1$, $q = 2/(L-1)$; and at $\lambda_k^2 \propto |a_k| \|w_k\|$ the right side is at
    most $\operatorname{rank}(D_a W)^{(L-2)/L} (\sum_k |a_k| \|w_k\|)^{2/L}$. So
    $\|D_a W\|_{S^{2/L}}^{2/L} \le \Phi_L \le \operatorname{rank}(D_a W)^{(L-2)/L} \mathrm{path}^{2/L}$.

    No solver takes part: the infimum itself is linear.phi-solved.
    """
    return (
        leq(phi_lower(W, a, L), phi_at(W, a, L, lam), label="the lower end, at every λ"),
        leq(phi_at(W, a, L, best(W, a)), phi_upper(W, a, L), label="the upper end"),
    )


@claim(
    "linear.phi-solved",
    kind="bound",
    title="The solved Φ_L, with its certificate, lies inside the sandwich and below every λ",
    source=paper("linear", "slides A, Lemma"),
    instances=units_with_scales(),
    tight=orthogonal_units(),
    no_ball="the minimising λ is irrational: it comes from a float solver",
)
def test_phi_solved(W, a, L, lam):
    r"""The bracket $[\underline\Phi, \overline\Phi]$ of the solver has
    $\|D_a W\|_{S^{2/L}}^{2/L} \le \overline\Phi \le \operatorname{rank}^{(L-2)/L} \mathrm{path}^{2/L}$
    and $\underline\Phi \le \|D_\lambda^{-1} D_a W\|_{S^q}^{2/L}$ for every $\lambda$, and closes.
    """
    bracket = phi(W, a, L)
    return (
        leq(phi_lower(W, a, L), bracket.upper, label="the lower end"),
        leq(bracket.lower, phi_upper(W, a, L), label="the upper end"),
        leq(bracket.lower, phi_at(W, a, L, lam), label="below every λ"),
        eq(bracket.lower, bracket.upper, error=1e-9 * bracket.upper, label="the bracket closes"),
    )
