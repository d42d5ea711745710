"""A certificate as a paragraph of LaTeX for a paper."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, Context, Decimal, DecimalException
from typing import TYPE_CHECKING, Any

from rankcheck.claims.catalogue.entry import Entry
from rankcheck.claims.reference import Reference
from rankcheck.claims.sides import sides_of
from rankcheck.faces.report.instances import parts as parts_of
from rankcheck.faces.report.markup import convertible

if TYPE_CHECKING:
    from rankcheck.claims.claim import Claim

#: What is wrong with two sides, by the kind of their relation.
_FAILS = {
    "leq": "the first is larger than the second",
    "lt": "the first is not smaller than the second",
    "eq": "they differ",
}

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
_PIECES = re.compile(r"(\$\$?)(.+?)\1|(`+)(.+?)\3|(\*)(\w[^*$`]*)\5", re.DOTALL)
_BALL = re.compile(r"\[(\S+) \+/- (\S+)\]")
_POWER = re.compile(r"(\d)[eE]([+-]?)0*(\d+)")
_GREEK = re.compile(
    r"\\mathrm\{(alpha|beta|gamma|delta|epsilon|eta|theta|kappa|lambda|mu|nu|xi|rho|sigma|tau|phi|psi|omega)\}"
)


def paragraph(data: Mapping[str, Any], claim: Entry | Claim | None = None) -> str:
    """What a certificate proves, with the exact instance and the enclosures of both sides.

    It needs amsmath and no other package. Nothing of the certificate is run or trusted: text is
    escaped, and a formula that is no plain mathematics is set as text.

    Args:
        data: the fields of a certificate, as `certificates.read` of the catalogue returns them.
        claim: its claim, or the entry of that; it has the text of both sides.
    """
    small = data["smallest"]
    exact = not any(_BALL.fullmatch(small[side]) for side in ("lhs", "rhs"))
    how = (
        "Both sides are exact."
        if exact
        else f"The enclosures were computed in ball arithmetic with {small['bits']} bits."
    )
    versions = data["versions"]
    return "\n".join(
        [
            r"% \usepackage{amsmath}; the references: rankcheck export "
            f"{escaped(data['claim'])} --bibtex",
            rf"\paragraph{{Counterexample to \texttt{{{escaped(data['claim'])}}}.}}",
            f"{_place(None if claim is None else claim.reference)}:",
            r"\begin{quote}",
            _prose(data["statement"]),
            r"\end{quote}",
            r"\begin{sloppypar}",
            f"It is false for {_instance(small['description'])}.",
            *_failure(small, claim),
            how,
            rf"(rankcheck {escaped(str(versions.get('rankcheck', '')))}, python-flint",
            rf"{escaped(str(versions.get('python-flint', '')))}; certificate with SHA-256",
            rf"\texttt{{{escaped(data['sha256'][:16])}}}\ldots)",
            r"\end{sloppypar}",
            "",
        ]
    )


def _place(reference: Reference | None) -> str:
    """The beginning of a sentence: where the statement stands."""
    if reference is None:
        return "The statement reads"
    document = reference.document
    if document is None:
        return f"The statement ({_text(str(reference))}) reads"
    return (
        f"The statement ({_text(reference.where)} of {_text(document.authors)}, "
        rf"\emph{{{_text(document.title)}}}, {_text(document.venue)}) reads"
    )


def _instance(description: str) -> str:
    """An instance with its numbers and arrays as formulas; equal ones of one letter are joined."""
    texts: list[str] = []
    same: dict[tuple[str, str], tuple[int, list[str]]] = {}
    for part, latex in parts_of(description):
        if latex is None:
            text = re.sub(r"(?<= )-?\d[\d/.]*$", lambda number: f"${number[0]}$", _text(part))
            texts.append(text)
            continue
        name, _, value = _GREEK.sub(r"\\\1", latex).partition(" = ")
        place, names = same.setdefault((name.partition("_")[0], value), (len(texts), []))
        names.append(name)
        shown = [*names[:2], r"\dots", names[-1]] if _in_a_row(names) else names
        texts[place:] = [f"${' = '.join([*shown, value])}$", *texts[place + 1 :]]
    return ", ".join(texts)


def _in_a_row(names: Sequence[str]) -> bool:
    """Whether four names or more have all indices from the first to the last one."""
    indices = [int(index[0]) for name in names if (index := re.search(r"\d+(?=\}$)", name))]
    return len(names) > 3 and indices == list(range(indices[0], indices[0] + len(names)))


def _failure(part: Mapping[str, Any], claim: Entry | Claim | None) -> list[str]:
    """Both sides with their values, and that the relation between them fails."""
    names = r"\mathrm{lhs}", r"\mathrm{rhs}"
    texts = () if claim is None else sides_of(claim, part["relation"], part["label"])
    what = " and ".join(
        rf"${name}$ is \texttt{{{escaped(side)}}}"
        for name, side in zip(names, texts, strict=False)
        if side
    )
    label = f", for ``{_text(part['label'])}''," if part["label"] else ""
    text = f"Here{label} {what}:" if what else f"Here{label}"
    least = f", by at least ${_number(part['excess'])}$" if part["excess"] != "0" else ""
    rows = [
        _row(name, part[side], part["excess"])
        for name, side in zip(names, ("lhs", "rhs"), strict=True)
    ]
    return [
        text,
        r"\begin{align*}",
        ", \\\\\n".join(rows) + ",",
        r"\end{align*}",
        f"so that {_FAILS[part['kind']]}{least}, against the statement.",
    ]


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
        if piece[6] is not None:
            out.append(rf"\emph{{{_text(piece[6])}}}")
        elif piece[2] is None:
            out.append(rf"\texttt{{{escaped(piece[4])}}}")
        elif convertible(piece[2]):
            out.append(piece[0])
        else:
            out.append(rf"\texttt{{{escaped(piece[2])}}}")
        end = piece.end()
    out.append(_text(text[end:]))
    return "".join(out).strip()


def _row(name: str, text: str, excess: str) -> str:
    """`name = 1/2`, or in which interval a side lies, as a row of a table of equations."""
    ball = _BALL.fullmatch(text)
    if ball is None:
        value = f"= {_number(text)}"
    else:
        middle, radius = map(_number, _wider(ball[1], ball[2], excess))
        value = rf"\in [{middle} \pm {radius}]"
    return f"  {name} &{value}"


def _wider(middle: str, radius: str, excess: str) -> tuple[str, str]:
    """A ball with fewer digits that contains another one; the same if it takes all to be disjoint.

    >>> _wider("1.41421356237309504880168872420969807856967", "5.9e-39", "0.4")
    ('1.4142135623730950', '4.9E-17')
    """
    up, wide = (Context(prec=digits, rounding=ROUND_CEILING) for digits in (2, 80))
    try:
        exact, least = Decimal(middle), Decimal(excess)
        for digits in (17, 30):
            short = Context(prec=digits).plus(exact)
            off = wide.subtract(max(exact, short), min(exact, short))
            if (error := up.add(off, Decimal(radius))) < least / 100:
                return str(short), str(error)
    except DecimalException:
        pass
    return middle, radius


def _number(text: str) -> str:
    """A number with its exponent of ten written out.

    >>> _number("1.5e-09"), _number("2/3")
    ('1.5 \\\\cdot 10^{-9}', '2/3')
    """
    if not re.fullmatch(r"[-+\d./eE]+", text):
        return rf"\text{{{escaped(text)}}}"
    return _POWER.sub(lambda e: rf"{e[1]} \cdot 10^{{{e[2].strip('+')}{e[3]}}}", text)
