"""A certificate as a paragraph of LaTeX for a paper."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rankcheck.claims.reference import Reference
from rankcheck.claims.signs import SIGNS
from rankcheck.report.instances import parts
from rankcheck.report.markup import convertible

__all__ = ["escaped", "paragraph"]

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: "\\" + character for character in "#$%&_"},
}
#: Unicode that a plain LaTeX document does not know.
_LETTERS = {
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "±": r"$\pm$",
    "−": "$-$",
    "×": r"$\times$",
    "…": r"\ldots{}",
}
_PIECES = re.compile(r"(\$\$?)(.+?)\1|(`+)(.+?)\3", re.DOTALL)
_BALL = re.compile(r"\[(\S+) \+/- (\S+)\]")
_POWER = re.compile(r"(\d)e([+-]?)0*(\d+)")


def paragraph(data: Mapping[str, Any], reference: Reference | None = None) -> str:
    """What a certificate proves, with the exact instance and the enclosures of both sides.

    Nothing of the certificate is run or trusted: text is escaped, and a formula that is no plain
    mathematics is set as text.

    Args:
        data: the fields of a certificate, as `rankcheck.counterexamples.certificate.read` returns.
        reference: where the statement is printed.
    """
    small = data["smallest"]
    where = "" if reference is None else f" ({_text(str(reference))})"
    sign = SIGNS[small["kind"]].latex
    label = f", for the relation ``{_text(small['label'])}''," if small["label"] else ""
    least = f" by at least ${_number(small['excess'])}$" if small["excess"] != "0" else ""
    instance = ", ".join(
        f"${latex}$" if latex is not None else _text(part)
        for part, latex in parts(small["description"])
    )
    sides = f"${_side('lhs', small['lhs'])}$ and ${_side('rhs', small['rhs'])}$"
    also = "".join(
        f" So does $\\mathrm{{lhs}} {SIGNS[part['kind']].latex} \\mathrm{{rhs}}$ with "
        f"${_side('lhs', part['lhs'])}$ and ${_side('rhs', part['rhs'])}$; one was to hold."
        for part in small.get("also", ())
    )
    how = (
        "Both sides are exact."
        if not any(
            _BALL.fullmatch(part[side])
            for part in (small, *small.get("also", ()))
            for side in ("lhs", "rhs")
        )
        else f"The enclosures were computed in ball arithmetic with {small['bits']} bits."
    )
    versions = data["versions"]
    return "\n".join(
        [
            rf"\paragraph{{Counterexample to \texttt{{{escaped(data['claim'])}}}{where}.}}",
            "The statement reads:",
            r"\begin{quote}",
            _prose(data["statement"]),
            r"\end{quote}",
            f"It is false{label} for {instance}.",
            f"Here {sides}, so that $\\mathrm{{lhs}} {sign} \\mathrm{{rhs}}$",
            f"fails{least}.{also} {how}",
            rf"(rankcheck {escaped(str(versions.get('rankcheck', '')))}, python-flint",
            rf"{escaped(str(versions.get('python-flint', '')))}; certificate with SHA-256",
            rf"\texttt{{{escaped(data['sha256'][:16])}}}\ldots)",
            "",
        ]
    )


def escaped(text: str) -> str:
    """Text with the characters that mean something in LaTeX escaped.

    >>> escaped("50 % of {a_b}")
    '50 \\\\% of \\\\{a\\\\_b\\\\}'
    """
    return "".join(_SPECIAL.get(character, character) for character in text)


def _text(text: str) -> str:
    return "".join(_LETTERS.get(character) or escaped(character) for character in text)


def _prose(text: str) -> str:
    """Markdown with formulas: formulas are kept, code is set in typewriter, the rest is escaped."""
    out, end = [], 0
    for piece in _PIECES.finditer(text):
        out.append(_text(text[end : piece.start()]))
        if piece[2] is None:
            out.append(rf"\texttt{{{escaped(piece[4])}}}")
        elif convertible(piece[2]):
            out.append(piece[0])
        else:
            out.append(rf"\texttt{{{escaped(piece[2])}}}")
        end = piece.end()
    out.append(_text(text[end:]))
    return "".join(out).strip()


def _side(name: str, text: str) -> str:
    ball = _BALL.fullmatch(text)
    if ball is None:
        return rf"\mathrm{{{name}}} = {_number(text)}"
    return rf"\mathrm{{{name}}} \in [{_number(ball[1])} \pm {_number(ball[2])}]"


def _number(text: str) -> str:
    """A number with its exponent of ten written out.

    >>> _number("1.5e-09"), _number("2/3")
    ('1.5 \\\\cdot 10^{-9}', '2/3')
    """
    if not re.fullmatch(r"[-+\d./eE]+", text):
        return rf"\text{{{escaped(text)}}}"
    return _POWER.sub(lambda e: rf"{e[1]} \cdot 10^{{{e[2].strip('+')}{e[3]}}}", text)
