"""Proof of “Lipschitz function approximation” of `separation`: the error of one chord."""

from fractions import Fraction

import torch

from rankcheck import bound, leq, linalg, networks, paper
from rankcheck.instances import Source, instances, positive

from ._functions import lipschitz_function, subdivision


@instances
def functions_on_a_cell(source: Source):
    """A piecewise-linear L-Lipschitz f on a cell [x_0, x_0 + h], and L."""
    start, length = source.tensor(), positive(source)
    lipschitz, pieces = positive(source), source.integer(1, 6)
    breakpoints = subdivision(source, pieces, start.unsqueeze(-1), length.unsqueeze(-1))
    return lipschitz_function(source, breakpoints, lipschitz), lipschitz


def roof(source: Source, ratio: int):
    """Slope L up to a drawn place in the cell and −L from there on; declared is L/ratio."""
    start, length, lipschitz = source.tensor(), positive(source), positive(source)
    place = source.tensor(low=0.0625, high=0.9375)
    zero, one = torch.zeros_like(place), torch.ones_like(place)
    breakpoints = torch.stack((zero, place, one), -1) * length.unsqueeze(-1)
    slopes = torch.stack((lipschitz, -lipschitz), -1)
    f = networks.PiecewiseLinear.from_slopes(
        start.unsqueeze(-1) + breakpoints, slopes, source.tensor()
    )
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
    length = x[..., -1] - x[..., 0]
    slope = (y[..., -1] - y[..., 0]) / length
    chord = y[..., :1] + slope.unsqueeze(-1) * (x - x[..., :1])
    error = (y - chord).abs().amax(-1)
    half = lipschitz * length / 2
    scale = y.abs().amax(-1) + lipschitz * x.abs().amax(-1)
    sharp = half - slope * slope * length / (2 * lipschitz)
    return (
        leq(error, sharp, scale=scale, label="with the slope of the chord"),
        leq(error, half, scale=scale, label="cells of length 2ε/L"),
        leq(error, linalg.scalar(times, half) * half, scale=scale, label="cells of length ε/L"),
    )
