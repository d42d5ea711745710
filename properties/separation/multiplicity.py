"""“Legendre polynomials” of `separation`: how many harmonics of degree n there are in dimension
d."""

import math

from rankcheck import Erratum, eq, identity, leq, paper, separation
from rankcheck.instances import Source, instances


@instances
def dimensions_and_degrees(source: Source):
    """d ≥ 2 and n ≥ 0: small, and large enough for N_{d,n} of hundreds of digits."""
    return source.integer(2, source.choice((6, 500))), source.integer(0, source.choice((6, 500)))


@instances
def circles(source: Source):
    """d = 2 and n ≥ 1, where N_{d,n} is 2 for every n."""
    return 2, source.integer(1, 500)


def without_the_second_binomial(d, n):
    """The number of all homogeneous polynomials of degree n, not of the harmonic ones."""
    return math.comb(d + n - 1, d - 1)


def quotient(d, n):
    """(2n + d − 2)(n + d − 3)!/(n! (d − 2)!), and 1 for n = 0, where d = 2 would give 0 · (−1)!."""
    if n == 0:
        return 1
    product = (2 * n + d - 2) * math.factorial(n + d - 3)
    return product // (math.factorial(n) * math.factorial(d - 2))


@identity(
    "separation.multiplicity",
    paper("separation", "slide: Legendre polynomials"),
    instances=dimensions_and_degrees(),
    tight=circles(),
    mutants={"without the second binomial": {"number": without_the_second_binomial}},
    errata=Erratum(
        printed="$N_{n,d} = C(d+n-1, d-1) - C(d+n-3, d-1)$",
        right="$N_{d,n}$ on the left, as everywhere else: the dimension comes first.",
        survives="All of it.",
    ),
)
def test_multiplicity(d, n, *, number=separation.multiplicity):
    r"""The multiplicities $N_{d,n}$: closed forms, their sum over degrees, and their growth.

    $N_{d,n} = \binom{d+n-1}{d-1} - \binom{d+n-3}{d-1} = \frac{(2n+d-2)(n+d-3)!}{n!\,(d-2)!}$ ($1$
    for $n = 0$), $N_{2,n} = 2$ for $n \ge 1$, $\sum_{k \le n} N_{d,k} = N_{d+1,n}$, and $N_{d,n}$
    does not decrease in $n$; for $d \ge 3$ it grows by at least 2 (here: in dimension $d + 1$).

    The sum comes from restricting harmonics in $d + 1$ variables to the equator. Checked in exact
    integers, for $d$ and $n$ up to 500.
    """
    value, restricted = number(d, n), sum(number(d, k) for k in range(n + 1))
    above = number(d + 1, n)
    return (
        eq(value, quotient(d, n), label="the quotient of factorials"),
        eq(restricted, above, label="the sum over degrees"),
        leq(value, number(d, n + 1), label="growth"),
        leq(above + 2, number(d + 1, n + 1), label="growth by two"),
        eq(number(2, n + 1), 2, label="the circle"),
    )
