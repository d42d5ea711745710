"""Path norm (slides A) and the Theorem of slides B of `linear`: Φ_2 is the path norm, and bounds
Φ_L."""

from fractions import Fraction

from rankcheck import bound, costs, eq, identity, leq, linalg, paper
from rankcheck.instances import (
    Source,
    instances,
    parallel_units,
    positive,
    signs,
    unit_vectors,
    units_with_scales,
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
    return costs.path_norm_lambda(W, a) * linalg.power(
        costs.path_norm_of_units(W, a), Fraction(1, 2)
    ).unsqueeze(-1)


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
    $\lambda > 0$ with $\|\lambda\| = 1$, and equal to it at the one with
    $\lambda_k^2 \propto |a_k| \|w_k\|$.
    The drawn depth is not used.
    """
    path, scales = linalg.power(costs.path_norm_of_units(W, a), exponent), best(W, a)
    return (
        eq((scales * scales).sum(-1), 1, where=path > 0, label="on the unit sphere"),
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
    return leq(
        linalg.power(costs.path_norm_of_units(W, a), Fraction(exponent, L)),
        costs.phi_at(W, a, L, lam),
    )
