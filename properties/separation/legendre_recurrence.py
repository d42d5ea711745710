"""“Legendre polynomials” of `separation`: the recurrence of the d-dimensional Legendre
polynomials."""

import math
from fractions import Fraction

import torch

from rankcheck import eq, identity, leq, paper, separation
from rankcheck.instances import Source, instances


@instances
def points_of_the_interval(source: Source, *, high: int = 200, degree: int = 400):
    """d ≥ 2, n ≥ 0 and t in [−1, 1]; d ≤ 3 in at least half of the draws."""
    d = source.integer(2, source.choice((3, high)))
    return d, source.integer(0, source.choice((8, degree))), source.tensor(low=-1.0, high=1.0)


@instances
def ends_of_the_interval(source: Source):
    """t = ±1, where |P_n| = 1."""
    d, n, t = points_of_the_interval()(source)
    return d, n, source.choice((1, -1)) * torch.ones_like(t)


@instances
def beyond_the_interval(source: Source):
    """|t| > 1."""
    d, n, t = points_of_the_interval(high=8, degree=8)(source)
    return d, n + 1, 2 + t


def off_by_one(d, n, t):
    """The polynomial of one dimension more."""
    return separation.legendre(d + 1, n, t)


@identity(
    "separation.legendre-recurrence",
    paper("separation", "slide: Legendre polynomials"),
    instances=points_of_the_interval(),
    tight=ends_of_the_interval(),
    needs={"|t| <= 1": beyond_the_interval()},
    mutants={"the next dimension": {"polynomial": off_by_one}},
    witness=separation.legendre,
)
def test_legendre_recurrence(d, n, t, *, polynomial=separation.legendre):
    r"""The recurrence gives the Legendre polynomials of dimension d.

    $P_0 = 1$, $P_1 = x$, $P_n = \frac{(2n+d-4)\,x P_{n-1} - (n-1) P_{n-2}}{n+d-3}$ equals Laplace's
    integral $\int (t + i\sqrt{1-t^2}\,u)^n\,d\mu_{d-1}(u)$, that is the Gegenbauer polynomial
    $C_n^{(d/2-1)}$ scaled to $P_n(1) = 1$. It has $P_n(-t) = (-1)^n P_n(t)$, and $|P_n| \le 1$ on
    $[-1, 1]$.

    Checked for $d \le 200$, $n \le 400$, with absolute errors, as $P_n$ may be as small as
    $10^{-50}$. The integral is a quadrature in floats and exact on balls.
    """
    value = polynomial(d, n, t)
    one = torch.ones_like(t)
    return (
        eq(
            value,
            separation.laplace_integral(d, n, t),
            scale=one,
            terms=1024,
            label="Laplace's integral",
        ),
        eq(polynomial(d, n, one), 1, terms=1024, label="the value at 1"),
        eq(polynomial(d, n, -t), (-1) ** n * value, scale=one, label="parity"),
        leq(value.abs(), 1, terms=1024, label="the bound"),
    )


@instances
def dimensions_and_degrees(source: Source):
    """d ≥ 2 and n ≥ 1."""
    return source.integer(2, 60), source.integer(1, 40)


def gegenbauer(d: int, n: int) -> list[Fraction]:
    """The coefficients of C_n^{(a)}(x)/C_n^{(a)}(1), a = d/2 − 1, in 1, x, ..., x^n, for n ≥ 1.

    From the explicit sum of (−1)^k (a)_{n−k} (2x)^{n−2k} / (k! (n−2k)!) and C_n^{(a)}(1) =
    (2a)_n/n!. Their common factor a is cancelled, which gives the limit a → 0 (Chebyshev) for d =
    2.
    """
    a = Fraction(d, 2) - 1
    norm = 2 * math.prod(range(d - 1, d + n - 2))
    coefficients = [Fraction(0)] * (n + 1)
    for k in range(n // 2 + 1):
        rising = math.prod((a + j for j in range(1, n - k)), start=Fraction(1))
        count = math.factorial(n) // (math.factorial(k) * math.factorial(n - 2 * k))
        coefficients[n - 2 * k] = (-1) ** k * 2 ** (n - 2 * k) * count * rising / norm
    return coefficients


def another_parameter(d, n):
    """The Gegenbauer polynomial of parameter (d − 1)/2."""
    return gegenbauer(d + 1, n)


@identity(
    "separation.legendre-is-gegenbauer",
    paper("separation", "slide: Legendre polynomials"),
    instances=dimensions_and_degrees(),
    mutants={"another parameter": {"coefficients": another_parameter}},
)
def test_legendre_is_gegenbauer(d, n, *, coefficients=gegenbauer):
    r"""The Legendre polynomials of dimension d are scaled Gegenbauer polynomials.

    $P_n$ from the recurrence and $C_n^{(d/2-1)}(x)/C_n^{(d/2-1)}(1)$ from its explicit sum have the
    same coefficients, compared as exact rational numbers for $d \le 60$, $n \le 40$. They are the
    Chebyshev polynomials for $d = 2$ and Legendre's for $d = 3$.
    """
    pairs = zip(separation.monomials(d, n), coefficients(d, n), strict=True)
    return eq(sum(left != right for left, right in pairs), 0)
