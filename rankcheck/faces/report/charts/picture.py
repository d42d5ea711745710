"""`Picture`: a chart with its caption."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup


@dataclass(frozen=True)
class Picture:
    """A picture of the report.

    Attributes:
        name: that of the function that draws it.
        title: in plain text.
        caption: what is drawn and what is to be seen, in Markdown with LaTeX.
        svg: one element `svg`, which needs `rankcheck.faces.report.svg.STYLE` on its page.
    """

    name: str
    title: str
    caption: str
    svg: Markup
