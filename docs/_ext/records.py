"""Records of bounds: how much room they leave, and which instances hold them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

from written import one_line

from rankcheck.claims.catalogue.entry import Entry
from rankcheck.engine.counterexamples.describe import approximately
from rankcheck.engine.records.file import FORM, Records, RelationRecord
from rankcheck.files import project_folder

__all__ = ["still_open", "table"]

#: An instance is cut off after so many characters; its file has it whole.
LONGEST = 160


def still_open(entries: Sequence[Entry]) -> str:
    """The open bounds, those with most room first."""
    bounds = [(entry, one) for entry in entries for one in Records.of(entry).relations]
    opened = [(entry, one) for entry, one in bounds if not one.best.sharp]
    opened.sort(key=lambda pair: (Fraction(pair[1].best.value), pair[0].id))
    parts = [f"Of {len(bounds)} bounds on record, {len(opened)} are open."]
    parts += ["\n".join(_item(entry, one)) for entry, one in opened]
    return "\n\n".join(parts)


def _item(entry: Entry, record: RelationRecord) -> Iterator[str]:
    best, ratio = record.best, Fraction(record.best.value)
    stored = f"properties/{FORM.path(entry).relative_to(project_folder()).as_posix()}"
    inner = entry.file.relative_to(project_folder()).as_posix()
    name = f", {one_line(record.label)}" if record.label else ""
    yield f"## `{entry.id}`{name}\n"
    yield f"{one_line(entry.title)} ([{Path(inner).name}](../properties/{inner}))\n"
    room = f"; room for a factor of {approximately(1 / ratio, 5)}" if ratio > 0 else ""
    yield f"- **Proved:** lhs / rhs = {best.short}{room}"
    if shape := _shape(record):
        yield f"- **Shape:** {shape}"
    text = best.description
    short = text if len(text) <= LONGEST else f"{text[:LONGEST]} …"
    yield f"- **Held by:** `{short}`"
    if why := entry.loose_because(record.label):
        yield f"- **Why it is not sharp:** {one_line(why)}"
    yield f"- **Proved again by:** `rankcheck replay {stored}`"


def _shape(record: RelationRecord) -> str:
    """The sizes of the group that the best instance is of, if it is of one."""
    for group in record.groups:
        if group.best.ratio == record.best.ratio:
            sizes = zip(record.by, group.key, strict=True)
            return ", ".join(f"{name} {size}" for name, size in sizes)
    return ""


def table(entries: Sequence[Entry], ids: Sequence[str]) -> str:
    """The best ratios of these claims; one without a record has a row, too.

    Raises:
        KeyError: if no claim has one of the ids.
    """
    by_id = {entry.id: entry for entry in entries}
    head = ["| claim | kind | best certified lhs / rhs |", "| --- | --- | --- |"]
    return "\n".join([*head, *(row for id_ in ids for row in _rows(by_id[id_]))])


def _rows(entry: Entry) -> Iterator[str]:
    """The best ratio of each relation on record, with the file that has its instance."""
    stored = f"../properties/{FORM.path(entry).relative_to(project_folder()).as_posix()}"
    found = Records.of(entry).relations
    for record in found:
        label = f", {one_line(record.label)}".replace("|", "\\|") if record.label else ""
        yield f"| `{entry.id}`{label} | {entry.kind} | [{record.best.short}]({stored}) |"
    if not found:
        yield f"| `{entry.id}` | {entry.kind} | no record |"
