"""Proof of Theorem 16 of `bottleneck`: the inequality of the means for singular values."""

from fractions import Fraction

import torch

from rankcheck import bound, leq, linalg, paper
from rankcheck.instances import Source, instances, matrices, positive, semi_orthogonal


@instances
def scaled_partial_isometries(source: Source):
    """Matrices with k equal non-zero singular values, 1 ≤ k ≤ min(m, n)."""
    m, n = source.integer(1, 4), source.integer(1, 4)
    k = source.integer(1, min(m, n))
    size = positive(source, 1, 1)
    return size * semi_orthogonal(source, m, k) @ semi_orthogonal(source, n, k).mT


@bound(
    "bottleneck.amgm",
    paper("bottleneck", "proof of Thm 16"),
    instances=matrices(),
    tight=scaled_partial_isometries(),
    mutants={"exponent 2.04/k": {"exponent": Fraction(51, 25)}},
)
def test_amgm(A, *, exponent=2):
    r"""The Frobenius norm of a matrix bounds its pseudo-determinant.

    $\|A\|_F^2 \ge k\,|A|_+^{2/k}$ with $k = \operatorname{rank} A \ge 1$: the arithmetic mean of the
    squares of the non-zero singular values is at least their geometric mean.
    """
    k, log_det = linalg.rank(A), linalg.log_pseudo_determinant(A)
    count = torch.zeros_like(log_det) + k
    safe = torch.where(k > 0, count, torch.ones_like(count))
    mean = torch.exp(log_det * exponent.numerator / exponent.denominator / safe)
    return leq(count * mean, linalg.frobenius_squared(A))
