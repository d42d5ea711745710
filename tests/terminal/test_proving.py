"""What is seen of a proof: what it says in a pipe, and that nothing moves the cursor."""

from __future__ import annotations

import io

from rankcheck.terminal.proving import ProveDisplay

from .test_live import plain

MESSAGE = (
    "t.x: proved at 3 of 4 shapes of at most 8 entries (exact algebra: 3)\n"
    "  Nothing is said of other shapes."
)


def test_in_a_pipe_the_result_is_the_message():
    stream = io.StringIO()
    ProveDisplay(stream).result(MESSAGE, proved=True)
    assert stream.getvalue() == MESSAGE + "\n"


def test_nothing_of_a_claim_moves_the_cursor(terminal, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    ProveDisplay(terminal).result("t.x: \x1b[2J[bold]\u202e", proved=True)
    assert "\\x1b[2J[bold]\\u202e" in plain(terminal.getvalue())
