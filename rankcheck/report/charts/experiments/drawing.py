"""What the figures share: their style, panels, and how they become files."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

__all__ = ["COLOURS", "GREY", "STYLE", "joined", "panels", "spectra", "written"]

#: Told apart by those who see few colours (Okabe and Ito).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")
GREY = "#777777"
#: Decimals beyond a hundredth of a point, and marks of one style that each say it: half of a file.
_DECIMALS = re.compile(r"(\d\.\d\d)\d{2,}")
_MARKS = re.compile(r"<g([^>]*)>((?:<use [^>]*/>)+)</g>")
_OF_A_MARK = re.compile(r' style="[^"]*"')
#: The settings of matplotlib that figures are drawn and written with.
STYLE: dict[Any, Any] = {
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 9,
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.2,
    "svg.fonttype": "none",
    "svg.hashsalt": "rankcheck",  # ids in the file do not change from run to run
}


def panels(
    rows: int, columns: int, *, height: float = 2.6, width: float = 7.4, **options: Any
) -> tuple[Figure, list[Axes]]:
    """A figure of so many panels, in inches, and its axes row by row; pyplot is not used."""
    figure = Figure(figsize=(width, rows * height), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False, **options).flat)


def joined(lines: Iterable[Sequence[Sequence[float]]]) -> tuple[list[float], list[float]]:
    """Lines of points in the plane as one, with gaps between them: x and y of a `plot`."""
    points = [point for line in lines for point in (*line, (math.nan, math.nan))]
    return [x for x, _ in points], [y for _, y in points]


def spectra(axes: Axes, layers: Sequence[Sequence[float]], first: int, label: str) -> None:
    """The i-th singular value against the layer, a line for each i: the first ones in colour."""
    for i in reversed(range(max(map(len, layers)))):
        points = [(number, s[i]) for number, s in enumerate(layers, 1) if i < len(s)]
        style: dict[str, Any] = (
            {"color": COLOURS[0]} if i < first else {"color": GREY, "linewidth": 0.7}
        )
        axes.plot(*zip(*points, strict=True), **style)
    axes.set(xlabel="layer", ylabel=label, ylim=(0, None), xlim=(0.5, len(layers) + 0.5))


def written(figure: Figure, kind: str) -> bytes:
    """A figure as `svg` or `png`; the same bytes for the same figure and version of matplotlib."""
    file = io.BytesIO()
    metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
    with rc_context(STYLE):
        figure.savefig(file, format=kind, dpi=160, metadata=metadata)
    if kind != "svg":
        return file.getvalue()
    text = _DECIMALS.sub(r"\1", re.sub(r">\n\s*<", "><", file.getvalue().decode()))
    return _MARKS.sub(_styled_once, text).encode()


def _styled_once(marks: re.Match[str]) -> str:
    styles = set(_OF_A_MARK.findall(marks[2]))
    if len(styles) != 1:
        return marks[0]
    return f"<g{marks[1]}{styles.pop()}>{_OF_A_MARK.sub('', marks[2])}</g>"
