"""How large what a pickle describes is, written out: found without building it.

A pickle of a few hundred bytes can describe a tuple of 2⁶⁰ entries, each half of it twice the same
object. Such a tuple takes no memory, but to hash it takes centuries.
"""

from __future__ import annotations

import pickletools
from typing import Any

__all__ = ["written_out"]


class _Item:
    """An object on the stack, by its size."""

    def __init__(self, size: float) -> None:
        self.size = size


def written_out(pickle: bytes) -> float:
    """The size of the largest object of a pickle: itself and all that it holds, shared parts anew.

    A tensor counts as one object; a container that holds itself counts what it held before.

    Raises:
        ValueError, IndexError, KeyError: it is no pickle.

    >>> import pickle
    >>> pair = (1, 2)
    >>> written_out(pickle.dumps([pair, pair], protocol=2))
    7
    """
    stack: list[_Item | None] = []  # None is a mark
    memo: dict[Any, _Item | None] = {}
    largest: float = 0
    for code, argument, _ in pickletools.genops(pickle):
        name = code.name
        if name == "MEMOIZE" or name.endswith("PUT"):
            memo[len(memo) if name == "MEMOIZE" else argument] = stack[-1]
        elif name == "DUP":
            stack.append(stack[-1])
        elif name.endswith("GET"):
            stack.append(memo[argument])
        elif name == "MARK":
            stack.append(None)
        else:
            popped = _popped(stack, [kind.name for kind in code.stack_before])
            grown = name in ("APPEND", "APPENDS", "SETITEM", "SETITEMS", "ADDITEMS", "BUILD")
            if grown:
                first, *rest = popped
                first.size += sum(item.size for item in rest)
                made = [first]
            else:
                made = [_Item(1 + sum(item.size for item in popped)) for _ in code.stack_after]
            stack.extend(made)
            largest = max([largest, *(item.size for item in made)])
    return largest


def _popped(stack: list[_Item | None], kinds: list[str]) -> list[_Item]:
    """Take what an operation consumes from the stack, in its order."""
    found: list[_Item] = []
    for kind in reversed(kinds):
        if kind == "mark":
            continue
        if kind == "stackslice":
            while (item := stack.pop()) is not None:
                found.append(item)
        elif (item := stack.pop()) is not None:
            found.append(item)
    return found[::-1]
