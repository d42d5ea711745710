"""The page of open questions: what is written by hand, with tables of the records it names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from written import one_line as plain

from rankcheck.catalogue.entry import Entry
from rankcheck.files import project_folder
from rankcheck.records.file import Records, stored_path

__all__ = ["page"]

#: A comment with the ids of claims, and the table of their records behind it.
_TABLE = re.compile(
    r"(<!-- records of ([^>]*?) -->\n)(.*?)(?=<!-- end of the records -->)", re.DOTALL
)


def page(text: str, entries: Sequence[Entry]) -> str:
    """The page with its tables written anew.

    Raises:
        KeyError: if the page names a claim that does not exist.
    """
    by_id = {entry.id: entry for entry in entries}
    return _TABLE.sub(lambda found: f"{found[1]}\n{_table(found[2].split(), by_id)}\n\n", text)


def _table(ids: Sequence[str], by_id: Mapping[str, Entry]) -> str:
    rows = [row for id_ in ids for row in _rows(by_id[id_])]
    head = ["| claim | kind | best certified lhs / rhs | instance |", "| --- | --- | --- | --- |"]
    return "\n".join([*head, *rows])


def _rows(entry: Entry) -> Iterator[str]:
    """The best ratio of each relation on record; a claim without a record has a row, too."""
    found = Records.of(entry).relations
    file = entry.file.relative_to(project_folder()).as_posix()
    first = f"[`{entry.id}`](../properties/{file})"
    for record in found:
        best = record.best
        label = f", {plain(record.label)}" if record.label else ""
        stored = stored_path(entry).relative_to(project_folder()).as_posix()
        held = f"[its file](../properties/{stored})"
        yield _row(first + label, entry.kind, f"{best.short}", held)
    if not found:
        yield _row(first, entry.kind, "no record", "")


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
