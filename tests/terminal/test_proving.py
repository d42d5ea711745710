"""What is seen of a proof: one line while it goes on, and a result that fits."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from rankcheck.prove.result import Progress
from rankcheck.terminal import display
from rankcheck.terminal.proving import ProveDisplay

from .test_live import plain

STATE = Progress(3.2, 20.0, 4, 568, 3, "networks of depth 2, width 2 (drawn: 2, 1, 2, 1, 1, 0)")
MESSAGE = (
    "t.x: proved at 3 of 4 shapes of at most 8 entries (exact algebra: 3)\n"
    "  For networks of depth 2, width 2: true whatever numbers the generator draws, on all 16 "
    "paths through the body, boundaries included (exact algebra), except possibly where "
    "x₀x₃ = x₁x₂. 2 of 2 mutants cannot "
    "be proved at this shape.\n"
    "  Nothing is said of other shapes."
)


@pytest.mark.parametrize("width", [100, 40])
def test_the_live_line_fits(terminal, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    shown = ProveDisplay(terminal)

    def drawn():
        screen = io.StringIO()
        Console(file=screen, width=width, height=24).print(shown.render())
        return screen.getvalue().splitlines()

    assert drawn() == ["importing, 0 s"]
    shown.progress(STATE)
    [line] = drawn()
    assert line.startswith("3 of 20 s, 4 of 568 shapes, 3 proved;")
    assert len(line) <= width


def test_elsewhere_there_is_a_line_now_and_then(monkeypatch):
    monkeypatch.setattr(display, "PAUSE", 0.0)
    stream = io.StringIO()
    with ProveDisplay(stream) as shown:
        shown.progress(STATE)
    assert stream.getvalue() == (
        "  3 of 20 s, 4 of 568 shapes, 3 proved; now networks of depth 2, width 2 "
        "(drawn: 2, 1, 2, 1, 1, 0)\n"
    )


def test_in_a_pipe_the_result_is_the_message():
    stream = io.StringIO()
    ProveDisplay(stream).result(MESSAGE, proved=True)
    assert stream.getvalue() == MESSAGE + "\n"


@pytest.mark.parametrize("width", [100, 44])
def test_on_a_terminal_the_result_fits(terminal, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    ProveDisplay(terminal).result(MESSAGE, proved=True)
    text = plain(terminal.getvalue())
    assert all(len(line) <= width for line in text.splitlines())
    assert "".join(text.split()) == "".join(MESSAGE.split())


@pytest.mark.parametrize(("proved", "colour"), [(True, "\x1b[1;32m"), (False, "\x1b[1;33m")])
def test_the_answer_has_a_colour(terminal, monkeypatch, proved, colour):
    monkeypatch.delenv("NO_COLOR", raising=False)
    ProveDisplay(terminal).result(MESSAGE, proved=proved)
    first, *others = terminal.getvalue().splitlines()
    assert colour in first
    assert "\x1b" not in "".join(others)


def test_nothing_of_a_claim_moves_the_cursor(terminal, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    ProveDisplay(terminal).result("t.x: \x1b[2J[bold]\u202e", proved=True)
    assert "\\x1b[2J[bold]\\u202e" in plain(terminal.getvalue())
