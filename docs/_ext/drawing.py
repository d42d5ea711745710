"""How the figures of these pages look, and how they become files."""

from __future__ import annotations

import io
import re
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

__all__ = ["COLOURS", "GREY", "STYLE", "written"]

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
