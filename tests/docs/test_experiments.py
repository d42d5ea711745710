"""The pages of the experiments show what the records say today."""

import importlib
import re
from dataclasses import replace
from itertools import pairwise

import matplotlib
import pytest
from markdown_it import MarkdownIt

from rankcheck.experiments.base import Finding
from rankcheck.experiments.known import NAMES
from tests.report import trained

from .pages import DOCS

#: The version that the figures of the documentation are drawn with.
PINNED = re.search(r"matplotlib==(.*)", (DOCS.parent / "constraints.txt").read_text("utf-8"))[1]


@pytest.fixture
def made(monkeypatch):
    """The module that writes them."""
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    return importlib.import_module("experiments")


def test_the_pages_are_those_of_the_records(made):
    for name, text in made.pages().items():
        there = (DOCS / name).read_text("utf-8")
        assert there == text, f"{name} is out of date; python docs/renew.py writes it"


def test_there_is_a_figure_for_each_that_is_drawn(made):
    there = {path.name for path in (DOCS / "experiments").glob("*.svg")}
    linked = {
        name
        for path in (DOCS / "experiments").glob("*.md")
        for name in re.findall(r"!\[.*?\]\((.*?)\)", path.read_text("utf-8"))
    }
    assert there == linked


@pytest.mark.slow
@pytest.mark.skipif(matplotlib.__version__ != PINNED, reason="draws other lines")
@pytest.mark.parametrize("name", NAMES)
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


def test_the_record_says_where_the_numbers_come_from(made):
    result = trained.result()
    text = "\n".join(made.record(result))
    for wanted in (
        "```\nrankcheck experiment rank.figure-1 --scale small --seed 0\n```",
        "2 networks, trained on 2026-11-22 (cpu, 62 s of one core; python 3.11, torch 2.13.0)",
        "(../../rankcheck/experiments/recorded/rank.figure-1.json)",
        "6 hold where they apply, and none fails",
        "| `deep` | 2 | 0.1 | 1 | 1 |",
    ):
        assert wanted in text, wanted
    audit = replace(result.runs[0].audit, failing=("rank.sandwich",))
    result = replace(result, runs=(replace(result.runs[0], audit=audit), *result.runs[1:]))
    assert "fail: rank.sandwich." in "\n".join(made.record(result))


def test_the_table_of_all(made):
    class Bars(trained.MadeUp):
        title = "A | B, $|x| = \\|y\\|$"

        def findings(self, result):
            return [Finding("q", "1", "2", agrees) for agrees in (True, True, False, None)]

    text = made.table([(Bars(), trained.result()), (trained.MadeUp(), trained.result())])
    _, first, second = rows([text])
    assert first[0] == "[rank.figure-1](experiments/rank.figure-1.md)"
    assert first[2] == r"A | B, $\vert x\vert  = \Vert y\Vert $"
    assert (first[3], second[3]) == ("2 of 3", "1 of 2")
    assert "experiments/rank.figure-1\n" in text[text.index("{toctree}") :]


def test_a_block_is_put_in_its_place(made):
    begin, end = "<!-- begin of the table -->", "<!-- end of the table -->"
    once = made.with_block(f"before\n{begin}\nold\n{end}\nafter", "table", "new\n")
    assert once == f"before\n{begin}\n\nnew\n\n{end}\nafter"
    assert made.with_block(once, "table", "new\n") == once
    with pytest.raises(ValueError, match="has no lines"):
        made.with_block("nothing", "table", "new\n")
