"""Finds the claim of a file that is kept for it, such as a certificate; nothing is imported."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rankcheck.claims.catalogue.certificates import CertificateError
from rankcheck.claims.catalogue.collect import project
from rankcheck.claims.catalogue.entry import Entry
from rankcheck.claims.catalogue.reading import read_file
from rankcheck.claims.facts import declared_id
from rankcheck.errors import InputError
from rankcheck.stored import shown

#: How many folders above a certificate are searched for the file of its claim.
ABOVE = 3


def find(
    path: Path,
    data: Mapping[str, Any],
    candidates: Iterable[Entry] | None = None,
    *,
    prove: str = "",
) -> Entry:
    """The claim of a certificate or of records: one of rankcheck's own, or in the file named there.

    That file is looked for at the place that the certificate names, and by its name in the folder
    of the certificate, in the folders above it, and in the working directory. It is imported only
    if its text declares a claim of that id, and only if it lies below the working directory: a
    certificate from a stranger cannot choose which code runs.

    Args:
        candidates: where to look instead.
        prove: the function of Python that proves such a file again.

    Raises:
        CertificateError: if the claim is not there, or lies outside of the working directory.
        CatalogueError: if a file cannot be read.
    """
    places = _places(path, data)
    if candidates is None:
        below = (read_file(place) for place in places if _below_here(place))
        candidates = itertools.chain(project(), itertools.chain.from_iterable(below))
    for entry in candidates:
        if entry.id == declared_id(data["claim"]):
            return entry
    if not data["file"]:
        raise CertificateError(
            f"{path} is of {data['claim']}, which was declared at a prompt or in a notebook and is "
            "not in a file; in Python, with the claim at hand"
            + (f": {prove}({str(path)!r}, claim=claim)" if prove else ", replay proves it again")
        )
    for place in places:
        if not _below_here(place) and any(
            e.id == declared_id(data["claim"]) for e in read_file(place)
        ):
            raise CertificateError(
                f"{path} names {place}, which lies outside of the working directory; a claim file "
                f"is Python that would be run: rankcheck replay --claims {place} {path} runs it"
            )
    raise CertificateError(
        f"{path} is of {data['claim']} in {short(Path(data['file']).name)}, which was not found "
        f"near it; say where it is: rankcheck replay --claims FILE {path}"
    )


def found(path: Path, data: Mapping[str, Any]) -> Entry | None:
    """The same for a file that is shown and not run: None where the claim is not found."""
    try:
        return find(path, data)
    except InputError:
        return None


def _below_here(place: Path) -> bool:
    return place.resolve().is_relative_to(Path.cwd().resolve())


def _places(path: Path, data: Mapping[str, Any]) -> list[Path]:
    """The files of Python that a certificate may mean by the one that it names."""
    if not data["file"]:
        return []
    folder = path.resolve().parent
    name = Path(data["file"]).name
    places = [folder / data["file"], Path(data["path"])]
    places += [near / name for near in (folder, *list(folder.parents)[:ABOVE], Path.cwd())]
    return [place for place in dict.fromkeys(places) if _is_python(place)]


def _is_python(place: Path) -> bool:
    """Whether there is such a file; a name that no file can have is none."""
    try:
        return place.suffix == ".py" and place.resolve().is_file()
    except (OSError, RuntimeError, ValueError):  # too long, a loop of links, with a NUL
        return False


def short(value: Any) -> str:
    """A value from a file, on one line of moderate length."""
    text = " ".join(value.split()) if isinstance(value, str) else shown(value, 120)
    return text if len(text) <= 120 else f"{text[:120]} …"
