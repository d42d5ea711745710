"""The page of an experiment in `docs/experiments/`: what is at stake, and its figures in words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["FOLDER", "Drawn", "Page", "page"]

_PACKAGE = Path(__file__).resolve().parents[1]
_INSTALLED = _PACKAGE / "_experiments"
#: Of the pages: in the checkout, or inside of the installed package.
FOLDER = _INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parent / "docs" / "experiments"
_PICTURE = re.compile(r"^!\[(.*)\]\((.*)\.svg\)\n\n(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Drawn:
    """A figure of a recorded result: its title, its caption in Markdown, and its SVG file."""

    title: str
    caption: str
    path: Path


@dataclass(frozen=True)
class Page:
    """What people have written of an experiment, in Markdown with LaTeX.

    Attributes:
        question: what is at stake, and what the outcome would have been had it been false.
        notes: on single findings.
        differences: how it differs from the document's own experiment.
        figures: first the one that stands beside the document's.
    """

    question: str = ""
    notes: str = ""
    differences: str = ""
    figures: tuple[Drawn, ...] = ()


def page(name: str) -> Page:
    """The page of an experiment; an empty one if there is none."""
    path = FOLDER / f"{name}.md"
    if not path.is_file():
        return Page()
    text = path.read_text("utf-8")
    sections = dict(re.findall(r"^## (.*)\n\n((?:(?!## ).*\n)*)", text, re.MULTILINE))
    return Page(
        sections.get("What is at stake", ""),
        sections.get("Notes", ""),
        sections.get("How it differs from the document's experiment", ""),
        tuple(
            Drawn(title, caption, FOLDER / f"{file}.svg")
            for title, file, caption in _PICTURE.findall(text)
        ),
    )
