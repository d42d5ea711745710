"""The pictures of README: a ledger and a counterexample, as catalogue and certificate say."""

import importlib
import re
from xml.etree import ElementTree

import pytest

from rankcheck.claims.catalogue.collect import project
from rankcheck.claims.catalogue.loader import load
from rankcheck.claims.kinds import KINDS
from rankcheck.engine.verification.check import verify_claim
from rankcheck.engine.verification.profiles import Settings

from .pages import DOCS

ENTRIES = {entry.id: entry for entry in project()}


@pytest.fixture
def made(monkeypatch):
    """The script that draws them."""
    monkeypatch.syspath_prepend(str(DOCS))
    return importlib.import_module("pictures")


def words(svg: str, part: str) -> str:
    """The text of the elements of this name."""
    elements = ElementTree.fromstring(svg).iter(part)
    return " ".join(" ".join("".join(one.itertext()) for one in elements).split())


def test_the_ledger_is_that_of_the_catalogue(made):
    shown = words((DOCS / "ledger.svg").read_text("utf-8"), "{http://www.w3.org/2000/svg}text")
    for entry in (ENTRIES[id_] for id_ in made.CLAIMS):
        assert f"{entry.id} {entry.kind} {KINDS[entry.kind].expects}" in shown
    assert f"{len(made.CLAIMS)} claims: " in shown
    assert all(killed == tried for killed, tried in re.findall(r" (\d+)/(\d+) ", shown))


def test_the_counterexample_is_that_of_the_certificate(made):
    """The claim is verified again: its certificate is replayed, and drawn, and the texts agree."""
    entry = ENTRIES[made.SHOWN]
    [claim] = load([entry])
    row = verify_claim(claim, Settings(shrink=0.0))
    article = "{http://www.w3.org/1999/xhtml}article"
    said = words((DOCS / "counterexample.svg").read_text("utf-8"), article)
    assert words(made.counterexample(row, entry), article) == said
    assert entry.id in said
