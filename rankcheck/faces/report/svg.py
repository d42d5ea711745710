"""Charts as inline SVG: axes, lines, bands, dots, bars, text as text.

A chart has a `viewBox` and its natural width, and shrinks with the page. It has classes and no
colours: the page contains `STYLE` once, and defines `--ink`, `--faint` and `--series-1` to
`--series-5`, for light and for dark. Text is 14 units high, and 20 on narrow screens, where 640
units are less than 400 pixels; so `WIDE`, the width of a letter there, is what a layout counts
with. Everything that is written into a chart is escaped.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from typing import Literal

from markupsafe import Markup

from rankcheck.faces.report.axes import Axis, thinned

#: The height of a line of text on narrow screens, and the width of a letter, in units.
TALL, WIDE = 22.0, 10.0
#: The style sheet of all charts. Series 1 to 5 are colours, 0 is that of faint lines.
STYLE = """
.plot{display:block;max-width:100%;height:auto;overflow:visible}
.plot text{font-family:inherit;font-size:14px;fill:var(--ink)}
.plot .s0{--hue:var(--faint)}.plot .s1{--hue:var(--series-1)}.plot .s2{--hue:var(--series-2)}
.plot .s3{--hue:var(--series-3)}.plot .s4{--hue:var(--series-4)}.plot .s5{--hue:var(--series-5)}
.plot text.tone{fill:var(--hue)}
.plot text.s0{fill:var(--ink)}
.plot .axis{fill:none;stroke:var(--ink);stroke-width:1}
.plot .grid{fill:none;stroke:var(--faint);stroke-width:1;opacity:.35}
.plot .line{fill:none;stroke:var(--hue);stroke-width:2;stroke-linejoin:round}
.plot .dash{stroke-dasharray:6 5}
.plot .band{fill:var(--hue);opacity:.22}
.plot .bars{fill:var(--hue)}
.plot .dots,.plot .spot{fill:none;stroke:var(--hue);stroke-width:7;stroke-linecap:round}
.plot .spot{stroke-width:4.5}
.plot .ring{fill:none;stroke:var(--hue);stroke-width:2}
@media(max-width:560px){.plot text{font-size:20px}}
"""
Point = tuple[float, float]
#: The width and the height of a chart, in units.
WIDTH, HEIGHT = 640.0, 380.0
#: The radius of an open dot, and its outline from the left.
_RING = 3.5
_CIRCLE = "a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0"
_UNPRINTABLE = re.compile("[^\\t\\n\\r -\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


def printable(text: str) -> str:
    r"""The text with U+FFFD for what cannot stand in XML: control characters, halves of pairs.

    >>> printable("a\x1b[2J") == "a\ufffd[2J"
    True
    """
    return _UNPRINTABLE.sub("\ufffd", text)


def coordinate(value: float) -> str:
    """A coordinate with at most one decimal.

    Raises:
        ValueError: if it is not finite.

    >>> coordinate(12.04), coordinate(-0.01), coordinate(7.26)
    ('12', '0', '7.3')
    """
    if not math.isfinite(value):
        raise ValueError(f"received the coordinate {value}; a chart shows finite numbers")
    return f"{round(value, 1) + 0.0:g}" if abs(value) < 1e5 else f"{value:.0f}"


def apart(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places moved as little as possible downwards and then upwards, so that they are `gap` apart.

    They stay in [low, high], if there is room for all of them.

    >>> apart([10, 12, 50], 20, 0, 100)
    [10, 30, 50]
    >>> apart([90, 95], 20, 0, 100)
    [80, 100]
    """
    order = sorted(range(len(places)), key=places.__getitem__)
    moved = [min(max(place, low), high) for place in places]
    for before, after in pairwise(order):
        moved[after] = max(moved[after], moved[before] + gap)
    bound = high
    for place in reversed(order):
        moved[place] = min(moved[place], bound)
        bound = moved[place] - gap
    return moved


class Chart:
    """A chart that grows; `svg` is its text.

    Points are in the units of the axes. A series is 1 to 5, or 0 for faint.

    Args:
        title, description: for people who hear the page; the title is also the tooltip.
        right: the margin on the right, for labels.
    """

    def __init__(
        self,
        title: str,
        description: str,
        x: Axis,
        y: Axis,
        *,
        right: float = 24,
    ) -> None:
        self.title, self.description = title, description
        self._x, self._y = x, y
        self._marks = x.marks(), y.marks()
        widest = max((len(text) for text in self._marks[1].values()), default=0)
        self.left = (widest + 1) * WIDE
        self.top = TALL * 1.6
        self.right = WIDTH - right
        self.bottom = HEIGHT - TALL * 2.3
        self._ends: list[tuple[float, int, str]] = []
        self._body: list[Markup] = [self._axes()]

    def place(self, point: Point) -> Point:
        """Where a point lies in the picture, in units from its left and its top."""
        x, y = point
        return (
            self.left + self._x.share(x) * (self.right - self.left),
            self.bottom - self._y.share(y) * (self.bottom - self.top),
        )

    def line(self, points: Iterable[Point], series: int = 1) -> None:
        """A line through points."""
        self._path("line", series, self._through(points))

    def band(self, upper: Iterable[Point], lower: Iterable[Point], series: int = 1) -> None:
        """The band between two lines, which have the points of one from left to right."""
        points = chain(upper, reversed(list(lower)))
        self._path("band", series, self._through(points) + "z")

    def dots(
        self,
        points: Iterable[Point],
        series: int = 1,
        *,
        tip: str = "",
        fine: bool = False,
    ) -> None:
        """Dots of one series, with a tooltip for all of them."""
        places = map(self.place, points)
        spots = "".join(f"M{coordinate(x)} {coordinate(y)}h0" for x, y in places)
        if spots:
            self._path("spot" if fine else "dots", series, spots, tip)

    def rings(self, points: Iterable[Point], series: int = 1, *, tip: str = "") -> None:
        """Open dots of one series, with a tooltip for all of them."""
        around = "".join(
            f"M{coordinate(x - _RING)} {coordinate(y)}{_CIRCLE}" for x, y in map(self.place, points)
        )
        if around:
            self._path("ring", series, around, tip)

    def bars(self, edges: Sequence[float], heights: Sequence[float], series: int = 1) -> None:
        """A histogram with bars between successive edges, where they reach above the least y."""
        written = coordinate
        outline, foot, above = "", written(self.bottom), False
        for (a, b), height in zip(pairwise(edges), heights, strict=True):
            x, y = self.place((a, max(height, self._y.low)))
            if height > self._y.low:
                outline += "" if above else f"M{written(x)} {foot}"
                outline += f"V{written(y)}H{written(self.place((b, height))[0])}"
            elif above:
                outline += f"V{foot}"
            above = height > self._y.low
        if outline:
            self._path("bars", series, outline + (f"V{foot}" if above else ""))

    def rule(self, y: float, series: int = 0) -> None:
        """A dashed line across the chart at one y."""
        self._path("line dash", series, self._through([(self._x.low, y), (self._x.high, y)]))

    def label(
        self,
        point: Point,
        text: str,
        series: int | None = None,
        *,
        anchor: Literal["start", "middle", "end"] = "start",
        shift: Point = (0, 0),
    ) -> None:
        """A text whose base line begins (or is centred, or ends) at a point, shifted by units."""
        x, y = self.place(point)
        self._body.append(self._text(x + shift[0], y + shift[1], text, series, anchor))

    def end_label(self, y: float, text: str, series: int) -> None:
        """A text on the right at the height y; the texts there are moved apart."""
        self._ends.append((self.place((self._x.high, y))[1], series, text))

    @property
    def svg(self) -> Markup:
        """The chart as an element `svg`."""
        places = [place for place, _, _ in self._ends]
        moved = apart(places, TALL, self.top, self.bottom)
        labels = [
            self._text(self.right + 6, place + TALL / 4, text, series, "start")
            for place, (_, series, text) in zip(moved, self._ends, strict=True)
        ]
        size = [coordinate(WIDTH), coordinate(HEIGHT)]
        return Markup(
            '<svg class="plot" role="img" viewBox="0 0 {} {}" width="{}" height="{}">'
            "<title>{}</title><desc>{}</desc>{}</svg>"
        ).format(
            *size,
            *size,
            printable(self.title),
            printable(self.description),
            Markup("").join([*self._body, *labels]),
        )

    # Parts

    def _axes(self) -> Markup:
        left, right, top, bottom = map(coordinate, (self.left, self.right, self.top, self.bottom))
        below, beside, grid = Markup(""), Markup(""), ""
        columns = [(self.place((v, self._y.low))[0], text) for v, text in self._marks[0].items()]
        for x, _ in columns:
            grid += f"M{coordinate(x)} {bottom}v4"
        for x, text in thinned(columns, WIDE):
            below += self._text(x, self.bottom + TALL, text)
        rows = [(self.place((self._x.low, v))[1], text) for v, text in self._marks[1].items()]
        for y, _ in rows:
            grid += f"M{left} {coordinate(y)}H{right}"
        for y, text in thinned(rows, 0, TALL):
            beside += self._text(self.left - 6, y + TALL / 4, text)
        anchored = Markup('<g text-anchor="{}">{}</g>')
        out = anchored.format("middle", below) + anchored.format("end", beside)
        middle, foot = (self.left + self.right) / 2, HEIGHT - TALL / 4
        out += self._text(middle, foot, self._x.label, None, "middle")
        out += self._text(0, TALL * 0.8, self._y.label)
        lines = Markup('<path class="grid" d="{}"/>').format(grid)
        frame = Markup('<path class="axis" d="M{} {}V{}H{}"/>').format(left, top, bottom, right)
        return lines + frame + out

    def _text(
        self,
        x: float,
        y: float,
        text: str,
        series: int | None = None,
        anchor: str = "start",
    ) -> Markup:
        named = "" if series is None else Markup(' class="tone s{}"').format(series)
        where = "" if anchor == "start" else Markup(' text-anchor="{}"').format(anchor)
        return Markup('<text x="{}" y="{}"{}{}>{}</text>').format(
            coordinate(x), coordinate(y), where, named, printable(text)
        )

    def _through(self, points: Iterable[Point]) -> str:
        written = coordinate
        pairs = [f"{written(x)} {written(y)}" for x, y in map(self.place, points)]
        return "M" + "L".join(pairs) if pairs else ""

    def _path(self, name: str, series: int, text: str, tip: str = "") -> None:
        path = Markup('<path class="{} s{}" d="{}"/>').format(name, series, text)
        if tip:
            path = Markup("<g><title>{}</title>{}</g>").format(printable(tip), path)
        self._body.append(path)
