"""The figures of bottleneck.figure-2: spectra, descent paths, distances, orbits by layer."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from rankcheck.report.charts.experiments.drawing import COLOURS, joined, panels, spectra

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rankcheck.experiments.result import Result, Run

__all__ = ["figures"]

#: Smaller shares are drawn here.
_LEAST = 1e-4
#: The groups in their order, with the words of the legend.
_GROUPS = {
    "deep": "deep, with ridge",
    "noisy": "$E$ of order one",
    "shallow": "depth 3",
    "no-ridge": "no ridge",
}


def figures(result: Result) -> dict[str, Figure]:
    """The three panels of the document with a control for the paths, then all layers and groups."""
    drawn = {run.settings["group"]: run for run in reversed(result.runs) if run.drawn}
    return {
        "symmetry": _panels(drawn["deep"]),
        "symmetry-layers": _layers(result),
        "symmetry-noisy": _panels(drawn["noisy"]),
    }


def _panels(run: Run) -> Figure:
    """Spectra, paths in the layer and in two other numbers, and distances, of one run."""
    figure, (values, paths, distances, others) = panels(2, 2, height=2.9)
    drawn, layer = run.drawn, run.measured["crossing_layer"]
    spectra(values, drawn["singular_values"], 2, r"singular values of $W_\ell$")
    values.axhline(0.5, color="black", linestyle="--", linewidth=0.8)
    values.set_title("a  Singular values, the first two in blue")
    _paths(paths, drawn["paths"])
    crossing = run.measured["crossing"]
    title = f"b  Descent paths in $\\alpha_{layer}$, {crossing['layer']} cross"
    paths.set(title=title, xlabel="principal component 1", ylabel="principal component 2")
    half = drawn["half"]
    image = distances.imshow(
        drawn["distances"], origin="lower", extent=(-half, half, -half, half), cmap="Blues"
    )
    figure.colorbar(image, ax=distances, label="distance")
    distances.plot(drawn["spot"], 0, "o", color="black", fillstyle="none")
    distances.set_title(r"c  Distance in $\alpha_2$ to $x_0$ (the ring)")
    _paths(others, drawn["paths_others"])
    title = f"d  In two other numbers, {crossing['others']} cross"
    others.set(title=title, xlabel="$|w^T v|$", ylabel="$|u^T v|$")
    return figure


def _paths(panel: Axes, paths: Sequence[Sequence[Sequence[float]]]) -> None:
    """Paths in a plane, with a dot at the start of each."""
    panel.plot(*joined(paths), color=COLOURS[0], linewidth=0.8)
    panel.plot(*zip(*(path[0] for path in paths), strict=True), ".", color=COLOURS[0], markersize=5)


def _layers(result: Result) -> Figure:
    """By layer, what is left of the orbits, and how many singular values are outliers."""
    figure, (shares, counts) = panels(1, 2, height=3.0)
    for colour, (group, words) in zip(COLOURS, _GROUPS.items(), strict=False):
        runs = result.where(group=group)
        if not runs:
            continue
        rotations = _medians([run.measured["rotation_shares"] for run in runs])
        shares.plot([max(share, _LEAST) for share in rotations], color=colour, label=words)
        outliers = _medians([run.measured["outliers"] for run in runs])
        layers = range(1, len(outliers) + 1)
        counts.plot(layers, [max(count, 1.0) for count in outliers], color=colour)
    shares.set(title="a  Share within orbits", xlabel=r"layer, 0 is $x$", yscale="log")
    shares.legend()
    counts.set(title="b  Singular values above 1/2", xlabel="layer", yscale="log")
    return figure


def _medians(rows: Sequence[Sequence[float]]) -> list[float]:
    """The median of each column."""
    return [float(median(column)) for column in zip(*rows, strict=True)]
