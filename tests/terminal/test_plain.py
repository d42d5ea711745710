"""Control characters of claims do not reach the terminal."""

import io

import pytest

from rankcheck.terminal.display import Display
from rankcheck.terminal.plain import printable, say


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
