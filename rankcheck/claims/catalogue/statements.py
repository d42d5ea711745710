"""The index of a document: its statements in reading order, and which claims are about each."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from rankcheck.claims.catalogue.entry import CatalogueError, Entry
from rankcheck.files import shown_path

#: The name of an index, in the folder of a document's claims.
INDEX = "statements.toml"


@dataclass(frozen=True)
class Statement:
    """A statement of a document.

    Attributes:
        at: its number, or where it stands if it has none.
        section: the heading under which it stands.
        says: what it says, in a sentence of our own.
        claims: the ids of the claims about it.
        none: why there are none, where there are none: a definition, a motivation, ...
    """

    at: str
    section: str
    says: str
    claims: tuple[str, ...] = ()
    none: str = ""


def statements(folder: Path) -> list[Statement]:
    """The statements whose claims are in a folder, in reading order; none in an empty index.

    Raises:
        CatalogueError: if the index cannot be read, if a statement has an unknown field or lacks
            one, has claims as well as a reason to have none, or stands at the place of another.
    """
    path = folder / INDEX
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CatalogueError(f"{shown_path(path)} cannot be read: {error}") from error
    rows = table.get("statement", [])
    if not set(table) <= {"statement"} or not isinstance(rows, list):
        raise CatalogueError(f"{shown_path(path)} has other tables than [[statement]]")
    found: dict[str, Statement] = {}
    for number, row in enumerate(rows, 1):
        statement = _statement(row, f"{shown_path(path)}, statement {number}")
        if statement.at in found:
            raise CatalogueError(
                f"{shown_path(path)} has two statements at {statement.at!r}; a place is unique"
            )
        found[statement.at] = statement
    return list(found.values())


def unindexed(
    entries: Iterable[Entry], index: Sequence[Statement], others: Iterable[Entry] = ()
) -> Iterator[str]:
    """What of a document's claims and its index does not fit: a sentence each.

    Args:
        others: claims of other documents, which a statement may name too.
    """
    entries = list(entries)
    known = {entry.id for entry in (*entries, *others)}
    named = {id_ for statement in index for id_ in statement.claims}
    for statement in index:
        for id_ in statement.claims:
            if id_ not in known:
                yield f"the statement at {statement.at!r} names {id_}, and there is no such claim"
    for entry in entries:
        if entry.id not in named:
            yield f"{entry.id} ({entry.where}) is the claim of no statement of the index"


def _statement(row: Any, place: str) -> Statement:
    names = [field.name for field in fields(Statement)]
    if not isinstance(row, dict) or not set(row) <= set(names):
        raise CatalogueError(f"{place}: the fields of a statement are {', '.join(names)}")
    claims = row.get("claims", [])
    if not isinstance(claims, list) or not all(isinstance(id_, str) for id_ in claims):
        raise CatalogueError(f"{place}: claims is {claims!r:.60}; it is a list of ids")
    texts = {name: row.get(name, "") for name in names if name != "claims"}
    for name, text in texts.items():
        if not isinstance(text, str) or not (text.strip() or name == "none"):
            raise CatalogueError(f"{place}: {name} is {text!r:.60}; it is a text")
    if bool(claims) == bool(texts["none"]):
        raise CatalogueError(
            f"{place}, at {texts['at']!r}: it has "
            + ("claims and a reason to have none" if claims else "no claims and no reason")
            + "; a statement has claims, or says in none= why it has none"
        )
    return Statement(claims=tuple(claims), **texts)
