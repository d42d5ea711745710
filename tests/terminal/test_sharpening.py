"""What is seen of a sharpening: a live table, lines elsewhere, and a result that fits."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from rankcheck.sharpen.progress import Progress
from rankcheck.sharpen.words import message
from rankcheck.terminal import display
from rankcheck.terminal.sharpening import SharpenDisplay
from tests.sharpen.made import STATES, odd

from .test_live import plain

STATE = Progress(3.2, 10.0, 36, 123456, {"relation 1": "0.26013004751144445"})
SEVERAL = Progress(
    3.2, 10.0, 36, 123456,
    {"the upper bound of the sum": "1.1349429220000000", "lower": None, "at points": "0.25"},
    "polishing",
)  # fmt: skip


def drawn(shown: SharpenDisplay, width: int = 100) -> list[str]:
    screen = io.StringIO()
    Console(file=screen, width=width, height=24).print(shown.render())
    return screen.getvalue().splitlines()


@pytest.mark.parametrize("width", [100, 60, 40, 30])
def test_the_live_table_fits(terminal, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    shown = SharpenDisplay(terminal)
    assert drawn(shown, width) == ["importing, 0 s"]
    shown.progress(STATE)
    head, row = drawn(shown, width)
    assert "0.2601300475" in row
    assert "3 of 10" in row
    assert ("123k" in row) == (width > 30)
    assert (" 36" in row) == (width > 40)
    assert "relation" not in head
    shown.progress(SEVERAL)
    lines = drawn(shown, width)
    assert len(lines) == 5
    assert all(len(line) <= width for line in lines)
    assert "1.134942922" in lines[1]
    assert "the upper" in lines[1]
    assert "nothing yet" in lines[2]
    assert "0.25" in lines[3]
    assert lines[4].strip() == "polishing"
    shown.progress(replace(STATE, budget=None))
    assert "of" not in drawn(shown, width)[1]


def test_elsewhere_there_is_a_line_now_and_then(monkeypatch):
    monkeypatch.setattr(display, "PAUSE", 0.0)
    stream = io.StringIO()
    with SharpenDisplay(stream) as shown:
        shown.progress(STATE)
        shown.progress(SEVERAL)
    assert stream.getvalue().splitlines() == [
        "  seconds 3 of 10, shapes 36, instances 123k, largest: 0.2601300475",
        "  seconds 3 of 10, shapes 36, instances 123k, the upper bound of the sum: 1.134942922, "
        "lower: nothing yet, at points: 0.25, polishing",
    ]


def test_what_was_found_before_an_end_without_a_result():
    stream = io.StringIO()
    display_ = SharpenDisplay(stream)
    display_.so_far()
    display_.progress(SEVERAL)
    display_.so_far()
    assert stream.getvalue().splitlines() == [
        "  the upper bound of the sum: 1.134942922 was reached, certified",
        "  at points: 0.25 was reached, certified",
    ]


@pytest.mark.parametrize("state", STATES)
def test_in_a_pipe_the_result_is_the_message(state):
    stream, data = io.StringIO(), STATES[state]()
    SharpenDisplay(stream).result(data)
    assert stream.getvalue() == message(data) + "\n"


@pytest.mark.parametrize("width", [100, 44])
@pytest.mark.parametrize("state", STATES)
def test_on_a_terminal_the_result_fits(terminal, monkeypatch, state, width):
    monkeypatch.setenv("COLUMNS", str(width))
    data = STATES[state]()
    SharpenDisplay(terminal).result(data)
    text = plain(terminal.getvalue())
    assert all(len(line) <= width for line in text.splitlines())
    assert "".join(text.split()) == "".join(message(data).split())


def test_the_answer_has_a_colour(terminal, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    SharpenDisplay(terminal).result(STATES["unbounded"]())
    first, *others = terminal.getvalue().splitlines()
    assert "\x1b[1;31m" in first
    assert "\x1b" not in "".join(others[1:])  # the first one is wrapped


def test_nothing_of_a_claim_moves_the_cursor(terminal, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    data = odd("\x1b[2J[bold]\u202e :smile:")
    SharpenDisplay(terminal).result(data)
    text = plain(terminal.getvalue())
    assert "\x1b" not in text
    assert "\\x1b[2J[bold]\\u202e :smile:" in text
