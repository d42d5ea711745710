"""A proof that does not prove what it says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class UnsoundError(RuntimeError):
    """The second checker does not accept a proof: what it met, and where.

    Attributes:
        said: what happened and the rule, without the place.
        face, node: the place in the proof; None where it is no single one.
    """

    def __init__(self, said: str, face: int | None = None, node: int | None = None) -> None:
        place = [
            f"{what} {number}"
            for what, number in (("face", face), ("node", node))
            if number is not None
        ]
        super().__init__(f"{', '.join(place)}: {said}" if place else said)
        self.said, self.face, self.node = said, face, node


@contextmanager
def at(face: int | None, node: int | None = None) -> Iterator[None]:
    """Errors that are raised inside and name no place are of this one."""
    try:
        yield
    except UnsoundError as error:
        if error.face is not None:
            raise
        raise UnsoundError(error.said, face, node) from error.__cause__
