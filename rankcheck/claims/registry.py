"""All claims that have been declared in this process, by id; and those that are malformed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankcheck.claims.claim import Claim

#: Where a claim stands; one that pytest or `rankcheck list` would pass over is refused.
TOP_LEVEL = "a claim is a decorated function at the top level of its file"


@dataclass(frozen=True)
class Malformed:
    """A claim that is not well formed: what a decorator returns for it while a file is collected.

    Attributes:
        problem: the message of the error that the decorator raises elsewhere.
    """

    id: str
    file: Path
    line: int
    problem: str


_malformed: dict[str, Malformed] = {}
_recording = 0


@contextmanager
def recording() -> Iterator[None]:
    """While files are imported to collect their claims: record malformed claims, do not raise.

    So a malformed claim does not hide the others of its file.
    """
    global _recording
    _recording += 1
    try:
        yield
    finally:
        _recording -= 1


def is_recording() -> bool:
    """Whether malformed claims are recorded."""
    return _recording > 0


def record(claim: Malformed) -> Malformed:
    """Enter a malformed claim; returns it."""
    _malformed[claim.id] = claim
    return claim


def malformed() -> dict[str, Malformed]:
    """All malformed claims so far, by id."""
    return dict(_malformed)


_claims: dict[str, Claim] = {}


class DuplicateClaim(ValueError):
    """Two claims have the same id."""


def add(claim: Claim) -> None:
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
    _malformed.pop(claim.id, None)


def declared() -> dict[str, Claim]:
    """All claims so far, by id."""
    return dict(_claims)


def forget(id: str) -> None:  # noqa: A002
    """Take a claim out again, for tests that declare claims of their own."""
    _claims.pop(id, None)
    _malformed.pop(id, None)
