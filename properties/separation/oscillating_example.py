"""Example of `separation`: sin(πd³⟨x, x′⟩) at depth three, and its tail beyond degree d²."""

import math
from dataclasses import replace
from fractions import Fraction

import torch

from rankcheck import (
    Erratum,
    bound,
    construction,
    leq,
    linalg,
    paper,
    separation,
    tolerances,
    witnesses,
)
from rankcheck.instances import Source, instances, unit_vectors

from ._helpers import distance, heavier


def sine(d: int):
    """The oscillating example t ↦ sin(πd³t)."""
    return lambda t: torch.sin(d**3 * linalg.pi(t) * t)


@instances
def neighbouring_numbers(source: Source):
    """d, s, and s plus a step."""
    d, s = source.integer(2, 100), source.tensor(low=-1.0, high=1.0)
    return d, s, s + source.tensor(low=-1.0, high=1.0) * linalg.scalar(Fraction(1, d**3), s)


@instances
def next_to_zero(source: Source):
    """d, 0, and a number close to 0, where the sine is steepest."""
    d, s = source.integer(2, 100), source.tensor(low=-1.0, high=1.0)
    return d, 0 * s, (s + 2) * linalg.scalar(Fraction(1, 2**15 * d**3), s)


@bound(
    "separation.sine-lipschitz",
    paper("separation", "slide: Example"),
    instances=neighbouring_numbers(),
    tight=next_to_zero(),
    mutants={"3.14 for π": {"slope": Fraction(314, 100)}},
)
def test_sine_lipschitz(d, s, t, *, slope=None):
    r"""sin(πd³t) is πd³-Lipschitz.

    $|\sin(\pi d^3 s) - \sin(\pi d^3 t)| \le \pi d^3\,|s - t|$.
    """
    f = sine(d)
    slope = linalg.pi(s) if slope is None else linalg.scalar(slope, s)
    return leq((f(s) - f(t)).abs(), d**3 * slope * (s - t).abs(), scale=d**3 * s.abs() + 1)


#: Rational numbers above and below π, for numbers of cells and of units.
PI_ABOVE, PI_BELOW = Fraction(355, 113), Fraction(333, 106)


@instances
def pairs_of_points(source: Source):
    """d, ε, and four pairs of unit vectors for one network, the first aligned, the second opposite."""
    d, error = source.integer(2, source.choice((3, 4))), Fraction(1, source.integer(1, 3))
    x, other = unit_vectors(source, 4, d), unit_vectors(source, 2, d)
    return d, error, x, torch.cat((x[:1], -x[1:2], other))


def too_few_cells(f, d, inner_cells, outer_cells, radius):
    """N_f with an eighth of its cells."""
    return witnesses.depth_three(f, d, inner_cells, outer_cells // 8, radius)


def too_many_cells(f, d, inner_cells, outer_cells, radius):
    """Three times the cells of N_f."""
    return witnesses.depth_three(f, d, inner_cells, 3 * outer_cells, radius)


def with_large_weights(f, d, inner_cells, outer_cells, radius):
    """The same function with weights of 1024 in the first layer."""
    pair = witnesses.depth_three(f, d, inner_cells, outer_cells, radius)
    return replace(pair, inner=heavier(pair.inner, 1024))


@construction(
    "separation.oscillating-example",
    paper("separation", "slide: Example"),
    instances=pairs_of_points(),
    mutants={
        "an eighth of the cells of N_f": {"witness": too_few_cells},
        "three times the cells of N_f": {"witness": too_many_cells},
        "large weights": {"witness": with_large_weights},
    },
    loose={
        "the error": "a sine is smooth: chords of length ε/L err by at most ε²/8",
        "the first width": "cells of twice the length on the slides need half the units",
        "the second width": "cells of twice the length on the slides need half the units",
        "the weights": "neighbouring chords of a sine do not differ by 2L",
    },
    witness=witnesses.depth_three,
    effort=0.3,
)
def test_oscillating_example(d, error, x, other, *, witness=witnesses.depth_three):
    r"""The oscillating example as a network of depth three and width 16πd⁵/ε.

    $f(t) = \sin(\pi d^3 t)$ is $\pi d^3$-Lipschitz, so $N_F$ is within $\varepsilon$ of $F(x, x') =
    \sin(\pi d^3 \langle x, x' \rangle)$ with hidden widths at most $16\pi d^5/\varepsilon$ and
    $4\pi d^3/\varepsilon$, and weights and biases of absolute value at most $2\pi d^3$.

    Built for $d = 2, 3, 4$, with up to 77 208 units. A rational number above $\pi$ gives the
    numbers of cells, and one below $\pi$ the bounds of the widths.
    """
    cells = witnesses.depth_three_cells(PI_ABOVE * d**3, d, error)
    f = sine(d)
    pair = witness(f, d, *cells, x.new_ones(()))
    joined = torch.cat((x, other), -1)
    near, exact = pair.inner(joined), (x * other).sum(-1, keepdim=True)
    gap = (pair.outer(near) - f(exact))[:, 0].abs()
    # f magnifies an error of N_i by up to πd³.
    scale = d**3 * 4 * tolerances.network_scale(pair.inner, joined)[:, 0]
    largest = torch.maximum(
        *(witnesses.largest_parameter(part) for part in (pair.inner, pair.outer))
    )
    first = math.floor(16 * PI_BELOW * d**5 / error)
    second = math.floor(4 * PI_BELOW * d**3 / error)
    return (
        leq(gap, linalg.scalar(error, x), scale=scale, label="the error"),
        leq(pair.inner.widths[1], first, label="the first width"),
        leq(pair.outer.widths[1], second, label="the second width"),
        leq(largest, 2 * d**3 * linalg.pi(x), label="the weights"),
    )


@instances
def polynomials(source: Source, *, low: int = 3, high: int = 60):
    """d, q with ω = π√q, and the deviation of a polynomial of degree k ≤ 15 from the best one."""
    d = source.integer(low, source.choice((low, high)))
    q = Fraction(source.integer(1, source.choice((16, 4096))), 16)
    k = source.integer(0, source.choice((1, 15)))
    return d, q, source.tensor(k + 1) * source.choice((0, 1))


@instances
def constants(source: Source):
    """The same with the degree 0, and no deviation from the best constant, 0."""
    return source.integer(3, 60), Fraction(source.integer(1, 64), 4), 0 * source.tensor(1)


@instances
def lines_on_the_circle(source: Source):
    """d = 2, where the formula takes nothing away, and the best polynomial of degree 1."""
    return 2, Fraction(source.integer(1, 64), 16), 0 * source.tensor(2)


def with_one(d, q, k, like):
    """1 in place of (1 + √5)/2."""
    whole = separation.sine_energy(d, q, like)
    golden = (1 + 5**0.5) / 2
    return whole - (whole - separation.sine_distance_bound(d, q, k, like)) / golden


@bound(
    "separation.sine-on-the-sphere",
    paper("rankcheck", "docs/proofs/polynomials-against-a-sine.md, Theorem 3"),
    instances=polynomials(),
    tight=constants(),
    needs={"d >= 3": lines_on_the_circle()},
    mutants={"1 for (1 + √5)/2": {"lower": with_one}},
    witness=separation.sine_distance_bound,
)
def test_sine_on_the_sphere(d, q, deviation, *, lower=separation.sine_distance_bound):
    r"""Polynomials of low degree hold little of a sine: an explicit bound in every dimension from three on.

    For $s(t) = \sin \omega t$, $\omega > 0$, $d \ge 3$ and every polynomial $p$ of degree $k$: $\int (s -
    p)^2\,d\mu_d \ge \|s\|^2 - \frac{1 + \sqrt5}4 \cdot \frac{(d - 2) K}{\omega^2}$ with $K = (l + 1)(l + 2)$, $l$ the
    largest odd integer up to $k$, and $K = 0$ for $k = 0$, where it is an equality for $p = 0$.

    $d = 3$ is the interval $[-1, 1]$ with $dx/2$. From there the bound follows for larger $d$, as
    $\mu_d$ is a mixture of uniform laws. Best known in place of $\frac{1 + \sqrt5}2 = 1.618$ could be
    1.1302. Proof: docs/proofs/polynomials-against-a-sine.md.

    Checked for $d \le 60$, $k \le 15$, $\omega \le 16\pi$.
    """
    least = lower(d, q, len(deviation) - 1, deviation)
    return leq(least, distance(d, q, deviation), scale=1 + deviation @ deviation)


@instances
def approximating_polynomials(source: Source):
    """d ≥ 2, and the deviation of a polynomial of degree below d² from the best one."""
    d = source.integer(2, source.choice((6, 40)))
    return d, source.tensor(source.integer(1, min(d * d, 8)))


@instances
def best_polynomials(source: Source):
    """The deviation is 0."""
    return source.integer(2, 40), 0 * source.tensor(1)


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
    of_all = torch.cat((deviation, deviation.new_zeros(d * d - len(deviation))))
    value, scale = distance(d, d**6, of_all), 1 + deviation @ deviation
    fifth = 1 / (5 * torch.exp(deviation.new_ones(())) * linalg.pi(deviation))
    tail = separation.example_tail(d, deviation)
    return (
        leq(tail, value, scale=scale, label="the best polynomial"),
        leq(times * fifth, tail, label="the square"),
        leq(linalg.scalar(least, tail), tail, label="two fifths"),
        leq(times_norm * fifth, torch.sqrt(tail), label="the norm, as printed"),
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

    def enough(degree, constant, label):
        p, q = (constant**2).as_integer_ratio()
        return leq(16 * q * d**5, p * (math.isqrt(d**5) - degree) ** 2, label=label)

    return (enough(d * d, printed, "degree d²"), enough(d * d - 1, one_less, "degree d² − 1"))
