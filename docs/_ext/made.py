"""Parts of pages that are made from code, claims and records while the site is built.

A line `<!-- made: NAME ARGUMENTS -->` of a page gives way to the Markdown of `MAKERS[NAME]`. In git
the page has the line alone, and says how to see the same at a terminal.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import ball_page
import generators
import lists
import proved
import records
from sphinx.application import Sphinx

from rankcheck.claims.catalogue.collect import project

__all__ = ["MAKERS", "filled"]

#: By its name in a page, what makes a part; it gets the arguments that stand behind the name.
MAKERS: dict[str, Callable[..., str]] = {
    "balls": ball_page.forms,
    "claims": lambda: lists.claims(project()),
    "generators": generators.table,
    "instead": ball_page.instead,
    "open-records": lambda: records.still_open(project()),
    "proved": lambda: proved.tables(project()),
    "records-of": lambda *ids: records.table(project(), ids),
}
_PLACE = re.compile(r"^<!-- made: (\S+)(.*?) -->$", re.MULTILINE)


def filled(text: str) -> str:
    """A page with its parts.

    Raises:
        KeyError: if nothing makes a part of that name, or a claim that it names does not exist.
    """
    return _PLACE.sub(lambda found: MAKERS[found[1]](*found[2].split()), text)


def _fill(app: Sphinx, docname: str, source: list[str]) -> None:
    source[0] = filled(source[0])


def _outdated(
    app: Sphinx, env: object, added: object, changed: object, removed: object
) -> list[str]:
    """The pages with such parts: what these are made of may have changed."""
    known = app.project.docnames
    return [name for name in known if "<!-- made: " in app.env.doc2path(name).read_text("utf-8")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", _fill)
    app.connect("env-get-outdated", _outdated)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
