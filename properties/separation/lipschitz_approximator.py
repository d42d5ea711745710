"""“Lipschitz function approximation” of `separation`: Lipschitz functions of one variable at depth
two."""

import math
from fractions import Fraction

import torch

from rankcheck import Erratum, construction, eq, leq, paper, refuted
from rankcheck.instances.matrices import positive
from rankcheck.instances.source import Source, instances
from rankcheck.networks.piecewise_linear import zigzag
from rankcheck.scalars import scalar
from rankcheck.witnesses.lipschitz import cells_as_drawn, cells_needed, interpolate, supremum_error

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
    """A tooth of slopes ±L in each cell and ρ = 2n, so that the error is exactly ε."""
    cells = source.integer(1, 5)
    radius, lipschitz = positive(source, high=3.0), positive(source, high=4.0)
    return zigzag(radius, lipschitz, cells), radius, lipschitz, Fraction(2 * cells)


@instances
def too_steep(source: Source):
    """A zigzag of slopes ±2L, declared as L-Lipschitz."""
    f, radius, lipschitz, ratio = zigzags()(source)
    return f, radius, lipschitz / 2, ratio


def cells(ratio):
    """The number of cells on either side of 0 in the theorem."""
    return cells_needed(ratio, 1, 1)


def one_cell_fewer(ratio):
    """Cells that are too long."""
    return max(cells_needed(ratio, 1, 1) - 1, 0)


def as_drawn(ratio):
    """Cells of length ε/L, as on the slide, which are too many."""
    return cells_as_drawn(ratio, 1, 1)


@construction(
    "separation.lipschitz-approximator",
    paper("separation", "slide: Lipschitz function approximation"),
    instances=lipschitz_functions(),
    tight=zigzags(),
    needs={"f is L-Lipschitz": too_steep()},
    mutants={
        "one cell fewer": {"cells_for": one_cell_fewer},
        "cells of length ε/L, as drawn": {"cells_for": as_drawn},
    },
    loose={"the biases": "the last unit starts one cell before R"},
    witness=interpolate,
)
def test_lipschitz_approximator(f, radius, lipschitz, ratio, *, cells_for=cells):
    r"""A Lipschitz function of one variable as a network of one hidden layer.

    For $f: [-R, R] \to \mathbb R$, $L$-Lipschitz, and $\varepsilon > 0$ there is $N(x) = f(0) +
    \sum_{i \le m} \gamma_i\,\mathrm{relu}(\alpha_i x + \beta_i)$ with $\sup_{[-R,R]} |f - N| \le
    \varepsilon$, $N$ $L$-Lipschitz on $\mathbb R$, $m \le 2RL/\varepsilon$, $\alpha_i = \pm 1$,
    $|\beta_i| \le R$ and $|\gamma_i| \le 2L$.

    Checked for piecewise-linear $f$, where a breakpoint of $f$ or of $N$ attains the supremum. The
    unit tests of the witness have smooth $f$.
    """
    network = interpolate(f, radius, cells_for(ratio))
    error = radius * lipschitz / scalar(ratio, radius)
    scale = f.values.abs().amax(-1) + radius * lipschitz
    origin = f(torch.zeros_like(radius).unsqueeze(-1)).squeeze(-1)
    clauses = (
        eq(network.offset, origin, scale=scale, label="the value at 0"),
        leq(supremum_error(f, network), error, scale=scale, label="the error"),
        leq(network.lipschitz(), lipschitz, scale=scale / radius, label="the Lipschitz constant"),
        leq(network.width, math.floor(2 * ratio), label="the width"),
    )
    if network.width == 0:
        return clauses
    return (
        *clauses,
        eq(network.alpha.abs(), 1, label="the inner weights"),
        leq(network.beta.abs().amax(-1), radius, label="the biases"),
        leq(network.gamma.abs().amax(-1), 2 * lipschitz, scale=scale / radius, label="the jumps"),
    )


@refuted(
    "separation.lipschitz-width-as-drawn",
    paper("separation", "slide: Lipschitz function approximation - proof"),
    instances=lipschitz_functions(),
    errata=Erratum(
        printed="TODO",
        right="The slide draws cells of length ε/L; they need 2⌈RL/ε⌉ units, more than 2RL/ε unless "
        "RL/ε is a whole number (RL/ε = 1.3: 4 > 2.6). Right are cells of length 2ε/L, which have the same "
        "error bound and need few enough units.",
        survives="TODO",
        weight="theorem",
    ),
    readings={"TODO": "TODO"},
    corrected_by="separation.lipschitz-approximator",
)
def test_lipschitz_width_as_drawn(f, radius, lipschitz, ratio):
    r"""The width of the approximator with cells of length ε/L, as drawn on the slide.

    The network that interpolates $f$ at the ends of cells of length $\varepsilon/L$ on either side
    of 0 has at most $2RL/\varepsilon$ units.
    """
    return leq(interpolate(f, radius, cells_as_drawn(ratio, 1, 1)).width, math.floor(2 * ratio))
