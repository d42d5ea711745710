"""Example - conclusion, of `separation`: the tail of sin(πd³t) beyond degree d²."""

import math
from fractions import Fraction

import torch

from rankcheck import Erratum, bound, leq, linalg, paper, separation
from rankcheck.instances import Source, instances


@instances
def approximating_polynomials(source: Source):
    """d ≥ 2, and the deviation of a polynomial of degree below d² from the best one."""
    d = source.integer(2, source.choice((6, 40)))
    return d, source.tensor(source.integer(1, min(d * d, 8)))


@instances
def best_polynomials(source: Source):
    """The deviation is 0."""
    d = source.integer(2, 40)
    return d, 0 * source.tensor(1)


def one_fifth(like):
    """1/(5eπ)."""
    return 1 / (5 * torch.exp(like.new_ones(())) * linalg.pi(like))


@bound(
    "separation.tail-of-the-example",
    paper("separation", "slide: Example - conclusion"),
    instances=approximating_polynomials(),
    tight=best_polynomials(),
    mutants={
        "22 times the bound of the square": {"times": 22},
        "31 times the bound of the norm": {"times_norm": 31},
        "42/100 for 2/5": {"least": Fraction(42, 100)},
    },
    loose={
        "the square": "the tail is nearly 1/2, and the bound is 1/(5eπ)",
        "two fifths": "the tail is 0.4189 at d = 2, and nearly 1/2 from d = 3 on",
        "the norm, as printed": "the norm is nearly the root of 1/2, and the bound is 1/(5eπ)",
    },
    witness=separation.example_tail,
    errata=Erratum(
        printed=r"$P_nF \ge 1/(5e\pi)$",
        right=r"$\|P_nF\| \ge 1/(5e\pi)$, with bars that the conversion of the text at hand may "
        r"have lost; it is what the conclusion uses: $1/(50e^2\pi^2)$ is half of its square. Even "
        r"$\|P_nF\|^2$ is at least 2/5.",
        survives="The conclusion.",
    ),
)
def test_tail_of_the_example(d, deviation, *, times=1, times_norm=1, least=Fraction(2, 5)):
    r"""The tail of sin(πd³t) beyond degree d² has a squared norm of at least 1/(5eπ), even 2/5.

    $\|P_n F\|^2 \ge \frac25 > \frac{1}{5e\pi}$ for $F = \sin(\pi d^3 \langle x, x' \rangle)$, $n = d^2$ and
    every $d \ge 2$, so $\|P_n F\| \ge \frac{1}{5e\pi}$, as printed with the norm. The square is the
    least squared distance of $\sin(\pi d^3 t)$ to polynomials of degree below $n$ in $L^2(\mu_d)$.

    Checked for $d \le 40$, against polynomials with deviations of degree at most 7 from the best
    one. For every $d \ge 3$ the tail is at least 0.48 by docs/proofs/polynomials-against-a-sine.md,
    Corollary 5; at $d = 2$ it is computed. The bound of the slides follows for $d \ge 25$ from their lemma
    (separation.tail-from-the-lemma).
    """
    n = d * d
    alpha = separation.sine_coefficients(d, d**6, n - 1, deviation)
    p = alpha + torch.cat((deviation, deviation.new_zeros(n - deviation.shape[-1])), -1)
    size = (deviation * deviation).sum(-1)
    distance = (
        separation.sine_energy(d, d**6, deviation) - (2 * alpha * p).sum(-1) + (p * p).sum(-1)
    )
    tail = separation.example_tail(d, deviation)
    return (
        leq(tail, distance, scale=1 + size, label="the best polynomial"),
        leq(times * one_fifth(deviation), tail, label="the square"),
        leq(linalg.scalar(least, tail), tail, label="two fifths"),
        leq(times_norm * one_fifth(deviation), torch.sqrt(tail), label="the norm, as printed"),
    )


@instances
def dimensions(source: Source, *, low: int, high: int):
    """One dimension."""
    return source.integer(low, high)


@bound(
    "separation.tail-from-the-lemma",
    paper("separation", "slide: Example - conclusion"),
    instances=dimensions(low=25, high=10**6),
    tight=dimensions(low=25, high=25),
    needs={"d >= 25": dimensions(low=2, high=24)},
    mutants={
        "1/(4.99eπ), degree d²": {"printed": Fraction(499, 100)},
        "1/(4.99eπ), degree d² − 1": {"one_less": Fraction(499, 100)},
    },
    loose={"degree d² − 1": "the squares are nearly equal at d = 25, and no dimension is nearer"},
)
def test_tail_from_the_lemma(d, *, printed=Fraction(5), one_less=Fraction(5)):
    r"""The lemma gives the tail of the example in every dimension from 25 on.

    With $m = d^{5/2}$ and $d \ge 25$: $\frac{\lfloor m \rfloor - k}{4e\pi m} \ge \frac{1}{5e\pi}$ for
    degree $k = d^2$, with equality at $d = 25$, so for $k = d^2 - 1$ too, whether $d$ is a square or
    not. The left side is the bound of the lemma for real $m$ (separation.density-lower-bound and
    separation.sign-changes); $P_nF$ with $n = d^2$ needs $k = d^2 - 1$ only.

    As $\lfloor m \rfloor > d^{5/2} - 1$, it is enough that $\frac15 d^{5/2} \ge d^2 + 1$, which holds at
    $d = 26$ ($689 > 677$) and, since $d^{-1/2} + d^{-5/2}$ decreases, at every $d \ge 26$; and at $d = 25$ the two
    sides are integers, $25 \cdot 2500^2 = 16 \cdot 25^5$. Checked in integers, as
    $25\,(\lfloor m \rfloor - k)^2 \ge 16\,d^5$, for $d$ up to a million.
    """
    relations = []
    for label, degree, constant in (
        ("degree d²", d * d, printed),
        ("degree d² − 1", d * d - 1, one_less),
    ):
        p, q = (constant**2).as_integer_ratio()
        misses = math.isqrt(d**5) - degree
        relations.append(leq(16 * q * d**5, p * misses**2, label=label))
    return tuple(relations)
