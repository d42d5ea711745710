"""The claims of rankcheck, of a file or of a folder, found without importing any of them.

`rankcheck list`, `show` and the selection of claims use this, and so need no torch.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from rankcheck.claims.catalogue.entry import CatalogueError, Entry
from rankcheck.claims.catalogue.reading import read_file
from rankcheck.claims.reference import headings
from rankcheck.files import project_folder, shown_path


def project() -> list[Entry]:
    """rankcheck's own claims, sorted by id.

    Raises:
        CatalogueError: if one of them cannot be read, a file holds none, or an id is used twice.
    """
    return _readable(claim_files(project_folder()))


def declared_near(ids: Collection[str]) -> list[Entry]:
    """rankcheck's own claims in the files whose text has one of these ids; reads no other file.

    Raises:
        CatalogueError: as `project`, of these files.
    """
    if not ids:
        return []
    texts = [id_.encode() for id_ in ids]
    files = [(path, path.read_bytes()) for path in claim_files(project_folder())]
    return _readable(path for path, text in files if any(part in text for part in texts))


def folder_claims(folder: Path) -> list[Entry]:
    """The claims below a user's folder, which may hold other files too.

    Raises:
        CatalogueError: if there are none, or a file that declares claims cannot be read.
    """
    entries = unique(entry for path in claim_files(folder) for entry in read_file(path))
    if not entries:
        raise CatalogueError(f"{shown_path(folder)} has no file that declares a claim")
    return entries


def claims_of(path: Path) -> list[Entry]:
    """The claims of a file, in their order; a file of claims declares at least one.

    Raises:
        CatalogueError: if there are none, or the file cannot be read.
    """
    entries = read_file(path, marker="")
    if not entries:
        raise CatalogueError(f"{shown_path(path)} declares no claim; a file of claims has one")
    return entries


def _readable(paths: Iterable[Path]) -> list[Entry]:
    entries = unique(entry for path in paths for entry in claims_of(path))
    for problem in problems(entries):
        raise CatalogueError(problem)
    return entries


def claim_files(folder: Path) -> Iterator[Path]:
    """The Python files below a folder that may hold claims, sorted.

    Skipped are files and folders with a leading underscore (they hold what claims share), hidden
    folders, virtual environments, links to folders, and what is neither a file nor a folder.

    Raises:
        CatalogueError: if the folder cannot be read.
    """
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        raise CatalogueError(f"the folder of claims cannot be read: {error}") from error
    for path in paths:
        if path.name.startswith(("_", ".")):
            continue
        if path.is_dir():
            if not path.is_symlink() and not (path / "pyvenv.cfg").exists():
                yield from claim_files(path)
        elif path.suffix == ".py" and path.is_file():
            yield path


def unique(entries: Iterable[Entry]) -> list[Entry]:
    """The entries sorted by id, each once.

    Raises:
        CatalogueError: if an id is used at two places.
    """
    known: dict[str, Entry] = {}
    for entry in entries:
        other = known.setdefault(entry.id, entry)
        if (other.file, other.line) != (entry.file, entry.line):
            raise CatalogueError(
                f"{entry.id} is declared at {other.place} and at {entry.place}; "
                "a claim id is used once"
            )
    return [known[name] for name in sorted(known)]


def problems(entries: Iterable[Entry]) -> list[str]:
    """Why claims cannot be read: a line for each of these, with its place."""
    return [entry.problem for entry in entries if entry.problem is not None]


def uncorrected(entries: Iterable[Entry]) -> list[str]:
    """A line for each `corrected_by` that names no claim, given all claims of a catalogue."""
    entries = list(entries)
    known = {entry.id for entry in entries}
    return [
        f"{entry.place}: {entry.id} is corrected by {entry.corrected_by!r}, and there is no such "
        "claim"
        for entry in entries
        if entry.corrected_by is not None and entry.corrected_by not in known
    ]


def by_group(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    """The entries by their groups: those of known documents first, no reference last."""
    groups: dict[str, list[Entry]] = {key: [] for key in headings()}
    for entry in sorted(entries, key=lambda entry: (entry.reference is None, entry.id)):
        groups.setdefault(entry.group, []).append(entry)
    return {key: group for key, group in groups.items() if group}
