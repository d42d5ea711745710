"""Expressions for R_L, slides A of `linear`: for which q the Schatten quasi-norms are norms."""

import math
from fractions import Fraction

from rankcheck import bound, leq, linalg, paper
from rankcheck.instances import Source, instances, matrix, orthogonal_blocks, positive

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
