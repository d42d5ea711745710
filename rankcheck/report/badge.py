"""A badge of a ledger: how many claims are as expected, as SVG or as JSON for shields.io."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from markupsafe import escape

from rankcheck import files
from rankcheck.claims.verdicts import VERDICTS
from rankcheck.errors import InputError
from rankcheck.verification.ledger import Row

__all__ = ["Badge", "check_badge", "write_badge"]

LABEL = "rankcheck"
Colour = Literal["brightgreen", "red", "yellow", "lightgrey"]
#: The colours of the SVG by their names for shields.io; white text is legible on each.
_COLOURS = {"brightgreen": "#25733f", "red": "#b3261e", "yellow": "#8a5a00", "lightgrey": "#5f6670"}
#: What a badge in JSON has, and nothing else (https://shields.io/badges/endpoint-badge).
_FIELDS = ("schemaVersion", "label", "message", "color")
_KIND = "a badge of rankcheck"
#: The size of letters, and their widths in sans-serif fonts: narrow ones, wide ones, and the rest.
_SIZE, _NARROW, _WIDE, _REST = 11, 3.8, 9.8, 6.6
#: Room left and right of a text, and the height of a badge.
_ROOM, _HEIGHT = 6.0, 20


@dataclass(frozen=True)
class Badge:
    """What a badge says, and its colour."""

    message: str
    color: Colour

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Badge:
        """The badge of a ledger.

        It is red if a claim is refuted or failed and should not be, yellow if claims are undecided,
        and grey if there are none.
        """
        wrong = [row for row in rows if not row.expected]
        claims = f"{len(rows)} claim{'s' * (len(rows) != 1)}"
        if not rows:
            return cls("no claims", "lightgrey")
        if not all(VERDICTS[row.verdict].open for row in wrong):
            return cls(f"{len(wrong)} of {claims} not as expected", "red")
        if wrong:
            return cls(f"{len(wrong)} of {claims} undecided", "yellow")
        return cls(f"{claims} as expected", "brightgreen")

    def endpoint(self) -> str:
        """As JSON that shields.io makes a badge of."""
        data = dict(zip(_FIELDS, (1, LABEL, self.message, self.color), strict=True))
        return json.dumps(data, indent=2) + "\n"

    def svg(self) -> str:
        """As a picture that needs no other file."""
        left, right = _width(LABEL), _width(self.message)
        whole = left + right
        title = escape(f"{LABEL}: {self.message}")
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole:g}" height="{_HEIGHT}" '
            f'viewBox="0 0 {whole:g} {_HEIGHT}" role="img" aria-label="{title}">\n'
            f"<!-- {files.GENERATOR} -->\n"
            f"<title>{title}</title>\n"
            f'<clipPath id="r"><rect width="{whole:g}" height="{_HEIGHT}" rx="3"/></clipPath>\n'
            f'<g clip-path="url(#r)"><rect width="{left:g}" height="{_HEIGHT}" fill="#444a52"/>'
            f'<rect x="{left:g}" width="{right:g}" height="{_HEIGHT}" '
            f'fill="{_COLOURS[self.color]}"/></g>\n'
            '<g fill="#fff" text-anchor="middle" '
            f'font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="{_SIZE}">\n'
            f"{_text(LABEL, left / 2, left)}\n{_text(self.message, left + right / 2, right)}\n"
            "</g>\n</svg>\n"
        )


def _width(text: str) -> float:
    """The width of a text with room on both sides, about; `textLength` makes it fit."""
    narrow = sum(letter in "fijlrt I1.,:' " for letter in text)
    wide = sum(letter in "mwMW" for letter in text)
    rest = len(text) - narrow - wide
    return round(2 * _ROOM + narrow * _NARROW + wide * _WIDE + rest * _REST, 1)


def _text(text: str, middle: float, width: float) -> str:
    """A text in the middle of a part of a badge, as long as there is room."""
    length = width - 2 * _ROOM
    return f'<text x="{middle:g}" y="14" textLength="{length:g}">{escape(text)}</text>'


def check_badge(path: Path) -> None:
    """Check that a badge can be written to a file, before the work whose result it shows.

    Raises:
        InputError: with the path and the reason.
    """
    if path.suffix not in (".svg", ".json"):
        raise InputError(
            f"cannot write a badge to {path}; FILE.svg is a picture, FILE.json is for shields.io"
        )
    files.check_writable(path, _KIND, _FIELDS if path.suffix == ".json" else None)


def write_badge(path: Path, badge: Badge) -> None:
    """Write a badge, either the whole file or nothing, in the form that its name has.

    Raises:
        InputError: if it cannot be written.
    """
    try:
        files.write_text(path, badge.endpoint() if path.suffix == ".json" else badge.svg())
    except OSError as error:
        raise InputError(f"the badge cannot be written to {path}: {error.strerror}") from error
