"""The page of a claim about an experiment."""

from __future__ import annotations

import re
from base64 import b64decode

import pytest

from rankcheck.errors import InstallationError
from rankcheck.experiments.known import NAMES
from rankcheck.report import claim_page, ledger_page
from rankcheck.report import experiments as room
from rankcheck.report.page import WHOLE

from . import trained
from .conftest import bound
from .test_page import Page, words


@pytest.fixture
def made_up(monkeypatch, tmp_path):
    """`rank.figure-1` is the made-up experiment."""
    monkeypatch.setattr(room, "experiment", {trained.NAME: trained.MadeUp()}.__getitem__)
    monkeypatch.setattr(room, "recorded", {trained.NAME: trained.result()}.__getitem__)
    monkeypatch.setattr(room, "page", lambda name: trained.page(tmp_path))


def row(**values):
    return bound(id=trained.NAME, kind="statistical", **values)


def rows_of(text, name):
    """The rows of a table as lists of words."""
    [table] = re.findall(rf'<table class="{name}[ "].*?</table>', text, re.DOTALL)
    return [
        [
            words(Page(f"<p>{cell}</p>").text)
            for cell in re.findall("<t[dh][^>]*>(.*?)</t[dh]>", line)
        ]
        for line in re.findall("<tr>(.*?)</tr>", table, re.DOTALL)
    ]


@pytest.mark.usefixtures("made_up")
def test_a_claim_shows_its_experiment():
    text = claim_page([(row(), None)])
    page = Page(text)
    assert page.open == []
    images = re.findall(r'<img class="drawn" src="data:image/svg\+xml;base64,([^"]*)"', text)
    assert [b64decode(each).startswith(b"<svg") for each in images] == [True, True]
    assert rows_of(text, "findings")[:4] == [
        ["quantity", "Figure 1 of Nowhere", "here", "as printed"],
        ["the cost ‖θ‖2", "about 2", "4", "yes"],
        ["the rank_0", "3 | 4", "4 <b>", "no"],
        ["the time", "–", "1", "–"],
    ]
    said = words(page.text)
    for wanted in (
        "Had it been false, it were large.",
        "The widths differ | a lot.",
        "Nothing is trained.",
        "The second one, x2.",
    ):
        assert wanted in said
    assert "rankcheck report" not in said


@pytest.mark.usefixtures("made_up")
def test_the_page_of_many_claims_is_short_of_an_experiment(ledger):
    many = [bound(number) for number in range(WHOLE)]
    text = ledger_page(ledger(row(), *many))
    assert "<figure>" not in text
    said = words(Page(text).text)
    assert "notes and differences: rankcheck report rank.figure-1" in said
    assert rows_of(text, "findings")[1] == ["the cost ‖θ‖2", "about 2", "4", "yes"]
    for left in ("it were large", "differ | a lot", "Nothing is trained"):
        assert left not in said
    assert ledger_page(ledger(row(), *many[:3])).count("<figure>") == 2


@pytest.mark.usefixtures("made_up")
@pytest.mark.parametrize("other", [{"kind": "cited", "verdict": "cited"}, {"id": "me.other"}])
def test_other_claims_show_none(other):
    text = claim_page([(bound(**({"id": trained.NAME, "kind": "statistical"} | other)), None)])
    assert "The experiment" not in text


def test_a_ledger_from_elsewhere_with_a_name_without_a_record(monkeypatch):
    def none(name):
        raise InstallationError("there is none")

    monkeypatch.setattr(room, "recorded", none)
    assert "The experiment" not in claim_page([(row(), None)])


@pytest.mark.parametrize("name", NAMES)
def test_what_is_recorded_is_shown(name):
    part = room.experiment_part(bound(id=name, kind="statistical"))
    assert part.findings
    assert part.page.figures
    text = claim_page([(bound(id=name, kind="statistical"), None)])
    assert text.count('<img class="drawn"') == len(part.page.figures)
    assert "img-src data:" in text
