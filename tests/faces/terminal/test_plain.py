"""Control characters of claims do not reach the terminal."""

import io

import pytest

from rankcheck.faces.terminal.display import Display
from rankcheck.faces.terminal.plain import LINE, WORD, one_line, printable, say


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\n\ttext ≤ σ", "plain\n\ttext ≤ σ"),
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("back\r over \b", "back\\r over \\x08"),
        ("c1 \x9b31m", "c1 \\x9b31m"),
        ("\u202eright to left", "\\u202eright to left"),
    ],
)
def test_control_characters_are_written_out(text, shown):
    assert printable(text) == shown
    for write in (say, lambda line, stream: Display(stream).say(line)):
        stream = io.StringIO()
        write(text, stream)
        assert stream.getvalue() == shown + "\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("no claim 'a\nb\tc'", "no claim 'a\\nb\\tc'"),
        ("a\x1b[2J\u2028\x85\r\n", "a\\x1b[2J\\u2028\\x85\\r\\n"),
        ("x" * WORD, "x" * WORD),
        (f"{'x' * 999}{'y' * 999} it", f"{'x' * 167}[... 1748 characters ...]{'y' * 83} it"),
        ("a " * LINE, f"{'a ' * 667}[... {LINE} characters ...]{'a ' * 333}"),
    ],
)  # fmt: skip
def test_an_error_is_one_line(text, shown):
    assert one_line(text) == shown
