"""The figures of rank.figure-2: the classes in the plane, and tripoints against the rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.patches import PathPatch
from matplotlib.path import Path

from rankcheck.experiments.figures.four_classes import DEEP, SHALLOW, fits, group, second
from rankcheck.report.charts.experiments.drawing import COLOURS, panels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from rankcheck.experiments.result import Result

__all__ = ["figures"]

#: Depth, ridge and name of the groups, in the order of the document's panels.
_GROUPS = (
    (SHALLOW, False, "depth 2, without ridge"),
    (SHALLOW, True, "depth 2, with ridge"),
    (DEEP, False, "depth 9, without ridge"),
    (DEEP, True, "depth 9, with ridge"),
)
#: What the second figure shows in place of a smaller ratio.
_LEAST = 1e-3


def figures(result: Result) -> dict[str, Figure]:
    """The classes of a network of each group, and the tripoints of all networks."""
    return {"four_classes": _classes(result), "four_classes_rank": _against_rank(result)}


def _classes(result: Result) -> Figure:
    figure, axes = panels(2, 2, height=2.9)
    points = result.runs[0].drawn["points"]
    for panel, (depth, ridge, name) in zip(axes, _GROUPS, strict=True):
        drawn = group(result, depth, ridge)[0].drawn
        for colour, rings, data in zip(COLOURS, drawn["classes"], points, strict=False):
            if rings:
                panel.add_patch(PathPatch(_area(rings), facecolor=colour, alpha=0.3, linewidth=0.5))
            panel.plot(*zip(*data, strict=True), ".", color=colour, markersize=3)
        tripoints = drawn["tripoints"]
        if tripoints:
            rings = panel.plot(*zip(*tripoints, strict=True), "o", color="black", markersize=9)
            rings[0].set(fillstyle="none", clip_on=False)
        (left, low), (right, high) = drawn["low"], drawn["high"]
        count = f"{len(tripoints)} tripoint{'s' * (len(tripoints) != 1)}"
        panel.set(xlim=(left, right), ylim=(low, high), title=f"{name}: {count}")
    return figure


def _area(rings: Sequence[Sequence[Sequence[float]]]) -> Path:
    """What lies inside of an odd number of rings."""
    return Path.make_compound_path(*(Path([*ring, ring[0]], closed=True) for ring in rings))


def _against_rank(result: Result) -> Figure:
    figure, (panel,) = panels(1, 1, height=3.0)
    for at, (depth, ridge, name) in enumerate(_GROUPS):
        runs = [run for run in group(result, depth, ridge) if fits(run)]
        ratios = [max(second(run), _LEAST) for run in runs]
        # Groups stand a little above one another, so that none hides another one.
        heights = [run.measured["tripoints"] + 0.12 * (at - 1.5) for run in runs]
        panel.plot(ratios, heights, "o", color=COLOURS[at], markersize=4, alpha=0.8, label=name)
    panel.set(xlabel="$s_2/s_1$ of the Jacobian, by medians over the data", ylabel="tripoints")
    panel.set(xscale="log", xlim=(_LEAST, 1))
    most = max((run.measured["tripoints"] for run in result.runs if fits(run)), default=0)
    panel.set_yticks(range(1 + most))
    panel.legend(loc="upper left")
    return figure
