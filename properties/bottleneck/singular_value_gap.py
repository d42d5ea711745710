"""Proof of Theorem 15 of `bottleneck`: one layer, and its distance from a partial isometry."""

from fractions import Fraction

import torch

from rankcheck import bound, leq, linalg, paper
from rankcheck.instances import Source, instances, matrices, positive, semi_orthogonal


@instances
def multiples_of_isometries(source: Source):
    """Matrices with equal non-zero singular values: a little above one, or very large."""
    m, n = source.integer(1, 4), source.integer(1, 4)
    k = source.integer(1, min(m, n))
    low, high = source.choice(((1.0, 1.0 + 2.0**-6), (2.0**21, 2.0**24)))
    size = positive(source, 1, 1, low=low, high=high)
    return size * semi_orthogonal(source, m, k) @ semi_orthogonal(source, n, k).mT


@bound(
    "bottleneck.singular-value-gap",
    paper("bottleneck", "proof of Thm 15"),
    instances=matrices(),
    tight=multiples_of_isometries(),
    mutants={
        "log|A|_+ counted 2.04 times": {"logs": Fraction(51, 25)},
        "rank 2 % larger": {"ranks": Fraction(51, 50)},
    },
)
def test_singular_value_gap(A, *, logs=2, ranks=1):
    r"""The norm and the log-determinant of a matrix bound its distance from an isometry.

    $\|A\|_F^2 - \operatorname{rank} A - 2 \log |A|_+ \ge \sum_{s_i \ne 0} (s_i - 1)^2$, the squared
    distance of $A$ to its polar part $UV^\top$ (bottleneck.projection-frames).

    Both sides vanish at a partial isometry, where the left side is twice the right one to second
    order. Their ratio tends to one as the $s_i$ grow.
    """
    s = linalg.singular_values(A)
    k = linalg.rank(A)
    counted = torch.arange(s.shape[-1], device=A.device) < k.unsqueeze(-1)
    distance = torch.where(counted, (s - 1) * (s - 1), torch.zeros_like(s)).sum(-1)
    square, logarithm = linalg.frobenius_squared(A), linalg.log_pseudo_determinant(A)
    gap = square - k * linalg.scalar(ranks, square) - logarithm * linalg.scalar(logs, square)
    return leq(distance, gap, scale=square + k)
