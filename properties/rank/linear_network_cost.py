"""§1 and Prop. 7 of `rank`: the least cost of a linear network is a Schatten quasi-norm."""

from fractions import Fraction
from itertools import pairwise

import torch

from rankcheck import bound, eq, identity, leq, linalg, paper
from rankcheck.instances import Source, instances, matrix, orthogonal, positive


def product(factors):
    """W_L ··· W_1 of (W_1, ..., W_L)."""
    result = factors[0]
    for factor in factors[1:]:
        result = factor @ result
    return result


@instances
def factorisations(source: Source):
    """Any factors W_1..W_L whose shapes chain."""
    depth = source.integer(1, 5)
    widths = [source.integer(1, 4) for _ in range(depth + 1)]
    return ([matrix(source, n, m) for m, n in pairwise(widths)],)


@instances
def balanced_factorisations(source: Source):
    """W_ℓ = U_ℓ T U_{ℓ-1}ᵀ with orthogonal U_ℓ and a diagonal T ≥ 0: singular values t_i^L."""
    depth, n = source.integer(1, 5), source.integer(1, 4)
    zeros = source.integer(0, n - 1)
    alive = torch.arange(n) < n - zeros
    scales = positive(source, n, high=2.0)
    scales = torch.diag_embed(torch.where(alive, scales, torch.zeros_like(scales)))
    rotations = [orthogonal(source, n) for _ in range(depth + 1)]
    return ([out @ scales @ into.mT for into, out in pairwise(rotations)],)


@instances
def rescaled_factorisations(source: Source):
    """The same with one factor doubled and the next one halved."""
    depth, n = source.integer(2, 5), source.integer(1, 4)
    scales = torch.diag_embed(positive(source, n, high=2.0))
    rotations = [orthogonal(source, n) for _ in range(depth + 1)]
    first, second, *rest = (out @ scales @ into.mT for into, out in pairwise(rotations))
    return ([2 * first, second / 2, *rest],)


@bound(
    "rank.linear-network-cost",
    paper("rank", "§1, Prop. 7"),
    instances=factorisations(),
    tight=balanced_factorisations(),
    mutants={"exponent 2.04/L": {"exponent": Fraction(51, 25)}},
)
def test_linear_network_cost(factors, *, exponent=2):
    r"""No factorisation into L layers is cheaper than L times the Schatten power.

    $L\,\|W_L \cdots W_1\|_{S^{2/L}}^{2/L} \le \sum_\ell \|W_\ell\|_F^2$ for every factorisation.
    """
    L = len(factors)
    cost = sum(linalg.frobenius_squared(factor) for factor in factors)
    size = product([linalg.frobenius_squared(factor)[..., None, None] for factor in factors])
    noise = size[..., 0, 0].sqrt() * 2.0**-46 if isinstance(size, torch.Tensor) else 0.0
    return leq(L * linalg.schatten_power(product(factors), Fraction(exponent, L), noise), cost)


@identity(
    "rank.balanced-factorisation-cost",
    paper("rank", "§1, Prop. 7"),
    instances=balanced_factorisations(),
    needs={"the factors are balanced": rescaled_factorisations()},
    mutants={"exponent 2/(L+1)": {"layers": 1}},
)
def test_balanced_factorisation_cost(factors, *, layers=0):
    r"""A balanced factorisation costs exactly L times the Schatten power.

    $\sum_\ell \|W_\ell\|_F^2 = L\,\|W_L \cdots W_1\|_{S^{2/L}}^{2/L}$ for
    $W_\ell = U_\ell S^{1/L} U_{\ell-1}^\top$, so the minimum is attained.
    """
    L = len(factors)
    cost = sum(linalg.frobenius_squared(factor) for factor in factors)
    A = product(factors)
    noise = 1e-13 * linalg.frobenius_squared(A).sqrt() if isinstance(A, torch.Tensor) else 0.0
    return eq(cost, L * linalg.schatten_power(A, Fraction(2, L + layers), noise), terms=2**14)
