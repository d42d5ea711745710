"""The figures of rank.figure-3: where autoencoders move points of the plane, and noisy images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from rankcheck.experiments.figures.autoencoders import CURVE, DIGITS, HALF, group, pairs
from rankcheck.experiments.result import Result, Run
from rankcheck.report.charts.picture import Picture
from rankcheck.report.panels import Key, panels
from rankcheck.report.svg import INK, Axis, Chart, Point

__all__ = ["figures"]

#: The series of the data, of the inputs and of the outputs.
_DATA, _INPUTS, _OUTPUTS = 1, 3, 2
#: The series of the deep and of the shallow networks.
_DEEP, _SHALLOW = 1, 2
#: So many inputs are shown in each panel.
_ARROWS = 28
#: Images of 8 × 8 pixels, and their size in units of the picture.
_SIDE, _UNITS = 8, 46.0


def figures(result: Result) -> list[Picture]:
    """The plane, the images, and what all networks leave of the distance to their data."""
    return [_plane(result), _images(result), _left(result)]


def _depth(run: Run) -> int:
    return int(run.settings["depth"])


def _plane(result: Result) -> Picture:
    title = "Where autoencoders move random points of the plane"
    charts = []
    for deep, shallow in pairs([run for run in result.where(data=CURVE) if run.drawn]):
        frame = _frame(deep.drawn, shallow.drawn)
        charts += [_panel(run, frame) for run in (deep, shallow)]
    svg = panels(
        charts,
        2,
        title=title,
        description="; ".join(chart.description for chart in charts),
        keys=[
            Key("data", _DATA, "dot"),
            Key("from input", _INPUTS),
            Key("to output", _OUTPUTS, "dot"),
        ],
    )
    caption = (
        "Autoencoders of a curve in the plane, for the first two seeds, deep on the left and "
        "shallow on the right, with the training data. An arrow leads from a random input to its "
        "output. What is left is the mean distance of outputs to the curve over that of inputs."
    )
    return Picture("autoencoders", title, caption, svg)


def _frame(*drawn: Mapping[str, Any]) -> tuple[Axis, Axis]:
    """Axes that show the data, the inputs, and the outputs, the same for both depths."""
    points = [p for each in drawn for name in ("points", "inputs", "outputs") for p in each[name]]
    axes = []
    for values in zip(*points, strict=True):
        edge = 0.03 * (max(values) - min(values))
        axes.append(Axis(min(values) - edge, max(values) + edge, count=5))
    return axes[0], axes[1]


def _panel(run: Run, frame: tuple[Axis, Axis]) -> Chart:
    x, y = frame
    left = run.measured["left"]
    chart = Chart(
        f"depth {_depth(run)}: {left:.0%} left",
        f"Depth {_depth(run)}: outputs are, on average, {left:.0%} as far from the curve as inputs",
        x,
        y,
        width=310,
        height=270,
        right=4,
    )
    shown = run.drawn
    chart.lines(_inside(shown["path"], x, y), 0, thin=True)
    chart.dots(_points(shown["points"]), _DATA, fine=True)
    ends = list(zip(_points(shown["inputs"]), _points(shown["outputs"]), strict=True))
    ends = ends[:_ARROWS]
    chart.arrows(ends, _INPUTS)
    chart.dots([end for _, end in ends], _OUTPUTS, fine=True)
    return chart


def _points(rows: Sequence[Sequence[float]]) -> list[Point]:
    return [(x, y) for x, y in rows]


def _inside(path: Sequence[Sequence[float]], x: Axis, y: Axis) -> list[list[Point]]:
    """The segments of a path, cut off at the edges of the chart."""
    found = []
    for start, end in pairwise(_points(path)):
        low, high = 0.0, 1.0
        for axis, a, b in zip((x, y), start, end, strict=True):
            if a == b:
                low, high = (low, high) if axis.low <= a <= axis.high else (1.0, 0.0)
                continue
            cuts = sorted(((axis.low - a) / (b - a), (axis.high - a) / (b - a)))
            low, high = max(low, cuts[0]), min(high, cuts[1])
        if low < high:
            (a, c), (b, d) = start, end
            found.append([(a + t * (b - a), c + t * (d - c)) for t in (low, high)])
    return found


def _images(result: Result) -> Picture:
    title = "Noisy images of digits and what autoencoders make of them"
    found = pairs([run for run in result.where(data=DIGITS) if run.drawn])
    rows: dict[str, Any] = {}
    for deep, shallow in found[:1]:
        rows = {
            "noisy": deep.drawn["inputs"],
            f"depth {_depth(deep)}": deep.drawn["outputs"],
            f"depth {_depth(shallow)}": shallow.drawn["outputs"],
            "clean": deep.drawn["clean"],
        }
    count = max((len(each) for each in rows.values()), default=0)
    ticks = {-float(number): name for number, name in enumerate(rows)}
    chart = Chart(
        title,
        f"{count} noisy images, the outputs of a deep and a shallow network, and the clean ones.",
        Axis(-0.6, max(count, 1) - 0.4, ticks={}),
        Axis(-len(rows) + 0.4, 0.6, ticks=ticks),
        height=len(rows) * (_UNITS + 14) + 20,
        frame=False,
    )
    for number, (name, those) in enumerate(rows.items()):
        chart.label((-0.6, -number), name, anchor="end", shift=(-6, 5))
        chart.images([((k, -number), _grid(each)) for k, each in enumerate(those)], _UNITS, INK)
    caption = (
        "Images that were not trained on, with normal noise of standard deviation 0.5; the outputs "
        "of the deep and of the shallow network of the first seed; and the images without noise. "
        "Ink is dark; what is below 0 or above 1 is shown as 0 or 1."
    )
    return Picture("autoencoders_images", title, caption, chart.svg)


def _grid(pixels: Sequence[float]) -> list[list[float]]:
    """An image as rows of numbers in [0, 1]."""
    inside = [min(max(each, 0.0), 1.0) for each in pixels]
    return [inside[at : at + _SIDE] for at in range(0, len(inside), _SIDE)]


def _left(result: Result) -> Picture:
    title = "What autoencoders leave of the distance to their data"
    charts = []
    for data, name in ((CURVE, "curve in the plane"), (DIGITS, "noisy images")):
        deep, shallow = (group(result, data, each) for each in (True, False))
        high = max([1.0, *(run.measured["left"] for run in (*deep, *shallow))])
        depths = [_depth(run) for run in (*deep[:1], *shallow[:1])]
        chart = Chart(
            name,
            f"The share of the distance that is left, for each network of the {name}",
            Axis(-0.6, 1.6, "depth", ticks=dict(zip((0.0, 1.0), map(str, depths), strict=True))),
            Axis(0, 1.05 * high, "share left", count=5),
            width=310,
            height=270,
            right=12,
        )
        if data == CURVE:
            chart.rule(y=HALF)
        for a, b in pairs([*deep, *shallow]):
            chart.line([(0, a.measured["left"]), (1, b.measured["left"])], 0, thin=True)
        for at, (runs, series) in enumerate(((deep, _DEEP), (shallow, _SHALLOW))):
            chart.dots([(at, run.measured["left"]) for run in runs], series)
        charts.append(chart)
    svg = panels(
        charts, 2, title=title, description="; ".join(chart.description for chart in charts)
    )
    caption = (
        "The mean distance of outputs to the data over that of inputs, for each network. Lines "
        "connect the networks of one seed, which have the same data and inputs. The dashed line is "
        "the threshold of the claim."
    )
    return Picture("autoencoders_left", title, caption, svg)
