"""What is seen of a sharpening: what it says in a pipe, and that nothing moves the cursor."""

from __future__ import annotations

import io

import pytest

from rankcheck.sharpen.progress import Progress
from rankcheck.sharpen.words import message
from rankcheck.terminal.sharpening import SharpenDisplay
from tests.sharpen.made import STATES, odd

from .test_live import plain

SEVERAL = Progress(
    3.2, 10.0, 36, 123456,
    {"the upper bound of the sum": "1.1349429220000000", "lower": None, "at points": "0.25"},
    "polishing",
)  # fmt: skip


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


def test_nothing_of_a_claim_moves_the_cursor(terminal, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    data = odd("\x1b[2J[bold]\u202e :smile:")
    SharpenDisplay(terminal).result(data)
    text = plain(terminal.getvalue())
    assert "\x1b" not in text
    assert "\\x1b[2J[bold]\\u202e :smile:" in text
