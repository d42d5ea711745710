"""The page of a sharpening: the constant of each relation, what attains it, and pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankcheck.faces.report.charts.sharpening import frontier, ratios
from rankcheck.faces.report.markup import formula, is_title
from rankcheck.faces.report.page import render
from rankcheck.faces.report.svg import printable
from rankcheck.sharpen import sentences
from rankcheck.sharpen.words import again, side

#: So many growing instances are shown; a table of more rows is closed.
GROWING, OPEN = 4, 12


def sharpening_page(data: Mapping[str, Any]) -> str:
    """A sharpening as one HTML page that needs no other file and asks for nothing.

    Args:
        data: its JSON.
    """
    return render("sharpening.html", **_values(data))


def sharpening_fragment(data: Mapping[str, Any]) -> str:
    """A sharpening as HTML for a notebook."""
    return render("sharpening_fragment.html", **_values(data))


def _values(data: Mapping[str, Any]) -> dict[str, Any]:
    """What the templates show."""
    dial = data["dial"]
    return {
        "data": data,
        "drawn": [ratios(data["by"], relation) for relation in data["relations"]],
        "dial_picture": None if dial is None else frontier(dial),
        "say": sentences,
        "text": printable,
        "formula": formula,
        "side": side,
        "replay": printable(again(data)),
        "statement": "" if is_title(data["statement"], data["title"]) else data["statement"],
        "most_growing": GROWING,
        "most_open": OPEN,
    }
