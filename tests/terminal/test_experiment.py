"""Watching an experiment, and its result as lines."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from rankcheck.experiments.base import Finding, Part
from rankcheck.experiments.pages import Page
from rankcheck.experiments.result import Result, Run
from rankcheck.terminal import display
from rankcheck.terminal import experiment as experiment_
from rankcheck.terminal.experiment import ExperimentDisplay, index, lines
from tests.experiments.toy import Toy, facts

PARTS = [Part(f"depth-{number}", {}, (1,)) for number in range(30)]
LONG = Part("a-part-with-a-name-that-is-longer-than-any-column-of-the-table", {}, (1,))


@pytest.fixture
def clock(monkeypatch):
    """`clock(seconds)`: so much time goes by."""
    now = [100.0]
    monkeypatch.setattr(display.time, "monotonic", lambda: now[0])

    def on(seconds):
        now[0] += seconds

    return on


def test_elsewhere_a_line_for_each_finished_part_and_now_and_then_one_of_progress(clock):
    stream = io.StringIO()
    with ExperimentDisplay(stream, PARTS[:10]) as shown:
        shown.progress("depth-0", 1.0, "done before")
        shown.progress("depth-1", 0.0, "begun")
        clock(3)
        shown.progress("depth-1", 0.2, "error 0.5")
        clock(3)
        shown.progress("depth-1", 0.4, "error 0.25")
        shown.progress("depth-1", 0.5, "error 0.2")
        shown.progress("depth-1", 1.0, "done")
        shown.progress("depth-1", 1.0, "done")
    assert stream.getvalue().splitlines() == [
        "[ 1/10] depth-0: done before",
        "  1 of 10 parts, 14%: depth-1 40% (error 0.25)",
        "[ 2/10] depth-1: done in 6.0 s",
    ]


def drawn(shown, width):
    out = io.StringIO()
    Console(file=out, width=width).print(shown.render())
    return [line.rstrip() for line in out.getvalue().splitlines()]


@pytest.mark.parametrize("width", [24, 50, 60, 100])
def test_the_live_table_fits_a_terminal_of_any_width(terminal, monkeypatch, clock, width):
    monkeypatch.setenv("COLUMNS", str(width))
    shown = ExperimentDisplay(terminal, [*PARTS, LONG])
    assert drawn(shown, width)[0].startswith("0 of 31 parts, 0%, 0 s:")
    shown.progress("depth-3", 0.0, "begun")
    clock(7)
    shown.progress("depth-3", 1.0, "done")
    shown.progress("depth-1", 1.0, "done before")
    shown.progress(LONG.name, 0.42, "error 0.00123 to 0.0421, ‖θ‖²/L 2.01 to 2.11")
    clock(12)
    rows = drawn(shown, width)
    assert all(len(row) <= width for row in rows)
    assert [row.split()[0][:7] for row in rows] == ["part", "depth-3", "depth-1", "a-part-", "2"]
    assert rows[3].split()[1] == "42%"
    assert [row.split()[-1] for row in rows[1:4:2]] == ["7.0", "12"]
    assert ("error" in rows[3]) == (width >= 60)


@pytest.mark.parametrize("height", [5, 40])
def test_the_live_table_fits_a_terminal_of_any_height(terminal, monkeypatch, height):
    """Parts that run come first; of the others the last ones are shown."""
    monkeypatch.setenv("LINES", str(height))
    shown = ExperimentDisplay(terminal, PARTS)
    for part in PARTS[:20]:
        shown.progress(part.name, 1.0, "done")
    shown.progress("depth-25", 0.5, "")
    rows = drawn(shown, 100)
    assert len(rows) <= max(height, 4)
    for name in ("depth-25", "depth-19"):
        assert any(row.startswith(name) for row in rows)


FINDINGS = [
    Finding("limit $a$ of $a + b/L$", "$2$", "1.98 to 2.04", True),
    Finding("layers with two singular values near 1, as a share of all hidden layers of the "
            "networks", "most", "0.83", False),
    Finding("smallest depth", "", "6", None),
    Finding("\x1b[2Ja", "\x07", "c\rd", None),
]  # fmt: skip


@pytest.fixture(autouse=True)
def written(monkeypatch):
    said = Page("Can a *line* be learnt?\n\nA second paragraph.\n", "", "- There is no document.\n")
    monkeypatch.setattr(experiment_, "page", lambda name: said)


def made(failing=False):
    failing = ("rank.sandwich", "rank.chain") if failing else ()
    runs = [Run("a", seed, {}, {}, facts(failing=failing * (seed == 2))) for seed in (1, 2)]
    runs.append(Run("b", 1, {}, {}))
    return Result("toy.line", "small", 3, "", "cpu", {}, 3725.0, "2026-01-02", tuple(runs))


@pytest.fixture
def toy():
    """The experiment of the tests, whose record has the seed of `made`."""
    toy = Toy()
    toy.pilots = 3
    return toy


def test_the_result_beside_the_printed_one(toy):
    found = lines(toy, made(), FINDINGS)
    assert found[:9] == [
        "toy.line: Networks learn $x \\mapsto -x$",
        "nowhere in print",
        "scale small, seed 3, cpu: 3 networks, 1 h 2 min of processor time, 2026-01-02",
        "",
        "Can a *line* be learnt?",
        "",
        "differences from the document's experiment:",
        "- There is no document.",
        "",
    ]
    assert [line.split() for line in found[9:11]] == [
        ["quantity", "printed", "here", "agrees"],
        ["limit", "$a$", "of", "$a", "+", "b/L$", "$2$", "1.98", "to", "2.04", "yes"],
    ]
    assert "6 hold where they apply" in found[-1]
    assert not any("is a pilot" in line for line in found)
    assert not any(line.startswith("quantity") for line in lines(toy, made(), []))


def test_what_is_true_of_the_recorded_result_is_said_of_no_other(toy):
    """Titles, questions and differences have its steps, its depths, its outcome."""
    other = lines(toy, replace(made(), seed=4), FINDINGS)
    assert "Networks learn" not in other[0]
    assert "Can a *line* be learnt?" in other
    pilot = lines(toy, replace(made(), seed=2), FINDINGS)
    assert any("seed 2 is a pilot" in line for line in pilot)
    for scale in ("tiny", "paper"):
        found = lines(toy, replace(made(), scale=scale), FINDINGS)
        assert found[0] == "toy.line: nowhere in print"
        assert found[2:4] == ["", found[3]]
        assert found[3].split()[:3] == ["quantity", "printed", "here"]
        assert ("agrees" in found[3]) == (scale == "paper")
        assert any("trains too little" in line for line in found) == (scale == "tiny")
        text = " ".join(found)
        assert not any(each in text for each in ("Networks learn", "line* be", "no document"))


@pytest.mark.parametrize("width", [1, 30, 72, 300])
def test_lines_of_any_width_say_the_same(width):
    found = lines(Toy(), made(failing=True), FINDINGS, width=width)
    assert max(map(len, found)) <= min(max(width, 30), 100)
    assert all(line.isprintable() for line in found)
    letters = "".join(" ".join(found).split())
    for each in ("yes", "NO", "FAILS:", "rank.sandwich,", "rank.chain"):
        assert each in letters
    if width > 30:
        words = set(" ".join(found).split())
        for one in FINDINGS[:3]:
            assert set(f"{one.quantity} {one.printed} {one.ours}".split()) <= words


@pytest.mark.parametrize("width", [30, 100])
def test_the_list_fits(width):
    costs = {"tiny": "2 networks in 1 parts", "paper": "200 networks in 10 parts"}
    found = index([(Toy(), costs)], width=width)
    assert max(map(len, found)) <= width
    assert "200 networks" in " ".join(" ".join(found).split())
