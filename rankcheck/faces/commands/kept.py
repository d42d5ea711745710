"""From an argument of a command to what is kept for claims: a file, or the id of a claim."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rankcheck.claims.catalogue import certificates
from rankcheck.claims.catalogue.collect import declared_near
from rankcheck.claims.catalogue.entry import Entry
from rankcheck.claims.catalogue.selection import SelectionError, select
from rankcheck.claims.facts import is_id
from rankcheck.claims.kinds import FALSE
from rankcheck.errors import InputError
from rankcheck.files import LEFT


@dataclass(frozen=True)
class Kept:
    """A file that is kept for a claim, and the claim if that was named."""

    path: Path
    entry: Entry | None


def file_of(argument: str) -> Path | None:
    """The file that an argument means; None if it selects claims.

    An id that no claim of rankcheck has means the certificate that a run left under it, if it did.
    """
    path = Path(argument)
    if path.suffix == ".json" or (path.suffix != ".py" and path.is_file()):
        return path
    left = LEFT / f"{argument}.json"
    if (
        is_id(argument)
        and left.is_file()
        and not any(entry.id == argument for entry in declared_near([argument]))
    ):
        return left
    return None


def kept_of(arguments: Sequence[str], *, others: bool = False) -> list[Kept]:
    """The certificates that are meant, each once.

    Args:
        others: the files of records and of proofs as well.

    Raises:
        InputError: if nothing is kept for what an argument selects; with what to do.
    """
    found: dict[Path, Kept] = {}
    for argument in arguments:
        for kept in _meant(argument, others):
            found.setdefault(kept.path.resolve(), kept)
    return list(found.values())


def _meant(argument: str, others: bool) -> list[Kept]:
    path = file_of(argument)
    if path is not None:
        return [Kept(path, None)]
    try:
        entries = select([argument])
    except SelectionError as error:
        raise _with_those_left(error, argument) from error
    kept = [Kept(path, entry) for entry in entries for path in _files(entry, others)]
    if not kept:
        raise InputError(_nothing(argument, entries))
    return kept


def _files(entry: Entry, others: bool) -> list[Path]:
    """What is kept for a claim, if it is there."""
    paths = [certificates.path_of(entry)]
    if others:
        from rankcheck.decide.prove import file as proofs
        from rankcheck.engine.records import file as records

        paths += [proofs.FORM.path(entry), records.FORM.path(entry)]
    return [path for path in paths if path is not None and path.is_file()]


def _nothing(argument: str, entries: Sequence[Entry]) -> str:
    """That nothing is kept, and what to do."""
    if len(entries) > 1:
        return (
            f"none of the {len(entries)} claims that {argument!r} selects has a certificate; "
            "rankcheck hunt looks for counterexamples"
        )
    [entry] = entries
    if entry.kind in FALSE:
        return (
            f"{entry.id} has no certificate at {certificates.FORM.path(entry)}; rankcheck certify "
            f"{argument} looks for a counterexample and stores it"
        )
    if entry.kind == "cited":
        return f"{entry.id} has no certificate: it is cited, and nothing here evaluates it"
    return (
        f"{entry.id} has no certificate: no counterexample to it is known here; rankcheck hunt "
        f"{argument} looks for one, and leaves its certificate in {LEFT}"
    )


def _with_those_left(error: SelectionError, argument: str) -> SelectionError:
    """The same error, with the certificates of a similar name that runs have left."""
    names = sorted(path.stem for path in LEFT.glob("*.json")) if LEFT.is_dir() else []
    near = difflib.get_close_matches(argument, names, n=3, cutoff=0.6)
    more = f"; {LEFT} has certificates of {', '.join(near)}" if near else ""
    return SelectionError(f"{error}{more}")
