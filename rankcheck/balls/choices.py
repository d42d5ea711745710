"""What torch chooses where the mathematics leaves a choice: signs of vectors, order of eigenvalues.

Ball arrays choose as torch does in floats at the midpoint of the matrix. That choice jumps when the
matrix moves by a rounding error (the first column of the Q of the identity is e_1, and −e_1 for
almost all matrices near it), so a proof must hold for other choices too. Within
``conventions(pattern)`` the k-th vector has the other sign where bit k of the pattern is set, and
for a pattern other than 0 the eigenvalues of general matrices come in the opposite order.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

BITS = 16

OTHERS = (0xFFFF, 0x5555, 0xCCCC)
"""Patterns under which a proof is repeated: all signs, every second, two of four."""


@dataclass
class Conventions:
    """The pattern in force, and whether a result depended on it."""

    pattern: int = 0
    used: bool = False


_current: ContextVar[Conventions | None] = ContextVar("conventions", default=None)


@contextmanager
def conventions(pattern: int = 0) -> Iterator[Conventions]:
    """Choose by that pattern inside the ``with`` block, and notice whether a choice was made.

    >>> import torch
    >>> from rankcheck.balls import BallArray
    >>> with conventions() as choices:
    ...     _ = torch.linalg.eigvalsh(BallArray.exact([[2, 1], [1, 2]]))
    >>> choices.used
    False
    """
    choices = Conventions(pattern)
    token = _current.set(choices)
    try:
        yield choices
    finally:
        _current.reset(token)


def sign(column: int) -> int:
    """1, or −1 if the vector in that column takes the other sign."""
    choices = _current.get()
    if choices is None:
        return 1
    choices.used = True
    return -1 if choices.pattern >> (column % BITS) & 1 else 1


def opposite_order() -> bool:
    """Whether eigenvalues take the opposite order."""
    choices = _current.get()
    if choices is None:
        return False
    choices.used = True
    return choices.pattern != 0
