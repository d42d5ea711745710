"""What is seen of a run: a live table on a terminal, lines elsewhere."""

import io
import re
import time
from pathlib import Path

import pytest
from rich.console import Console

from rankcheck.catalogue.entry import Entry
from rankcheck.parallel import Done, Started, Told
from rankcheck.terminal import display, table
from rankcheck.terminal.display import Display
from rankcheck.terminal.live import Progress

ENTRY = Entry(
    id="t.square", kind="conjecture", title="S", file=Path("mine.py"), line=1, name="test_square"
)


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def drawn(shown: Progress, width: int = 100, height: int = 40) -> str:
    """What is on a screen."""
    screen = io.StringIO()
    Console(file=screen, width=width, height=height).print(shown.render())
    return screen.getvalue()


def test_the_live_table_is_readable_at_100_columns(row, terminal):
    shown = Progress(terminal, 140)
    assert shown.live
    with shown:
        for number in range(139):
            shown(Done(ENTRY, [row(number)]))
        shown(Started(ENTRY))
        shown(Told(ENTRY, 512))
        shown(Told(ENTRY, 512))
        screen = drawn(shown)
        shown(Done(ENTRY, [row(139)]))
    assert screen.count("\n") <= 40
    assert "139 of 140 claims" in screen
    assert "139 not as expected" in screen
    assert re.search(r"t\.square +conjecture +running +1024", screen)
    final = plain(terminal.getvalue())
    lines = [line for line in final.split("\n") if "bottleneck.second" in line][-140:]
    assert len(lines) == 140
    assert all(len(line.rstrip()) <= 100 for line in lines)
    assert all(re.search(r"as-\d{5} +construction +undecided +99999 +1\.33M", x) for x in lines)


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (50, 12), (30, 10)])
def test_the_live_table_fits_a_small_terminal(row, terminal, monkeypatch, columns, lines):
    """Each row is a line, an id is cut and never away, and the totals are on the screen."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("LINES", str(lines))
    shown = Progress(terminal, 140)
    with shown:
        for number in range(50):
            shown(Done(ENTRY, [row(number)]))
        shown(Started(ENTRY))
        screen = drawn(shown, columns, lines).splitlines()
    assert len(screen) < lines
    assert all(len(line) <= columns for line in screen)
    assert screen[-1 if columns == 80 else -2].startswith("50 of 140 claims")
    assert any(re.match(r"t\.square .*running", line) for line in screen)
    assert sum(line.startswith("bottleneck.second-") for line in screen) == lines - 5
    assert plain(terminal.getvalue()).count("undecided") >= 50


def test_the_time_that_is_left_is_estimated(row, monkeypatch):
    clock = iter([0.0, 10.0] + [16.0] * 9)  # the first claim begins after 10 s, and takes 6 s
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    stream = io.StringIO()
    shown = Progress(stream, 21)
    shown(Started(ENTRY))
    shown(Done(ENTRY, [row(7)]))
    assert stream.getvalue().splitlines()[1] == "about 120 s left"


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
    assert lines[-1] == "the end"


@pytest.mark.parametrize("name", ["dumb", "unknown"])
def test_a_terminal_that_cannot_redraw_has_lines(terminal, monkeypatch, name):
    monkeypatch.setenv("TERM", name)
    assert not Display(terminal).live
    assert not Display(io.StringIO()).live


def test_now_and_then_a_line_where_nothing_is_live(terminal, monkeypatch):
    stream = io.StringIO()
    quiet = Display(stream)
    quiet.now_and_then(lambda: "too early")
    monkeypatch.setattr(display, "PAUSE", 0.0)
    quiet.now_and_then(lambda: "in time")
    assert stream.getvalue() == "in time\n"
    Display(terminal).now_and_then(lambda: "on a terminal")
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("columns", [80, 70])
def test_the_last_table_of_a_narrow_terminal_keeps_what_was_found(
    row, terminal, monkeypatch, columns
):
    """An id goes on in a line below, and the kind and the seconds go before scope and best."""
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = Progress(terminal, 1)
    with shown:
        shown(Done(ENTRY, [row(7)]))
    screens = [plain(terminal.getvalue()).splitlines()[-3:]]
    screens.append("\n".join(table.lines([row(7)], columns)).splitlines())
    for heading, first, second in screens:
        assert heading.split()[:3] == ["claim", "verdict", "small"]
        assert {"best", "killed"} <= set(heading.split())
        assert ("tried" in heading) == (columns == 80)
        assert re.search(r" undecided +99999 .*0\.8765 +12/12", first)
        assert max(map(len, (heading, first))) <= columns
        assert first.split()[0] + second.strip() == row(7).id
