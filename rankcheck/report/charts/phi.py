"""Φ_L between its ends, for a function of rank one and one of rank three."""

from __future__ import annotations

import torch

from rankcheck.costs import sandwich, winning_threshold
from rankcheck.costs.two_layer import unit_rank
from rankcheck.linalg import Array
from rankcheck.report.charts.picture import Picture
from rankcheck.report.svg import Axis, Chart

__all__ = ["phi"]

TITLE = "Low rank wins at large depth"
DEPTHS = (2, 3, 4, 5, 6, 8, 11, 16, 23, 32)


def phi() -> Picture:
    """Φ_L and its bounds for two functions; the one of lower rank is cheaper at large depth."""
    chart = Chart(
        TITLE,
        "The cost of a function of rank three and of one of rank one, against the depth. The one "
        "of rank one is dearer at depth two, and cheaper at large depth.",
        Axis(2, 32, "depth L", "log", ticks={n: str(n) for n in (2, 4, 8, 16, 32)}),
        Axis(0, 14, "Φ at depth L"),
        right=110,
    )
    low, high = _functions()
    for series, (W, a) in ((1, high), (2, low)):
        ends = sandwich(W, a, DEPTHS)
        lower = torch.maximum(ends.lower, ends.path)
        solved = ends.phi_upper
        assert solved is not None
        lines = [list(zip(DEPTHS, values.tolist(), strict=True)) for values in (lower, ends.upper)]
        chart.band(lines[1], lines[0], series)
        points = list(zip(DEPTHS, solved.tolist(), strict=True))
        chart.line(points, series)
        chart.dots(points, series)
        count = int(unit_rank(W, a))
        chart.rule(y=count, series=series)
        chart.end_label(points[-1][1], f"rank {count}", series)
    T = float(winning_threshold(*low, *high))
    chart.rule(x=T)
    chart.label((T, 12.5), "rank 1 is cheaper", 0, shift=(8, 0))
    caption = (
        r"The dots are $\Phi_L$, the least cost behind linear layers, of a two-layer function of "
        "rank three and of one of rank one; the bands lie between "
        r"$\max(\|D_aW\|_{S^{2/L}}^{2/L}, \mathrm{path}^{2/L})$ and "
        r"$\mathrm{rank}^{(L-2)/L}\, \mathrm{path}^{2/L}$. Each tends to its rank (dashed), so the "
        "function of rank one is cheaper at large depth; the bounds prove it to the right of the "
        "vertical line."
    )
    return Picture("phi", TITLE, caption, chart.svg)


def _functions() -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """W and a of a function of rank one, and of one of rank three."""
    line = torch.tensor([[3.0, 0, 0], [2, 0, 0], [0, 0, 0]], dtype=torch.float64)
    space = torch.tensor(
        [[1.0, 0.5, 0], [1, -0.5, 0], [1, 0, 0.5], [1, 0, -0.5]], dtype=torch.float64
    )
    return (line, torch.tensor([2.0, 3, 1], dtype=torch.float64)), (
        space,
        torch.tensor([1.0, 1, 1, 1], dtype=torch.float64),
    )
