"""The tree of the paths through a body, and why a path ends without a proof."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from pathlib import Path

from rankcheck import balls
from rankcheck.algebra.cell import Fork
from rankcheck.algebra.signs import ANY, MINUS, NONE, PLUS, signs_text
from rankcheck.balls import NoBallForm, Undecided
from rankcheck.catalogue.entry import shown_path
from rankcheck.claims.claim import Claim
from rankcheck.prove.proof import Branch, Node, Split

__all__ = ["Growing", "place", "reason"]


class Growing:
    """A tree of paths that is being gone through, depth first.

    Attributes:
        waiting: decisions that lead to paths that are still to be taken.
        ends: what is at the end of a path, by its decisions.
    """

    def __init__(self) -> None:
        self.waiting: list[tuple[int, ...]] = [()]
        self.ends: dict[tuple[int, ...], Node] = {}
        self._forks: dict[tuple[int, ...], Fork] = {}

    def add(self, script: tuple[int, ...], trail: Sequence[Fork]) -> bool:
        """Add a path that took its first decisions from a script.

        False if it is not what it was when other paths had these decisions before. That is so where
        something was proved meanwhile, by which it need not split any more.
        """
        taken = tuple(fork.taken for fork in trail)
        for depth, fork in enumerate(trail):
            before = taken[:depth]
            known = self._forks.get(before)
            if known is None:
                self._forks[before] = fork
                self.waiting.append((*before, 1 - fork.taken))
            elif (str(known.of), known.options) != (str(fork.of), fork.options):
                return False
        return taken[: len(script)] == script

    def tree(self) -> tuple[Node, ...]:
        """The nodes of the tree, its root first."""
        return tree(self._forks, self.ends)


def tree(forks: dict[tuple[int, ...], Fork], ends: dict[tuple[int, ...], Node]) -> tuple[Node, ...]:
    """The nodes of a tree, its root first."""
    order: list[tuple[int, ...]] = []
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        prefix = waiting.pop()
        order.append(prefix)
        if prefix in forks:
            waiting += [(*prefix, 1), (*prefix, 0)]
    number = {prefix: place for place, prefix in enumerate(order)}
    nodes: list[Node] = []
    for prefix in order:
        fork = forks.get(prefix)
        if fork is None:
            nodes.append(ends[prefix])
            continue
        first, second = fork.options
        missing = ANY & ~(first | second)  # signs that the polynomial cannot have
        if second == NONE and missing in (MINUS, PLUS):
            second |= missing
        else:
            first |= missing
        nodes.append(
            Split(
                of=str(fork.of),
                branches=(
                    Branch(signs=signs_text(first), to=number[(*prefix, 0)]),
                    Branch(signs=signs_text(second), to=number[(*prefix, 1)]),
                ),
            )
        )
    return tuple(nodes)


def reason(error: Exception) -> str:
    """Why a path ends with an error, in words."""
    if isinstance(error, NoBallForm):  # the numbers are rational functions here, and no balls
        text = balls.without_transforms(error) or str(error)
        text = text.replace("has no ball form", "has no exact form")
        return text.replace("Quotient numbers", "rational functions")
    return f"{type(error).__name__}: {error}" if not isinstance(error, Undecided) else str(error)


def place(claim: Claim, error: Exception) -> str:
    """The last line of the claim's file that was run, else of the claim's own folder."""
    frames = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        if Path(frame.filename) == claim.file:
            return f"{shown_path(claim.file)}:{frame.lineno}"
    return ""
