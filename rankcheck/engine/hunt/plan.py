r"""The rounds of a hunt: which strategies visit which shapes, given the outcomes so far.

A round depends on the seed and on the outcomes of earlier rounds, in the order of their shards. It
depends neither on the clock nor on the workers.

The first round scouts shapes of the tight family and random shapes, and surveys many more: the
simplest ones and random ones, a few instances each. Neither draws a shape twice while others are
left. Each later round deepens the search at a few of the shapes that have been scouted, scouts some
more, and surveys new ones. Those that are scouted are neighbours of the best shapes, the best of
the surveys, random ones, and in some rounds shapes that tight instances fit into. Where every shape
of the surveys has the same least margin, as with a count that is nearly always equal, margins do
not say where to search. The surveys are then `WIDER` times as large.

For each strategy, shapes are the arms of a bandit. Let $m$ be the least margin seen at a shape (cut
off at ±1), $n$ the visits of the strategy to it, and $N$ all its visits. Two thirds of the visits
go to the shapes with the largest $-m + c \sqrt{\log(1 + N) / (1 + n)}$, the others to the shapes
that have waited longest. So more time goes to small margins, and every shape that was scouted is
visited. How many visits a strategy has is in `rankcheck.engine.hunt.turns`.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice, zip_longest

from rankcheck.claims.claim import Claim
from rankcheck.engine.hunt.arena import BodyError, Family, Shape, drawn_shape, trouble
from rankcheck.engine.hunt.points import ShapedSource
from rankcheck.engine.hunt.shard import Outcome, Shard
from rankcheck.engine.hunt.strategies.base import Strategy
from rankcheck.engine.hunt.transplant import fitted
from rankcheck.engine.hunt.turns import Turns
from rankcheck.engine.verification.scouts import ScoutSource, Visited
from rankcheck.theory.instances.source import Source, seed_of

#: Shapes in the first round: of the tight family, and random ones.
TIGHT, RANDOM = 4, 16
#: Shapes that a later round scouts, as long as fewer than `WAITING` wait for their first deep
#: visit; and the number of tight shapes to which shapes of the claim's family are fitted.
NEW, WAITING, FITS = 6, 24, 1
#: A survey visits so many times as many shapes where margins rank nothing: where those of the
#: surveys so far differ by no more than `TIED`.
WIDER, TIED = 8, 1e-9
#: The share of the first survey that the simplest shapes have, and of each survey that the tight
#: family has.
SIMPLEST, OF_TIGHT = 0.5, 0.125
#: The round from which late strategies are used.
LATE = 2
#: The tight family is sampled again after so many rounds.
TIGHT_AGAIN = 4
#: Exploration weight of the bandit, $c$ above.
EXPLORATION = 0.25
#: Tries to find a neighbour that is new; and the number of draws one after the other without a new
#: shape that ends the search for one, as where the generator raises at most shapes.
TRIES, MISSES = 8, 24


@dataclass
class Arm:
    """A shape, its least margin by relation, the visits of each strategy.

    A violation that is not proved is added to the promise of its shape, so that larger ones are
    looked for there.

    Attributes:
        scouted: whether more than a survey has visited the shape.
        surveyed: the promise that a survey found, where one has visited the shape.
    """

    shape: Shape
    least: list[float] = field(default_factory=list)
    violation: float = 0.0
    scouted: bool = False
    surveyed: float | None = None
    visits: Counter[str] = field(default_factory=Counter)

    @property
    def promise(self) -> float:
        """The mean of `-margin` over the relations, each cut off at ±1."""
        if not self.least:  # no instance inside the hypotheses, so no violation either
            return -1.0
        mean = sum(min(1.0, max(-1.0, margin)) for margin in self.least) / len(self.least)
        return min(1.0, self.violation) - mean


class Plan:
    """Makes the rounds of a hunt."""

    def __init__(self, claim: Claim, strategies: Sequence[Strategy], seed: int) -> None:
        self._claim = claim
        self._seed = seed
        self._strategies = {
            stage: [s for s in strategies if s.stage == stage]
            for stage in ("survey", "scout", "deepen", "late")
        }
        self._arms: dict[Shape, Arm] = {}
        self._turns = Turns()
        #: By what they were drawn for, and their family, the shapes that were drawn.
        self._visited_shapes: defaultdict[tuple[str, Family], Visited] = defaultdict(Visited)
        #: By reason, how many searches for a shape ended early; and what the generator raised.
        self.troubles: Counter[str] = Counter()
        self.raised = ""

    @property
    def shapes(self) -> int:
        """Number of shapes that have been visited."""
        return len(self._arms)

    def round(self, number: int) -> list[Shard]:
        """The shards of a round; to be called after `take` had all outcomes of earlier rounds."""
        chosen = self._first() if number == 0 else self._later(number)
        chosen += self._surveys(number, [shape for _, shape in chosen])
        return [
            Shard(number, index, name, shape, seed_of(self._seed, self._claim.id, number, index))
            for index, (name, shape) in enumerate(chosen)
        ]

    def take(self, shard: Shard, outcome: Outcome) -> None:
        """Take an outcome in."""
        arm = self._arms.setdefault(shard.shape, Arm(shard.shape))
        before = arm.promise
        if outcome.found is not None and outcome.found.violation is not None:
            arm.violation = max(arm.violation, outcome.found.violation)
        if outcome.least:
            arm.least = list(map(min, zip_longest(arm.least, outcome.least, fillvalue=math.inf)))
        if any(shard.strategy == survey.name for survey in self._strategies["survey"]):
            arm.surveyed = arm.promise if arm.surveyed is None else arm.surveyed
        else:
            arm.scouted = True
        total = outcome.counts.total
        self._turns.take(shard.strategy, shard.round, total, before, arm.promise)

    def _first(self) -> list[tuple[str, Shape]]:
        tight = self._new("tight", TIGHT, 0) if self._claim.tight is not None else []
        return self._scouted(tight) + self._scouted(self._new("instances", RANDOM, 0))

    def _later(self, number: int) -> list[tuple[str, Shape]]:
        chosen: list[tuple[str, Shape]] = []
        if number % TIGHT_AGAIN == 1:
            chosen += self._scouted(self._fitted(number))
        deep = self._strategies["deepen"] + (self._strategies["late"] if number >= LATE else [])
        visits = self._turns.visits(deep, number)
        for strategy in deep:
            shapes = self._visited(strategy, visits.get(strategy.name, 0))
            chosen += [(strategy.name, shape) for shape in shapes]
        new = self._neighbours(NEW // 3, number)
        if sum(not arm.visits for arm in self._scouted_arms) < WAITING:
            new += self._best_surveyed(NEW // 3, new)
            new += [s for s in self._new("instances", NEW - len(new), number) if s not in new]
        chosen += self._scouted(new)
        if number % TIGHT_AGAIN == 0 and self._claim.tight is not None:
            chosen += self._scouted(self._new("tight", FITS, number))
        return chosen

    def _scouted(self, shapes: Sequence[Shape]) -> list[tuple[str, Shape]]:
        return [(s.name, shape) for s in self._strategies["scout"] for shape in shapes]

    def _surveys(self, number: int, chosen: Iterable[Shape]) -> list[tuple[str, Shape]]:
        """The shapes that are surveyed in a round: new ones, besides those that are chosen."""
        surveys: list[tuple[str, Shape]] = []
        known = {*self._arms, *chosen}
        for strategy in self._strategies["survey"]:
            count = self._survey_size(strategy)
            shapes = []
            if self._claim.tight is not None:
                shapes += self._unknown("tight", round(OF_TIGHT * count), known, number)
            left = count - len(shapes)
            simplest = round(SIMPLEST * count) if number == 0 else 0
            shapes += self._unknown("instances", left, known, number, simplest=simplest)
            known.update(shapes)
            surveys += [(strategy.name, shape) for shape in shapes]
        return surveys

    def _survey_size(self, strategy: Strategy) -> int:
        """How many shapes a survey visits: fewer where instances take long."""
        count = strategy.visits * min(1.0, self._claim.effort)
        return max(1, round(count)) * (1 if self._ranked else WIDER)

    @property
    def _ranked(self) -> bool:
        """Whether the surveys tell shapes apart."""
        seen = [arm.surveyed for arm in self._arms.values() if arm.surveyed is not None]
        return len(seen) < 2 or max(seen) - min(seen) > TIED

    def _best_surveyed(self, count: int, besides: Sequence[Shape]) -> list[Shape]:
        """The most promising shapes that only surveys have visited."""
        arms = [arm for arm in self._arms.values() if not arm.scouted and arm.shape not in besides]
        arms = [arm for arm in arms if arm.least and arm.shape.family == "instances"]
        return [arm.shape for arm in sorted(arms, key=lambda arm: -arm.promise)[:count]]

    def _fitted(self, number: int) -> list[Shape]:
        """New shapes of the claim's family that instances of the latest tight shapes fit into."""
        tight = [arm.shape for arm in self._scouted_arms if arm.shape.family == "tight"]
        fits: list[Shape | None] = []
        for shape in tight[-FITS:]:
            try:
                fits.append(fitted(self._claim, shape, seed_of(self._seed, number)))
            except Exception as error:
                self.troubles[trouble("the search for shapes like the tight ones", error)] += 1
        return [s for s in dict.fromkeys(fits) if s is not None and s not in self._arms]

    def _visited(self, strategy: Strategy, visits: int) -> list[Shape]:
        """The shapes that a strategy visits next; counts the visits.

        No shape is visited twice, unless the strategy has the visits of another and shapes are few.
        """
        name = strategy.name
        arms = [arm for arm in self._scouted_arms if arm.shape.family == "instances"]
        arms = [arm for arm in arms if arm.least] or arms
        total = sum(arm.visits[name] for arm in arms)

        def score(arm: Arm) -> float:
            doubt = math.sqrt(math.log(1 + total) / (1 + arm.visits[name]))
            return arm.promise + EXPLORATION * doubt

        patient = visits // 3
        chosen = sorted(arms, key=score, reverse=True)[: visits - patient]
        waiting = [arm for arm in arms if not arm.visits[name] and arm not in chosen]
        chosen += waiting[:patient]
        spare = min(visits - strategy.visits, visits - len(chosen))
        chosen += islice(cycle(chosen), max(0, spare))
        for arm in chosen:
            arm.visits[name] += 1
        return [arm.shape for arm in chosen]

    def _new(self, family: Family, count: int, number: int) -> list[Shape]:
        """Up to `count` random shapes that have not been scouted; scouted ones if all have."""
        known = {arm.shape for arm in self._scouted_arms}
        shapes = self._unknown(family, count, known, number, purpose="scout")
        return shapes or self._known(family, count)

    def _unknown(
        self,
        family: Family,
        count: int,
        known: set[Shape],
        number: int,
        *,
        purpose: str = "survey",
        simplest: int = 0,
    ) -> list[Shape]:
        """Up to `count` shapes that are not known: so many of the simplest, and random ones.

        There are fewer where nearly all are known.
        """
        visited = self._visited_shapes[purpose, family]
        shapes: list[Shape] = []
        index = missed = 0
        while len(shapes) < count and missed < MISSES and not visited.everywhere:
            seed = seed_of(self._seed, self._claim.id, purpose, family, number, index)
            source = ScoutSource(visited, len(shapes) < simplest, seed, 1)
            shape = self._drawn(family, source)
            visited.add(source.record)
            if shape is None or shape in known:
                missed += 1
            else:
                shapes.append(shape)
                missed = 0
            index += 1
        return shapes

    def _known(self, family: Family, count: int) -> list[Shape]:
        """The first shapes of a family that were visited."""
        return [arm.shape for arm in self._scouted_arms if arm.shape.family == family][:count]

    @property
    def _scouted_arms(self) -> list[Arm]:
        return [arm for arm in self._arms.values() if arm.scouted]

    def _neighbours(self, count: int, number: int) -> list[Shape]:
        """New shapes that differ from one of the best by 1 in one integer."""
        arms = [arm for arm in self._scouted_arms if arm.shape.family == "instances" and arm.least]
        arms.sort(key=lambda arm: -arm.promise)
        scouted = {arm.shape for arm in self._scouted_arms}
        shapes: list[Shape] = []
        for index in range(TRIES * count):
            if len(shapes) == count or not arms:
                break
            seed = seed_of(self._seed, self._claim.id, "neighbour", number, index)
            integers = list(arms[index % min(len(arms), 4)].shape.integers)
            if not integers:
                break
            integers[seed % len(integers)] += 1 if (seed >> 20) % 2 else -1
            shape = self._drawn("instances", ShapedSource(tuple(integers), seed))
            known = shape is None or shape in shapes or shape in scouted
            if shape is not None and not known:
                shapes.append(shape)
        return shapes

    def _drawn(self, family: Family, source: Source) -> Shape | None:
        """The shape of what a source draws, or None where the generator rejects it or raises."""
        try:
            return drawn_shape(self._claim, family, source)
        except BodyError as error:
            self.raised = self.raised or str(error)
            return None
