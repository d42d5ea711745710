"""The pages of the experiments: they show what the records say today."""

import importlib
import re
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from markdown_it import MarkdownIt

from rankcheck.experiments.base import Finding
from tests.report import trained

from .pages import DOCS

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@pytest.fixture
def made(monkeypatch):
    """The module that writes them."""
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    return importlib.import_module("experiments")


def same_picture(one: str, other: str) -> bool:
    """Whether two pictures have the same text, and coordinates that differ by roundings at most."""
    if NUMBER.split(one) != NUMBER.split(other):
        return False
    numbers = [np.array(NUMBER.findall(text), dtype=float) for text in (one, other)]
    return bool(np.allclose(*numbers, atol=0.15))


def test_the_pages_are_those_of_the_records(made):
    wanted = made.files()
    folder = DOCS / "experiments"
    found = {path.name for path in folder.glob("*")} if folder.is_dir() else set()
    assert found == set(wanted) - {"../experiments.md"}
    for name, text in wanted.items():
        there = (folder.parent / name[3:] if name[:3] == "../" else folder / name).read_text(
            "utf-8"
        )
        agree = same_picture(there, text) if name.endswith(".svg") else there == text
        assert agree, f"{name} is out of date; python docs/renew.py writes it"


@pytest.mark.parametrize("path", sorted((DOCS / "experiments").glob("*.svg")), ids=lambda p: p.name)
def test_a_figure_is_small_and_asks_for_nothing(path):
    text = path.read_text("utf-8")
    assert len(text.encode()) < 60_000
    assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    assert re.findall(r"[a-z]+://[^\s\"'<>)]+", text) == ["http://www.w3.org/2000/svg"]
    assert "<script" not in text
    assert "@import" not in text
    assert "url(" not in text


def test_pictures_that_differ_are_noticed():
    assert same_picture('<path d="M1 2L3.4 5"/>', '<path d="M1 2L3.5 5"/>')
    assert not same_picture('<path d="M1 2L3.4 5"/>', '<path d="M1 2L3.4 6"/>')
    assert not same_picture('<path d="M1 2L3.4 5"/>', '<path d="M1 2L3.4"/>')
    assert not same_picture("<text>a</text>", "<text>b</text>")


def rows(text: str) -> list[list[str]]:
    """The cells of all tables of a page, as Markdown, by another program's reading."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    found: list[list[str]] = []
    for token, inside in pairwise(tokens):
        if token.type == "tr_open":
            found.append([])
        elif token.type in ("td_open", "th_open"):
            found[-1].append(inside.content)
    return found


def test_a_page_has_the_findings_and_the_figures(made):
    result = trained.result()
    text = made.page(trained.MadeUp(), result, trained.figures(result))
    assert text.startswith("# Made-up networks & more\n")
    assert [row for row in rows(text) if len(row) == 4] == [
        ["quantity", "in print", "here", "as printed"],
        [r"the cost $\Vert \theta\Vert ^2$", "about 2", "4", "yes"],
        ["the rank_0", "3 | 4", "4 &lt;b>", "no"],
        ["the time", "–", "1", "–"],
        [
            "Theorems, evaluated on each of the 2 trained networks",
            "–",
            "6 hold, none fails",
            "–",
        ],
        [
            r"Share of $\Vert \theta\Vert ^2$ that balancing the neurons would save",
            "–",
            "0 to 0, median 0",
            "–",
        ],
    ]
    links = re.findall(r"!\[(.*?)\]\((.*?)\)", text)
    assert links == [
        ("The first", "rank.figure-1-made-up-first.svg"),
        ("The second", "rank.figure-1-made-up-second.svg"),
    ]
    for wanted in (
        "Had it been false, it were *large*.",
        "Notes:\n\n- the rank_0: The widths differ | a lot.\n",
        "- The width is $w_1 < 3$.",
        "```\nrankcheck experiment rank.figure-1 --scale small --seed 0\n```",
        "2 networks, trained on 2026-11-22 (cpu, 62 s of one core; python 3.11, torch 2.13.0)",
        "(../../rankcheck/experiments/recorded/rank.figure-1.json)",
        "6 hold where they apply, and none fails",
    ):
        assert wanted in text, wanted
    assert rows(text)[-1] == ["`deep`", "2", "0.1", "1", "1"]


def test_a_theorem_that_fails_is_named(made):
    result = trained.result()
    audit = replace(result.runs[0].audit, failing=("rank.sandwich",))
    result = replace(result, runs=(replace(result.runs[0], audit=audit), *result.runs[1:]))
    assert "fail: `rank.sandwich`." in made.page(trained.MadeUp(), result, [])


def test_the_table_of_all(made):
    class Bars(trained.MadeUp):
        title = "A | B, $|x| = \\|y\\|$"

        def findings(self, result):
            return [Finding("q", "1", "2", agrees) for agrees in (True, True, False, None)]

    text = made.table([(Bars(), trained.result()), (trained.MadeUp(), trained.result())])
    head, first, second = rows(text)
    assert len(head) == len(first) == len(second) == 5
    assert first[0] == "[rank.figure-1](experiments/rank.figure-1.md)"
    assert first[2] == r"A | B, $\vert x\vert  = \Vert y\Vert $"
    assert (first[3], second[3]) == ("2 of 3", "1 of 2")
    assert "experiments/rank.figure-1\n" in text[text.index("{toctree}") :]
    assert made.table([]) == "None is recorded.\n"


def test_the_table_is_put_in_its_place(made):
    text = f"before\n{made.BEGIN}\nold\n{made.END}\nafter"
    once = made.with_table(text, "new\n")
    assert once == f"before\n{made.BEGIN}\n\nnew\n\n{made.END}\nafter"
    assert made.with_table(once, "new\n") == once
    with pytest.raises(ValueError, match="has no lines"):
        made.with_table("nothing", "new\n")


def test_what_is_written_replaces_what_was(made, tmp_path):
    folder = tmp_path / "experiments"
    made.write({"a.md": "1", "b.svg": "2", "../experiments.md": "3"}, folder)
    made.write({"a.md": "4", "../experiments.md": "5"}, folder)
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"a.md": "4"}
    assert (tmp_path / "experiments.md").read_text() == "5"
