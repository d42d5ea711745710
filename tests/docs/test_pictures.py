"""The pictures of a ledger and a counterexample: they show what catalogue and certificate say."""

import importlib
import json
import re
import shutil
from collections import Counter
from xml.etree import ElementTree

import pytest

from rankcheck.catalogue.collect import project
from rankcheck.catalogue.loader import load
from rankcheck.claims.kinds import KINDS
from rankcheck.claims.verdicts import VERDICTS
from rankcheck.terminal.table import HEADINGS, SELDOM
from rankcheck.verification.check import verify_claim
from rankcheck.verification.profiles import Settings

from .pages import DOCS, ROOT

PICTURES = [DOCS / "ledger.svg", DOCS / "counterexample.svg"]
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


@pytest.fixture
def made(monkeypatch):
    """The module that draws them."""
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    return importlib.import_module("pictures")


@pytest.fixture(scope="module")
def entries():
    return {entry.id: entry for entry in project()}


def terminal(svg: str) -> list[str]:
    """The lines of a drawn terminal."""
    lines: dict[str, dict[float, str]] = {}
    for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        if element.get("textLength"):
            line = lines.setdefault(element.get("y"), {})
            line[float(element.get("x"))] = (element.text or "").replace("\xa0", " ")
    return [" ".join(lines[y][x] for x in sorted(lines[y])) for y in sorted(lines, key=float)]


def words(svg: str) -> str:
    """The text of the part of a claim."""
    root = ElementTree.fromstring(svg)
    article = next(root.iter("{http://www.w3.org/1999/xhtml}article"))
    return " ".join("".join(article.itertext()).split())


def test_the_ledger_is_that_of_the_catalogue(made, entries):
    heading, *rows = terminal(PICTURES[0].read_text("utf-8"))
    assert heading.split() == [name for name in HEADINGS if name not in SELDOM or name in heading]
    rows, total = rows[: len(made.CLAIMS)], " ".join(rows[len(made.CLAIMS) :])
    known = [entries[id_] for id_ in made.CLAIMS]
    expected = [[entry.id, entry.kind, KINDS[entry.kind].expects] for entry in known]
    assert [row.split()[:3] for row in rows] == expected
    verdicts = Counter(verdict for *_, verdict in expected)
    counts = ", ".join(
        f"{verdicts[v]} {words.plural}" for v, words in VERDICTS.items() if verdicts[v]
    )
    assert f"{len(rows)} claims: {counts}" in total
    for killed, tried in re.findall(r" (\d+)/(\d+) ", " ".join(rows)):
        assert killed == tried


def test_the_counterexample_is_that_of_the_certificate(made, entries):
    """The claim is verified again: its certificate is replayed, and drawn, and the texts agree."""
    said = words(PICTURES[1].read_text("utf-8"))
    entry = entries[made.SHOWN]
    (claim,) = load([entry])
    row = verify_claim(claim, Settings(shrink=0.0))
    assert words(made.counterexample(row, entry)) == said
    path = entry.file.parent / "certificates" / f"{entry.id}.json"
    stored = json.loads(path.read_text("utf-8"))["smallest"]
    assert f"exactly: lhs = {stored['lhs']}, rhs = {stored['rhs']}" in said
    (erratum,) = entry.errata
    for text in (entry.id, entry.corrected_by, erratum.printed, erratum.right, erratum.survives):
        for words_ in re.split(r"\$[^$]*\$", text):  # formulas are typeset
            assert words_.strip() in said
    assert f"rankcheck replay {path.relative_to(ROOT).as_posix()} " in said


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed; .ci/browser installs it")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_counterexample_fits_and_follows_the_scheme(made, scheme):
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(color_scheme=scheme)
        page.goto(PICTURES[1].as_uri())
        box = page.locator("article").bounding_box()
        inks = page.evaluate("getComputedStyle(document.querySelector('article')).color")
        browser.close()
    assert box["x"] + box["width"] <= made.WIDTH
    assert made.HEIGHT - 60 < box["y"] + box["height"] <= made.HEIGHT
    red = int(re.search(r"\d+", inks)[0])
    assert (red < 100) == (scheme == "light")
