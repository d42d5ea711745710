"""Trained networks with linear layers: their singular values, errors and angles at two depths."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from rankcheck.experiments.figures.linear_layers import pairs
from rankcheck.experiments.figures.linear_notebooks import CASES, DEPTHS, PRINTED
from rankcheck.report.charts.experiments.drawing import COLOURS, joined, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rankcheck.experiments.result import Result

__all__ = ["figures"]

#: Singular values below are drawn here.
_LEAST = 1e-8


def figures(result: Result) -> dict[str, Figure]:
    """The singular values as on the slides, then what became of each pair of runs."""
    return {"linear_layers": _spectra(result), "changes": _changes(result)}


def _spectra(result: Result) -> Figure:
    figure, axes = panels(2, 2, sharex=True, sharey=True)
    for panel, (r, points) in zip(axes, CASES, strict=True):
        for colour, depth in zip(COLOURS, DEPTHS, strict=False):
            runs = result.where(rank=r, points=points, depth=depth)
            sigma = [[max(s, _LEAST) for s in run.measured["sigma"]] for run in runs]
            numbers = range(1, len(sigma[0]) + 1)
            low, middle, high = (
                [f(values) for values in zip(*sigma, strict=True)] for f in (min, median, max)
            )
            panel.fill_between(numbers, low, high, color=colour, alpha=0.2, linewidth=0)
            panel.plot(numbers, middle, color=colour, label=f"L = {depth}")
            printed = [max(s, _LEAST) for s in PRINTED[r, points, depth]["sigma"]]
            panel.plot(numbers, printed, "--", color=colour, label=f"L = {depth}, printed")
        title = f"r = {r}, {points} points"
        panel.set(title=title, yscale="log", xticks=(1, 5, 10, 15, 20))
        panel.label_outer()
    for panel in axes[2:]:
        panel.set_xlabel("$i$")
    for panel in axes[::2]:
        panel.set_ylabel(r"$\sigma_i$ of $C_f^{1/2}$")
    axes[0].legend(loc="center right")
    return figure


def _changes(result: Result) -> Figure:
    """A line from L = 2 to L = 4 for each pair of runs, by case."""
    figure, axes = panels(2, len(CASES), sharey="row")
    rows = (("generalisation", "error at fresh points"), ("distance", "sine of the angle"))
    for row, (quantity, label) in enumerate(rows):
        own = axes[row * len(CASES) :]
        own[0].set_ylabel(label)
        for panel, (r, points) in zip(own, CASES, strict=False):
            ours = joined(
                [(at, run.measured[quantity]) for at, run in enumerate(pair)]
                for pair in pairs(result.where(rank=r, points=points))
            )
            panel.plot(*ours, color=COLOURS[0], linewidth=0.8, label="ours")
            printed = [PRINTED[r, points, depth][quantity] for depth in DEPTHS]
            panel.plot((0, 1), printed, "--", color=COLOURS[1], label="printed")
            panel.set(yscale="log", xlim=(-0.2, 1.2), title=f"r = {r}, {points} points")
            panel.set_xticks((0, 1), [f"L = {depth}" for depth in DEPTHS])
    axes[0].legend()
    return figure
