"""The figures of bottleneck.figure-1: the norm against the depth, and spectra at some depths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankcheck.experiments.figures.norm_against_depth import FITTED, curves, ranges
from rankcheck.report.charts.experiments.drawing import COLOURS, panels, spectra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rankcheck.experiments.result import Result

__all__ = ["figures"]

#: So many depths are drawn in the second figure.
_SPECTRA = 4
#: Ranks from here on have one colour.
_MANY = 4


def figures(result: Result) -> dict[str, Figure]:
    """The norm against the depth, and the singular values of the weights at four depths."""
    drawn = [run for run in result.runs if run.drawn]
    step = max(len(drawn) - 1, 1) / (_SPECTRA - 1)
    chosen = sorted({round(step * n) for n in range(_SPECTRA)} & set(range(len(drawn))))
    figure, axes = panels((len(chosen) + 1) // 2, 2, height=2.3)
    for panel, number in zip(axes, chosen, strict=False):
        rank, weights = drawn[number].measured["rank"], drawn[number].drawn["weights"]
        spectra(panel, weights, rank, r"singular values of $W_\ell$")
        panel.set(title=f"depth {len(weights)}, rank {rank}")
    return {"norm_against_depth": _norms(result), "norm_against_depth_spectra": figure}


def _norms(result: Result) -> Figure:
    """‖θ‖² against L: a mark for each network, and a line for each range of depths."""
    some = curves(run for run in result.runs if run.settings["ridge"])
    runs = [run for curve in some for run in curve]
    figure, (panel,) = panels(1, 1, height=3.6)
    for rank in sorted({min(run.measured["rank"], _MANY) for run in runs}):
        colour = COLOURS[rank - 1]
        label = f"rank {rank}" + " or more" * (rank == _MANY)
        for marker, fitted in (("o", True), ("x", False)):
            same = [
                (run.settings["depth"], run.measured["norm"])
                for run in runs
                if min(run.measured["rank"], _MANY) == rank
                and (run.measured["error"] <= FITTED) == fitted
            ]
            if same:
                named = label if fitted else f"{label}, does not fit"
                columns = zip(*same, strict=True)
                panel.plot(*columns, marker, color=colour, markersize=4, label=named)
        for one in (one for curve in some for one in ranges(curve)):
            if min(one.rank, _MANY) == rank:
                ends = one.depths[0], one.depths[-1]
                panel.plot(ends, [one.slope * L + one.start for L in ends], color=colour)
    panel.set_xticks(sorted({run.settings["depth"] for run in runs}))
    panel.set(xlabel="depth $L$", ylabel=r"$\|\theta\|^2$", ylim=(0, None))
    panel.legend(loc="upper left")
    return figure
