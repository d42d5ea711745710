"""The pages of audits over time: curves and a table, or two checkpoints beside one another."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from rankcheck.report.figures import figure
from rankcheck.report.page import render
from rankcheck.report.svg import printable

if TYPE_CHECKING:
    from rankcheck.audit.history.result import Comparison, History

__all__ = ["comparison_fragment", "comparison_page", "history_fragment", "history_page"]


def history_page(history: History) -> str:
    """A history as one HTML page that needs no other file and asks for nothing."""
    return render("history.html", **_of_history(history))


def history_fragment(history: History) -> str:
    """A history as HTML for a notebook."""
    return render("history_fragment.html", **_of_history(history))


def comparison_page(comparison: Comparison) -> str:
    """A comparison as one HTML page that needs no other file and asks for nothing."""
    return render("history.html", **_of_comparison(comparison))


def comparison_fragment(comparison: Comparison) -> str:
    """A comparison as HTML for a notebook."""
    return render("history_fragment.html", **_of_comparison(comparison))


def _of_history(history: History) -> dict[str, Any]:
    from rankcheck.audit.history.figures import FIGURES
    from rankcheck.report.charts.history import pictures

    there = {
        name: one
        for name, one in FIGURES.items()
        if any(each[name] is not None for each in history.checkpoints)
    }
    title = f"Audits of {printable(history.name)} over time"
    common = {"title": title, "found": history, "comparison": None, "history": history}
    drawn = pictures(history) if history.checkpoints else []
    return common | {"figures": there, "pictures": drawn, "text": printable, "figure": figure}


def _of_comparison(comparison: Comparison) -> dict[str, Any]:
    from rankcheck.audit.history.figures import FIGURES

    old, new = printable(comparison.old.name), printable(comparison.new.name)
    common = {"title": f"From {old} to {new}", "found": comparison, "history": None}
    return common | {
        "comparison": comparison,
        "figures": FIGURES,
        "pictures": [],
        "text": printable,
        "figure": figure,
        "short": partial(figure, digits=3),
    }
