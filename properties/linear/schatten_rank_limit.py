"""Fact, slides A of `linear`: the power of a Schatten quasi-norm tends to the rank as q → 0."""

from fractions import Fraction

import torch

from rankcheck import leq, limit, linalg, paper
from rankcheck.instances import Source, instances, matrix, orthogonal, positive, signs

EXPONENTS = (1, Fraction(1, 2), Fraction(2, 3), *(Fraction(1, 2**n) for n in range(2, 12)))
#: Exponents at which the rate is an equality up to 10⁻⁶.
SMALL = (Fraction(1, 2**22), Fraction(1, 2**23), Fraction(1, 2**24))


@instances
def matrices_and_exponents(source: Source):
    """A matrix and an exponent q, at least 2⁻¹¹."""
    return matrix(source, source.integer(1, 4), source.integer(1, 4)), source.choice(EXPONENTS)


@instances
def multiples_of_isometries(source: Source):
    """A matrix whose non-zero singular values are equal, and an exponent.

    Or a number near 2^440 and the exponent 1: for u = q log s → ∞ no power of s less than s^q makes
    s^q − 1 ≤ u s^q.
    """
    n = source.integer(1, 4)
    r = source.integer(1, n)
    left, right = orthogonal(source, n), orthogonal(source, n)
    size = positive(source, 1, 1, low=1.25)
    size = torch.where(signs(source, 1, 1) > 0, size, 1 / size)
    if source.integer(0, 3) == 0:
        return 2.0**440 * size, 1
    return size * left[..., :r] @ right[..., :r].mT, source.choice((1, *SMALL))


@limit(
    "linear.schatten-rank-limit",
    paper("linear", "slides A, Fact"),
    instances=matrices_and_exponents(),
    tight=multiples_of_isometries(),
    mutants={
        "exponents of both ends 2 % larger": {"factor": Fraction(51, 50)},
        "exponents of both ends 2 % smaller": {"factor": Fraction(49, 50)},
        "a rate of q^1.02": {"order": Fraction(51, 50)},
    },
)
def test_schatten_rank_limit(M, q, *, factor=1, order=1):
    r"""The power of a Schatten quasi-norm tends to the rank, at an explicit rate.

    Let $r = \operatorname{rank} M$ and $s_i$ the non-zero singular values. For every $q > 0$,
    $r\,|M|_+^{q/r} \le \|M\|_{S^q}^q \le r\,\|M\|_{op}^q$, with equality if all $s_i$ are equal,
    and $\bigl|\|M\|_{S^q}^q - r\bigr| \le q \max(1, \|M\|_{op})^q \sum_i |\log s_i|$.

    As $q \to 0$ all three tend to $r$. Checked for $q$ down to $2^{-11}$, and to $2^{-24}$ in cases of
    equality.
    """
    r, s = linalg.rank(M), linalg.singular_values(M)
    ones = torch.ones_like(s)
    s = torch.where(torch.arange(s.shape[-1], device=s.device) < r.unsqueeze(-1), s, ones)
    logs, count = s.log(), ones[..., 0] * r
    largest = torch.where(r > 0, s[..., 0], ones[..., 0])
    mean = logs.sum(-1) / torch.where(r > 0, count, ones[..., 0])
    exponent = linalg.scalar(Fraction(q) * factor, s)
    lower, upper = count * torch.exp(mean * exponent), count * torch.exp(largest.log() * exponent)
    value = linalg.schatten_power(M, q)
    rate = linalg.power(linalg.scalar(q, s), order) * logs.abs().sum(-1)
    steepest = linalg.power(torch.maximum(largest, ones[..., 0]), q)
    return (
        leq(lower, value, label="from below"),
        leq(value, upper, label="from above"),
        leq((value - count).abs(), rate * steepest, scale=value + count, label="the rate"),
    )
