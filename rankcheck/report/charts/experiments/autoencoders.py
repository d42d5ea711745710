"""The figures of rank.figure-3: where autoencoders move points of the plane, and noisy images."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from rankcheck.experiments.figures.autoencoders import CURVE, DIGITS, HALF, group, pairs
from rankcheck.report.charts.experiments.drawing import COLOURS, GREY, joined, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rankcheck.experiments.result import Result

__all__ = ["figures"]

#: Images have 8 × 8 pixels.
_SIDE = 8


def figures(result: Result) -> dict[str, Figure]:
    """The plane, the images, and what all networks leave of the distance to their data."""
    return {
        "autoencoders": _plane(result),
        "autoencoders_images": _images(result),
        "autoencoders_left": _left(result),
    }


def _plane(result: Result) -> Figure:
    both = pairs([run for run in result.where(data=CURVE) if run.drawn])
    figure, axes = panels(len(both), 2, height=2.9)
    for number, (deep, shallow) in enumerate(both):
        data, inputs = deep.drawn["points"], deep.drawn["inputs"]
        seen = [*data, *inputs, *deep.drawn["outputs"], *shallow.drawn["outputs"]]
        for panel, run in zip(axes[2 * number :], (deep, shallow), strict=False):
            outputs = run.drawn["outputs"]
            panel.plot(*zip(*deep.drawn["path"], strict=True), color=GREY, linewidth=0.6)
            ways = joined(zip(inputs, outputs, strict=True))
            panel.plot(*ways, color=COLOURS[2], linewidth=0.8, label="from input")
            panel.plot(*zip(*data, strict=True), ".", color=COLOURS[0], markersize=3, label="data")
            points = zip(*outputs, strict=True)
            panel.plot(*points, ".", color=COLOURS[1], markersize=5, label="to output")
            (left, right), (low, high) = (_ends(values) for values in zip(*seen, strict=True))
            panel.set(xlim=(left, right), ylim=(low, high))
            share = f"{run.measured['left']:.0%} of the distance left"
            panel.set_title(f"depth {run.settings['depth']}: {share}")
    axes[0].legend()
    return figure


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """A range that is a little wider than the values."""
    edge = 0.05 * (max(values) - min(values))
    return min(values) - edge, max(values) + edge


def _images(result: Result) -> Figure:
    deep, shallow = pairs([run for run in result.where(data=DIGITS) if run.drawn])[0]
    rows = {
        "noisy": deep.drawn["inputs"],
        f"depth {deep.settings['depth']}": deep.drawn["outputs"],
        f"depth {shallow.settings['depth']}": shallow.drawn["outputs"],
        "clean": deep.drawn["clean"],
    }
    figure, axes = panels(len(rows), 1, height=0.9)
    for panel, (name, images) in zip(axes, rows.items(), strict=True):
        gap = [[math.nan]] * _SIDE
        grids = [_grid(pixels) for pixels in images]
        strips = zip(*(part for image in grids for part in (image, gap)), strict=True)
        panel.imshow([list(chain(*strip)) for strip in strips], cmap="gray_r", vmin=0, vmax=1)
        panel.set(xticks=[], yticks=[], frame_on=False)
        panel.set_ylabel(name)
    return figure


def _grid(pixels: Sequence[float]) -> list[list[float]]:
    """An image as rows of pixels."""
    return [list(pixels[at : at + _SIDE]) for at in range(0, len(pixels), _SIDE)]


def _left(result: Result) -> Figure:
    figure, axes = panels(1, 2)
    for panel, data, name in zip(
        axes, (CURVE, DIGITS), ("curve in the plane", "noisy images"), strict=True
    ):
        groups = [group(result, data, deep) for deep in (True, False)]
        both = [
            [(at, run.measured["left"]) for at, run in enumerate(pair)]
            for pair in pairs([run for runs in groups for run in runs])
        ]
        panel.plot(*joined(both), color=GREY, linewidth=0.6)
        for at, runs in enumerate(groups):
            lefts = [run.measured["left"] for run in runs]
            panel.plot([at] * len(runs), lefts, "o", color=COLOURS[at], markersize=4)
        if data == CURVE:
            panel.axhline(HALF, color="black", linestyle="--", linewidth=0.8, label="claimed")
            panel.legend()
        names = [f"depth {runs[0].settings['depth']}" for runs in groups]
        panel.set(title=name, xlim=(-0.5, 1.5), ylim=(0, None), ylabel="share of the distance left")
        panel.set_xticks((0, 1), names)
    return figure
