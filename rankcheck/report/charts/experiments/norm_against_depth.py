"""The figures of bottleneck.figure-1: the norm against the depth, and spectra at some depths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankcheck.experiments.figures.norm_against_depth import FITTED, curves, ranges
from rankcheck.report.charts.audit.scales import layer_axis
from rankcheck.report.charts.picture import Picture
from rankcheck.report.svg import Axis, Chart

if TYPE_CHECKING:
    from rankcheck.experiments.result import Result, Run

__all__ = ["figures"]

#: So many depths are drawn in the second panel.
SPECTRA = 4
#: Ranks from here on have one colour.
MANY = 4


def figures(result: Result) -> list[Picture]:
    """The norm against the depth, and the singular values of the weights at four depths."""
    drawn = [run for run in result.runs if run.drawn]
    step = max(len(drawn) - 1, 1) / (SPECTRA - 1)
    chosen = sorted({round(step * n) for n in range(SPECTRA)} & set(range(len(drawn))))
    return [_norms(result), *(_spectra(drawn[number]) for number in chosen)]


def _norms(result: Result) -> Picture:
    """‖θ‖² against L, a mark for each network and a line for each range of depths."""
    title = "The norm of the parameters against the depth"
    some = curves(run for run in result.runs if run.settings["ridge"])
    runs = [run for curve in some for run in curve]
    depths = [run.settings["depth"] for run in runs]
    chart = Chart(
        title,
        "Marks that rise with the depth, in one colour for each rank, and lines through them.",
        Axis(min(depths) - 1, max(depths) + 1, "depth"),
        Axis(0, 1.08 * max(run.measured["norm"] for run in runs), "squared norm"),
        right=160,
    )
    for shown in sorted({_shown(run) for run in runs}):
        series = shown + 1
        same = [run for run in runs if _shown(run) == shown]
        fine = [run for run in same if run.measured["error"] <= FITTED]
        label = f"rank {shown}" + " or more" * (shown == MANY)
        chart.dots([_place(run) for run in fine], series, tip=label, fine=True)
        for run in same:
            if run.measured["error"] > FITTED:
                chart.label(_place(run), "×", series, anchor="middle", shift=(0, 5))
        for one in (one for curve in some for one in ranges(curve)):
            if min(one.rank, MANY) == shown:
                ends = (one.depths[0], one.depths[-1])
                chart.line([(float(L), one.slope * L + one.start) for L in ends], series)
        chart.end_label(max(run.measured["norm"] for run in same), label, series)
    caption = (
        r"$\|\theta\|^2$ at the end of training against the depth $L$: a dot for each network, in "
        r"the colour of the number of singular values of $W_{L/2}$ above 0.5, a cross where the "
        f"error is above {FITTED:g}; and the line of least squares through the networks of one "
        "data set at three or more successive depths with one rank."
    )
    return Picture("norm_against_depth", title, caption, chart.svg)


def _shown(run: Run) -> int:
    """The rank, from `MANY` on as one."""
    return min(int(run.measured["rank"]), MANY)


def _place(run: Run) -> tuple[float, float]:
    return float(run.settings["depth"]), run.measured["norm"]


def _spectra(run: Run) -> Picture:
    """The i-th singular value of W_ℓ against ℓ, a line for each i."""
    layers, rank = run.drawn["weights"], run.measured["rank"]
    depth = len(layers)
    title = f"The singular values of the weights at depth {depth}"
    chart = Chart(
        title,
        f"Lines over {depth} layers; in the middle {rank} of them are near 1.",
        layer_axis(depth),
        Axis(0, 1.1 * max(map(max, layers)), "singular values"),
        height=260,
    )
    for i in reversed(range(max(map(len, layers)))):
        points = [(float(n), s[i]) for n, s in enumerate(layers, 1) if i < len(s)]
        chart.line(points, 1 if i < rank else 2)
    caption = (
        rf"The first singular values of $W_\ell$ of one network of depth {depth}: in blue the "
        rf"first {rank}, as many as are above 0.5 for $W_{{L/2}}$, the others in orange."
    )
    return Picture(f"norm_against_depth-{depth}", title, caption, chart.svg)
