"""Scouts: small batches, each at a discrete shape that was not visited before.

A statement can fail at one shape only. A few large batches pass such a shape by; many small ones at
different shapes meet it. Every other scout goes to the simplest shape that is left, because what
fails at a rare shape often fails at a simple one, and the others go to shapes that are drawn as
those of any batch. Some of their instances are corners, which a random batch seldom has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import chain

import torch

from rankcheck.theory.instances.drivers import BatchSource
from rankcheck.theory.instances.record import Integer, Record

#: Instances of a scout; the mixture of entries has each of its kinds among so many.
FEW = 32
#: Of the instances of a scout, so many have all entries at ends of their ranges: the first one at
#: the lower ends, the second one at the upper ends.
CORNERS = 4


@dataclass
class _Node:
    """The shapes whose integers begin alike.

    Attributes:
        after: by the next integer, the shapes that begin with it as well.
        left: how far the simplest shape that was not visited is from the simplest of all; infinite
            if all were visited. An integer that is n above the low end of its range is as far as n
            has binary digits, so that the large values of a range come early, too.
    """

    after: dict[int, _Node] = field(default_factory=dict)
    left: float = 0.0

    def simplest(self, low: int, high: int) -> tuple[float, int]:
        """How far the simplest shape is that is left, and the next integer on the way to it."""
        best = math.inf, low
        for value in range(low, high + 1):
            far = (value - low).bit_length()
            node = self.after.get(value)
            best = min(best, (far + (0.0 if node is None else node.left), value))
            if node is None:  # so was no larger value, which is at least as far
                break
        return best

    def nearest(self, value: int, low: int, high: int) -> int:
        """The first integer from a value on, round the range, with a shape that is left."""
        for other in chain(range(value, high + 1), range(low, value)):
            if other not in self.after or self.after[other].left < math.inf:
                return other
        return value


class Visited:
    """The discrete shapes of a family that were visited, as a tree over their integers."""

    def __init__(self) -> None:
        self._root = _Node()
        #: How many shapes were visited.
        self.shapes = 0

    @property
    def everywhere(self) -> bool:
        """Whether there is no other shape."""
        return math.isinf(self._root.left)

    def add(self, record: Record) -> None:
        """Add the shape of a record; if the generator raised, all shapes that begin like it."""
        drawn = [choice for choice in record.choices if isinstance(choice, Integer)]
        nodes = [self._root]
        for choice in drawn:
            nodes.append(nodes[-1].after.setdefault(choice.value, _Node()))
        if math.isinf(nodes[-1].left):
            return
        self.shapes += 1
        nodes[-1].left = math.inf
        for node, choice in zip(reversed(nodes[:-1]), reversed(drawn), strict=True):
            node.left, _ = node.simplest(choice.low, choice.high)


class ScoutSource(BatchSource):
    """A batch at a shape that was not visited, the simplest one or one drawn at random.

    Args:
        visited: the shapes to keep away from; if that is all of them, one of them is drawn again.
    """

    def __init__(self, visited: Visited, simplest: bool, seed: int, size: int) -> None:
        super().__init__(seed, size)
        self._node: _Node | None = visited._root
        self._simplest = simplest

    def _integer(self, low: int, high: int) -> int:
        value = super()._integer(low, high)
        node = self._node
        if node is None:  # nothing that begins like this was visited
            return low if self._simplest else value
        if self._simplest:
            _, value = node.simplest(low, high)
        else:
            value = node.nearest(value, low, high)
        self._node = node.after.get(value)
        return value

    def _tensor(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        values = super()._tensor(shape, low, high)
        corners = values[:CORNERS]
        upper = torch.from_numpy(self._generator.random(corners.shape) < 0.5)
        upper[:1], upper[1:2] = False, True
        corners.fill_(low)[upper] = high  # torch.where of two numbers is a float32
        return values
