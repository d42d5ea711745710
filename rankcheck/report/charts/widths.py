"""The two widths of the depth separation, against the dimension."""

from __future__ import annotations

from collections.abc import Callable

from rankcheck.report.charts.picture import Picture
from rankcheck.report.svg import Axis, Chart, Point
from rankcheck.separation.widths import depth_three_width, depth_two_width, sharper_width

__all__ = ["crossover", "widths"]

TITLE = "The width at depth two and at depth three"
DIMENSIONS = range(2, 61)


def crossover(width: Callable[[int], int]) -> int | None:
    """The least dimension from which a width for depth two is beyond that of depth three."""
    last = [d for d in DIMENSIONS if width(d) <= depth_three_width(d)]
    return last[-1] + 1 if last and last[-1] + 1 in DIMENSIONS else None


def widths() -> Picture:
    """Widths that are necessary at depth two, and one that suffices at depth three."""
    bounds = {"depth 2, slides": depth_two_width, "depth 2, sharper": sharper_width}
    crossings = [crossover(width) for width in bounds.values()]
    chart = Chart(
        TITLE,
        "The width that a network of depth two needs grows faster than any exponential in the "
        f"dimension d; that of depth three like its fifth power. They cross at d = {crossings[0]}, "
        f"or by the sharper bound at d = {crossings[1]}.",
        Axis(0, DIMENSIONS[-1], "dimension d"),
        Axis(1, 1e28, "width", "log"),
        right=180,
    )
    enough = [(d, depth_three_width(d)) for d in DIMENSIONS]
    chart.line(enough, 2)
    chart.end_label(enough[-1][1], "depth 3", 2)
    for series, (name, width), d in zip((1, 3), bounds.items(), crossings, strict=True):
        needed: list[Point] = [(n, width(n)) for n in DIMENSIONS if width(n) >= 1]
        chart.line(needed, series)
        chart.end_label(needed[-1][1], name, series)
        if d is not None:
            at = (d, width(d))
            chart.dots([at], series, tip=f"beyond depth three from d = {d} on")
            if series == 1:
                chart.label(at, f"d = {d}", series, shift=(12, 16))
            else:
                chart.label(at, f"d = {d}", series, anchor="end", shift=(-12, -8))
    caption = (
        r"The example $\sin(\pi d^3 \langle x, x' \rangle)$: two lower bounds of the width at "
        r"depth two for $\|F - N\|^2 \le \varepsilon$ and weights up to $2^d$, and the width "
        r"$16 \pi d^5/\varepsilon$ that suffices at depth three for $|F - N| \le \varepsilon$. "
        f"Depth two is wider from $d = {crossings[0]}$ on, and by the sharper bound from "
        f"$d = {crossings[1]}$ on."
    )
    return Picture("widths", TITLE, caption, chart.svg)
