"""The pictures of README: they show what the catalogue, the certificate and a run say today."""

import importlib
import json
import re
import shutil
from xml.etree import ElementTree

import pytest

from rankcheck.catalogue.collect import project
from rankcheck.catalogue.loader import load
from rankcheck.verification.check import verify_claim
from rankcheck.verification.ledger import Mutants, Row
from rankcheck.verification.profiles import Settings

from .pages import DOCS, ROOT

PICTURES = [DOCS / "ledger.svg", DOCS / "counterexample.svg"]
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
#: The verdict of each kind, as docs/ledger.md has it.
VERDICTS = {"conjecture": "guarded", "refuted": "refuted", "step": "refuted", "cited": "cited"}


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
        if element.get("clip-path"):
            line = lines.setdefault(element.get("y"), {})
            line[float(element.get("x"))] = (element.text or "").replace("\xa0", " ")
    return [" ".join(lines[y][x] for x in sorted(lines[y])) for y in sorted(lines, key=float)]


def words(svg: str) -> str:
    """The text of the part of a claim."""
    root = ElementTree.fromstring(svg)
    article = next(root.iter("{http://www.w3.org/1999/xhtml}article"))
    return " ".join("".join(article.itertext()).split())


def wrong(lines: list[str], entries) -> list[str]:
    """The rows of a terminal that contradict the catalogue."""
    out = []
    for line in lines:
        id_, kind, verdict, *_ = line.split()
        entry = entries.get(id_)
        if entry is None or (entry.kind, VERDICTS.get(entry.kind, "holds")) != (kind, verdict):
            out.append(line)
    return out


def test_the_ledger_is_that_of_the_catalogue(made, entries):
    heading, *rows = terminal(PICTURES[0].read_text("utf-8"))
    assert " ".join(heading.split()) == "claim kind verdict scope tried best killed sec"
    rows, total = rows[: len(made.CLAIMS)], " ".join(rows[len(made.CLAIMS) :])
    assert [row.split()[0] for row in rows] == list(made.CLAIMS)
    assert wrong(rows, entries) == []
    verdicts = [row.split()[2] for row in rows]
    assert set(verdicts) == {"holds", "refuted", "guarded", "cited"}
    said = re.search(
        r"(\d+) claims: (\d+) hold, (\d+) refuted by certificate, (\d+) guarded, (\d+) cited", total
    )
    names = ("holds", "refuted", "guarded", "cited")
    assert [int(n) for n in said.groups()] == [len(rows), *map(verdicts.count, names)]
    for killed, tried in re.findall(r" (\d+)/(\d+) ", " ".join(rows)):
        assert killed == tried


def test_rows_that_are_out_of_date_are_noticed(entries):
    rows = [
        "rank.sandwich limit holds 15420 1.0000 6/6 1.4",
        "rank.sandwich bound holds 15420 1.0000 6/6 1.4",
        "rank.sandwich limit refuted 0.0",
        "rank.gone limit holds 0.0",
    ]
    assert wrong(rows, entries) == rows[1:]


def test_a_row_is_drawn_as_the_ledger_has_it(made):
    facts = {"id": "t.a-claim", "title": "A", "kind": "bound", "verdict": "holds"}
    row = Row(**facts, mutants=Mutants(2, 3), seconds=1.5)
    _, line, _, total = terminal(made.ledger([row], 2.0, Settings()))
    assert line.split() == ["t.a-claim", "bound", "holds", "2/3", "1.5"]
    assert total.strip() == "1 claim: 1 hold · 2.0 s · profile quick · seed 0"


def test_the_counterexample_is_that_of_the_certificate(made, entries):
    """The claim is verified again: its certificate is replayed, and drawn, and the texts agree."""
    said = words(PICTURES[1].read_text("utf-8"))
    entry = entries[made.SHOWN]
    (claim,) = load([entry])
    row = verify_claim(claim, Settings(shrink=0.0))
    assert words(made.counterexample(row, entry)) == said
    path = entry.file.parent / "certificates" / f"{entry.id}.json"
    stored = json.loads(path.read_text("utf-8"))["smallest"]
    assert f"smaller one is {stored['lhs']}, and" in said
    assert f"larger one is {stored['rhs']}." in said
    (erratum,) = entry.errata
    for text in (entry.id, entry.corrected_by, erratum.printed, erratum.right, erratum.survives):
        assert text in said
    assert f"rankcheck replay {path.relative_to(ROOT).as_posix()} " in said


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.name)
def test_a_picture_is_small_and_asks_for_nothing(path):
    text = path.read_text("utf-8")
    assert len(text.encode()) < 40_000
    assert ElementTree.fromstring(text).tag.endswith("svg")
    names = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml"}
    names |= {"http://www.w3.org/1998/Math/MathML", "https://www.textualize.io"}
    assert set(re.findall(r"[a-z]+://[^\s\"'<>)]+", text)) <= names
    assert "<script" not in text
    assert "@import" not in text
    assert set(re.findall(r"url\(([^)])", text)) <= {"#"}
    assert f"docs/{path.name}" in (ROOT / "README.md").read_text("utf-8")


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
