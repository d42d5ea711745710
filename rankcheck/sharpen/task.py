"""A task of a sharpening: a few shapes are surveyed, or one is searched deeply.

What comes of it depends on the task alone. An instance leaves a task only with the ratio that balls
prove of it. If that is smaller than the ratio in floats, the float was an artefact, and the next
candidates are judged as well.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from rankcheck.claims.claim import Claim
from rankcheck.claims.signs import SIGNS
from rankcheck.claims.variants import dialled
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.hunt.arena import BodyError, OutOfTime, Shape, generated, trouble
from rankcheck.engine.hunt.points import ShapedSource
from rankcheck.engine.hunt.sample import Sample, together
from rankcheck.engine.hunt.strategies.descend import descend
from rankcheck.engine.hunt.strategies.evolve import evolve
from rankcheck.engine.hunt.strategies.perturb import perturb
from rankcheck.engine.hunt.strategies.starts import LARGE, entries, starts
from rankcheck.engine.hunt.transplant import transplanted
from rankcheck.engine.parallel import Deadline
from rankcheck.engine.records.ratio import Attained, NotCertifiedError, attained
from rankcheck.engine.verification.counts import Counts
from rankcheck.errors import InputError
from rankcheck.sharpen.fitting import fitted
from rankcheck.sharpen.gauge import INFINITE, Gauge
from rankcheck.sharpen.polish import polished, snapped
from rankcheck.sharpen.sizes import sizes
from rankcheck.theory.instances.record import Record
from rankcheck.theory.instances.source import Rejected, seed_of

#: Instances in a survey of a shape: structured ones and random ones.
STRUCTURED, RANDOM = 48, 16
#: Instances that a deep search begins with, and how many of the best are polished, by relation.
BATCH, SINGLES, POLISHED = 96, 6, 1
#: Steps of a descent: the polishing has the rest of the way.
STEPS = 60
#: Heights that are closer than this are the same one.
APART = 1e-12
#: A height this close to 0 is that of equality.
EQUAL = 1e-9
#: The turn of a task that polishes what it begins with.
POLISH = -1
#: Candidates of a relation that are judged, as long as balls prove less than floats had.
JUDGED = 4
#: A ratio that balls prove is that of the floats if it is not smaller by more than this.
SAME = 1e-6
#: The height in floats of a bound that fails where its right side is not positive.
WITHOUT_RATIO = math.log(INFINITE) - 1
#: An instance is judged if its ratio in floats exceeds what is known by this, relatively.
BETTER = 1e-13


@dataclass(frozen=True, eq=False)
class Finding:
    """An instance and what balls prove of one relation there.

    Attributes:
        key: the sizes of its shape, by which shapes are grouped.
    """

    name: str
    shape: Shape
    key: tuple[int, ...]
    record: Record
    attained: Attained

    @property
    def height(self) -> float:
        """What is maximised; see `height`."""
        return height(self.attained)

    def instance(self, claim: Claim) -> Instance:
        """The instance of the claim."""
        return Instance(claim, self.shape.of(claim), self.record)


@dataclass(frozen=True, eq=False)
class Broken:
    """An instance at which a bound is proved to fail, and has no ratio."""

    name: str
    shape: Shape
    record: Record


def height(proved: Attained) -> float:
    """The logarithm of a proved ratio, or a proved deviation: what a search maximises."""
    if not SIGNS[proved.kind].bound:
        return float(proved.low)
    low = proved.low
    if low <= 0:
        return -math.inf
    return math.log(low.numerator) - math.log(low.denominator)


@dataclass(frozen=True, eq=False)
class Task:
    """What is done next.

    Attributes:
        shapes: that are surveyed; with a `turn`, the one that is searched deeply.
        turn: how often it was searched deeply before; None for a survey, and `POLISH` for a search
            near the instances to begin with.
        begin: good instances of other shapes, which are fitted to these.
        refit: whether they are also fitted to shapes with another number of tensors.
        known: by relation and key, the proved height so far; a lower one is of no interest.
        by: the names of the sizes that make a key.
        chosen: the relations that are measured; None for all.
        dial: a parameter of the body and its value.
    """

    shapes: tuple[Shape, ...]
    seed: int
    turn: int | None = None
    begin: tuple[Record, ...] = ()
    refit: bool = True
    known: Mapping[tuple[str, tuple[int, ...]], float] = field(default_factory=dict)
    by: tuple[str, ...] = ()
    chosen: tuple[str, ...] | None = None
    dial: tuple[str, Any] | None = None
    deadline: Deadline | None = None


@dataclass(eq=False)
class Outcome:
    """What came of a task.

    Attributes:
        heights: by shape, its key and the largest height in floats by relation.
        findings: proved instances that are better than what was known.
        broken: instances at which a bound is proved to fail although its right side is not
            positive, so that it has no ratio.
        uncertified: by reason, how many candidates balls could not judge.
        cut: whether the time ended before the task did.
    """

    heights: dict[Shape, tuple[tuple[int, ...], dict[str, float]]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)
    asserted: Counter[str] = field(default_factory=Counter)
    measured: Counter[str] = field(default_factory=Counter)
    counts: Counts = field(default_factory=Counts)
    troubles: Counter[str] = field(default_factory=Counter)
    uncertified: Counter[str] = field(default_factory=Counter)
    raised: str = ""
    cut: bool = False


def run_task(claim: Claim, task: Task) -> Outcome:
    """Do a task.

    Raises:
        InputError: if the claim has no relation to measure.
        ClaimError: if the body returns anything but relations.
    """
    claim = claim if task.dial is None else dialled(claim, *task.dial)
    outcome = Outcome()
    candidates: dict[tuple[str, tuple[int, ...]], list[tuple[float, Shape, Record]]] = {}
    until = None if task.deadline is None else task.deadline.at
    for index, shape in enumerate(task.shapes):
        gauge = Gauge(claim, shape, until=until, chosen=task.chosen)
        try:
            key = key_of(claim, shape, task.by)
            found = _searched(gauge, task, seed_of(task.seed, index))
        except (Rejected, OutOfTime) as ended:
            outcome.cut = outcome.cut or isinstance(ended, OutOfTime)
            found = None
        except BodyError as error:
            outcome.raised, found = outcome.raised or str(error), None
        except InputError:
            raise
        except Exception as error:
            outcome.troubles[trouble("a search", error)] += 1
            found = None
        outcome.counts += gauge.counts
        outcome.asserted += gauge.asserted
        outcome.measured += gauge.measured
        outcome.troubles.update(gauge.troubles)
        outcome.raised = outcome.raised or gauge.raised
        if found is not None:
            heights = _best(gauge, found, candidates, shape, key)
            outcome.heights[shape] = key, heights
        if outcome.cut:
            break
    for (name, key), some in candidates.items():
        _judge(claim, name, key, some, task, outcome)
    return outcome


def key_of(claim: Claim, shape: Shape, by: tuple[str, ...]) -> tuple[int, ...]:
    """The sizes of a shape; 0 for one that its instances do not have.

    Args:
        by: the names of the sizes.

    Raises:
        Rejected: if the generator accepts no instance of the shape.
        BodyError: if it raises.
    """
    known = sizes(claim, generated(claim, shape, ShapedSource(shape.integers, 0)))
    return tuple(known.get(name, 0) for name in by)


def _searched(gauge: Gauge, task: Task, seed: int) -> Sample | None:
    """The best instances that a search of one shape finds, with their margins."""
    given = fitted(gauge, task.begin, task.refit)
    if task.turn is None:
        structured, random = (STRUCTURED, RANDOM) if gauge.batched else (3, 3)
        parts = [
            gauge.sample(seed, gauge.scaled(structured), structured=True),
            gauge.sample(seed_of(seed, "random"), gauge.scaled(random)),
        ]
        parts = [part for part in parts if len(part)] + given
        return together(parts) if parts else None
    if task.turn == POLISH:
        return _refined(gauge, together(given)) if given else None
    begin = starts(gauge, seed, gauge.scaled(BATCH) if gauge.batched else SINGLES)
    if begin is None:  # an instance without entries
        sample = gauge.sample(seed)
        return sample if len(sample) else None
    parts = [begin, *given]
    if task.turn == 0:
        tight = _tight(gauge, seed)
        parts += [] if tight is None else [tight]
    begin = together(parts)
    turn = task.turn % 3
    if turn == 0:
        moved = descend(gauge, begin, seed_of(seed, "descend"), STEPS)
        found = begin if moved is None else together([begin, moved])
    elif turn == 1:
        found = perturb(gauge, _top(gauge, begin, 24), seed_of(seed, "perturb"))
    else:
        row = task.turn // 3 % len(gauge.names)
        best = begin.select(_below_equality(gauge.ratios(begin)[row])[:1])
        ended = evolve(gauge, best, row, seed_of(seed, "evolve"))
        found = begin if ended is None else together([begin, ended])
    return _refined(gauge, found)


def _refined(gauge: Gauge, found: Sample) -> Sample:
    """The best of a sample, polished and with simple numbers beside them."""
    some = _top(gauge, found, POLISHED * len(gauge.names))
    large = entries(some.record) > LARGE and not gauge.batched
    if not large:
        rows = range(len(gauge.names))
        moved = [polished(gauge, _top(gauge, found, POLISHED, row), row) for row in rows]
        some = together([some, *moved])
    return snapped(gauge, some)


def _below_equality(row: torch.Tensor) -> torch.Tensor:
    """Instances by their height, those with a ratio of 1 last: around them it is often constant."""
    equal = row.abs() < EQUAL
    return torch.where(equal, -torch.inf, row).argsort(descending=True, stable=True)


def _top(gauge: Gauge, sample: Sample, count: int, row: int | None = None) -> Sample:
    """The best instances of a sample, in one row or an equal share in each."""
    ratios = gauge.ratios(sample)
    rows = ratios if row is None else ratios[row : row + 1]
    share = max(1, count // len(rows))
    order = [one.argsort(descending=True, stable=True)[:share] for one in rows]
    return sample.select(torch.cat(order))


def _tight(gauge: Gauge, seed: int) -> Sample | None:
    """Instances of the tight family as instances of this shape."""
    try:
        return transplanted(gauge, seed_of(seed, "tight"), 24)
    except OutOfTime:
        raise
    except Exception as error:
        gauge.troubles[trouble("the tight family", error)] += 1
        return None


def _best(
    gauge: Gauge,
    found: Sample,
    candidates: dict[tuple[str, tuple[int, ...]], list[tuple[float, Shape, Record]]],
    shape: Shape,
    key: tuple[int, ...],
) -> dict[str, float]:
    """The largest heights of a sample by relation; its best instances join the candidates."""
    heights = {}
    for name, row in zip(gauge.names, gauge.ratios(found), strict=True):
        order = _distinct(row)
        if not order:
            continue
        heights[name] = float(row[order[0]])
        known = candidates.setdefault((name, key), [])
        known += [(float(row[one]), shape, found.record.instance(one)) for one in order]
        known.sort(key=lambda one: -one[0])
        del known[JUDGED:]
    return heights


def _distinct(row: torch.Tensor) -> list[int]:
    """The instances of the largest heights, one of each.

    Balls may reject all of one height, as those at the end of a range that a hypothesis leaves out.
    """
    order = row.argsort(descending=True, stable=True)
    order = order[row[order] > -torch.inf]
    steps = row[order][:-1] - row[order][1:]
    new = torch.cat((torch.ones(min(1, len(order)), dtype=torch.bool), steps > APART))
    return order[new][:JUDGED].tolist()


def _judge(
    claim: Claim,
    name: str,
    key: tuple[int, ...],
    candidates: Sequence[tuple[float, Shape, Record]],
    task: Task,
    outcome: Outcome,
) -> None:
    """Judge the candidates of a relation on balls, and keep the best one that is proved."""
    known = task.known.get((name, key), -math.inf)
    best: Finding | None = None
    for float_height, shape, record in candidates:
        if float_height <= known + BETTER * abs(known):
            break
        instance = Instance(claim, shape.of(claim), record)
        if float_height >= WITHOUT_RATIO and instance.proved:
            outcome.broken.append(Broken(name, shape, record))
            break
        try:
            proved = attained(instance)
        except NotCertifiedError as error:
            outcome.uncertified[error.reason] += 1
            continue
        for one in proved:
            if one.name == name and height(one) > known:
                best, known = Finding(name, shape, key, record, one), height(one)
        if known >= float_height - SAME:
            break
    if best is not None:
        outcome.findings.append(best)
