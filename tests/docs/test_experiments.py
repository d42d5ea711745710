"""The pages of the experiments show what the records say today."""

import importlib
from itertools import pairwise

import matplotlib
import pytest
from markdown_it import MarkdownIt

from rankcheck.experiments.known import NAMES
from tests.report import trained

from .pages import DOCS, PINNED

SHORTEST = "bottleneck.figure-1"


@pytest.fixture
def made(monkeypatch):
    """The module that writes them."""
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    return importlib.import_module("experiments")


def test_the_pages_are_those_of_the_records(made):
    for name, text in made.pages().items():
        there = (DOCS / name).read_text("utf-8")
        assert there == text, f"{name} is out of date; python docs/renew.py writes it"


@pytest.mark.slow
@pytest.mark.skipif(matplotlib.__version__ != PINNED, reason="draws other lines")
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.nightly] * (name != SHORTEST)) for name in NAMES],
)
def test_a_figure_is_that_of_its_record(made, name):
    for file, text in made.drawn(name).items():
        there = (DOCS / "experiments" / file).read_text("utf-8")
        assert there == text, f"{file} is out of date; python docs/renew.py draws it"


def rows(lines):
    """The cells of a table in Markdown, by another program's reading."""
    tokens = MarkdownIt("commonmark").enable("table").parse("\n".join(lines))
    found: list[list[str]] = []
    for token, inside in pairwise(tokens):
        if token.type == "tr_open":
            found.append([])
        elif token.type in ("td_open", "th_open"):
            found[-1].append(inside.content)
    return found


def test_the_findings_are_a_table(made):
    found = rows(made.findings(trained.MadeUp(), trained.result()))
    assert found[:4] == [
        ["quantity", "in print", "here", "as printed"],
        [r"the cost $\Vert \theta\Vert ^2$", "about 2", "4", "yes"],
        ["the rank_0", "3 | 4", "4 &lt;b>", "no"],
        ["the time", "–", "1", "–"],
    ]
