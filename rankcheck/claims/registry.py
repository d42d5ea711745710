"""All claims that have been declared in this process, by id."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankcheck.claims.claim import Claim

_claims: dict[str, Claim] = {}


class DuplicateClaim(ValueError):
    """Two claims have the same id."""


def add(claim: Claim) -> None:
    """Enter a claim.

    A file that is imported twice (by pytest and by the command) enters its claims anew.

    Raises:
        DuplicateClaim: if the id is taken by a claim at another place.
    """
    known = _claims.get(claim.id)
    if known is not None and (known.file.resolve(), known.line) != (
        claim.file.resolve(),
        claim.line,
    ):
        raise DuplicateClaim(
            f"a claim id is used once; {claim.id} stands at {known.file}:{known.line} "
            f"and at {claim.file}:{claim.line}"
        )
    _claims[claim.id] = claim


def get(id: str) -> Claim:  # noqa: A002
    """The claim of that id.

    Raises:
        KeyError: if none is declared.
    """
    return _claims[id]


def declared() -> dict[str, Claim]:
    """All claims so far, by id."""
    return dict(_claims)


def forget(id: str) -> None:  # noqa: A002
    """Take a claim out again; for tests that declare claims of their own."""
    _claims.pop(id, None)
