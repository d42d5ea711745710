"""The catalogue: the claims of rankcheck itself, of a file or of a folder, without importing them.

`rankcheck list`, `show` and the selection of claims work on this, without torch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import rankcheck
from rankcheck.catalogue.entry import CatalogueError, Entry, shown_path
from rankcheck.catalogue.reading import read_file
from rankcheck.claims.reference import DOCUMENTS


def project_folder() -> Path:
    """The folder of rankcheck's own claims: inside the installed package, or in the checkout."""
    package = Path(rankcheck.__file__).resolve().parent
    installed = package / "_properties"
    return installed if installed.is_dir() else package.parent / "properties"


def project() -> list[Entry]:
    """rankcheck's own claims, sorted by id.

    Raises:
        CatalogueError: if one of them cannot be read, a file holds none, or an id is used twice.
    """
    return unique(entry for path in claim_files(project_folder()) for entry in claims_of(path))


def folder_claims(folder: Path) -> list[Entry]:
    """The claims below a user's folder, which may hold other files too.

    Raises:
        CatalogueError: if there are none, or a file that declares claims cannot be read.
    """
    entries = unique(entry for path in claim_files(folder) for entry in read_file(path))
    if not entries:
        raise CatalogueError(
            f"a folder of claims has a file that declares one; received {shown_path(folder)}"
        )
    return entries


def claims_of(path: Path) -> list[Entry]:
    """The claims of a file that is there to hold some, in their order.

    Raises:
        CatalogueError: if there are none, or the file cannot be read.
    """
    entries = read_file(path)
    if not entries:
        raise CatalogueError(
            f"{shown_path(path)} declares no claim; a file of claims has a function decorated with "
            "@bound, @identity, @conjecture, @refuted or another decorator of rankcheck"
        )
    return entries


def claim_files(folder: Path) -> Iterator[Path]:
    """The Python files below a folder that may hold claims, sorted.

    Files and folders with a leading underscore hold what claims share; hidden folders and virtual
    environments are no part of it.

    Raises:
        CatalogueError: if the folder cannot be read.
    """
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        raise CatalogueError(f"a folder of claims can be read; {error}") from error
    for path in paths:
        if path.name.startswith(("_", ".")):
            continue
        if path.is_dir():
            if not (path / "pyvenv.cfg").exists():
                yield from claim_files(path)
        elif path.suffix == ".py":
            yield path


def unique(entries: Iterable[Entry]) -> list[Entry]:
    """The entries sorted by id, each once.

    Raises:
        CatalogueError: if an id is used at two places.
    """
    known: dict[str, Entry] = {}
    for entry in entries:
        other = known.setdefault(entry.id, entry)
        if other.place != entry.place:
            raise CatalogueError(
                f"a claim id is used once; {entry.id} stands at {other.place} and at {entry.place}"
            )
    return [known[name] for name in sorted(known)]


def uncorrected(entries: Iterable[Entry]) -> list[str]:
    """Where `corrected_by` names no claim, in a catalogue that is complete: a line each."""
    entries = list(entries)
    known = {entry.id for entry in entries}
    return [
        f"{entry.place}: the correction of a refuted claim is a claim; {entry.id} is corrected by "
        f"{entry.corrected_by!r}, which is none"
        for entry in entries
        if entry.corrected_by is not None and entry.corrected_by not in known
    ]


def by_document(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    """The entries under the keys of their documents: known ones first, without a source last."""
    groups: dict[str, list[Entry]] = {key: [] for key in DOCUMENTS}
    for entry in sorted(entries, key=lambda entry: (entry.reference is None, entry.id)):
        groups.setdefault("" if entry.reference is None else entry.reference.key, []).append(entry)
    return {key: group for key, group in groups.items() if group}
