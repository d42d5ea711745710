"""What an evaluation on traced numbers leaves behind: comparisons, ranks, and all expressions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from flint import fmpq

Traced: TypeAlias = Any
"""A number of `rankcheck.faces.exports.traced`, which makes use of this file."""

_PACKAGE = str(Path(__file__).parents[2])
#: Files whose functions say how numbers are stored, and not what they mean.
_ENGINE = (f"{_PACKAGE}/balls/", f"{_PACKAGE}/faces/exports/", f"{_PACKAGE}/claims/")


@dataclass(frozen=True)
class Branch:
    """A comparison that was decided: ``left relation right`` holds, relation one of < <= = <>."""

    left: Traced
    relation: str
    right: Traced


@dataclass(frozen=True)
class RankFact:
    """That a matrix of traced numbers has a rank, with the matrices that prove it.

    ``matrix = columns · rows`` with `rank` columns, and ``left · matrix · right`` is the identity.
    """

    matrix: tuple[tuple[Traced, ...], ...]
    rank: int
    columns: tuple[tuple[fmpq, ...], ...]
    rows: tuple[tuple[fmpq, ...], ...]
    left: tuple[tuple[fmpq, ...], ...]
    right: tuple[tuple[fmpq, ...], ...]


@dataclass
class Trace:
    """What one evaluation leaves behind.

    Attributes:
        branches: the comparisons in the order in which they were decided, each once, with the
            function that asked.
        known: every expression by its operation and operands.
    """

    branches: dict[Branch, str] = field(default_factory=dict)
    known: dict[tuple[Any, ...], Traced] = field(default_factory=dict)


_trace: ContextVar[Trace | None] = ContextVar("trace", default=None)


def current() -> Trace | None:
    """The trace of the innermost `recording`."""
    return _trace.get()


@contextmanager
def recording() -> Iterator[Trace]:
    """A trace of what is computed inside the `with` block."""
    trace = Trace()
    token = _trace.set(trace)
    try:
        yield trace
    finally:
        _trace.reset(token)


def origin() -> str:
    """The innermost named function on the stack that is mathematics, and no engine."""
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        name, file = code.co_name, code.co_filename
        if not name.startswith("<") and not file.startswith(_ENGINE):
            mathematics = file.startswith(_PACKAGE) or name.startswith("test_")
            if mathematics or "site-packages" not in file:
                return name.strip("_")
        if frame.f_back is None:
            break
        frame = frame.f_back
    return "value"
