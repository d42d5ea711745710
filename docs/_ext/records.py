"""The page of records: which bounds are open, how much room they leave, and who holds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from written import plain as escaped

from rankcheck.catalogue.collect import by_group
from rankcheck.catalogue.entry import Entry
from rankcheck.claims.reference import headings
from rankcheck.counterexamples.describe import approximately
from rankcheck.files import project_folder
from rankcheck.records.file import Records, RelationRecord, stored_path

__all__ = ["page"]

_HEAD = """\
# Open records

How sharp is a bound? Its record is the largest lhs / rhs that is proved at an instance, in ball
arithmetic. A bound is open as long as no instance is known that attains it, up to 10⁻⁶. The room
that is left is how many times sharper it could be, at most: either there is a sharper theorem, or a
sharper instance. [Reading a result](reading-results.md#records) says what a record means;
`rankcheck record CLAIM --instance …` takes a better instance from anyone."""
#: An instance is cut off after so many characters; its file has it whole.
LONGEST = 160


@dataclass(frozen=True)
class _Bound:
    """A bound on record."""

    entry: Entry
    record: RelationRecord

    @property
    def room(self) -> Fraction | None:
        """The factor by which the bound could be sharper; None for a ratio that is not positive."""
        ratio = Fraction(self.record.best.value)
        return 1 / ratio if ratio > 0 else None


def page(entries: Sequence[Entry]) -> str:
    """The open bounds, those with most room first, and how many are closed by document."""
    bounds = [_Bound(each, one) for each in entries for one in Records.of(each).relations]
    opened = [bound for bound in bounds if not bound.record.best.sharp]
    opened.sort(key=lambda bound: (Fraction(bound.record.best.value), bound.entry.id))
    parts = [_HEAD, f"Of {len(bounds)} bounds on record, {len(opened)} are open."]
    parts += ["\n".join(_item(bound)) for bound in opened]
    closed = [bound for bound in bounds if bound.record.best.sharp]
    if closed:
        head = ["| document | bounds that are attained |", "| --- | --- |"]
        parts += ["## Closed", "\n".join([*head, *_closed(closed)])]
    return "\n\n".join(parts) + "\n"


def _item(bound: _Bound) -> Iterator[str]:
    entry, record, best = bound.entry, bound.record, bound.record.best
    stored = f"properties/{stored_path(entry).relative_to(project_folder()).as_posix()}"
    inner = entry.file.relative_to(project_folder()).as_posix()
    name = f", {_plain(record.label)}" if record.label else ""
    yield f"## `{entry.id}`{name}\n"
    yield f"{_plain(entry.title)} ([{Path(inner).name}](../properties/{inner}))\n"
    room = "" if bound.room is None else f"; room for a factor of {approximately(bound.room, 5)}"
    yield f"- **Proved:** lhs / rhs = {best.short}{room}"
    if shape := _shape(record):
        yield f"- **Shape:** {shape}"
    text = best.description
    short = text if len(text) <= LONGEST else f"{text[:LONGEST]} …"
    yield f"- **Held by:** `{short}`"
    if why := entry.loose_because(record.label):
        yield f"- **Why it is not sharp:** {_plain(why)}"
    yield f"- **Proved again by:** `rankcheck replay {stored}`"


def _shape(record: RelationRecord) -> str:
    """The sizes of the group that the best instance is of, if it is of one."""
    for group in record.groups:
        if group.best.ratio == record.best.ratio:
            sizes = zip(record.by, group.key, strict=True)
            return ", ".join(f"{name} {size}" for name, size in sizes)
    return ""


def _closed(bounds: Sequence[_Bound]) -> Iterator[str]:
    """A row for each document."""
    claims = {bound.entry.id: bound.entry for bound in bounds}
    for key in by_group(list(claims.values())):
        count = sum(bound.entry.group == key for bound in bounds)
        yield f"| {headings().get(key, key or 'without a reference')} | {count} |"


def _plain(text: str) -> str:
    """A text on one line that Markdown shows as it is, but for formulas and code."""
    return " ".join(escaped(text).split())
