"""Trained networks with linear layers: their singular values, errors and angles at two depths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import TYPE_CHECKING

from rankcheck.experiments.linear_layers import SHARE, pairs
from rankcheck.experiments.linear_notebooks import CASES, DEPTHS, INPUTS, PRINTED
from rankcheck.report.charts.audit.scales import floored, log_axis, on_pixels
from rankcheck.report.charts.picture import Picture
from rankcheck.report.svg import Axis, Chart, Point

if TYPE_CHECKING:
    from rankcheck.experiments.result import Result, Run

__all__ = ["figures"]

#: The colours: of a depth, or of our runs beside what is printed.
SERIES = dict(zip(DEPTHS, (1, 2), strict=True))
OURS, THEIRS = 1, 2
#: Units of the axis between the first singular values of two cases, and between two slopes.
STRIDE, STEP = INPUTS + 5, 1.7
RIGHT = 76.0


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


def _cases(result: Result) -> Iterator[tuple[int, str, list[tuple[Run, Run]], tuple[int, int]]]:
    """The cases that the result has: a number, a title, the pairs of runs, and their key."""
    for number, (r, points) in enumerate(CASES):
        both = pairs(result.where(rank=r, points=points))
        if both:
            yield number, f"r = {r}, n = {points}", both, (r, points)


def _spectra(result: Result) -> Picture:
    cases = list(_cases(result))
    shown = [s for run in result.runs for s in run.measured["sigma"]]
    shown += [s for one in PRINTED.values() for s in one.sigma]
    y = log_axis(shown, "singular value") or Axis(0, 1)
    places = {float(STRIDE * number + i): str(i) for number, *_ in cases for i in (1, 10, INPUTS)}
    x = Axis(
        0, STRIDE * (max(number for number, *_ in cases) + 1) - 3, "its number i", ticks=places
    )
    title = "The singular values of trained networks"
    chart = Chart(
        title,
        "For each case the singular values of both depths; at L = 4 those after the first few "
        "are smaller by orders of magnitude.",
        x,
        y,
        right=RIGHT,
    )
    for number, words, both, key in cases:
        begin = STRIDE * number + 1
        chart.label((begin, y.high), words, shift=(-4, -3))
        for depth, runs in zip(DEPTHS, zip(*both, strict=True), strict=True):
            series = SERIES[depth]
            sigma = [run.measured["sigma"] for run in runs]
            dots = [point for each in sigma for point in _numbered(begin, each, y)]
            chart.dots(
                on_pixels(dots, y),
                series,
                fine=True,
                tip=f"{words}, L = {depth}: {len(runs)} networks",
            )
            middle = [median(values) for values in zip(*sigma, strict=True)]
            chart.line(_numbered(begin, middle, y), series)
            printed = PRINTED[*key, depth].sigma
            chart.line(_numbered(begin, printed, y), series, dashed=True)
            if number == cases[-1][0]:
                chart.end_label(floored(middle[-1:], y)[0], f"L = {depth}", series)
    caption = (
        "The singular values $\\sigma_i$ of $C_f^{1/2}$, $C_f = E[\\nabla f \\nabla f^\\top]$, of "
        "networks with $L - 1$ linear layers that learnt $n$ values of a function of index rank "
        "$r$: a dot for each network and a line through the medians. Dashed are the networks of "
        "width 1000 of the authors' notebooks. What is smaller than the axis shows lies on its "
        f"lower end. The effective index rank counts what is above ${SHARE}\\,\\sigma_1$."
    )
    return Picture("linear_layers", title, caption, chart.svg)


def _numbered(begin: float, values: Sequence[float], y: Axis) -> list[Point]:
    """Values at whole numbers from `begin` on."""
    return [(begin + i, value) for i, value in enumerate(floored(values, y))]


def _slopes(
    result: Result, name: str, title: str, quantity: str, label: str, caption: str
) -> Picture:
    """A line from L = 2 to L = 4 for each pair of runs, case by case."""
    cases = list(_cases(result))
    shown = [run.measured[quantity] for run in result.runs]
    shown += [getattr(one, quantity) for one in PRINTED.values()]
    y = log_axis(shown, label) or Axis(0, 1)
    places = {
        STEP * number + place: f"L={depth}"
        for number, *_ in cases
        for place, depth in enumerate(DEPTHS)
    }
    x = Axis(-0.35, STEP * max(number for number, *_ in cases) + 1.35, ticks=places)
    words = "For each case a line from L = 2 to L = 4 for every pair of runs, and the printed one."
    chart = Chart(title, words, x, y, right=RIGHT)
    for number, words, both, key in cases:
        begin = STEP * number
        chart.label((begin + 0.5, y.high), words, anchor="middle", shift=(0, -4))
        for pair in both:
            slope = [(begin + i, run.measured[quantity]) for i, run in enumerate(pair)]
            chart.line(slope, OURS)
        printed = [(begin + i, getattr(PRINTED[*key, L], quantity)) for i, L in enumerate(DEPTHS)]
        chart.line(printed, THEIRS, dashed=True)
        if number == cases[-1][0]:
            chart.end_label(both[0][1].measured[quantity], "ours", OURS)
            chart.end_label(printed[1][1], "printed", THEIRS)
    caption += (
        " A line joins two networks that learnt from the same points; dashed are those of the "
        "notebooks."
    )
    return Picture(name, title, caption, chart.svg)
