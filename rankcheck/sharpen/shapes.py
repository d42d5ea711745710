"""New discrete shapes for a sharpening: simple ones, random ones, and neighbours of good ones."""

from __future__ import annotations

from collections.abc import Iterator

from rankcheck.claims.claim import Claim
from rankcheck.engine.hunt.arena import BodyError, Family, Shape, drawn_shape
from rankcheck.engine.hunt.points import ShapedSource
from rankcheck.engine.verification.scouts import ScoutSource, Visited
from rankcheck.theory.instances.record import Integer, Record
from rankcheck.theory.instances.source import Source, seed_of

#: The share of new shapes that are the simplest ones left, and that of the tight family.
SIMPLEST, TIGHT = 0.5, 0.1
#: So many neighbours are named, and a range of so many integers is short.
NEIGHBOURS, ALL = 48, 8
#: Draws one after the other without a new shape that end the search for one.
MISSES = 24


class Shapes:
    """Draws shapes of the families of a claim, none twice while others are left.

    Attributes:
        raised: what the generator raised first.
    """

    def __init__(self, claim: Claim, seed: int) -> None:
        self._claim = claim
        self._seed = seed
        self._visited: dict[Family, Visited] = {"instances": Visited(), "tight": Visited()}
        self.raised = ""

    @property
    def drawn(self) -> int:
        """How many shapes were drawn."""
        return sum(visited.shapes for visited in self._visited.values())

    def new(self, count: int) -> list[Shape]:
        """New shapes: of the tight family, the simplest ones, and random ones."""
        shapes: list[Shape] = []
        missed = 0
        for index in range(count * MISSES):
            if len(shapes) == count or missed == MISSES:
                break
            number = self.drawn + missed
            tight = self._claim.tight is not None and index % round(1 / TIGHT) == 0
            family: Family = "tight" if tight else "instances"
            if self._visited[family].everywhere:
                missed += 1
                continue
            seed = seed_of(self._seed, self._claim.id, "shape", number)
            simplest = index % 4 < 4 * SIMPLEST
            shape = self._drawn(family, simplest, seed)
            if shape is None or shape in shapes:
                missed += 1
            else:
                shapes.append(shape)
                missed = 0
        return shapes

    def neighbours(self, record: Record) -> list[Shape]:
        """Shapes that differ from that of a record in one integer.

        It has every value of a short range, else one that differs by 1 or is at an end.

        If the generator draws as many more integers as that one has grown, as of a network with
        more layers, one of those behind it is repeated; if it draws fewer, some are left out.
        """
        drawn = [choice for choice in record.choices if isinstance(choice, Integer)]
        shapes: dict[Shape, None] = {}
        for place, one in enumerate(drawn):
            few = one.high - one.low < ALL
            ends = (one.value + 1, one.value - 1, one.low, one.high)
            for value in range(one.low, one.high + 1) if few else ends:
                integers = [choice.value for choice in drawn]
                integers[place] = value
                shape = self._like(integers)
                if shape is not None:
                    shapes[shape] = None
                for other in _longer(integers, place, value - one.value):
                    shape = self._like(other)
                    if shape is not None and shape.integers == tuple(other):
                        shapes[shape] = None
        return list(shapes)[:NEIGHBOURS]

    def _like(self, integers: list[int]) -> Shape | None:
        """The shape with these integers, or the nearest that the generator has."""
        return self._shape("instances", ShapedSource(tuple(integers), len(integers)))

    def _drawn(self, family: Family, simplest: bool, seed: int) -> Shape | None:
        """A shape of a family that was not visited; None where the generator accepts none."""
        visited = self._visited[family]
        return self._shape(family, ScoutSource(visited, simplest, seed, 1))

    def _shape(self, family: Family, source: Source) -> Shape | None:
        """The shape of what a source draws, which is visited now; None where it is rejected."""
        try:
            return drawn_shape(self._claim, family, source)
        except BodyError as error:
            self.raised = self.raised or str(error)
            return None
        finally:
            self._visited[family].add(source.record)


def _longer(integers: list[int], place: int, more: int) -> Iterator[list[int]]:
    """The integers with so many more behind a place, or so many fewer."""
    for end in range(place + 2, len(integers) + 1) if more > 0 else ():
        yield [*integers[:end], *integers[end - 1 : end] * more, *integers[end:]]
    for end in range(place + 1, len(integers) + more + 1) if more < 0 else ():
        yield [*integers[:end], *integers[end - more :]]
