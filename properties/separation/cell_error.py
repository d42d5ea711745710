import torch

from rankcheck import bound, leq, paper
from rankcheck.instances.matrices import positive
from rankcheck.instances.source import Source, instances
from rankcheck.networks.piecewise_linear import PiecewiseLinear


@instances
def functions_on_a_cell(source: Source):
    """A cell [x_0, x_0 + h] and a piecewise-linear f on it, with slopes of L times at most one."""
    start, length = source.tensor(), positive(source)
    lipschitz, pieces = positive(source), source.integer(1, 6)
    parts = positive(source, pieces)
    ends = torch.cat((0 * parts[..., :1], parts.cumsum(-1)), -1)
    breakpoints = start.unsqueeze(-1) + length.unsqueeze(-1) * ends / ends[..., -1:]
    slopes = lipschitz.unsqueeze(-1) * source.tensor(pieces, low=-1.0, high=1.0)
    return PiecewiseLinear.from_slopes(breakpoints, slopes, source.tensor()), lipschitz


def roof(source: Source, ratio: int):
    """Slope L up to a drawn place in the cell, and -L from there on; L/ratio is what is declared."""
    start, length, lipschitz = source.tensor(), positive(source), positive(source)
    place = source.tensor(low=0.0625, high=0.9375)
    breakpoints = torch.stack((0 * place, place, 0 * place + 1), -1) * length.unsqueeze(-1)
    slopes = torch.stack((lipschitz, -lipschitz), -1)
    f = PiecewiseLinear.from_slopes(start.unsqueeze(-1) + breakpoints, slopes, source.tensor())
    return f, lipschitz / ratio


@instances
def roofs(source: Source):
    """As steep as declared on both sides of a peak: the chord errs as much as it can."""
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
    loose={
        "cells of length ε/L": "the chord errs by at most ε/2 there: the cells could be twice as "
        "long, and then the bound is reached"
    },
)
def test_cell_error(f, lipschitz):
    r"""The chord of a Lipschitz function over a cell errs by at most half the rise.

    The chord of an $L$-Lipschitz $f$ over a cell of length $h$, with slope $c$, errs by at most
    $\frac{Lh}{2} - \frac{c^2 h}{2L} \le \frac{Lh}{2}$: by at most $\varepsilon$ on cells of length
    $\varepsilon/L$, as on the slide, and on cells of length $2\varepsilon/L$ as well.

    $f$ is piecewise linear, so the supremum is attained at a breakpoint, and taken there.
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
        leq(error, 2 * half, scale=scale, label="cells of length ε/L"),
    )
