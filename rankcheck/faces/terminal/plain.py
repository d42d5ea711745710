"""Text on a terminal: control characters of claims and files are shown, not sent.

Formulas are shown in Unicode there. In a file or a pipe, texts are what the claims say.
"""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Mapping, Sequence
from typing import TextIO

from rankcheck.faces.terminal import formulas

#: Lines of a text have at most so many characters.
WIDTH = 100

#: Kinds of characters that a terminal obeys: control characters, marks of direction, ends of lines.
_OBEYED = ("Cc", "Cf", "Zl", "Zp")
_KEPT = "\n\t"
#: The longest word of an error, and the longest error: what is longer quotes an argument or a file.
WORD, LINE = 250, 2000


def printable(text: str) -> str:
    r"""A text with its control characters written out, so that it cannot move the cursor.

    >>> printable("a \x1b[31mred\x1b[0m title")
    'a \\x1b[31mred\\x1b[0m title'
    """
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(
        character.encode("unicode_escape").decode()
        if unicodedata.category(character) in _OBEYED and character not in _KEPT
        else character
        for character in text
    )


def one_line(text: str) -> str:
    r"""The text of an error on one line of moderate length, whatever input it quotes.

    >>> one_line("no claim 'a\nb'")
    "no claim 'a\\nb'"
    """
    text = printable(text).replace("\n", "\\n").replace("\t", "\\t")
    text = re.sub(rf"\S{{{WORD + 1},}}", lambda word: _shortened(word[0], WORD), text)
    return _shortened(text, LINE)


def _shortened(text: str, most: int) -> str:
    """A text without its middle, if it is longer than `most` characters."""
    if len(text) <= most:
        return text
    end = most // 3
    left_out = len(text) - most
    return f"{text[: most - end]}[... {left_out} characters ...]{text[-end:]}"


def wrapped(text: str, width: int, indent: str = "  ") -> list[str]:
    """A text in lines of at most so many characters; a word that is longer is cut."""
    lines = textwrap.wrap(
        printable(text), width, subsequent_indent=indent, break_on_hyphens=False, tabsize=1
    )
    return lines or [""]


def fitting(widths: Mapping[str, int], spared: Sequence[str], most: int, gap: int) -> list[str]:
    """The columns of a table that stay in lines of at most so many characters.

    Args:
        widths: of the columns, by name.
        spared: the columns that a narrow terminal does without, the first one first.
        gap: the characters between two columns.

    >>> fitting({"claim": 30, "kind": 12, "sec": 5}, ("kind", "sec"), 40, 1)
    ['claim', 'sec']
    """
    names = list(widths)
    for name in spared:
        if sum(widths[each] for each in names) + gap * (len(names) - 1) <= most:
            break
        if name in names:
            names.remove(name)
    return names


def width_of(stream: TextIO) -> int:
    """How many characters a line may have there: those of the terminal, else `WIDTH`."""
    return shutil.get_terminal_size((WIDTH, 24)).columns if stream.isatty() else WIDTH


def readable(text: str, stream: TextIO) -> str:
    """A text for a stream: printable, and with its formulas in Unicode on a terminal."""
    if "$" in text and stream.isatty() and "utf" in str(getattr(stream, "encoding", "")).lower():
        text = formulas.unicode(text)
    return printable(text)


def say(text: str, stream: TextIO | None = None) -> None:
    """Print a `readable` line; by default on standard output."""
    stream = sys.stdout if stream is None else stream
    print(readable(text, stream), file=stream, flush=True)
