"""The figures of rank.figure-2: the classes in the plane, and tripoints against the rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.patches import PathPatch
from matplotlib.path import Path

from rankcheck.experiments.figures.four_classes import (
    DEEP,
    HE,
    SHALLOW,
    TORCH,
    fits,
    group,
    second,
    tripoints_in,
)
from rankcheck.report.charts.experiments.drawing import COLOURS, panels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from rankcheck.experiments.result import Result

__all__ = ["figures"]

#: Depth, ridge, start and name of the groups: first those of the document's panels, in its order.
_GROUPS = (
    (SHALLOW, False, TORCH, "depth 2, without ridge"),
    (SHALLOW, True, TORCH, "depth 2, with ridge"),
    (DEEP, False, TORCH, "depth 9, without ridge"),
    (DEEP, True, TORCH, "depth 9, with ridge"),
)
#: The others, without and with ridge together.
_LARGE = "depth 9, from the start of He"
#: What the second figure shows in place of a smaller ratio.
_LEAST = 1e-3


def figures(result: Result) -> dict[str, Figure]:
    """The classes of a network of each group, and the tripoints of all networks."""
    return {"four_classes": _classes(result), "four_classes_rank": _against_rank(result)}


def _classes(result: Result) -> Figure:
    figure, axes = panels(2, 2, height=2.9)
    points = result.runs[0].drawn["points"]
    for panel, (depth, ridge, start, name) in zip(axes, _GROUPS, strict=True):
        drawn = group(result, depth, ridge, start)[0].drawn
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
    groups = [(group(result, depth, ridge, start), name) for depth, ridge, start, name in _GROUPS]
    groups += [(result.where(depth=DEEP, start=HE), _LARGE)]
    for at, (all_runs, name) in enumerate(groups):
        runs = [run for run in all_runs if fits(run)]
        ratios = [max(second(run), _LEAST) for run in runs]
        # Groups stand a little above one another, so that none hides another one.
        heights = [tripoints_in(run) + 0.12 * (at - 2) for run in runs]
        panel.plot(ratios, heights, "o", color=COLOURS[at], markersize=4, alpha=0.8, label=name)
    panel.set(xlabel="$s_2/s_1$ of the Jacobian, by medians over the data", ylabel="tripoints")
    panel.set(xscale="log", xlim=(_LEAST, 1))
    most = max((tripoints_in(run) for run in result.runs if fits(run)), default=0)
    panel.set_yticks(range(1 + most))
    panel.legend(loc="upper left")
    return figure
