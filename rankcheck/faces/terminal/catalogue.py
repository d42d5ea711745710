"""The catalogue as text: a list of claims, and a page for one claim."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from rankcheck.claims.catalogue import certificates
from rankcheck.claims.catalogue.certificates import CertificateError, Section
from rankcheck.claims.catalogue.entry import Entry
from rankcheck.claims.erratum import Erratum
from rankcheck.claims.sides import sides_of
from rankcheck.decide.prove.file import Proofs
from rankcheck.engine.records.file import Records
from rankcheck.faces.terminal.plain import readable
from rankcheck.files import LEFT, shown_path
from rankcheck.stored import build

#: Characters that a title has in a list before the other columns are cut, and the place.
_TITLE, _PLACE = 40, 10


def lines(entries: Sequence[Entry], stream: TextIO, width: int | None) -> list[str]:
    """A line for each claim: id, kind, place in the document, title.

    Args:
        stream: where they are printed; see `readable`.
        width: on a terminal, the characters of a line. The place is cut first, then left out, then
            the kind, then the title is cut.
    """
    table = [
        tuple(readable(cell, stream) for cell in (entry.id, entry.kind, _where(entry), entry.title))
        for entry in entries
    ]
    if not table:
        return []
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    if width is not None:
        name, kind, place, title = widths
        title = min(title, _TITLE)
        place = min(place, width - name - kind - title - 6)
        if place < _PLACE:
            place = 0
            kind = kind if name + kind + title // 2 + 4 <= width else 0
        widths = [name, kind, place, max(1, width - sum(2 + w for w in (name, kind, place) if w))]
    else:
        widths[-1] = max(widths[-1], 1)
    return [_line(row, widths, width) for row in table]


def _line(row: Sequence[str], widths: Sequence[int], width: int | None) -> str:
    cells = [f"{_cut(cell, size):{size}}" for cell, size in zip(row, widths, strict=True) if size]
    line = "  ".join(cells).rstrip()
    return line if width is None else _cut(line, width)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(0, width - 1)] + "…"


def page(entry: Entry) -> str:
    """All that the file of a claim says about it."""
    parts = {
        "kind": entry.kind,
        "reference": _reference(entry),
        "instances": entry.instances,
        "tight": entry.tight,
        "witness": entry.witness,
        **{f"needs {name}": control for name, control in entry.needs.items()},
        **{f"mutant {name}": control for name, control in entry.mutants.items()},
        **_errata(entry.errata),
        **{f"reading {name}": why for name, why in entry.readings.items()},
        **entry.remarked(Records.of(entry).shown),
        "proved": _proved(entry),
        "corrected by": entry.corrected_by,
        "file": entry.place,
    }
    known = {name: text for name, text in parts.items() if text}
    statement = textwrap.indent(entry.statement, "  ")
    head = entry.id if entry.title == entry.statement.strip(".") else f"{entry.id}: {entry.title}"
    path = certificates.path_of(entry)
    found = [] if path is None else _stored(path, entry)
    return "\n".join([head, "", statement, "", *(_field(*part) for part in known.items()), *found])


def _stored(path: Path, entry: Entry) -> list[str]:
    """What the certificate of a claim says, unless it cannot be read."""
    try:
        return found(path, certificates.read(path), entry)
    except CertificateError as error:
        return [_field("certificate", str(error))]


def found(path: Path, data: Mapping[str, Any], entry: Entry | None) -> list[str]:
    """What a certificate says: both sides, what they are, the instance, and what to do with it.

    Nothing is proved here. The file is read, and nothing else.

    Args:
        data: its fields, as `rankcheck.claims.catalogue.certificates.read` gives them.
        entry: its claim, where that is known.
    """
    smallest = build(Section, data["smallest"])
    if entry is not None:
        texts = sides_of(entry, smallest.relation, smallest.label)
        smallest = replace(smallest, texts=texts)
    lines = smallest.lines("counterexample", "by its certificate")
    if entry is not None and entry.statement != data["statement"]:
        lines.append("  it was found for another text of the claim")
    lines.append(f"certificate: {shown_path(path)}")
    typed = shlex.quote(_typed(path, data["claim"], entry))
    lines.append(f"    to prove it again: rankcheck replay {typed}")
    lines.append(f"    to hand it on:     rankcheck export {typed} [--script | --coq | --bibtex]")
    return lines


def _typed(path: Path, name: str, entry: Entry | None) -> str:
    """What a person types for a certificate: the id of its claim, if that finds this file."""
    places = [LEFT / f"{name}.json", *([] if entry is None else [certificates.FORM.path(entry)])]
    return name if path.resolve() in [place.resolve() for place in places] else shown_path(path)


def _proved(entry: Entry) -> str | None:
    """What the proofs prove that are kept beside a claim; nothing here knows if they are stale."""
    proved = Proofs.summary(entry)
    return None if proved is None else proved.text


def _where(entry: Entry) -> str:
    return "" if entry.reference is None else str(entry.reference)


def _reference(entry: Entry) -> str | None:
    if entry.reference is None:
        return None
    document = entry.reference.document
    return f"{entry.reference.where} of {document or entry.reference.key}"


def _errata(errata: Sequence[Erratum]) -> dict[str, str]:
    """What each erratum says, by what it is; numbered if there are several."""
    parts: dict[str, str] = {}
    for number, erratum in enumerate(errata, 1):
        which = f" {number}" if len(errata) > 1 else ""
        where = "" if erratum.place is None else f" ({erratum.place})"
        parts[f"printed{which}{where}"] = erratum.printed
        parts[f"right{which}"] = erratum.right
        parts[f"survives{which}"] = erratum.survives
    return parts


def _field(name: str, text: str) -> str:
    return textwrap.fill(
        text,
        width=100,
        initial_indent=f"{name}: ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
