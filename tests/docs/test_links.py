"""Every relative link leads to a file and a heading, and the index leads to every page."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from .pages import DOCS, pages, prose, shown

LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(<?([^()\s>]+(?:\([^()]*\))?)>?\)")
PAGES = pages()


def slugs(text: str) -> set[str]:
    """The anchors of the headings, as GitHub and MyST make them."""
    found: set[str] = set()
    for heading in re.findall(r"^#{1,6}[ ]+(.+?)[ ]*#*$", prose(text), re.MULTILINE):
        plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        number = 1
        unique = slug
        while unique in found:
            unique, number = f"{slug}-{number}", number + 1
        found.add(unique)
    return found


def links(text: str) -> list[str]:
    """The targets of the links outside of code, those of pictures inside of links included."""
    plain = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", prose(text), flags=re.DOTALL)
    return LINK.findall(plain) + re.findall(r"\[!\[[^\]]*\]\(([^()\s]+)\)\]", plain)


def broken(path: Path) -> list[str]:
    """The relative links of a page that lead nowhere."""
    out = []
    for link in links(path.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", link):
            continue
        place, _, anchor = link.partition("#")
        target = (path.parent / place).resolve() if place else path
        if not target.exists():
            out.append(f"{link}: there is no such file")
        elif anchor and anchor not in slugs(target.read_text(encoding="utf-8")):
            out.append(f"{link}: {target.name} has no heading #{anchor}")
    return out


@pytest.mark.parametrize("path", PAGES, ids=shown)
def test_relative_links(path):
    assert broken(path) == []


FIGURES = [path for folder in ("", "proofs") for path in (DOCS / folder).glob("*.svg")]


@pytest.mark.parametrize("path", sorted(FIGURES), ids=lambda path: path.name)
def test_a_figure_is_small_shown_and_asks_for_nothing(path):
    text = path.read_text("utf-8")
    assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    assert len(text.encode()) < 80_000
    assert not re.findall(r"<script|@import|url\((?!#)", text)
    assert not re.findall(r"""(?:href|src)=["'](?!#|data:)""", text)
    assert set(re.findall(r"url\(#([^)]+)\)", text)) <= set(re.findall(r'id="([^"]+)"', text))
    shown = {
        (page.parent / link).resolve() for page in PAGES for link in links(page.read_text("utf-8"))
    }
    assert path in shown


def listed(page: Path) -> list[Path]:
    """The pages that the tables of contents of a page name, patterns written out."""
    out: list[Path] = []
    text = page.read_text(encoding="utf-8")
    for tree in re.findall(r"^```\{toctree\}\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        for name in (line for line in tree.splitlines() if line and not line.startswith(":")):
            out += sorted(page.parent.glob(f"{name}.md")) if "*" in name else [DOCS / f"{name}.md"]
    return out


def test_the_index_leads_to_every_page_once():
    reached: list[Path] = [DOCS / "index.md"]
    for page in reached:  # grows on the way
        if page in PAGES:
            reached += listed(page)
    written = {path for path in PAGES if path.is_relative_to(DOCS)}
    assert len(reached) == len(set(reached))
    assert set(reached) - {DOCS / "api" / "index.md"} == written
