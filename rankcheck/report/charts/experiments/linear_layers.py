"""Trained networks with linear layers: their singular values, errors and angles at two depths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import TYPE_CHECKING

from rankcheck.experiments.figures.linear_layers import SHARE, pairs
from rankcheck.experiments.figures.linear_notebooks import CASES, DEPTHS, INPUTS, PRINTED
from rankcheck.report.charts.audit.scales import floored, log_axis, on_pixels
from rankcheck.report.charts.picture import Picture
from rankcheck.report.panels import Key, panels
from rankcheck.report.svg import Axis, Chart, Point

if TYPE_CHECKING:
    from rankcheck.experiments.result import Result, Run

__all__ = ["figures"]

#: The colours: of a depth, or of our runs beside what is printed.
SERIES = dict(zip(DEPTHS, (1, 2), strict=True))
OURS, THEIRS = 1, 2
#: The size of a panel, in units.
WIDTH, HEIGHT = 310.0, 230.0


def figures(result: Result) -> list[Picture]:
    """The singular values as on the slides, then what became of each pair of runs."""
    return [
        _spectra(result),
        _slopes(
            result,
            "errors",
            "The error at fresh points, at L = 2 and at L = 4",
            "generalisation",
            "mean squared error",
            "At 2048 fresh points of $[-\\frac12, \\frac12]^{20}$, where the "
            "target has the variance 29 for $r = 1$, and 17 for $r = 2$.",
        ),
        _slopes(
            result,
            "angles",
            "From the principal directions to the true ones, at L = 2 and at L = 4",
            "distance",
            "sine of the angle",
            "The sine of the largest angle between the first $r$ principal directions of the "
            "trained function and the $r$ directions that the target depends on.",
        ),
    ]


def _cases(result: Result) -> Iterator[tuple[str, list[tuple[Run, Run]], tuple[int, int]]]:
    """The cases that the result has: a title, the pairs of runs, and their key."""
    for r, points in CASES:
        both = pairs(result.where(rank=r, points=points))
        if both:
            yield f"r = {r}, n = {points}", both, (r, points)


def _spectra(result: Result) -> Picture:
    shown = [s for run in result.runs for s in run.measured["sigma"]]
    shown += [s for one in PRINTED.values() for s in one.sigma]
    y = log_axis(shown, "singular value") or Axis(0, 1)
    x = Axis(0, INPUTS + 1, "its number i", ticks={float(i): str(i) for i in (1, 10, INPUTS)})
    charts = []
    for words, both, key in _cases(result):
        chart = Chart(
            words, "The singular values at both depths.", x, y, width=WIDTH, height=HEIGHT, right=8
        )
        for depth, runs in zip(DEPTHS, zip(*both, strict=True), strict=True):
            series = SERIES[depth]
            sigma = [run.measured["sigma"] for run in runs]
            dots = [point for each in sigma for point in _numbered(each, y)]
            chart.dots(
                on_pixels(dots, y),
                series,
                fine=True,
                tip=f"{words}, L = {depth}: {len(runs)} networks",
            )
            middle = [median(values) for values in zip(*sigma, strict=True)]
            chart.line(_numbered(middle, y), series)
            printed = PRINTED[*key, depth].sigma
            chart.line(_numbered(printed, y), series, dashed=True)
        charts.append(chart)
    title = "The singular values of trained networks"
    svg = panels(
        charts,
        2,
        title=title,
        description="For each case the singular values of both depths; at L = 4 those after the "
        "first few are smaller by orders of magnitude.",
        keys=[Key(f"L = {depth}", series) for depth, series in SERIES.items()],
    )
    caption = (
        "The singular values $\\sigma_i$ of $C_f^{1/2}$, $C_f = E[\\nabla f \\nabla f^\\top]$, of "
        "networks with $L - 1$ linear layers that learnt $n$ values of a function of index rank "
        "$r$: a dot for each network and a line through the medians. Dashed are the networks of "
        "width 1000 of the authors' notebooks. What is smaller than the axis shows lies on its "
        f"lower end. The effective index rank counts what is above ${SHARE}\\,\\sigma_1$."
    )
    return Picture("linear_layers", title, caption, svg)


def _numbered(values: Sequence[float], y: Axis) -> list[Point]:
    """Values at 1, 2, ..."""
    return [(i, value) for i, value in enumerate(floored(values, y), 1)]


def _slopes(
    result: Result, name: str, title: str, quantity: str, label: str, caption: str
) -> Picture:
    """A line from L = 2 to L = 4 for each pair of runs, case by case."""
    shown = [run.measured[quantity] for run in result.runs]
    shown += [getattr(one, quantity) for one in PRINTED.values()]
    y = log_axis(shown, label) or Axis(0, 1)
    x = Axis(-0.2, 1.2, ticks={float(i): f"L = {depth}" for i, depth in enumerate(DEPTHS)})
    charts = []
    for words, both, key in _cases(result):
        chart = Chart(
            words, "A line for every pair of runs.", x, y, width=WIDTH, height=HEIGHT, right=8
        )
        for pair in both:
            chart.line([(i, run.measured[quantity]) for i, run in enumerate(pair)], OURS)
        printed = [(i, getattr(PRINTED[*key, L], quantity)) for i, L in enumerate(DEPTHS)]
        chart.line(printed, THEIRS, dashed=True)
        charts.append(chart)
    svg = panels(
        charts,
        2,
        title=title,
        description="For each case a line from L = 2 to L = 4 for every pair of runs, and the "
        "printed one.",
        keys=[Key("ours", OURS), Key("printed", THEIRS, "dash")],
    )
    caption += (
        " A line joins two networks that learnt from the same points; dashed are those of the "
        "notebooks."
    )
    return Picture(name, title, caption, svg)
