"""All claims that have been declared in this process, by id."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

__all__ = ["Declared", "DuplicateClaim", "add", "declared", "forget", "get"]


class Declared(Protocol):
    """What the registry has to know of a claim: its id and its place."""

    id: str
    file: Path
    line: int


#: `Any`, so that callers get the claims back as what they are without an import of the class here.
_claims: dict[str, Any] = {}


class DuplicateClaim(ValueError):
    """Two claims have the same id."""


def add(claim: Declared) -> None:
    """Enter a claim.

    The claims of a file that is imported twice (by pytest and by the command) replace the earlier
    ones, and so does a claim that is declared again at a prompt or in a notebook.

    Raises:
        DuplicateClaim: if the id is taken by a claim at another place of a file.
    """
    known = _claims.get(claim.id)
    if known is not None and known.file.exists() and claim.file.exists():
        places = [(one.file.resolve(), one.line) for one in (known, claim)]
        if places[0] != places[1]:
            raise DuplicateClaim(
                f"{claim.id} is declared at {known.file}:{known.line} and at "
                f"{claim.file}:{claim.line}; a claim id is used once"
            )
    _claims[claim.id] = claim


def get(id: str) -> Any:  # noqa: A002
    """The claim of that id.

    Raises:
        KeyError: if none is declared.
    """
    return _claims[id]


def declared() -> dict[str, Any]:
    """All claims so far, by id."""
    return dict(_claims)


def forget(id: str) -> None:  # noqa: A002
    """Take a claim out again, for tests that declare claims of their own."""
    _claims.pop(id, None)
