"""The figures of rank.figure-2: the classes in the plane, and tripoints against the rank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankcheck.experiments.figures.four_classes import DEEP, SHALLOW, fits, group, second
from rankcheck.experiments.result import Result
from rankcheck.report.charts.picture import Picture
from rankcheck.report.panels import Key, panels
from rankcheck.report.svg import INK, Axis, Chart

__all__ = ["figures"]

#: The groups in the order of the document's panels, with the series of the second figure.
_GROUPS = ((SHALLOW, False, 5), (SHALLOW, True, 2), (DEEP, False, 3), (DEEP, True, 1))
#: What the second figure shows in place of a smaller ratio.
_LEAST = 1e-3


def figures(result: Result) -> list[Picture]:
    """The classes of a network of each group, and the tripoints of all networks."""
    return [_classes(result), _against_rank(result)]


def _classes(result: Result) -> Picture:
    title = "The classes of trained networks of depths 2 and 9"
    charts, counts = [], []
    for depth, ridge, _ in _GROUPS:
        for run in [run for run in group(result, depth, ridge) if run.drawn][:1]:
            name = _name(depth, ridge)
            charts.append(_panel(name, run.drawn))
            counts.append(f"{len(run.drawn['tripoints'])} at {name}")
    keys = [Key(f"class {k + 1}", k + 1, "cell") for k in range(4)]
    svg = panels(
        charts,
        2,
        title=title,
        description=f"The regions of four classes in the plane. Tripoints: {'; '.join(counts)}.",
        keys=[*keys, Key("tripoint", INK, "ring")],
    )
    caption = (
        "What each network takes for its class in the plane, its training data, and its tripoints, "
        "for the first seed of each depth and ridge. The box is that of the data with half of its "
        "sides added on each side; outlines are drawn to 0.2 % of it, tripoints are those of the "
        "linear regions."
    )
    return Picture("four_classes", title, caption, svg)


def _panel(name: str, drawn: Mapping[str, Any]) -> Chart:
    """The classes of one network in its box."""
    (x0, y0), (x1, y1) = drawn["low"], drawn["high"]
    count = len(drawn["tripoints"])
    chart = Chart(
        name,
        f"Four classes with {count} tripoint{'s' * (count != 1)}.",
        Axis(x0, x1, count=4),
        Axis(y0, y1),
        width=310,
        height=230,
        right=4,
    )
    for k, rings in enumerate(drawn["classes"], 1):
        if rings:
            chart.polygons([[(x, y) for x, y in ring] for ring in rings], k, tip=f"class {k}")
    for k, points in enumerate(drawn["points"], 1):
        chart.dots([(x, y) for x, y in points], k, fine=True)
    if count:
        chart.rings([(x, y) for x, y in drawn["tripoints"]], INK, tip="tripoint")
    return chart


def _against_rank(result: Result) -> Picture:
    title = "Tripoints against the second singular value"
    fitted = [run for run in result.runs if fits(run)]
    most = max((run.measured["tripoints"] for run in fitted), default=0)
    chart = Chart(
        title,
        f"The number of tripoints of {len(fitted)} trained networks against the ratio of the first "
        "two singular values of their Jacobians.",
        Axis(_LEAST, 1, "s₂/s₁ of the Jacobian, by medians over the data", scale="log"),
        Axis(-0.5, most + 0.5, "tripoints", ticks={k: str(k) for k in range(most + 1)}),
        height=340,
    )
    keys = []
    for at, (depth, ridge, series) in enumerate(_GROUPS):
        name = _name(depth, ridge)
        keys.append(Key(name, series, "dot"))
        points = [
            # Groups stand a little above one another, so that none hides another one.
            (max(second(run), _LEAST), run.measured["tripoints"] + 0.12 * (at - 1.5))
            for run in group(result, depth, ridge)
            if fits(run)
        ]
        chart.dots(points, series, tip=name)
    caption = (
        "A dot is a trained network that fits its data: the ratio $s_2/s_1$ of its Jacobian at the "
        "data, by medians, and how many tripoints it has in the box of the first figure, a whole "
        "number (groups stand a little above one another). A function through $\\mathbb R^1$ has "
        "the ratio 0, and no tripoints by `rank.no-tripoints`."
    )
    svg = panels([chart], 1, title=title, description=chart.description, keys=keys)
    return Picture("four_classes_rank", title, caption, svg)


def _name(depth: int, ridge: bool) -> str:
    return f"depth {depth}, {'with' if ridge else 'without'} ridge"
