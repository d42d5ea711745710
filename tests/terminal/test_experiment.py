"""Watching an experiment, and its result as lines."""

import io
import itertools
from dataclasses import replace

import pytest
from rich.console import Console

from rankcheck.experiments.base import Finding, Part
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
        shown.told("depth-0", 1.0, "done before")
        shown.told("depth-1", 0.0, "begun")
        clock(3)
        shown.told("depth-1", 0.2, "error 0.5")
        clock(3)
        shown.told("depth-1", 0.4, "error 0.25")
        shown.told("depth-1", 0.5, "error 0.2")
        shown.noticed("a worker ended")
        shown.told("depth-1", 1.0, "done")
        shown.told("depth-1", 1.0, "done")
    assert stream.getvalue().splitlines() == [
        "[ 1/10] depth-0: done before",
        "  1 of 10 parts, 14%: depth-1 40% (error 0.25)",
        "a worker ended",
        "[ 2/10] depth-1: done in 6.0 s",
    ]


def test_a_line_of_progress_names_a_few_parts(clock):
    stream = io.StringIO()
    with ExperimentDisplay(stream, PARTS) as shown:
        clock(6)
        for part in PARTS[:5]:
            shown.told(part.name, 0.0, "")
        clock(6)
        shown.told("depth-4", 0.5, "")
    assert stream.getvalue().splitlines()[-1] == (
        "  0 of 30 parts, 2%: depth-0 0%; depth-1 0%; depth-2 0%; 2 more"
    )


def drawn(shown, width):
    out = io.StringIO()
    Console(file=out, width=width).print(shown.render())
    return [line.rstrip() for line in out.getvalue().splitlines()]


def cut(text, width):
    return text if len(text) <= width else f"{text[: width - 1]}…"


@pytest.mark.parametrize("width", [24, 34, 50, 60, 72, 100, 200])
def test_the_live_table_fits_a_terminal_of_any_width(terminal, monkeypatch, clock, width):
    monkeypatch.setenv("COLUMNS", str(width))
    shown = ExperimentDisplay(terminal, [*PARTS, LONG])
    assert drawn(shown, width) == [cut("0 of 31 parts, 0%, 0 s: importing", width)]
    shown.told("depth-3", 0.0, "begun")
    clock(7)
    shown.told("depth-3", 1.0, "done")
    shown.told("depth-1", 1.0, "done before")
    shown.told(LONG.name, 0.42, "error 0.00123 to 0.0421, ‖θ‖²/L 2.01 to 2.11")
    clock(12)
    rows = drawn(shown, width)
    assert all(len(row) <= width for row in rows)
    assert [row.split()[0][:7] for row in rows] == ["part", "depth-3", "depth-1", "a-part-", "2"]
    assert rows[1].split()[1] == rows[2].split()[1] == "100%"
    assert rows[3].split()[1] == "42%"
    assert [row.split()[-1] for row in rows[1:4:2]] == ["7.0", "12"]
    assert ("error" in rows[3]) == (width >= 60)


@pytest.mark.parametrize("height", [5, 10, 40])
def test_the_live_table_fits_a_terminal_of_any_height(terminal, monkeypatch, height):
    """Parts that run come first; of the others the last ones are shown."""
    monkeypatch.setenv("LINES", str(height))
    shown = ExperimentDisplay(terminal, PARTS)
    for part in PARTS[:20]:
        shown.told(part.name, 1.0, "done")
    shown.told("depth-25", 0.5, "")
    rows = drawn(shown, 100)
    assert len(rows) <= max(height, 4)
    assert any(row.startswith("depth-25") for row in rows)
    assert any(row.startswith("depth-19") for row in rows)


def test_on_a_terminal_nothing_live_is_left(terminal):
    with ExperimentDisplay(terminal, PARTS) as shown:
        shown.told("depth-0", 0.5, "\x1b[31mred")
        shown.noticed("a worker \x1b[31mended")
    assert "a worker \\x1b[31mended" in terminal.getvalue()
    assert "\x1b[31m" not in terminal.getvalue()


FINDINGS = [
    Finding("limit $a$ of $a + b/L$", "$2$", "1.98 to 2.04", True),
    Finding("layers with two singular values near 1, as a share of all hidden layers of the "
            "networks", "most", "0.83", False, "The first layers differ, which a note explains."),
    Finding("smallest depth", "not said", "6", None),
]  # fmt: skip


def made(failing=False):
    failing = ("rank.sandwich", "rank.chain") if failing else ()
    runs = [Run("a", seed, {}, {}, facts(failing=failing * (seed == 2))) for seed in (1, 2)]
    runs.append(Run("b", 1, {}, {}))
    return Result("toy.line", "small", 3, "", "cpu", {}, 3725.0, "2026-01-02", tuple(runs))


def test_the_result_beside_the_printed_one():
    found = lines(Toy(), made(), FINDINGS)
    assert found == [
        "toy.line: Networks learn $x \\mapsto -x$",
        "nowhere in print",
        "scale small, seed 3, cpu: 3 networks, 1 h 2 min of processor time, 2026-01-02",
        "",
        "Can a line be learnt? If not, the error would stay at 1.",
        "",
        f"{'quantity':68}  printed   here          agrees",
        f"{'limit $a$ of $a + b/L$':68}  $2$       1.98 to 2.04  yes",
        f"{'layers with two singular values near 1, as a share of all hidden':68}  most      "
        "0.83          NO",
        "layers of the networks",
        "    The first layers differ, which a note explains.",
        f"{'smallest depth':68}  not said  6             -",
        "",
        "differences from the document's experiment:",
        "* There is no document.",
    ]


def test_a_tiny_result_says_that_it_says_little():
    tiny, small = (lines(Toy(), replace(made(), scale=scale), []) for scale in ("tiny", "small"))
    assert [line for line in tiny if line not in small] == [
        "scale tiny, seed 3, cpu: 3 networks, 1 h 2 min of processor time, 2026-01-02",
        "scale tiny shows that everything runs; it trains too little to say more",
    ]


@pytest.mark.parametrize("width", [1, 30, 50, 71, 72, 80, 100, 300])
def test_lines_of_any_width_say_the_same(width):
    found = lines(Toy(), made(failing=True), FINDINGS, width=width)
    assert max(map(len, found)) <= min(max(width, 30), 100)
    words = set(" ".join(found).split())
    for each in FINDINGS:
        assert set(f"{each.quantity} {each.printed} {each.ours} {each.note}".split()) <= words
    assert {"yes", "NO", "-", "FAILS:", "rank.sandwich,", "rank.chain"} <= words


def test_formulas_are_written_as_they_are_told():
    found = lines(Toy(), made(), FINDINGS, written=lambda text: text.replace("$", ""))
    assert not any("$" in line for line in found)


def test_control_characters_are_written_out():
    odd = Finding("\x1b[2Ja", "\x07", "c\rd", None, "\x1b")
    assert all(line.isprintable() for line in lines(Toy(), made(), [odd]))


def test_a_result_with_nothing_to_compare():
    found = lines(Toy(), made(), [])
    assert not any(line.startswith("quantity") for line in found)


@pytest.mark.parametrize("width", [30, 100])
def test_the_list_fits(width):
    costs = {"tiny": "2 networks in 1 parts", "paper": "200 networks in 10 parts"}
    found = index([(Toy(), costs)], width=width)
    assert max(map(len, found)) <= width
    assert "200 networks" in " ".join(" ".join(found).split())


def test_columns_share_the_room():
    for sizes in itertools.product((1, 8, 20, 90), repeat=3):
        rows = [("a" * sizes[0], "b" * sizes[1], "c" * sizes[2], "yes")]
        widths = experiment_._widths(rows, 100)
        assert sum(widths) + 6 <= 100
        natural = [max(size, least) for size, least in zip((*sizes, 3), (8, 7, 4, 6), strict=True)]
        assert all(width <= size for width, size in zip(widths, natural, strict=True))
        if sum(natural) + 6 <= 100:
            assert widths == natural
