"""The page of a claim about an experiment."""

from __future__ import annotations

import re

import pytest

from rankcheck.errors import InstallationError
from rankcheck.experiments.known import NAMES
from rankcheck.experiments.records import RECORDED, recorded
from rankcheck.report import claim_page, ledger_page
from rankcheck.report import experiments as room
from rankcheck.report.charts.experiments import _FILES
from rankcheck.report.page import WHOLE

from . import trained
from .conftest import bound
from .test_page import Page, words


@pytest.fixture
def made_up(monkeypatch):
    """`rank.figure-1` is the made-up experiment."""
    monkeypatch.setattr(room, "experiment", {trained.NAME: trained.MadeUp()}.__getitem__)
    monkeypatch.setattr(room, "recorded", {trained.NAME: trained.result()}.__getitem__)
    monkeypatch.setattr(room, "figures", trained.figures)


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
    assert text.count("<figure>") == 2
    assert rows_of(text, "findings") == [
        ["quantity", "Figure 1 of Nowhere", "here", "as printed", "note"],
        ["the cost ‖θ‖2", "about 2", "4", "yes", ""],
        ["the rank_0", "3 | 4", "4 <b>", "no", "The widths differ | a lot."],
        ["the time", "–", "1", "–", ""],
        [
            "Theorems, evaluated on each of the 2 trained networks",
            "–",
            "6 hold, none fails",
            "–",
            "",
        ],
        [
            "Share of ‖θ‖2 that balancing the neurons would save",
            "–",
            "0 to 0, median 0",
            "–",
            "0 at a local minimum of the objective with a ridge: what is left shows how far the "
            "training was from one.",
        ],
    ]
    said = words(page.text)
    for wanted in (
        "Had it been false, it were large.",
        "Nothing is trained.",
        "The second one, x2.",
    ):
        assert wanted in said
    assert "rankcheck report" not in said


@pytest.mark.usefixtures("made_up")
def test_the_page_of_many_claims_is_short_of_an_experiment(ledger):
    many = [bound(number) for number in range(WHOLE)]
    text = ledger_page(ledger(row(), *many), drawn=[])
    assert text.count("<figure>") == 1
    said = words(Page(text).text)
    assert "and one more figure: rankcheck report rank.figure-1" in said
    assert rows_of(text, "findings")[1] == ["the cost ‖θ‖2", "about 2", "4", "yes"]
    for left in ("it were large", "differ | a lot", "Nothing is trained"):
        assert left not in said
    assert ledger_page(ledger(row(), *many[:3]), drawn=[]).count("<figure>") == 2


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


def test_every_experiment_has_a_file_for_its_figures():
    assert tuple(_FILES) == NAMES


@pytest.mark.parametrize("name", sorted(path.stem for path in RECORDED.glob("*.json")))
def test_what_is_recorded_is_shown(name):
    part = room.experiment_part(bound(id=name, kind="statistical"))
    assert [found.quantity for found in part.findings]
    assert part.pictures
    names = [picture.name for picture in part.pictures]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9_-]+", each) for each in names)
    assert recorded(name).experiment == name
    first = room.experiment_part(bound(id=name, kind="statistical"), whole=False)
    assert len(first.pictures) == 1
    assert first.more == len(names) - 1
