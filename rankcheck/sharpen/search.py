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
from rankcheck.engine.hunt.arena import Shape
from rankcheck.engine.hunt.job import Target
from rankcheck.engine.parallel import (
    Deadline,
    Done,
    Executor,
    Limits,
    Tell,
    Unfinished,
    Work,
    single_thread,
)
from rankcheck.engine.verification.counts import Counts
from rankcheck.sharpen.arms import Arm, Arms
from rankcheck.sharpen.settings import Settings
from rankcheck.sharpen.shapes import Shapes
from rankcheck.sharpen.task import POLISH, Broken, Finding, Outcome, Task, run_task
from rankcheck.theory.instances.record import Record
from rankcheck.theory.instances.source import seed_of

#: Shapes of one task of a survey, after tasks of 1, 2, 4 …, so that something is proved at once; of
#: the first survey; and of a later one.
CHUNK, FIRST, LATER = 12, 384, 24
#: The share of the budget that the first survey may take.
SHARE = 0.35
#: After so many deep searches there is a survey of new shapes, and the best instances are fitted to
#: neighbours of their shapes and to groups that have fallen behind.
AGAIN = 6
#: Seconds in which tasks on workers have to end after the budget.
GRACE = 10.0
#: How many good instances are fitted to another shape: in a deep search, and without one.
FITTED, SPREAD = 8, 3


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
    by: tuple[str, ...] = ()
    counts: Counts = field(default_factory=Counts)
    troubles: Counter[str] = field(default_factory=Counter)
    uncertified: Counter[str] = field(default_factory=Counter)
    raised: str = ""

    def __post_init__(self) -> None:
        self.at = self.claim if self.dial is None else dialled(self.claim, *self.dial)
        self._arms = Arms()
        self._shapes = Shapes(self.at, self.settings.seed)
        self._tasks = 0

    @property
    def seconds(self) -> float:
        """Since the search began."""
        return time.monotonic() - self.since

    @property
    def shapes(self) -> int:
        """How many shapes were visited."""
        return len(self._arms.of)

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
        alone = settings.workers == 1
        # Tasks of this process come one by one, so that each begins with what is known by then.
        wide = 1 if alone else 2 * settings.workers
        limits = Limits() if alone else Limits(until=until, grace=GRACE)
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
        )
        outcome = run_task(self.claim, task)
        for better in outcome.findings:
            self.keep(better)
            return better
        return finding

    def take(self, task: Task, outcome: Outcome) -> None:
        """Take in what came of a task."""
        self.counts += outcome.counts
        self.troubles += outcome.troubles
        self.uncertified += outcome.uncertified
        self.raised = self.raised or outcome.raised or self._shapes.raised
        self._arms.take(outcome.heights, deep=task.turn is not None)
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
            yield self._task(tuple(given), until, begin=tuple(r for _, r in self.begin))
        surveyed = time.monotonic() + SHARE * (until - time.monotonic())
        shapes, arms = self._shapes, self._arms
        while shapes.drawn < FIRST * min(1.0, self.claim.effort):
            new = shapes.new(min(CHUNK, 2 ** min(self._tasks, CHUNK)))
            if not new or (arms.of and time.monotonic() > surveyed):
                break
            yield self._task(new, until, begin=self._good(None, SPREAD), refit=False)
        for number in count():
            if number % AGAIN == 0:
                if (record := self._turn(number)) is not None:
                    yield self._task(shapes.neighbours(record), until, begin=(record,))
                if behind := arms.behind(self.best.values()):
                    yield self._task(behind, until, begin=self._good(None, SPREAD))
                if number and (new := shapes.new(LATER)):
                    yield self._task(new, until, begin=self._good(None, SPREAD), refit=False)
            deep = arms.deepest(number)
            if deep is None:
                return
            arm = arms.of[deep]
            arm.turns += 1
            yield self._task((deep,), until, arm.turns - 1, arm)

    def _turn(self, number: int) -> Record | None:
        """The best instance of a relation; the relations take turns."""
        best = [one for _, one in sorted(self.best.items()) if one.shape.family == "instances"]
        return best[number // AGAIN % len(best)].record if best else None

    def _task(
        self,
        shapes: Sequence[Shape],
        until: float,
        turn: int | None = None,
        arm: Arm | None = None,
        begin: tuple[Record, ...] | None = None,
        *,
        refit: bool = True,
    ) -> Task:
        self._tasks += 1
        known = {place: one.height for place, one in self.groups.items()}
        return Task(
            tuple(shapes),
            seed_of(self.settings.seed, self.claim.id, self._tasks),
            turn,
            self._good(arm, FITTED) if begin is None else begin,
            refit,
            known,
            self.by,
            None,
            self.dial,
            None if until == math.inf else Deadline(until),
        )

    def _good(self, arm: Arm | None, count: int) -> tuple[Record, ...]:
        """The best instances, those of the same group first."""
        ordered = sorted(
            self.groups.values(),
            key=lambda one: (arm is None or one.key != arm.key, -one.height),
        )
        mine = [one.record for one in ordered if one.shape.family == "instances"]
        return tuple(mine[:count])


def work_of(claim: Claim) -> Work:
    """The tasks of a claim as a work of `rankcheck.engine.parallel`."""
    return Work(partial(_prepare, Target.of(claim)), [claim.file])


def _prepare(target: Target) -> Callable[[Task, Tell], Outcome]:
    """What a worker does first: import the file of the claim."""
    claim = target.load()

    def run(task: Task, progress: Tell) -> Outcome:
        return run_task(claim, task)

    return run
