"""Schatten quasi-norms, slides A of `linear`: for which q they are norms; the rank as q → 0."""

import math
from fractions import Fraction

import torch

from rankcheck import bound, leq, limit, linalg, paper
from rankcheck.instances import (
    Source,
    instances,
    matrix,
    orthogonal,
    orthogonal_blocks,
    positive,
    signs,
)

ABOVE_ONE = (Fraction(2), Fraction(3, 2), Fraction(3), Fraction(7, 3))
BELOW_ONE = (Fraction(1, 2), Fraction(2, 3), Fraction(1, 4), Fraction(9, 10), Fraction(1, 8))
EXPONENTS = {
    "norms": (Fraction(1), *ABOVE_ONE, math.inf),
    "above one": ABOVE_ONE,
    "below one": BELOW_ONE,
}


@instances
def pairs(source: Source, *, q: str):
    """Two matrices of one shape, and an exponent."""
    m, n = source.integer(1, 4), source.integer(1, 4)
    return matrix(source, m, n), matrix(source, m, n), source.choice(EXPONENTS[q])


@instances
def parallel_pairs(source: Source, *, q: str):
    """A matrix and a positive multiple of it."""
    A = matrix(source, source.integer(1, 4), source.integer(1, 4))
    return A, positive(source, 1, 1) * A, source.choice(EXPONENTS[q])


@instances
def blocks(source: Source, *, q: str):
    """Two matrices with orthogonal rows and orthogonal columns."""
    return *orthogonal_blocks().build(source), source.choice(EXPONENTS[q])


def rounding(A, B):
    """A bound of the rounding in A + B: A and B are rounded products, and may cancel."""
    return 2.0**-46 * (linalg.frobenius_squared(A) + linalg.frobenius_squared(B)).sqrt()


@bound(
    "linear.schatten-norm",
    paper("linear", "slides A, Expressions for R_L"),
    instances=pairs(q="norms"),
    tight=parallel_pairs(q="norms"),
    needs={"q ≥ 1": blocks(q="below one")},
    mutants={"the norm of the sum of an exponent 2 % smaller": {"smaller": Fraction(51, 50)}},
)
def test_schatten_norm(A, B, q, *, smaller=1):
    r"""The Schatten norms satisfy the triangle inequality for q ≥ 1.

    $\|A + B\|_{S^q} \le \|A\|_{S^q} + \|B\|_{S^q}$ for $q \in [1, \infty]$. It is false for $q <
    1$.
    """
    total = linalg.schatten_norm(A + B, q / smaller, rounding(A, B))
    return leq(total, linalg.schatten_norm(A, q) + linalg.schatten_norm(B, q))


@bound(
    "linear.schatten-quasi-norm",
    paper("linear", "slides A, Expressions for R_L"),
    instances=pairs(q="below one"),
    tight=blocks(q="below one"),
    needs={"q ≤ 1": parallel_pairs(q="above one")},
    mutants={
        "the exponent on the left 2 % larger": {"factor": Fraction(51, 50)},
        "the exponent on the left 2 % smaller": {"factor": Fraction(49, 50)},
    },
)
def test_schatten_quasi_norm(A, B, q, *, factor=1):
    r"""The q-th powers of the Schatten quasi-norms satisfy the triangle inequality for q ≤ 1.

    $\|A + B\|_{S^q}^q \le \|A\|_{S^q}^q + \|B\|_{S^q}^q$ for $q \in (0, 1]$, with equality if
    the rows of $A$ are orthogonal to those of $B$, and the columns too. It is false for $q > 1$.
    """
    total = linalg.schatten_power(A + B, q * factor, rounding(A, B))
    return leq(total, linalg.schatten_power(A, q) + linalg.schatten_power(B, q))


SMALLER = (1, Fraction(1, 2), Fraction(2, 3), *(Fraction(1, 2**n) for n in range(2, 12)))
#: Exponents at which the rate is an equality up to 10⁻⁶.
SMALL = (Fraction(1, 2**22), Fraction(1, 2**23), Fraction(1, 2**24))


@instances
def matrices_and_exponents(source: Source):
    """A matrix and an exponent q, at least 2⁻¹¹."""
    return matrix(source, source.integer(1, 4), source.integer(1, 4)), source.choice(SMALLER)


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
    return size * left[:, :r] @ right[:, :r].mT, source.choice((1, *SMALL))


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
    one = torch.ones_like(s[0])
    s = torch.where(torch.arange(len(s), device=s.device) < r, s, one)
    logs, count = s.log(), one * r
    mean = logs.sum() / torch.maximum(count, one)
    exponent = linalg.scalar(Fraction(q) * factor, s)
    lower, upper = count * torch.exp(mean * exponent), count * torch.exp(logs[0] * exponent)
    value = linalg.schatten_power(M, q)
    rate = linalg.power(linalg.scalar(q, s), order) * logs.abs().sum()
    steepest = linalg.power(torch.maximum(s[0], one), q)
    return (
        leq(lower, value, label="from below"),
        leq(value, upper, label="from above"),
        leq((value - count).abs(), rate * steepest, scale=value + count, label="the rate"),
    )
