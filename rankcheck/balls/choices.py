"""What is noticed of an evaluation on balls: what torch chose, and what had no value.

Torch chooses where the mathematics leaves a choice: signs of vectors, order of eigenvalues.

Ball arrays choose as torch does in floats at the midpoint of the matrix. That choice jumps when the
matrix moves by a rounding error (the first column of the Q of the identity is e_1, and −e_1 for
almost all matrices near it), so a proof must hold for other choices too. Within
``conventions(pattern)`` the k-th vector has the other sign where bit k of the pattern is set, and
the eigenvalues of general matrices come in another order for each of the patterns of `OTHERS`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

BITS = 16

OTHERS = (0xFFFF, 0x5555, 0xCCCC, 0xF0F0, 0xFF00)
"""Patterns under which a proof is repeated: all signs, and some that turn one of any two columns.

The orders are: reversed, neighbours exchanged (from the first on, and from the second on), and
rotated by one and by two places.
"""


@dataclass
class Conventions:
    """The pattern in force, and what an evaluation did under it.

    Attributes:
        used: whether a result depended on the pattern.
        wrote: whether a place of an array was assigned to.
        undefined: in words, the operations on balls that had no value, in their order.
        outer: the evaluation in which this one is.
    """

    pattern: int = 0
    used: bool = False
    wrote: bool = False
    undefined: dict[str, None] = field(default_factory=dict)
    outer: Conventions | None = None


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
    choices = Conventions(pattern, outer=_current.get())
    token = _current.set(choices)
    try:
        yield choices
    finally:
        _current.reset(token)


def evaluation() -> Conventions | None:
    """The choices of the innermost ``with`` block, one for each evaluation of a body."""
    return _current.get()


def sign(column: int) -> int:
    """1, or −1 if the vector in that column takes the other sign."""
    choices = _current.get()
    if choices is None:
        return 1
    choices.used = True
    return -1 if choices.pattern >> (column % BITS) & 1 else 1


def order(count: int) -> list[int]:
    """The order of that many eigenvalues, as places in the order that floats give."""
    choices = _current.get()
    places = list(range(count))
    if choices is None:
        return places
    choices.used = True
    if choices.pattern not in OTHERS:
        return places
    which = OTHERS.index(choices.pattern)
    if which == 0:
        return places[::-1]
    if which in (1, 2):
        for i in range(which - 1, count - 1, 2):
            places[i], places[i + 1] = places[i + 1], places[i]
        return places
    turn = which - 2
    return places[turn:] + places[:turn]
