"""What is seen of a run: a live part on a terminal, lines elsewhere."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from rankcheck.catalogue.entry import Entry
from rankcheck.parallel import Done, Started, Told
from rankcheck.prove.result import Progress as Proving
from rankcheck.sharpen.progress import Progress as Sharpening
from rankcheck.terminal.display import Display
from rankcheck.terminal.live import Progress
from rankcheck.terminal.proving import ProveDisplay
from rankcheck.terminal.sharpening import SharpenDisplay

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
        shown(Told(ENTRY, 512))
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
        (ProveDisplay, Proving(3.2, 20.0, 4, 568, 3, "depth 2"), "3 proved"),
    ],
)
@pytest.mark.parametrize("width", [100, 40])
def test_progress_is_drawn(terminal, made, state, seen, width):
    screen = io.StringIO()
    shown = made(terminal)
    shown.progress(state)
    Console(file=screen, width=width, height=24).print(shown.render())
    assert seen in screen.getvalue()
    assert all(len(line) <= width for line in screen.getvalue().splitlines())


@pytest.mark.parametrize("name", ["dumb", "unknown"])
def test_a_terminal_that_cannot_redraw_has_lines(terminal, monkeypatch, name):
    monkeypatch.setenv("TERM", name)
    assert not Display(terminal).live
    assert not Display(io.StringIO()).live
