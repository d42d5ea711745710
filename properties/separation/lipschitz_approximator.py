"""“Lipschitz function approximation” of `separation`: one chord, and functions at depth two."""

import math
from dataclasses import replace
from fractions import Fraction

import torch

from rankcheck import Need, bound, construction, eq, leq, linalg, networks, paper, witnesses
from rankcheck.instances import Source, instances, positive

from ._helpers import lipschitz_function, subdivision


@instances
def functions_on_a_cell(source: Source):
    """A piecewise-linear L-Lipschitz f on a cell [x_0, x_0 + h], and L."""
    start, length = source.tensor(), positive(source)
    lipschitz, pieces = positive(source), source.integer(1, 6)
    breakpoints = subdivision(source, pieces, start, length)
    return lipschitz_function(source, breakpoints, lipschitz), lipschitz


def roof(source: Source, ratio: int):
    """Slope L up to a drawn place in the cell and −L from there on; declared is L/ratio."""
    start, length, lipschitz = source.tensor(), positive(source), positive(source)
    place = source.tensor(low=0.0625, high=0.9375)
    ends = start + length * torch.stack((torch.zeros_like(place), place, torch.ones_like(place)))
    slopes = torch.stack((lipschitz, -lipschitz))
    f = networks.PiecewiseLinear.from_slopes(ends, slopes, source.tensor())
    return f, lipschitz / ratio


@instances
def roofs(source: Source):
    """As steep as declared on both sides of a peak, where the chord errs most."""
    return roof(source, 1)


@instances
def steep_roofs(source: Source):
    """Twice as steep as declared."""
    return roof(source, 2)


@bound(
    "separation.cell-error",
    paper("separation", "slide: Lipschitz function approximation - proof"),
    instances=functions_on_a_cell(),
    tight=roofs(),
    needs={"f is L-Lipschitz": steep_roofs()},
    mutants={"0.99 of the error on cells of length ε/L": {"times": Fraction(99, 100)}},
    loose={
        "cells of length ε/L": "the error is at most ε/2; cells of twice the length reach the bound"
    },
)
def test_cell_error(f, lipschitz, *, times=2):
    r"""The chord of a Lipschitz function over a cell errs by at most Lh/2.

    The chord of an $L$-Lipschitz $f$ over a cell of length $h$, with slope $c$, errs by at most
    $\frac{Lh}{2} - \frac{c^2 h}{2L} \le \frac{Lh}{2}$. This is at most $\varepsilon$ on cells of
    length $\varepsilon/L$, as on the slide, and also on cells of length $2\varepsilon/L$.

    Checked for piecewise-linear $f$, where a breakpoint attains the supremum.
    """
    x, y = f.breakpoints, f.values
    length = x[-1] - x[0]
    slope = (y[-1] - y[0]) / length
    error = (y - y[0] - slope * (x - x[0])).abs().amax()
    half = lipschitz * length / 2
    scale = y.abs().amax() + lipschitz * x.abs().amax()
    sharp = half - slope * slope * length / (2 * lipschitz)
    return (
        leq(error, sharp, scale=scale, label="with the slope of the chord"),
        leq(error, half, scale=scale, label="cells of length 2ε/L"),
        leq(error, linalg.scalar(times, half) * half, scale=scale, label="cells of length ε/L"),
    )


@instances
def lipschitz_functions(source: Source):
    """A piecewise-linear f that is L-Lipschitz on [−R, R], R, L, and ρ = RL/ε, a rational number."""
    ratio = Fraction(source.integer(1, 40), 8) * source.choice((1, 8))
    radius, lipschitz = positive(source, high=3.0), positive(source, high=4.0)
    breakpoints = radius * subdivision(source, source.integer(1, 8))
    return lipschitz_function(source, breakpoints, lipschitz), radius, lipschitz, ratio


@instances
def zigzags(source: Source):
    """Slopes ±L: a tooth in each cell left of 0 and turns at the knots right of it.

    The teeth attain the error, the turns the Lipschitz constant and the jumps. With two teeth ρ is
    9/4: the cells are those of ρ = 4, and as many units as the width allows.
    """
    teeth = source.integer(2, 5)
    radius, lipschitz = positive(source, high=3.0), positive(source, high=4.0)
    left = [Fraction(j, 2 * teeth) for j in range(-2 * teeth, 0)]
    shares = (*left, *(Fraction(j, teeth) for j in range(teeth + 1)))
    breakpoints = torch.stack([radius * linalg.scalar(share, radius) for share in shares])
    slopes = lipschitz * radius.new_tensor([(-1) ** j for j in range(3 * teeth)])
    f = networks.PiecewiseLinear.from_slopes(breakpoints, slopes, source.tensor())
    return f, radius, lipschitz, Fraction(9, 4) if teeth == 2 else Fraction(2 * teeth)


@instances
def too_steep(source: Source):
    """A zigzag of slopes ±2L, declared as L-Lipschitz."""
    f, radius, lipschitz, ratio = zigzags()(source)
    return f, radius, lipschitz / 2, ratio


def cells(ratio):
    """The number of cells on either side of 0 in the theorem."""
    return witnesses.cells_needed(ratio, 1, 1)


def one_cell_fewer(ratio):
    """Cells that are too long."""
    return max(cells(ratio) - 1, 0)


def one_cell_more(ratio):
    """Cells that are shorter than they need be."""
    return cells(ratio) + 1


def idle_units_beyond_the_interval(f, radius, cells):
    """The same function: units of weight 0 start beyond R, by half a cell."""
    network = witnesses.interpolate(f, radius, cells)
    beyond = -radius * linalg.scalar(Fraction(2 * cells + 1, 2 * max(cells, 1)), radius)
    return replace(network, beta=torch.where(network.gamma == 0, beyond, network.beta))


@construction(
    "separation.lipschitz-approximator",
    paper("separation", "slide: Lipschitz function approximation"),
    instances=lipschitz_functions(),
    tight=zigzags(),
    needs={"f is L-Lipschitz": too_steep()},
    mutants={
        "one cell fewer": {"cells_for": one_cell_fewer},
        "one cell more": {"cells_for": one_cell_more},
        "a unit beyond R": {"witness": idle_units_beyond_the_interval},
    },
    witness=witnesses.interpolate,
)
def test_lipschitz_approximator(
    f, radius, lipschitz, ratio, *, cells_for=cells, witness=witnesses.interpolate
):
    r"""A Lipschitz function of one variable as a network of one hidden layer.

    For $f: [-R, R] \to \mathbb R$, $L$-Lipschitz, and $\varepsilon > 0$ there is $N(x) = f(0) +
    \sum_{i \le m} \gamma_i\,\mathrm{relu}(\alpha_i x + \beta_i)$ with $\sup_{[-R,R]} |f - N| \le
    \varepsilon$, $N$ $L$-Lipschitz on $\mathbb R$, $m \le 2RL/\varepsilon$, $\alpha_i = \pm 1$,
    $|\beta_i| \le R$ and $|\gamma_i| \le 2L$.

    With $n$ cells on either side even $|\beta_i| \le R - R/n$, which is what is checked: the last unit
    starts one cell before $R$.

    Checked for piecewise-linear $f$, where a breakpoint of $f$ or of $N$ attains the supremum. The
    unit tests of the witness have smooth $f$.
    """
    number = cells_for(ratio)
    network = witness(f, radius, number)
    error = radius * lipschitz / linalg.scalar(ratio, radius)
    scale = f.values.abs().amax() + radius * lipschitz
    origin = f(radius.new_zeros(1))[0]
    clauses = (
        eq(network.offset, origin, scale=scale, label="the value at 0"),
        leq(witnesses.supremum_error(f, network), error, scale=scale, label="the error"),
        leq(network.lipschitz(), lipschitz, scale=scale / radius, label="the Lipschitz constant"),
        leq(network.width, math.floor(2 * ratio), label="the width"),
    )
    if network.width == 0:
        return clauses
    return (
        *clauses,
        eq(network.alpha.abs(), 1, label="the inner weights"),
        leq(network.beta.abs().amax(), radius - radius / number, label="the biases"),
        leq(network.gamma.abs().amax(), 2 * lipschitz, scale=scale / radius, label="the jumps"),
    )


@instances
def lipschitz_functions_and_whole_cells(source: Source):
    """The same with a whole number ρ."""
    f, radius, lipschitz, _ = lipschitz_functions()(source)
    return f, radius, lipschitz, Fraction(source.integer(1, 12))


@instances
def zigzags_and_whole_cells(source: Source):
    """Zigzags of slopes ±L with a tooth in each cell, or with turns at the knots."""
    teeth = source.integer(1, 5)
    ratio = Fraction(teeth * source.choice((1, 2)))
    radius, lipschitz = positive(source, high=3.0), positive(source, high=4.0)
    return networks.zigzag(radius, lipschitz, teeth), radius, lipschitz, ratio


@instances
def a_tooth_on_both_sides(source: Source):
    """ρ = 7/4 and f = L|x| up to ε/L, then with slope −L, on both sides."""
    radius, lipschitz = positive(source, high=3.0), positive(source, high=4.0)
    ratio = Fraction(7, 4)
    end = radius * linalg.scalar(1 / ratio, radius)
    breakpoints = torch.stack((-radius, -end, 0 * end, end, radius))
    slopes = torch.stack((lipschitz, -lipschitz, lipschitz, -lipschitz))
    f = networks.PiecewiseLinear.from_slopes(breakpoints, slopes, source.tensor())
    return f, radius, lipschitz, ratio


def half_the_cells(f, radius, ratio, number):
    """Cells of twice the length."""
    return witnesses.interpolate_cells(f, radius, ratio / 2, max(number // 2, 1))


@construction(
    "separation.lipschitz-whole-cells",
    paper("separation", "slide: Lipschitz function approximation - proof"),
    instances=lipschitz_functions_and_whole_cells(),
    tight=zigzags_and_whole_cells(),
    needs={
        "RL/ε is a whole number, rounded up": Need(
            a_tooth_on_both_sides(), {"rounding": math.ceil}
        ),
        "RL/ε is a whole number, rounded down": Need(
            a_tooth_on_both_sides(), {"rounding": math.floor}
        ),
    },
    mutants={
        "half the cells": {"witness": half_the_cells},
        "0.49 of the printed error": {"printed": Fraction(49, 100)},
    },
    loose={"the error": "it is at most ε/2, which zigzags reach"},
    witness=witnesses.interpolate_cells,
)
def test_lipschitz_whole_cells(
    f, radius, lipschitz, ratio, *, rounding=int, printed=1, witness=witnesses.interpolate_cells
):
    r"""The cells of length ε/L on the slides, for a whole number RL/ε.

    If $RL/\varepsilon$ is a whole number, the network that equals an $L$-Lipschitz $f$ at the
    multiples of $\varepsilon/L$ in $[-R, R]$ errs by at most $\varepsilon/2$, is $L$-Lipschitz, and
    has $m = 2RL/\varepsilon$ units. For $RL/\varepsilon = 7/4$ neither the next larger number of cells
    will do, which takes 4 units, nor the next smaller one, where the network goes on with its last
    slope and may err by $3\varepsilon/2$; separation.lipschitz-approximator has longer cells and
    every $\varepsilon$.

    Checked for piecewise-linear $f$. The drawing on the slide is not in the text at hand.
    """
    network = witness(f, radius, ratio, rounding(ratio))
    error = radius * lipschitz / linalg.scalar(ratio, radius)
    scale = f.values.abs().amax() + radius * lipschitz
    gap = witnesses.supremum_error(f, network)
    return (
        leq(gap, error / 2, scale=scale, where=ratio.denominator == 1, label="half the error"),
        leq(gap, linalg.scalar(printed, error) * error, scale=scale, label="the error"),
        leq(network.lipschitz(), lipschitz, scale=scale / radius, label="the Lipschitz constant"),
        leq(network.width, math.floor(2 * ratio), label="the width"),
    )
