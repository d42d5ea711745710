"""The tree of the paths through a body, and why a path ends without a proof."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from pathlib import Path

from rankcheck import balls
from rankcheck.balls import NoBallForm, Undecided
from rankcheck.claims.claim import Claim
from rankcheck.decide.algebra.cell import Fork
from rankcheck.decide.algebra.signs import ANY, MINUS, NONE, PLUS, signs_text
from rankcheck.decide.prove.proof import Branch, Node, Split
from rankcheck.files import shown_path


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
        order = sorted([*self._forks, *self.ends])  # a prefix stands before what it begins
        number = {prefix: place for place, prefix in enumerate(order)}
        return tuple(
            _split(self._forks[prefix], number[*prefix, 0], number[*prefix, 1])
            if prefix in self._forks
            else self.ends[prefix]
            for prefix in order
        )


def _split(fork: Fork, *to: int) -> Split:
    """A fork as a proof has it; signs that its polynomial cannot have go with either branch."""
    first, second = fork.options
    missing = ANY & ~(first | second)
    if second == NONE and missing in (MINUS, PLUS):
        second |= missing
    else:
        first |= missing
    branches = zip((first, second), to, strict=True)
    return Split(
        of=str(fork.of),
        branches=tuple(Branch(signs=signs_text(signs), to=place) for signs, place in branches),
    )


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
