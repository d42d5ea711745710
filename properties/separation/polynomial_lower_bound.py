"""Example, Lemma, of `separation`: polynomials of low degree are far from a fast sine."""

from fractions import Fraction

from rankcheck import bound, conjecture, eq, leq, paper
from rankcheck.instances.source import Source, instances
from rankcheck.separation.oscillation import (
    distance_lower_bound,
    sign_change_lower_bound,
    sine_coefficients,
    sine_energy,
    sine_tail,
)


@instances
def polynomials(source: Source):
    """d ≥ 2, m, a degree k < m, and the deviation of a polynomial of degree k from the best one."""
    d = source.integer(2, source.choice((4, 60)))
    m = source.integer(1, 16)
    k = source.integer(0, source.choice((0, m - 1)))
    return d, m, k, source.tensor(k + 1) * source.choice((0, 1))


def distance(d, q, deviation):
    """∫ (sin(π√q t) − p)² dμ_d for p = the best polynomial plus a deviation, in the Legendre basis."""
    best = sine_coefficients(d, q, deviation.shape[-1] - 1, deviation)
    p = best + deviation
    return sine_energy(d, q, deviation) - (2 * best * p).sum(-1) + (p * p).sum(-1)


@bound(
    "separation.polynomial-lower-bound",
    paper("separation", "slide: Example, Lemma"),
    instances=polynomials(),
    mutants={"twenty times as much": {"times": 20}},
    loose={"the bound": "one constant for all dimensions; the best polynomial errs by much more"},
    witness=sine_coefficients,
)
def test_polynomial_lower_bound(d, m, k, deviation, *, times=1):
    r"""Every polynomial of degree k < m is far from sin(π√d m t), in every dimension.

    For $s(t) = \sin(\pi\sqrt d\,m\,t)$, a whole number $m$, and every polynomial $p$ of degree
    $k < m$: $\int (s - p)^2\,d\mu_d \ge \frac{m-k}{4e\pi m}$ for every $d \ge 2$ (so
    $d_0 = 2$ on the slide).

    Checked for $d \le 60$, $m \le 16$. The distance is computed in the Legendre basis, where the
    coefficients of $s$ are Bessel functions. It is least at the projection, where it is the energy
    of $s$ beyond degree $k$.
    """
    q = d * m * m
    value = distance(d, q, deviation)
    size = (deviation * deviation).sum(-1)
    tail = sine_tail(d, q, k + 1, deviation)
    return (
        eq(value, tail + size, scale=1 + size, label="the best polynomial"),
        leq(
            times * distance_lower_bound(m, k, deviation), value, scale=1 + size, label="the bound"
        ),
    )


@instances
def polynomials_on_the_interval(source: Source):
    """A frequency m ≥ 1 in fourths, a degree k < m, and a deviation from the best polynomial."""
    m = Fraction(source.integer(4, 48), 4)
    k = source.integer(0, source.choice((0, int(m) - 1)))
    return m, k, source.tensor(k + 1) * source.choice((0, 1))


@bound(
    "separation.sign-changes",
    paper("separation", "slide: Example, proof of the Lemma"),
    instances=polynomials_on_the_interval(),
    mutants={"three times as much": {"times": 3}},
    loose="the best polynomial errs by at least twice the bound (m = 1, k = 0)",
    witness=sine_coefficients,
)
def test_sign_changes(m, k, deviation, *, times=1):
    r"""A polynomial of degree k has the wrong sign on m − k half periods of a sine.

    $\int_{-1}^1 (\sin(\pi m x) - p(x))^2\,dx \ge \frac{\lfloor m \rfloor - k}{2m}$ for real
    $m \ge 1$ and every polynomial $p$ of degree $k < m$. The slide has whole $m$ only.

    Checked is the integral, not the signs; $dx$ on $[-1, 1]$ is twice $\mu_3$.
    """
    size = (deviation * deviation).sum(-1)
    value = 2 * distance(3, m * m, deviation)
    lower = sign_change_lower_bound(m, k, deviation)
    return leq(times * lower, value, scale=1 + size)


@instances
def constants_against_sines(source: Source):
    """A whole frequency m, the degree 0, and no deviation from the best constant, 0."""
    return Fraction(source.integer(1, 12)), 0, 0 * source.tensor(1)


@conjecture(
    "separation.sign-changes-doubled",
    paper("separation", "slide: Example, proof of the Lemma (sharpened)"),
    instances=polynomials_on_the_interval(),
    tight=constants_against_sines(),
    mutants={"one per cent more": {"times": Fraction(101, 50)}},
)
def test_sign_changes_doubled(m, k, deviation, *, times=2):
    r"""The bound for polynomials against a sine may be twice as large.

    $\int_{-1}^1 (\sin(\pi m x) - p(x))^2\,dx \ge \frac{\lfloor m \rfloor - k}{m}$ for real
    $m \ge 1$ and every polynomial $p$ of degree $k < m$.

    separation.sign-changes has half of it, and `rankcheck sharpen` finds no ratio above 1/2 there. For
    constants it is proved: 0 is the best one, and the integral is
    $1 - \frac{\sin 2\pi m}{2 \pi m}$, which is 1 for whole $m$, so that no larger factor is possible.
    For $k \ge 1$ the left side is $1 - \frac{\sin 2\pi m}{2\pi m} - \sum_{n \le k} \frac{2n+1}{2} c_n^2$
    with $c_n = \int P_n \sin(\pi m x)$, spherical Bessel functions of $\pi m$; that this is at least the
    right side is open.
    """
    size = (deviation * deviation).sum(-1)
    value = 2 * distance(3, m * m, deviation)
    lower = sign_change_lower_bound(m, k, deviation)
    return leq(times.numerator * lower / times.denominator, value, scale=1 + size)
