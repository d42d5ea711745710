"""“Legendre polynomials” of `separation`: their recurrence, and that they are orthonormal."""

import math
from fractions import Fraction

import torch

from rankcheck import eq, identity, leq, linalg, paper, separation
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
    value, one = polynomial(d, n, t), torch.ones_like(t)
    integral = separation.laplace_integral(d, n, t)
    return (
        eq(value, integral, scale=one, terms=1024, label="Laplace's integral"),
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


@instances
def expansions(source: Source):
    """A dimension d ≥ 2 and the coefficients of two polynomials in the basis √N P_n."""
    d, n = source.integer(2, source.choice((6, 200))), source.integer(0, source.choice((6, 100)))
    return d, source.tensor(n + 1), source.tensor(n + 1)


def against_dt(d, degree, like):
    """Nodes and weights of the measure with the density of μ_d, for polynomials of that degree.

    For odd d the density is a polynomial, and the Gauss–Legendre rule (weight 1/2) is exact. For
    even d it is a polynomial over √(1 − t²), and the Gauss–Chebyshev rule (weight 1/(π√(1 − t²)))
    is.
    """
    rule = separation.quadrature(2 + d % 2, (degree + d) // 2)
    nodes, weights = (array.to(like.device) for array in rule)
    inverse = 2 if d % 2 else linalg.pi(like) * torch.sqrt(1 - nodes * nodes)
    return nodes, weights * inverse * separation.density(d, nodes)


def next_dimension(d, degree, like):
    """The measure of one dimension more."""
    return against_dt(d + 1, degree, like)


@identity(
    "separation.orthonormal-basis",
    paper("separation", "slide: Legendre polynomials"),
    instances=expansions(),
    mutants={"another measure": {"measure": next_dimension}},
    no_ball="Gauss–Gegenbauer nodes are zeros of polynomials, computed in floats",
    witness=separation.quadrature,
)
def test_orthonormal_basis(d, p, q, *, measure=against_dt):
    r"""The normalised d-dimensional Legendre polynomials are orthonormal under $\mu_d$.

    $\langle \sum_n p_n \sqrt{N_{d,n}} P_n, \sum_n q_n \sqrt{N_{d,n}} P_n \rangle_{L^2(\mu_d)} =
    \sum_n p_n q_n$, with $d\mu_d = \frac{\Gamma(d/2)}{\sqrt\pi\,\Gamma((d-1)/2)} (1-x^2)^{(d-3)/2}
    dx$, which has mass 1 and the even moments $\frac{(2k-1)!!}{d(d+2)\cdots(d+2k-2)}$ of a
    coordinate of a uniform point of the sphere.

    Checked by two rules that are exact for these degrees: one against $dx$ with the density as
    printed, and the Gauss rule of $\mu_d$. That the basis is complete is
    separation.legendre-completeness.
    """
    degree, scale, relations = len(p) - 1, ((p @ p) * (q @ q)).sqrt(), []
    printed = measure(d, 2 * degree, p)
    gauss = [array.to(p.device) for array in separation.quadrature(d, degree + 1)]
    for name, (nodes, weights) in (("with the density", printed), ("by the Gauss rule", gauss)):
        table = separation.orthonormal_table(d, degree, nodes)
        inner = ((table @ p) * (table @ q)) @ weights
        relations.append(eq(inner, p @ q, scale=scale, terms=2**15, label=name))
    nodes, weights = printed
    for k in range(min(degree + 1, 4)):
        moment = weights @ nodes ** (2 * k)
        expected = p.new_tensor(float(separation.even_moment(d, k)))
        relations.append(eq(moment, expected, terms=2**15, label=f"the moment of order {2 * k}"))
    return tuple(relations)
