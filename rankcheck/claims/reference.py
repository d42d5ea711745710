"""The documents that the claims come from, and references to places in them.

The list of documents is `references.toml` in the folder of rankcheck's own claims.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rankcheck.errors import InputError
from rankcheck.files import project_folder, shown_path

#: The key of statements that no document has.
OWN = "rankcheck"
#: The name of the list of documents, in the folder of the claims.
REFERENCES = "references.toml"
#: Years that a document may have.
_YEARS = range(1600, 2200)
_FIELDS = {"key": str, "authors": str, "title": str, "venue": str, "year": int, "folder": str}


@dataclass(frozen=True)
class Document:
    """A paper or a set of slides.

    Attributes:
        key: what `paper` takes.
        authors: with commas between.
        year: of the version that the claims quote.
        folder: the folder of its claims, which is also what lists have them under; of a document
            with a folder of its own it is the key.
    """

    key: str
    authors: str
    title: str
    venue: str
    year: int
    folder: str

    def __str__(self) -> str:
        return f"{self.authors}, {self.title}, {self.venue}"


_OWN = Document(
    OWN,
    "The rankcheck developers",
    "Statements first written down here",
    "this project",
    2026,
    OWN,
)


def _is_key(text: str) -> bool:
    """Whether a text can be the key of a document, or the name of a folder of claims."""
    return re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", text) is not None


@functools.cache
def documents() -> Mapping[str, Document]:
    """The documents that rankcheck knows by their keys, in the order of all lists; `OWN` is last.

    Raises:
        InputError: if their list cannot be read, or is none.
    """
    return {**_listed()[0], OWN: _OWN}


@functools.cache
def headings() -> Mapping[str, str]:
    """What lists write over the claims of a folder: its only document, or the title of several."""
    titles = _listed()[1]
    return {one.folder: titles.get(one.folder, str(one)) for one in documents().values()}


@functools.cache
def _listed() -> tuple[dict[str, Document], dict[str, str]]:
    path = project_folder() / REFERENCES
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{shown_path(path)} cannot be read: {error}") from error
    return parsed(text, shown_path(path))


def parsed(text: str, shown: str) -> tuple[dict[str, Document], dict[str, str]]:
    """The documents of a list by their keys, and the titles of folders with several of them.

    Args:
        text: of the list, as `references.toml` has it.
        shown: what messages call the file.

    Raises:
        InputError: it is no TOML, a document has an unknown field or lacks one, a key is used
            twice, a folder with several documents has no title, or a title no documents.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{shown} cannot be read: {error}") from error
    rows, titles = table.get("document", []), table.get("folders", {})
    if not set(table) <= {"document", "folders"} or not isinstance(rows, list):
        raise InputError(f"{shown} has other tables than [folders] and [[document]]")
    if not isinstance(titles, dict) or not all(
        isinstance(title, str) and title.strip() for title in titles.values()
    ):
        raise InputError(f"{shown}: in [folders] each folder has a title, a text")
    found: dict[str, Document] = {}
    for number, row in enumerate(rows, 1):
        key = row.get("key") if isinstance(row, dict) else None
        document = _document(row, f"{shown}, document {number}" + (f", {key!r}" if key else ""))
        if document.key in found or document.key == OWN:
            raise InputError(f"{shown} has two documents {document.key!r}; a key is used once")
        found[document.key] = document
    _check_folders(shown, found, titles)
    return found, titles


def _document(row: Any, place: str) -> Document:
    given = set(row) if isinstance(row, dict) else set()
    missing, unknown = set(_FIELDS) - {"folder"} - given, given - set(_FIELDS)
    if missing or unknown:
        what = f"has no {', '.join(sorted(missing))}" if missing else f"has {sorted(unknown)[0]!r}"
        raise InputError(
            f"{place} {what}; the fields of a document are {', '.join(_FIELDS)}, and only folder "
            "may be left out"
        )
    values = {"folder": row.get("key"), **row}
    for name, kind in _FIELDS.items():
        value = values[name]
        if type(value) is not kind or not str(value).strip():
            what = "a number" if kind is int else "a text"
            raise InputError(f"{place}: {name} is {value!r:.60}; it is {what}")
    if values["year"] not in _YEARS:
        raise InputError(
            f"{place}: year is {values['year']}; it lies between {_YEARS[0]} and {_YEARS[-1]}"
        )
    for name in ("key", "folder"):
        if not _is_key(values[name]):
            raise InputError(
                f"{place}: {name} is {values[name]!r:.60}; it is lower-case letters, digits and "
                "hyphens, and begins with a letter"
            )
    return Document(**values)


def _check_folders(shown: str, found: Mapping[str, Document], titles: Mapping[str, str]) -> None:
    folders = {document.folder for document in found.values()}
    for folder in sorted(folders - set(titles)):
        [*keys] = (key for key, document in found.items() if document.folder == folder)
        if keys != [folder]:
            raise InputError(
                f"{shown}: the folder {folder} has the claims of {', '.join(keys)} and no title; "
                "a folder that is not called after its only document has a title in [folders] of "
                "that file"
            )
    for folder in titles:
        if folder not in folders or folder in found:
            raise InputError(
                f"{shown}: {folder} has a title, and "
                + ("is the key of a document" if folder in found else "no document is in it")
                + "; a folder in [folders] has the claims of documents with other keys"
            )


@dataclass(frozen=True)
class Reference:
    """Where a statement stands: the key of a document, and the place in it."""

    key: str
    where: str

    def __post_init__(self) -> None:
        if not self.key or not self.where:
            raise ValueError(
                f"Reference({self.key!r}, {self.where!r}) has an empty part; "
                "a reference has a document and a place in it"
            )

    @property
    def document(self) -> Document | None:
        """The document, if it is one of those that rankcheck knows."""
        return documents().get(self.key)

    def __str__(self) -> str:
        return f"{self.key}, {self.where}"


def paper(key: str, where: str) -> Reference:
    """A place in one of the documents that rankcheck knows.

    Raises:
        ValueError: if the key is not that of a known document. For one of your own use
            `Reference("Me 2027", "Thm 4")`.
    """
    if key not in documents():
        raise ValueError(
            f"the key of a document is one of {', '.join(documents())}; received {key!r}"
        )
    return Reference(key, where)
