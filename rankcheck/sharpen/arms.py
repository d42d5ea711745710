"""The shapes that a sharpening has visited, and which of them is searched deeply next."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rankcheck.engine.hunt.arena import Shape
from rankcheck.sharpen.task import Finding

#: A shape falls back by so much in height for every deep search of it, and for one that brought
#: nothing.
TIRED, IDLE = 0.02, 0.5
#: A search has brought something if it has raised a height by more than this.
RAISED = 1e-6
#: So many shapes of groups that have fallen behind are named.
BEHIND = 32


@dataclass
class Arm:
    """A shape: its key, its largest heights in floats by relation, and its deep searches.

    Attributes:
        turns: how often it was searched deeply.
        tired: by how much the shape falls back.
    """

    key: tuple[int, ...]
    heights: dict[str, float]
    turns: int = 0
    tired: float = 0.0


class Arms:
    """The shapes that were visited.

    Attributes:
        of: by shape, what is known of it.
    """

    def __init__(self) -> None:
        self.of: dict[Shape, Arm] = {}
        #: By relation and height, how many deep searches have ended there without raising it.
        self._plateaus: Counter[tuple[str, float]] = Counter()

    def take(
        self, heights: Mapping[Shape, tuple[tuple[int, ...], dict[str, float]]], *, deep: bool
    ) -> None:
        """Take in the keys and heights that a task has found; `deep` if it was a deep search."""
        for shape, (key, found) in heights.items():
            arm = self.of.setdefault(shape, Arm(key, {}))
            before = dict(arm.heights)
            for name, height in found.items():
                arm.heights[name] = max(height, arm.heights.get(name, -math.inf))
            if deep:
                raised = any(h > before.get(n, -math.inf) + RAISED for n, h in found.items())
                arm.tired += TIRED if raised else IDLE
                self._plateaus.update((n, round(h, 9)) for n, h in found.items() if not raised)

    def deepest(self, number: int) -> Shape | None:
        """The shape to search deeply next.

        Groups take turns with the best of all; within one the shape with the largest ratio comes
        first, less `TIRED` for every earlier visit. The relations take turns as well.
        """
        names = sorted({name for arm in self.of.values() for name in arm.heights})
        if not names:
            return None
        name = names[number % len(names)]
        arms = {s: arm for s, arm in self.of.items() if name in arm.heights}
        keys = sorted({arm.key for arm in arms.values()})
        turn = number // len(names)
        if turn % 2 and len(keys) > 1:
            key = keys[turn // 2 % len(keys)]
            arms = {shape: arm for shape, arm in arms.items() if arm.key == key}

        def promise(shape: Shape) -> float:
            arm = arms[shape]
            height = arm.heights[name]
            return height - arm.tired - IDLE * self._plateaus[name, round(height, 9)]

        return max(arms, key=promise)

    def behind(self, best: Iterable[Finding]) -> list[Shape]:
        """The best shape of each group that falls behind the best of all, for each relation."""
        shapes: dict[Shape, None] = {}
        for one in sorted(best, key=lambda one: one.name):
            groups: dict[tuple[int, ...], list[Shape]] = {}
            for shape, arm in self.of.items():
                if one.name in arm.heights and shape.family == "instances":
                    groups.setdefault(arm.key, []).append(shape)
            for those in groups.values():
                highest = max(those, key=lambda shape: self.of[shape].heights[one.name])
                if self.of[highest].heights[one.name] < one.height - RAISED:
                    shapes[highest] = None
        return list(shapes)[:BEHIND]
