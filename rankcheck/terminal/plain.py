"""Text on a terminal: control characters of claims and files are shown, not sent."""

from __future__ import annotations

import sys
import unicodedata
from typing import TextIO

__all__ = ["printable", "say"]

#: Kinds of characters that a terminal obeys: control characters, and marks of direction.
_OBEYED = ("Cc", "Cf")
_KEPT = "\n\t"


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


def say(text: str, stream: TextIO | None = None) -> None:
    """Print a line, its control characters written out; by default on standard output."""
    print(printable(text), file=sys.stdout if stream is None else stream, flush=True)
