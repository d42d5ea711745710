"""Small scope: every instance of a generator with few entries, each from a small finite set.

A random search that finds no counterexample has not shown that there is none. An enumeration has,
as far as it goes: it takes all discrete shapes with at most n entries, and for each shape all ways
to fill its entries from a grid such as {-1, 0, 1}.

The instances have an order: first by the number of entries, then by the integers that the generator
draws (as tuples), then by the entries in the order of their drawing, where 0 comes before 1 and 1
before -1. The first counterexample is the smallest one in this order.

`shapes` finds the shapes by running the generator along prefixes of its integers. It takes every
option of a `choice` and every value of a short range from zero (an index, a flag). Any other
integer goes upwards from its low end while shapes with its present value are small enough. Larger
values are assumed to give at least as many entries (`Shapes.assumed`), after a trial of `BEYOND`
runs; where that reaches all of them, nothing is assumed.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch

from rankcheck.text import rational_text
from rankcheck.theory.instances.source import Instances, Rejected, Source

T = TypeVar("T")

#: The values of an entry, unless its range leaves some of them out; the simplest first.
GRID = (0.0, 1.0, -1.0)
#: An integer takes this many values of its range, from the lowest.
INTEGERS = 32
#: The search for shapes runs the generator this often.
RUNS = 5_000
#: When every branch with small shapes is explored, the search goes on in the others, until so many
#: runs found nothing.
BEYOND = 200
#: An integer of a range [0, high] with high at most this is an index or a flag.
INDEX = 5


@dataclass(frozen=True)
class ScopeShape:
    """A discrete shape with the grid of each of its entries.

    Attributes:
        integers: what the generator draws, in order.
        grids: by tensor, its shape and the values of its entries.
    """

    integers: tuple[int, ...]
    grids: tuple[tuple[tuple[int, ...], tuple[float, ...]], ...]

    @property
    def entries(self) -> int:
        """The number of entries."""
        return sum(math.prod(shape) for shape, _ in self.grids)

    @property
    def instances(self) -> int:
        """In how many ways the entries can be filled."""
        return math.prod(len(values) ** math.prod(shape) for shape, values in self.grids)


@dataclass
class Shapes:
    """The shapes of a scope, and what was left out of it.

    Attributes:
        entries: the largest number of entries.
        shapes: by number of entries, then by integers.
        off_grid: whether some range contains no value of the grid, so that its ends stand for it.
        pinned: whether some range contains a single value of the grid. Its entries have this value
            in every instance: 0 for a slope in (-1, 1), 1 for a positive entry.
        longer: whether some range of integers was longer than `INTEGERS`, and not gone through.
        assumed: whether some integer was not raised further because its present value gave too many
            entries already.
        cut: whether the search ended after `RUNS` runs with branches left.
        rejected: at how many shapes the generator rejected every instance.
        failed: how often the generator raised at a shape, by what it raised.
        runs: how often the generator was run.
    """

    entries: int
    shapes: list[ScopeShape] = field(default_factory=list)
    off_grid: bool = False
    pinned: bool = False
    longer: bool = False
    assumed: bool = False
    cut: bool = False
    rejected: int = 0
    failed: dict[str, int] = field(default_factory=dict)
    runs: int = 0

    @property
    def instances(self) -> int:
        """All instances of the scope."""
        return sum(shape.instances for shape in self.shapes)

    @property
    def complete(self) -> bool:
        """Whether this is every instance on the grid with so many entries, given `assumed`."""
        return not (self.longer or self.cut or self.failed)

    def batches(self, size: int) -> Iterator[tuple[ScopeShape, int, int]]:
        """All instances in order, in batches of one shape and at most `size`: (shape, start, size).

        Each is what `rankcheck.theory.instances.drivers.ScopeSource` takes.
        """
        for shape in self.shapes:
            for start in range(0, shape.instances, size):
                yield shape, start, min(size, shape.instances - start)

    def sentence(self) -> str:
        """What was enumerated, for people.

        >>> from rankcheck.instances import matrices
        >>> shapes(matrices(), 4).sentence()
        'all 951 instances of up to 4 entries from {-1, 0, 1}'
        """
        if not self.shapes:
            return f"no instance of up to {_counted(self.entries, 'entry', 'entries')}"
        whole = "all " if self.complete else ""
        values = ", ".join(rational_text(value) for value in sorted(GRID))
        grid = f"{{{values}}}" + (" or the ends of their ranges" if self.off_grid else "")
        number = _counted(self.instances, "instance", "instances")
        text = f"{whole}{number} of up to {_counted(self.entries, 'entry', 'entries')} from {grid}"
        if not any(shape.entries for shape in self.shapes):
            text = f"{whole}{_counted(self.instances, 'choice', 'choices')} of its integers"
        if self.longer:
            text += f"; integers in the first {INTEGERS} values of their ranges"
        if self.cut:
            text += f"; the shapes that {_grouped(self.runs)} runs found"
        if self.failed:
            lost = _counted(sum(self.failed.values()), "shape", "shapes")
            text += f"; the generator raised at {lost}"
        return text


def _grouped(number: int) -> str:
    return f"{number:,}".replace(",", " ")


def _counted(number: int, one: str, many: str) -> str:
    return f"{_grouped(number)} {one if number == 1 else many}"


def grid_of(low: float, high: float) -> tuple[float, ...]:
    """The values of the grid in a range; its two ends if there are none.

    >>> grid_of(-8, 8), grid_of(0, 1), grid_of(0.25, 0.5)
    ((0.0, 1.0, -1.0), (0.0, 1.0), (0.25, 0.5))
    """
    inside = tuple(float(value) for value in GRID if low <= value <= high)
    return inside or (float(low), float(high))


class _TooLarge(Exception):
    """A shape has more entries than the scope."""


@dataclass(frozen=True)
class _Place:
    """An integer that was asked for: its range, and the number of entries drawn before it."""

    low: int
    high: int
    #: Whether every value is taken, because a larger one need not give more entries.
    index: bool
    before: int


@dataclass
class _Branch:
    """The shapes whose integers begin with a prefix; its last integer stands at `place`."""

    prefix: tuple[int, ...]
    place: _Place
    parent: _Branch | None
    #: How far the integers are above the lowest of their ranges; 1 for any other index.
    steps: int
    #: Whether one of its shapes is small enough.
    alive: bool = False

    @property
    def key(self) -> tuple[int, int, tuple[int, ...]]:
        """The order of exploration; no two branches have the same prefix."""
        return self.place.before + self.steps, self.steps, self.prefix

    @property
    def next(self) -> _Branch | None:
        """The branch of the next larger integer; None at the end of the range."""
        *before, value = self.prefix
        if value == self.place.high:
            return None
        steps = self.steps + (value == self.place.low or not self.place.index)
        return _Branch((*before, value + 1), self.place, self.parent, steps)


class _Probe(Source):
    """Runs a generator along a prefix of integers, and notes what it asks for.

    After the prefix every integer is the lowest of its range.
    """

    def __init__(self, prefix: tuple[int, ...], most: int) -> None:
        super().__init__()
        self.places: list[_Place] = []
        self.grids: list[tuple[tuple[int, ...], tuple[float, ...]]] = []
        self.ranges: list[tuple[float, float]] = []
        self.off_grid = False
        self._prefix = prefix
        self._left = most
        self._most = most
        self._option = False

    def choice(self, options: Sequence[T], weights: Sequence[float] | None = None) -> T:
        self._option = True
        return super().choice(options, weights)

    def _integer(self, low: int, high: int) -> int:
        index = self._option or (low == 0 and high <= INDEX)
        self._option = False
        number = len(self.places)
        self.places.append(_Place(low, high, index, self._most - self._left))
        return self._prefix[number] if number < len(self._prefix) else low

    def _tensor(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        count = math.prod(shape)
        if count > self._left:
            raise _TooLarge
        values = grid_of(low, high)
        self.off_grid = self.off_grid or not any(low <= value <= high for value in GRID)
        self.grids.append((shape, values))
        self.ranges += [(low, high)] * count
        # In general position, so that a generator that inverts a matrix does not fail.
        share = torch.tensor(
            [(_GOLDEN * (self._left - i)) % 1.0 for i in range(count)], dtype=torch.float64
        )
        self._left -= count
        return (low + (high - low) * share).reshape(shape)

    def require(self, condition: Any, why: str) -> None:
        """The instances decide, not the shape."""


_GOLDEN = (math.sqrt(5) - 1) / 2


def shapes(family: Instances, entries: int, *, runs: int = RUNS) -> Shapes:
    """All shapes of a family with at most so many entries, the smallest first.

    Branches with few entries and small integers are explored first, so that a search that is cut
    after `runs` runs has most likely seen the smallest shapes.
    """
    search = _Search(family, Shapes(entries))
    with torch.no_grad():
        return search.run(runs)


def ranges(family: Instances, shape: ScopeShape) -> list[tuple[float, float]]:
    """By entry of a shape, the range that it is drawn from.

    Raises:
        Exception: what the generator raises at numbers in general position.
    """
    probe = _Probe(shape.integers, shape.entries)
    with torch.no_grad():
        family(probe)
    return probe.ranges


class _Search:
    """Best-first search for the shapes of a family."""

    def __init__(self, family: Instances, result: Shapes) -> None:
        self._family = family
        self._result = result
        #: Branches to explore, after their keys.
        self._heap: list[tuple[int, int, tuple[int, ...], _Branch]] = []
        #: The same of branches that wait for the branch before them to come alive.
        self._waiting: list[tuple[int, int, tuple[int, ...], _Branch, _Branch]] = []

    def run(self, runs: int) -> Shapes:
        result = self._result
        self._explore(None)
        while self._heap and result.runs < runs:
            self._explore(heapq.heappop(self._heap)[-1])
        result.cut = bool(self._heap)
        end = min(runs, result.runs + BEYOND)
        while (self._heap or self._waiting) and result.runs < end:
            branch, before = self._next()
            if before is None or not before.alive:
                count = len(result.shapes)
                self._explore(branch)
                if len(result.shapes) > count:
                    end = min(runs, result.runs + BEYOND)
        result.assumed = bool(self._heap) or any(not b.alive for *_, b in self._waiting)
        result.shapes.sort(key=lambda shape: (shape.entries, shape.integers))
        return result

    def _explore(self, branch: _Branch | None) -> None:
        """Run the generator along the branch, and open those that leave it."""
        result = self._result
        prefix = branch.prefix if branch else ()
        probe = _Probe(prefix, result.entries)
        result.runs += 1
        small = True
        try:
            self._family(probe)
        except _TooLarge:
            small = False
        except Rejected:
            result.rejected += 1
        except Exception as error:
            name = f"{type(error).__name__}: {error}"
            result.failed[name] = result.failed.get(name, 0) + 1
        else:
            integers = (*prefix, *(place.low for place in probe.places[len(prefix) :]))
            result.shapes.append(ScopeShape(integers, tuple(probe.grids)))
            result.off_grid = result.off_grid or probe.off_grid
            result.pinned = result.pinned or any(len(values) == 1 for _, values in probe.grids)
        if branch:
            self._open(branch)
        for place in probe.places[len(prefix) :]:
            prefix = (*prefix, place.low)
            branch = _Branch(prefix, place, branch, branch.steps if branch else 0)
            self._open(branch)
        while small and branch and not branch.alive:
            self._revive(branch)
            branch = branch.parent

    def _next(self) -> tuple[_Branch, _Branch | None]:
        """A branch to try, and the branch before it if that has no small shape so far."""
        if self._heap:
            return heapq.heappop(self._heap)[-1], None
        *_, branch, before = heapq.heappop(self._waiting)
        return branch, before

    def _open(self, branch: _Branch) -> None:
        if branch.place.index:
            self._push(branch)
        elif (following := branch.next) and self._taken(following):
            heapq.heappush(self._waiting, (*following.key, following, branch))

    def _revive(self, branch: _Branch) -> None:
        branch.alive = True
        if not branch.place.index:
            self._push(branch)

    def _push(self, before: _Branch) -> None:
        """Open the branch of the next larger integer."""
        if (branch := before.next) and self._taken(branch):
            heapq.heappush(self._heap, (*branch.key, branch))

    def _taken(self, branch: _Branch) -> bool:
        inside = branch.prefix[-1] - branch.place.low < INTEGERS
        self._result.longer = self._result.longer or not inside
        return inside
