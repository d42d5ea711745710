"""What is seen of a run: a live part on a terminal, lines elsewhere."""

import io
import re
from pathlib import Path

import pytest

from rankcheck.claims.catalogue.entry import Entry
from rankcheck.decide.prove.result import Progress as Proving
from rankcheck.engine.hunt.result import Progress as Hunting
from rankcheck.engine.parallel import Done, Started
from rankcheck.engine.verification.counts import Counts
from rankcheck.faces.terminal.display import Display, HuntDisplay, ProveDisplay, SharpenDisplay
from rankcheck.faces.terminal.live import Progress, styled
from rankcheck.sharpen.progress import Progress as Sharpening
from rankcheck.sharpen.words import message
from tests.sharpen.made import STATES, odd

ENTRY = Entry(
    id="t.square", kind="conjecture", title="S", file=Path("mine.py"), line=1, name="test_square"
)


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def test_elsewhere_a_finished_claim_is_a_line(row):
    stream = io.StringIO()
    shown = Progress(stream, 10)
    with shown:
        shown(Started(ENTRY))
        shown(Done(ENTRY, [row(7)]))
    (finished,) = stream.getvalue().splitlines()
    assert finished.startswith("[ 1/10] undecided  bottleneck.second-")


def test_what_is_said_stands_above_the_live_part(row, terminal):
    shown = Progress(terminal, 2)
    with shown:
        shown(Done(ENTRY, [row(7)]))
        shown.say("a [bold] text")
    shown.say("the end")
    lines = plain(terminal.getvalue()).splitlines()
    assert any(line.endswith("a [bold] text") for line in lines)
    assert any(re.search("bottleneck.second-.* undecided", line) for line in lines)
    assert lines[-1] == "the end"


@pytest.mark.parametrize(
    ("made", "state", "seen"),
    [
        (SharpenDisplay, Sharpening(3.2, 10.0, 36, 123456, {"upper": "1.13494"}), "1.13494"),
        (HuntDisplay, Hunting("evolve", 3, 12, Counts(5, 7, 2), 0.25, 8.0, None), "evolve"),
        (ProveDisplay, Proving(3.2, 20.0, 4, 568, 3, "depth 2"), "3 proved"),
    ],
)
@pytest.mark.parametrize("width", [100, 40])
def test_progress_is_drawn_on_one_line(terminal, made, state, seen, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    shown = made(terminal)
    with shown:
        shown.progress(state)
        line = shown.render().plain
    assert seen in line
    assert len(line) <= width
    assert seen in plain(terminal.getvalue())


def test_what_runs_and_what_is_left_is_drawn(row, terminal):
    shown = Progress(terminal, 2)
    with shown:
        shown(Started(ENTRY))
        assert "t.square" in shown.render().plain
        shown(Done(ENTRY, [row(7, verdict="holds")]))
        line = shown.render().plain
    assert line.startswith("1 of 2 claims")
    assert "t.square" not in line
    rows = [text for text in plain(terminal.getvalue()).splitlines() if "holds" in text]
    assert len(rows) == 1


def test_the_verdict_alone_is_coloured(row):
    """Not the same word in an id; what is not as expected stands out."""
    rows = [row(7, id="t.holds", verdict="holds"), row(8, id="t.undecided")]
    _, *lines = styled(rows, 100)
    for line, each, style in zip(lines, rows, ("green", "bold yellow"), strict=True):
        [span] = line.spans
        assert line.plain[span.start : span.end] == each.verdict
        assert (span.start > len(each.id), span.style) == (True, style)


def test_what_was_found_before_an_end_without_a_result():
    stream = io.StringIO()
    shown = SharpenDisplay(stream)
    shown.so_far()
    best = {"the upper bound": "1.1349429220000000", "lower": None, "at points": "0.25"}
    shown.progress(Sharpening(3.2, 10.0, 36, 123456, best, "polishing"))
    shown.so_far()
    assert stream.getvalue().splitlines() == [
        "  the upper bound: 1.134942922 was reached, certified",
        "  at points: 0.25 was reached, certified",
    ]


@pytest.mark.parametrize("state", STATES)
def test_in_a_pipe_the_result_is_the_message(state):
    stream, data = io.StringIO(), STATES[state]()
    SharpenDisplay(stream).answer(data)
    assert stream.getvalue() == message(data) + "\n"


def test_nothing_of_a_claim_moves_the_cursor(terminal, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    SharpenDisplay(terminal).answer(odd("\x1b[2J[bold]\u202e :smile:"))
    text = plain(terminal.getvalue())
    assert "\x1b" not in text
    assert "\\x1b[2J[bold]\\u202e :smile:" in text


@pytest.mark.parametrize("name", ["dumb", "unknown"])
def test_a_terminal_that_cannot_redraw_has_lines(terminal, monkeypatch, name):
    monkeypatch.setenv("TERM", name)
    assert not Display(terminal).live
    assert not Display(io.StringIO()).live
