"""The page of what is proved, made from proofs that are not in the repository."""

import importlib
import sys

import pytest

from rankcheck.catalogue.collect import project
from rankcheck.claims.proved import Proved

from .pages import DOCS

sys.path.insert(0, str(DOCS / "_ext"))
proved = importlib.import_module("proved")
ENTRIES = {entry.id: entry for entry in project()}
FIRST, SECOND, THIRD = "rank.jacobian-bounds-cost", "rank.cross-example", "bottleneck.amgm"


@pytest.fixture
def page(monkeypatch):
    def made(known):
        monkeypatch.setattr(proved.Proofs, "summary", lambda entry: known.get(entry.id))
        return proved.page([ENTRIES[name] for name in (FIRST, SECOND, THIRD)])

    return made


def summary(**fields):
    common = {
        "method": "algebra",
        "shapes": {"algebra": 2},
        "at": "networks of depth 1",
    }
    return Proved(**common | {"largest": "networks of depth 2", "open": 1, "mutants": 2} | fields)


def test_claims_are_counted_and_stand_in_tables(page):
    text = page({FIRST: summary(), THIRD: summary(shapes={"algebra": 1, "squares": 3}, open=0)})
    assert "Of 3 claims that may be true and are put to the test, 2 are proved" in text
    assert "1 of them at one where a mutant cannot be proved; in all at 6 shapes" in text
    assert "exact algebra: 2; exact algebra and sums of squares: 1." in text
    row = f"| `{FIRST}` | exact algebra | 2 | networks of depth 1 | networks of depth 2 | 1 of 2 |"
    assert row in text
    assert f"| `{THIRD}` | exact algebra | 4 |" in text
    assert "| 0 of 2: says little |" in text
    assert f"Nothing is proved of `{SECOND}`. That says nothing against them." in text


def test_proofs_of_an_earlier_text_are_called_so(page):
    assert f"`{FIRST}`, of an earlier text" in page({FIRST: summary(stale=True)})


def test_what_is_false_or_cited_is_not_counted(monkeypatch):
    monkeypatch.setattr(proved.Proofs, "summary", lambda entry: None)
    assert "Of 0 claims" in proved.page([ENTRIES["rank.cross-example-as-printed"]])
