"""Example, Lemma, of `separation`: polynomials of low degree are far from a fast sine."""

from fractions import Fraction

import torch

from rankcheck import bound, eq, leq, linalg, paper, separation
from rankcheck.instances import Source, instances

from ._sines import distance


@instances
def polynomials(source: Source):
    """d ≥ 2, m, a degree k < m, and the deviation of a polynomial of degree k from the best one."""
    d = source.integer(2, source.choice((4, 60)))
    m = source.integer(1, 16)
    k = source.integer(0, source.choice((0, m - 1)))
    return d, m, k, source.tensor(k + 1) * source.choice((0, 1))


@bound(
    "separation.polynomial-lower-bound",
    paper("separation", "slide: Example, Lemma"),
    instances=polynomials(),
    mutants={
        "twenty times as much": {"times": 20},
        "five times the sharper bound": {"factor": 5},
        "nothing for the degrees up to k": {"golden": 0},
    },
    loose={
        "the bound": "one constant for all dimensions; the best polynomial errs by much more",
        "any dimension": "signs give half of what the sine has on an interval of one standard deviation",
        "from dimension three": "the ratio tends to 1 as m grows at a fixed degree",
    },
    witness=separation.sine_coefficients,
)
def test_polynomial_lower_bound(d, m, k, deviation, *, times=1, factor=1, golden=None):
    r"""Every polynomial of degree k < m is far from sin(π√d m t), in every dimension.

    For $s(t) = \sin(\pi\sqrt d\,m\,t)$, a whole number $m$, and every polynomial $p$ of degree
    $k < m$: $\int (s - p)^2\,d\mu_d \ge \frac{m-k}{4e\pi m}$ for every $d \ge 2$ (so
    $d_0 = 2$ on the slide).

    Sharper: $\frac{m-k}{2\sqrt2\,\pi m}$ in every dimension, by the same proof with the best constant of
    the density (separation.density-lower-bound-sharp); and from $d = 3$ on, for real $m > 0$ and every
    degree $k$, $\frac12 \bigl(1 - \frac{1}{\sqrt{2\pi}\,\pi m} - \frac{1 + \sqrt5}{2 \pi^2 m^2} K\bigr)$ with $K =
    (l + 1)(l + 2)$, $l$ the largest odd integer up to $k$ ($K = 0$ for $k = 0$), which is at least $\frac13$
    for whole $m > k$. Proof: docs/proofs/polynomials-against-a-sine.md, Corollary 4.

    Checked for $d \le 60$, $m \le 16$. The distance is computed in the Legendre basis, where the
    coefficients of $s$ are Bessel functions. It is least at the projection, where it is the energy
    of $s$ beyond degree $k$.
    """
    q = d * m * m
    value = distance(d, q, deviation)
    size = (deviation * deviation).sum(-1)
    tail = separation.sine_tail(d, q, k + 1, deviation)
    return (
        eq(value, tail + size, scale=1 + size, label="the best polynomial"),
        leq(
            times * separation.distance_lower_bound(m, k, deviation),
            value,
            scale=1 + size,
            label="the bound",
        ),
        leq(
            factor
            * linalg.scalar(Fraction(m - k, 2 * m), value)
            / (linalg.square_root(2, value) * linalg.pi(value)),
            value,
            scale=1 + size,
            label="any dimension",
        ),
        leq(
            separation.sine_against_degree(m, k, deviation, golden),
            value,
            scale=1 + size,
            where=torch.as_tensor(d >= 3),
            label="from dimension three",
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
    witness=separation.sine_coefficients,
)
def test_sign_changes(m, k, deviation, *, times=1):
    r"""A polynomial of degree k has the wrong sign on m − k half periods of a sine.

    $\int_{-1}^1 (\sin(\pi m x) - p(x))^2\,dx \ge \frac{\lfloor m \rfloor - k}{2m}$ for real
    $m \ge 1$ and every polynomial $p$ of degree $k < m$. The slide has whole $m$ only.

    Checked is the integral, not the signs; $dx$ on $[-1, 1]$ is twice $\mu_3$.
    """
    size = (deviation * deviation).sum(-1)
    value = 2 * distance(3, m * m, deviation)
    lower = separation.sign_change_lower_bound(m, k, deviation)
    return leq(times * lower, value, scale=1 + size)


@instances
def constants_against_sines(source: Source):
    """A whole frequency m, the degree 0, and no deviation from the best constant, 0."""
    return Fraction(source.integer(1, 12)), 0, 0 * source.tensor(1)


@bound(
    "separation.sign-changes-doubled",
    paper("rankcheck", "docs/proofs/polynomials-against-a-sine.md, Corollary 2"),
    instances=polynomials_on_the_interval(),
    tight=constants_against_sines(),
    mutants={"one per cent more": {"times": Fraction(101, 50)}},
)
def test_sign_changes_doubled(m, k, deviation, *, times=2):
    r"""The bound for polynomials against a sine is twice as large as signs give.

    $\int_{-1}^1 (\sin(\pi m x) - p(x))^2\,dx \ge \frac{\lfloor m \rfloor - k}{m}$ for real
    $m \ge 1$ and every polynomial $p$ of degree $k < m$, with equality for $k = 0$ and whole $m$.

    separation.sign-changes, the step of the slides, has half of it. The integral is at least
    $1 - \frac{\sin 2\pi m}{2\pi m} - \sum_{n \le k} \frac{2n+1}{2} c_n^2$ with $c_n = \int P_n \sin(\pi m x)$,
    spherical Bessel functions of $\pi m$, for which separation.sine-on-the-sphere has a bound. Proof:
    docs/proofs/polynomials-against-a-sine.md.
    """
    size = (deviation * deviation).sum(-1)
    value = 2 * distance(3, m * m, deviation)
    lower = separation.sign_change_lower_bound(m, k, deviation)
    return leq(times.numerator * lower / times.denominator, value, scale=1 + size)
