r"""The search for the largest ratios of a claim: which shapes are surveyed, and which go deep.

First many shapes are surveyed, the simplest ones and random ones. Then one shape after another is
searched deeply: those with the largest ratio, group by group, so that each depth has its turn; a
shape that was searched before comes later, by another method. Now and then new shapes are surveyed.
Instances that are good at one shape are fitted to the others.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count, islice
from typing import Any

from rankcheck.claims.claim import Claim
from rankcheck.claims.variants import dialled
from rankcheck.hunt.arena import BodyError, Family, Shape, generated
from rankcheck.hunt.job import Target
from rankcheck.hunt.points import ShapedSource
from rankcheck.instances.record import Integer, Record
from rankcheck.instances.source import Rejected, Source, seed_of
from rankcheck.parallel import (
    Deadline,
    Done,
    Executor,
    Limits,
    Tell,
    Unfinished,
    Work,
    single_thread,
)
from rankcheck.sharpen.settings import Settings
from rankcheck.sharpen.task import POLISH, Broken, Finding, Outcome, Task, run_task
from rankcheck.verification.counts import Counts
from rankcheck.verification.scouts import ScoutSource, Visited

__all__ = ["Search", "work_of"]

#: Shapes of one task of a survey, after tasks of 1, 2, 4 …, so that something is proved at once; of
#: the first survey; and of a later one.
CHUNK, FIRST, LATER = 12, 384, 24
#: The share of the budget that the first survey may take.
SHARE = 0.35
#: The share of the first survey that goes to the simplest shapes, and the one to the tight family.
SIMPLEST, TIGHT = 0.75, 0.1
#: After so many deep searches there is a survey of new shapes, and the best instances are fitted to
#: neighbours of their shapes and to groups that have fallen behind, so many of them.
AGAIN, BEHIND = 6, 32
#: How many good instances are fitted to another shape: in a deep search, and in a survey.
FITTED, GLANCED = 8, 2
#: So many neighbours of the best shape are looked at.
NEIGHBOURS = 24
#: Draws one after the other without a new shape that end the search for one.
MISSES = 24
#: A shape falls back by so much in height for every deep search of it, and for one that brought
#: nothing.
TIRED, IDLE = 0.02, 0.5
#: A search has brought something if it has raised a height by more than this.
RAISED = 1e-6


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


@dataclass(eq=False)
class Search:
    """Searches one claim; `best` and `groups` are what it has proved so far.

    Attributes:
        best: by relation, the instance with the largest proved ratio.
        groups: by relation and key, the same among the shapes with these sizes.
        history: by relation, the seconds at which the largest proved ratio grew, and the ratio.
        broken: by relation, an instance at which it is proved to fail, and has no ratio.
        asserted, measured: by relation, how many instances asserted it, and gave it a ratio.
        by: the names of the sizes that make a key.
        begin: instances to begin with, and their shapes.
        dial: a parameter of the body and its value.
        since: the time on `time.monotonic()` from which seconds are counted.
        at: the claim with this value.
    """

    claim: Claim
    settings: Settings
    executor: Executor
    progress: Callable[[Search], object] = lambda search: None
    begin: tuple[tuple[Shape, Record], ...] = ()
    dial: tuple[str, Any] | None = None
    since: float = field(default_factory=time.monotonic)
    best: dict[str, Finding] = field(default_factory=dict)
    groups: dict[tuple[str, tuple[int, ...]], Finding] = field(default_factory=dict)
    history: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    broken: dict[str, Broken] = field(default_factory=dict)
    asserted: Counter[str] = field(default_factory=Counter)
    measured: Counter[str] = field(default_factory=Counter)
    by: tuple[str, ...] | None = None
    counts: Counts = field(default_factory=Counts)
    troubles: Counter[str] = field(default_factory=Counter)
    uncertified: Counter[str] = field(default_factory=Counter)
    raised: str = ""

    def __post_init__(self) -> None:
        self.by = self.by or self.settings.by
        self.at = self.claim if self.dial is None else dialled(self.claim, *self.dial)
        self._arms: dict[Shape, Arm] = {}
        self._visited = {"instances": Visited(), "tight": Visited()}
        self._tasks = 0
        #: By relation and height, how many deep searches have ended there without raising it.
        self._plateaus: Counter[tuple[str, float]] = Counter()

    @property
    def seconds(self) -> float:
        """Since the search began."""
        return time.monotonic() - self.since

    @property
    def shapes(self) -> int:
        """How many shapes were visited."""
        return len(self._arms)

    def run(
        self,
        budget: float | None,
        tasks: int | None = None,
        *,
        enough: Callable[[], bool] = lambda: False,
    ) -> None:
        """Search, for a budget of seconds or a number of tasks.

        Args:
            enough: ends the search when it is true, after a task.

        Raises:
            InputError: as `rankcheck.sharpen.task.run_task`, or if an executor cannot be used.
        """
        until = math.inf if budget is None else time.monotonic() + budget
        left = math.inf if tasks is None else self._tasks + tasks
        settings = self.settings
        alone = settings.workers == 1 and settings.executor is None
        # Tasks of this process come one by one, so that each begins with what is known by then.
        wide = 1 if alone else 2 * settings.workers
        limits = Limits() if alone else Limits(until=until, grace=settings.grace)
        tasks_left = self._plan(until)
        with single_thread():
            while time.monotonic() < until and self._tasks < left and not enough():
                some = list(islice(tasks_left, int(min(wide, left - self._tasks))))
                if not some:
                    break
                for end in self.executor.run(some, limits):
                    if isinstance(end, Unfinished):
                        self.troubles[f"a task {end.how}"] += 1
                    elif isinstance(end, Done):
                        self.take(end.task, end.answer)

    def refuted(self) -> bool:
        """Whether a relation is proved to fail."""
        return bool(self.broken) or any(one.attained.refutes for one in self.best.values())

    def polish(self, finding: Finding) -> Finding:
        """The best instance near one, in this process; itself if there is none that is better."""
        known = {(finding.name, finding.key): finding.height}
        task = Task(
            (finding.shape,),
            self.settings.seed,
            POLISH,
            (finding.record,),
            known=known,
            by=self.by,
            chosen=(finding.name,),
            dial=self.dial,
            device=self.settings.device,
        )
        outcome = run_task(self.claim, task)
        for better in outcome.findings:
            self.keep(better)
            return better
        return finding

    def take(self, task: Task, outcome: Outcome) -> None:
        """Take in what came of a task."""
        self.by = self.by or outcome.by
        self.counts += outcome.counts
        self.troubles += outcome.troubles
        self.uncertified += outcome.uncertified
        self.raised = self.raised or outcome.raised
        for shape, (key, heights) in outcome.heights.items():
            arm = self._arms.setdefault(shape, Arm(key, {}))
            before = dict(arm.heights)
            for name, height in heights.items():
                arm.heights[name] = max(height, arm.heights.get(name, -math.inf))
            if task.turn is not None:
                raised = any(h > before.get(n, -math.inf) + RAISED for n, h in heights.items())
                arm.tired += TIRED if raised else IDLE
                self._plateaus.update((n, round(h, 9)) for n, h in heights.items() if not raised)
        self.asserted += outcome.asserted
        self.measured += outcome.measured
        for broken in outcome.broken:
            self.broken.setdefault(broken.name, broken)
        for finding in outcome.findings:
            self.keep(finding)
        self.progress(self)

    def keep(self, finding: Finding) -> None:
        """Keep an instance if it is better than what is known."""
        place = finding.name, finding.key
        if place not in self.groups or finding.height > self.groups[place].height:
            self.groups[place] = finding
        known = self.best.get(finding.name)
        if known is not None and finding.height <= known.height:
            return
        self.best[finding.name] = finding
        value = finding.attained.value
        self.history.setdefault(finding.name, []).append((round(self.seconds, 3), value))

    def _plan(self, until: float) -> Iterator[Task]:
        """The tasks, each made from what is known when it is asked for."""
        if self.begin:
            given = dict.fromkeys(shape for shape, _ in self.begin)
            yield self._task(tuple(given), until)
        surveyed = time.monotonic() + SHARE * (until - time.monotonic())
        while self.surveyed < FIRST * min(1.0, self.claim.effort):
            shapes = self._new(min(CHUNK, 2 ** min(self._tasks, CHUNK)))
            if not shapes or (self._arms and time.monotonic() > surveyed):
                break
            yield self._task(shapes, until, fitted=GLANCED)
        for number in count():
            if number % AGAIN == 0:
                for shapes in (self._neighbours(), self._behind()):
                    if shapes:
                        yield self._task(shapes, until)
                if number and (shapes := self._new(LATER)):
                    yield self._task(shapes, until, fitted=GLANCED)
            deep = self._deepest(number)
            if deep is None:
                return
            arm = self._arms[deep]
            arm.turns += 1
            yield self._task((deep,), until, arm.turns - 1, arm)

    def _task(
        self,
        shapes: Sequence[Shape],
        until: float,
        turn: int | None = None,
        arm: Arm | None = None,
        fitted: int = FITTED,
    ) -> Task:
        self._tasks += 1
        known = {place: one.height for place, one in self.groups.items()}
        return Task(
            tuple(shapes),
            seed_of(self.settings.seed, self.claim.id, self._tasks),
            turn,
            self._good(arm, fitted),
            fitted == FITTED,
            known,
            self.by,
            self.settings.relations,
            self.dial,
            self.settings.device,
            None if until == math.inf else Deadline(until),
        )

    def _good(self, arm: Arm | None, count: int) -> tuple[Record, ...]:
        """The best instances, those of the same group first."""
        ordered = sorted(
            self.groups.values(),
            key=lambda one: (arm is None or one.key != arm.key, -one.height),
        )
        mine = [one.record for one in ordered if one.shape.family == "instances"]
        if not self._arms:  # the instances to begin with are evaluated at their own shapes
            return tuple(record for _, record in self.begin)
        return tuple(mine[:count])

    @property
    def surveyed(self) -> int:
        """How many shapes were drawn for surveys."""
        return sum(visited.shapes for visited in self._visited.values())

    def _new(self, count: int) -> list[Shape]:
        """New shapes: of the tight family, the simplest ones, and random ones."""
        shapes: list[Shape] = []
        missed = 0
        for index in range(count * MISSES):
            if len(shapes) == count or missed == MISSES:
                break
            number = self.surveyed + missed
            tight = self.claim.tight is not None and index % round(1 / TIGHT) == 0
            family: Family = "tight" if tight else "instances"
            if self._visited[family].everywhere:
                missed += 1
                continue
            seed = seed_of(self.settings.seed, self.claim.id, "shape", number)
            simplest = index % 4 < 4 * SIMPLEST
            shape = self._drawn(family, simplest, seed)
            if shape is None or shape in self._arms or shape in shapes:
                missed += 1
            else:
                shapes.append(shape)
                missed = 0
        return shapes

    def _behind(self) -> list[Shape]:
        """The best shape of each group that falls behind the best of all, for each relation."""
        shapes: dict[Shape, None] = {}
        for name, best in sorted(self.best.items()):
            groups: dict[tuple[int, ...], list[Shape]] = {}
            for shape, arm in self._arms.items():
                if name in arm.heights and shape.family == "instances":
                    groups.setdefault(arm.key, []).append(shape)
            for those in groups.values():
                highest = max(those, key=lambda shape: self._arms[shape].heights[name])
                if self._arms[highest].heights[name] < best.height - RAISED:
                    shapes[highest] = None
        return list(shapes)[:BEHIND]

    def _neighbours(self) -> list[Shape]:
        """Shapes that differ from the best one in one integer: by 1, or at an end of its range.

        Where the generator then draws more integers, as of a network with another layer, one of
        them is repeated; where it draws fewer, a run is left out. The relations take turns.
        """
        best = [one for _, one in sorted(self.best.items()) if one.shape.family == "instances"]
        if not best:
            return []
        record = best[self._tasks % len(best)].record
        drawn = [choice for choice in record.choices if isinstance(choice, Integer)]
        shapes: dict[Shape, None] = {}
        for place, one in enumerate(drawn):
            for value in (one.value + 1, one.value - 1, one.low, one.high):
                integers = [choice.value for choice in drawn]
                integers[place] = value
                shape = self._like(integers)
                more = 0 if shape is None else len(shape.integers) - len(integers)
                if shape is not None:
                    shapes[shape] = None
                for end in range(place + 1, len(integers) + 1) if more else ():
                    repeated = integers[end - 1 : end] * more if end > place + 1 else []
                    kept = integers[: end if more > 0 else max(place + 1, end + more)]
                    shape = self._like([*kept, *repeated, *integers[end:]])
                    if shape is not None and len(shape.integers) == len(integers) + more:
                        shapes[shape] = None
        return list(shapes)[:NEIGHBOURS]

    def _like(self, integers: list[int]) -> Shape | None:
        """The shape with these integers, or the nearest that the generator has."""
        return self._shape("instances", ShapedSource(tuple(integers), self._tasks, self._size))

    @property
    def _size(self) -> int | None:
        """The size of a batch from which only the shape is wanted."""
        return None if self.claim.no_batch is not None else 1

    def _drawn(self, family: Family, simplest: bool, seed: int) -> Shape | None:
        """A shape of a family that was not visited; None where the generator accepts none."""
        visited = self._visited[family]
        return self._shape(family, ScoutSource(visited, simplest, seed, self._size))

    def _shape(self, family: Family, source: Source) -> Shape | None:
        """The shape of what a source draws, which is visited now; None where it is rejected."""
        try:
            generated(self.at, Shape(family, ()), source)
        except Rejected:
            return None
        except BodyError as error:
            self.raised = self.raised or str(error)
            return None
        finally:
            self._visited[family].add(source.record)
        drawn = tuple(c.value for c in source.record.choices if isinstance(c, Integer))
        return Shape(family, drawn)

    def _deepest(self, number: int) -> Shape | None:
        """The shape to search deeply next.

        Groups take turns with the best of all; within one the shape with the largest ratio comes
        first, less `TIRED` for every earlier visit. The relations take turns as well.
        """
        names = sorted({name for arm in self._arms.values() for name in arm.heights})
        if not names:
            return None
        name = names[number % len(names)]
        arms = {s: arm for s, arm in self._arms.items() if name in arm.heights}
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


def work_of(claim: Claim) -> Work:
    """The tasks of a claim as a work of `rankcheck.parallel`."""
    return Work(partial(_prepare, Target.of(claim)), [claim.file])


def _prepare(target: Target) -> Callable[[Task, Tell], Outcome]:
    """What a worker does first: import the file of the claim."""
    claim = target.load()

    def run(task: Task, progress: Tell) -> Outcome:
        return run_task(claim, task)

    return run
