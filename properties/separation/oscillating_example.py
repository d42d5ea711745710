"""Example of `separation`: sin(πd³⟨x, x′⟩), built as a network of depth three."""

import math
from fractions import Fraction

import torch

from rankcheck import bound, construction, leq, linalg, paper, tolerances, witnesses
from rankcheck.instances import Source, instances, unit_vectors

from ._functions import heavier, sine


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


#: Pairs of points in an instance, which share one network.
PAIRS = 4
#: Rational numbers above and below π, for numbers of cells and of units.
PI_ABOVE, PI_BELOW = Fraction(355, 113), Fraction(333, 106)


@instances
def pairs_of_points(source: Source):
    """d, ε, and four pairs of unit vectors, the first aligned and the second opposite."""
    d, error = source.integer(2, source.choice((3, 4))), Fraction(1, source.integer(1, 3))
    x, other = unit_vectors(source, PAIRS, d), unit_vectors(source, PAIRS - 2, d)
    return d, error, x, torch.cat((x[..., :1, :], -x[..., 1:2, :], other), -2)


def too_few_cells(f, d, inner_cells, outer_cells, radius):
    """N_f with an eighth of its cells."""
    return witnesses.depth_three(f, d, inner_cells, outer_cells // 8, radius)


def too_many_cells(f, d, inner_cells, outer_cells, radius):
    """Three times the cells of N_f."""
    return witnesses.depth_three(f, d, inner_cells, 3 * outer_cells, radius)


def with_large_weights(f, d, inner_cells, outer_cells, radius):
    """The same function with weights of 1024 in the first layer."""
    return heavier(witnesses.depth_three(f, d, inner_cells, outer_cells, radius), 1024)


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
    gap = (pair.outer(near) - f(exact)).squeeze(-1).abs()
    # f magnifies an error of N_i by up to πd³.
    scale = d**3 * 4 * tolerances.network_scale(pair.inner, joined).squeeze(-1)
    largest = torch.maximum(
        witnesses.largest_parameter(pair.inner), witnesses.largest_parameter(pair.outer)
    )
    first = math.floor(16 * PI_BELOW * d**5 / error)
    second = math.floor(4 * PI_BELOW * d**3 / error)
    return (
        leq(gap, linalg.scalar(error, x), scale=scale, label="the error"),
        leq(pair.inner.widths[1], first, label="the first width"),
        leq(pair.outer.widths[1], second, label="the second width"),
        leq(largest, 2 * d**3 * linalg.pi(x), label="the weights"),
    )
