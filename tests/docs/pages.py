"""The Markdown files of the project, and what stands in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
#: Folders that a build of the documentation writes.
GENERATED = ("_build", "api", "claims")
_FENCE = re.compile(r"^(`{3,})[ ]*(\S*)[^\n]*\n(.*?)^\1`*[ ]*$", re.DOTALL | re.MULTILINE)


def pages() -> list[Path]:
    """All Markdown files that are kept in git, sorted."""
    found = [
        *ROOT.glob("*.md"),
        *(ROOT / ".github").rglob("*.md"),
        *(path for path in DOCS.rglob("*.md") if path.relative_to(DOCS).parts[0] not in GENERATED),
    ]
    return sorted(found)


def shown(path: Path) -> str:
    """A page as its place in the checkout."""
    return path.relative_to(ROOT).as_posix()


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """The language and the text of each fenced block."""
    for found in _FENCE.finditer(text):
        yield found[2], found[3]


def prose(text: str) -> str:
    """The text without its fenced blocks."""
    return _FENCE.sub("", text)
