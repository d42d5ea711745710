"""“Lipschitz function approximation” of `separation`: Lipschitz functions of one variable at depth
two."""

import math
from dataclasses import replace
from fractions import Fraction

import torch

from rankcheck import Need, construction, eq, leq, linalg, networks, paper, witnesses
from rankcheck.instances import Source, instances, positive

from ._functions import lipschitz_function, subdivision


@instances
def lipschitz_functions(source: Source):
    """A piecewise-linear f that is L-Lipschitz on [−R, R], R, L, and ρ = RL/ε, a rational number."""
    ratio = Fraction(source.integer(1, 40), 8) * source.choice((1, 8))
    radius, lipschitz = positive(source, high=3.0), positive(source, high=4.0)
    pieces = source.integer(1, 8)
    breakpoints = radius.unsqueeze(-1) * subdivision(source, pieces)
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
    breakpoints = torch.stack([radius * linalg.scalar(share, radius) for share in shares], -1)
    up = 1 - 2 * (torch.arange(3 * teeth, dtype=torch.float64) % 2)
    f = networks.PiecewiseLinear.from_slopes(
        breakpoints, lipschitz.unsqueeze(-1) * up, source.tensor()
    )
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
    return max(witnesses.cells_needed(ratio, 1, 1) - 1, 0)


def one_cell_more(ratio):
    """Cells that are shorter than they need be."""
    return witnesses.cells_needed(ratio, 1, 1) + 1


def idle_units_beyond_the_interval(f, radius, cells):
    """The same function: units of weight 0 start beyond R, by half a cell."""
    network = witnesses.interpolate(f, radius, cells)
    beyond = -radius.unsqueeze(-1) * linalg.scalar(
        Fraction(2 * cells + 1, 2 * max(cells, 1)), radius
    )
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
    scale = f.values.abs().amax(-1) + radius * lipschitz
    origin = f(torch.zeros_like(radius).unsqueeze(-1)).squeeze(-1)
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
        leq(network.beta.abs().amax(-1), radius - radius / number, label="the biases"),
        leq(network.gamma.abs().amax(-1), 2 * lipschitz, scale=scale / radius, label="the jumps"),
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
    ends = radius.unsqueeze(-1) * linalg.scalar(1 / ratio, radius)
    breakpoints = torch.cat(
        (-radius.unsqueeze(-1), -ends, 0 * ends, ends, radius.unsqueeze(-1)), -1
    )
    one = torch.ones_like(lipschitz)
    slopes = lipschitz.unsqueeze(-1) * torch.stack((one, -one, one, -one), -1)
    return (
        networks.PiecewiseLinear.from_slopes(breakpoints, slopes, source.tensor()),
        radius,
        lipschitz,
        ratio,
    )


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
    f,
    radius,
    lipschitz,
    ratio,
    *,
    rounding=math.floor,
    printed=1,
    witness=witnesses.interpolate_cells,
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
    scale = f.values.abs().amax(-1) + radius * lipschitz
    gap = witnesses.supremum_error(f, network)
    return (
        leq(gap, error / 2, scale=scale, where=ratio.denominator == 1, label="half the error"),
        leq(gap, linalg.scalar(printed, error) * error, scale=scale, label="the error"),
        leq(network.lipschitz(), lipschitz, scale=scale / radius, label="the Lipschitz constant"),
        leq(network.width, math.floor(2 * ratio), label="the width"),
    )
