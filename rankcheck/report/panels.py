"""Several charts as one picture, with a letter and a title above each, and a legend."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Literal

from markupsafe import Markup

from rankcheck.report.paths import coordinate, cross, ring
from rankcheck.report.style import TALL, WIDE
from rankcheck.report.svg import Chart, element, printable, titled

__all__ = ["Key", "panels"]

#: The width of a letter of a heading, which is bold.
_BOLD = 1.25 * WIDE
#: Between two panels, and between two keys, in units.
_GAP, _KEY_GAP, _KEY = 20.0, 16.0, 24.0


@dataclass(frozen=True)
class Key:
    """One entry of a legend: a text, and how its series is drawn."""

    text: str
    series: int
    mark: Literal["line", "dash", "dot", "cross", "ring", "cell"] = "line"


def panels(
    charts: Sequence[Chart],
    columns: int,
    *,
    title: str,
    description: str,
    keys: Sequence[Key] = (),
) -> Markup:
    """Charts in rows of so many columns, as one element `svg`.

    The title of a chart stands above it, behind a letter if there are several, and is wrapped to
    its width. Charts of 310 units in two columns, or of 200 in three, are as wide as one of 640.

    Args:
        title, description: of the whole.
        keys: the legend, which stands above all charts.

    Raises:
        ValueError: if there are no charts, or columns, or more charts than letters.
    """
    if not 1 <= len(charts) <= len(ascii_lowercase) or columns < 1:
        raise ValueError(
            f"received {len(charts)} charts in {columns} columns; a picture has between one and "
            f"{len(ascii_lowercase)} charts, and at least one column"
        )
    rows = [charts[at : at + columns] for at in range(0, len(charts), columns)]
    widths = [max(chart.width for chart in charts[at::columns]) for at in range(len(rows[0]))]
    width = sum(widths) + _GAP * (len(widths) - 1)
    legend, y = _legend(keys, width)
    out = titled(title, description) + legend
    letters = iter(ascii_lowercase)
    for row in rows:
        heads = [_heading(chart, next(letters) if len(charts) > 1 else "") for chart in row]
        y += TALL * max(map(len, heads))
        x = 0.0
        for chart, lines, across in zip(row, heads, widths, strict=False):
            for number, line in enumerate(reversed(lines)):
                out += _text(x, y - TALL * (number + 0.25), line, "strong")
            out += Markup('<g transform="translate({} {})">{}</g>').format(
                coordinate(x), coordinate(y), chart.inner
            )
            x += across + _GAP
        y += max(chart.height for chart in row) + _GAP
    links = any(chart.has_links for chart in charts)
    return element(out, width, y - _GAP, links=links)


def _heading(chart: Chart, letter: str) -> list[str]:
    """The lines above a chart."""
    return textwrap.wrap(f"{letter} {chart.title}".strip(), max(int(chart.width / _BOLD), 8))


def _legend(keys: Sequence[Key], width: float) -> tuple[Markup, float]:
    """A legend in rows, and its height."""
    x, y, out = 0.0, 0.0, Markup("")
    for key in keys:
        taken = _KEY + WIDE * len(key.text)
        if x and x + taken > width:
            x, y = 0.0, y + TALL
        out += _mark(key, x, y + TALL / 2) + _text(x + _KEY, y + TALL * 0.75, key.text)
        x += taken + _KEY_GAP
    return out, y + TALL * 1.5 if keys else 0.0


def _mark(key: Key, x: float, y: float) -> Markup:
    """The mark of a key, in the middle of 18 units."""
    name, path = {
        "line": ("line", f"M{coordinate(x)} {coordinate(y)}h18"),
        "dash": ("line dash", f"M{coordinate(x)} {coordinate(y)}h18"),
        "dot": ("dots", f"M{coordinate(x + 9)} {coordinate(y)}h0"),
        "cross": ("thin", cross(x + 9, y)),
        "ring": ("thin", ring(x + 9, y)),
        "cell": ("bars", f"M{coordinate(x + 2)} {coordinate(y - 7)}h14v14h-14z"),
    }[key.mark]
    return Markup('<path class="{} s{}" d="{}"/>').format(name, key.series, path)


def _text(x: float, y: float, text: str, name: str = "") -> Markup:
    named = Markup(' class="{}"').format(name) if name else ""
    return Markup('<text x="{}" y="{}"{}>{}</text>').format(
        coordinate(x), coordinate(y), named, printable(text)
    )
