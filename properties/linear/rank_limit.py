"""Corollary 1, slides B of `linear`: the cost tends to the rank as the depth grows."""

from fractions import Fraction

import torch

from rankcheck import leq, limit, paper
from rankcheck.costs import path_norm, path_norm_lambda, phi_at, unit_rank
from rankcheck.instances.matrices import positive, semi_orthogonal
from rankcheck.instances.source import Source, instances
from rankcheck.instances.units import signs, units_with_scales
from rankcheck.linalg import log_pseudo_determinant, power, rank
from rankcheck.scalars import scalar

DEPTHS = (2, 3, 4, 5, 8, 16, 64, 512, 4096)


@instances
def units_at_any_depth(source: Source):
    """W, a, λ > 0, and a depth up to 4096."""
    W, a, _, lam = units_with_scales().build(source)
    return W, a, source.choice(DEPTHS), lam


@instances
def equal_orthogonal_units(source: Source):
    """Orthogonal rows of one length, a_k = ±1, uniform λ: Φ_L and both of its bounds agree."""
    K = source.integer(1, 4)
    rows = semi_orthogonal(source, source.integer(K, 4), K).mT
    a = signs(source, K)
    return positive(source, 1, 1) * rows, a, source.choice(DEPTHS), torch.ones_like(a)


@limit(
    "linear.rank-limit",
    paper("linear", "slides B, Corollary 1"),
    instances=units_at_any_depth(),
    tight=equal_orthogonal_units(),
    mutants={
        "exponents 2.04/L": {"exponent": Fraction(51, 25)},
        "exponents 1.96/L": {"exponent": Fraction(49, 25)},
        "a rate of 1/L^1.02": {"order": Fraction(51, 50)},
    },
)
def test_rank_limit(W, a, L, lam, *, exponent=2, order=1):
    r"""Φ_L tends to the rank as the depth grows, at an explicit rate.

    With $B = D_aW$ of rank $r$ and $\mathrm{path} = \sum_k |a_k| \|w_k\|$,
    $r\,|B|_+^{2/(rL)} \le \Phi_L(W, a) \le r\,(\mathrm{path}/r)^{2/L}$ and
    $|\Phi_L - r| \le \frac2L \max\bigl(|\log |B|_+|,\ r\,|\log\frac{\mathrm{path}}r|
    \max(1, \frac{\mathrm{path}}r)^{2/L}\bigr)$.

    The lower end is checked at every $\lambda$, the upper end and the rate at the $\lambda$ of the
    path norm, at depths up to 4096. The limit $\Phi_L \to r$ follows from the rate. For functions,
    the rank is the index rank (linear.index-rank), and the upper end is linear.path-norm-upper.
    """
    B, path = a.unsqueeze(-1) * W, path_norm(W, a)
    one = torch.ones_like(path)
    zero = torch.zeros_like(path)
    r, counted = zero + unit_rank(W, a), zero + rank(B)
    safe = torch.where(r > 0, r, one)
    mean = log_pseudo_determinant(B) / torch.where(counted > 0, counted, one)
    lower = counted * torch.exp(mean * scalar(Fraction(exponent, L), path))
    share = torch.where(path > 0, path, one) / safe
    upper = r * power(share, Fraction(exponent, L))
    steepest = power(torch.maximum(share, one), Fraction(2, L)) * r * share.log().abs()
    rate = torch.maximum(log_pseudo_determinant(B).abs(), steepest)
    at_best = phi_at(W, a, L, path_norm_lambda(W, a))
    return (
        leq(lower, phi_at(W, a, L, lam), label="the lower end, at every λ"),
        leq(at_best, upper, label="the upper end"),
        leq((at_best - r).abs(), 2 * rate / L ** float(order), scale=at_best + r, label="the rate"),
    )
