"""From a selector on the command line to claims: ids, prefixes, globs, files, FILE::NAME."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Sequence
from pathlib import Path

from rankcheck.claims.catalogue import collect as catalogue
from rankcheck.claims.catalogue.entry import CatalogueError, Entry
from rankcheck.errors import InputError
from rankcheck.files import shown_path


class SelectionError(InputError):
    """A selector selects nothing; the message names claims with similar ids."""


def select(selectors: Sequence[str] = ()) -> list[Entry]:
    """The selected claims, sorted by id; without selectors, all of rankcheck's own.

    A selector is the id of one of rankcheck's claims, a prefix of ids that ends before a dot or a
    hyphen (`rank`, `rank.relu`), a glob over ids (`*-as-printed`); or a file, a folder or
    FILE::NAME with claims of the user's own, where NAME is a function or an id.

    Raises:
        SelectionError: if a selector selects nothing.
        CatalogueError: if a file cannot be read, or an id is used twice.
    """
    if not selectors:
        return catalogue.project()
    if not all(selector.strip() for selector in selectors):
        raise SelectionError("a selector is empty; it is the id of a claim, a file or a folder")
    own = _own([selector for selector in selectors if not _is_path(selector)])
    chosen: list[Entry] = []
    for selector in selectors:
        by_id = [] if _is_path(selector) else matching(own, selector)
        chosen += by_id or _of_path(selector, own)
    catalogue.unique([*_namesakes(chosen), *chosen])
    return catalogue.unique(chosen)


def _own(names: Sequence[str]) -> list[Entry]:
    """rankcheck's claims; if all names are ids, those of the files that have them."""
    entries = catalogue.declared_near(names)
    return entries if {entry.id for entry in entries}.issuperset(names) else catalogue.project()


def _namesakes(chosen: Sequence[Entry]) -> list[Entry]:
    """rankcheck's claims that may have the id of a claim of the user's; none that is unreadable."""
    folder = catalogue.project_folder()
    try:
        return catalogue.declared_near(
            [entry.id for entry in chosen if not entry.file.is_relative_to(folder)]
        )
    except CatalogueError:
        return []


def matching(entries: Sequence[Entry], selector: str) -> list[Entry]:
    """The entries with this id; else with this prefix; else that this glob matches."""
    exact = [entry for entry in entries if entry.id == selector]
    if exact:
        return exact
    if any(character in selector for character in "*?["):
        return [entry for entry in entries if fnmatch.fnmatchcase(entry.id, selector)]
    starts = (f"{selector}.", f"{selector}-")
    return [entry for entry in entries if entry.id.startswith(starts)]


def _is_path(selector: str) -> bool:
    return "/" in selector or "\\" in selector or "::" in selector or selector.endswith(".py")


def _of_path(selector: str, own: Sequence[Entry]) -> list[Entry]:
    text, _, name = selector.partition("::")
    path = Path(text)
    if path.is_dir() and not name:
        return catalogue.folder_claims(path)
    if path.is_file():
        if path.suffix != ".py":
            raise SelectionError(f"{text!r} is not a Python file; a file of claims ends in .py")
        entries = catalogue.claims_of(path)
        if not name:
            return entries
        named = [entry for entry in entries if name in (entry.name, entry.id)]
        if named:
            return named
        names = ", ".join(entry.name for entry in entries)
        raise SelectionError(f"{shown_path(path)} has no claim {name!r}; it has {names}")
    if _is_path(selector):
        raise SelectionError(f"there is no file or folder {text!r}")
    raise SelectionError(f"{selector!r} selects no claim{_near(selector, own)}")


def _near(selector: str, own: Sequence[Entry]) -> str:
    ids = [entry.id for entry in own]
    prefixes = sorted({id_.split(".")[0] for id_ in ids})
    last = {id_.split(".", 1)[-1]: id_ for id_ in ids}
    near = difflib.get_close_matches(selector, [*ids, *prefixes, *last], n=3, cutoff=0.6)
    near += [id_ for id_ in ids if selector in id_]
    shown = list(dict.fromkeys(last.get(name, name) for name in near))[:3]
    if shown:
        return f"; similar: {', '.join(shown)}"
    return f"; the prefixes are {', '.join(prefixes)} (see rankcheck list)" if prefixes else ""
