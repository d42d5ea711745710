"""Searching the instances of a claim for a violation: sweeps of batches, and Hypothesis.

Instances are evaluated in floats. Any violation larger than its tolerance is re-checked in ball
arithmetic immediately; the search stops at the first one that is not rounding. Instances on which
the body raises are kept, and the search goes on.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from hypothesis import HealthCheck, Phase, Verbosity, event, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample, Unsatisfiable, UnsatisfiedAssumption
from hypothesis.internal.observability import observability_enabled

from rankcheck.claims.claim import Claim
from rankcheck.claims.labels import relation_name
from rankcheck.claims.relations import Relation
from rankcheck.claims.signs import SIGNS
from rankcheck.counterexamples.instance import Instance, excess
from rankcheck.counterexamples.judge import Judgement
from rankcheck.errors import InputError
from rankcheck.instances.choices import write_choices
from rankcheck.instances.constants import without_local_constants
from rankcheck.instances.observed import find_named
from rankcheck.instances.record import Record
from rankcheck.instances.scope import ScopeSource, shapes
from rankcheck.instances.source import (
    BatchSource,
    DrawSource,
    Instances,
    Source,
    over_batch,
    seed_of,
)
from rankcheck.verification.branches import check_branches
from rankcheck.verification.counts import Counts
from rankcheck.verification.evaluation import (
    CULPRITS,
    Evaluation,
    Part,
    Raised,
    evaluate_instances,
    instance_text,
)
from rankcheck.verification.idle import Idle
from rankcheck.verification.profiles import Profile
from rankcheck.verification.reach import reached
from rankcheck.verification.spread import Spread
from rankcheck.verification.swallowed import Seen, swallowed

__all__ = ["JUDGED", "Sharpest", "Tally", "draw", "hidden", "settled_in", "sweep", "worst_of"]

#: Of the violations in a batch, so many are re-checked in balls: the largest relative to their
#: sides, and as many of the largest in absolute terms. Where both sides nearly vanish, rounding is
#: relatively large, and the second measure finds what the first one overlooks.
JUDGED = 4
#: Ratios that agree in so many decimals count as the same.
SAME = 6


@dataclass(frozen=True, eq=False)
class Sharpest:
    """The instance on which a bound is closest to equality; of several, one with few numbers."""

    ratio: float
    record: Record
    family: Instances

    @classmethod
    def of(
        cls, known: Sharpest | None, ratios: torch.Tensor, part: Part, family: Instances
    ) -> Sharpest | None:
        """The better of the one that is known and the best of a batch; `ratios`: `(*batch)`."""
        best = float(ratios.max())
        if known is not None and round(best, SAME) < round(known.ratio, SAME):
            return known
        record = part.instance(int(ratios.reshape(-1).argmax()))
        found = cls(best, record, family)
        return found if known is None or found.rank > known.rank else known

    @property
    def rank(self) -> tuple[float, int]:
        """What is compared: the ratio, then how few numbers were drawn."""
        drawn = sum(tensor.numel() for tensor in self.record.tensors)
        return round(self.ratio, SAME), -drawn - len(self.record.integers)


@dataclass
class Tally:
    """What a search has seen. A relation goes by its place in what the body returns.

    Attributes:
        counts: the instances.
        ratio: by relation, the largest lhs / rhs of a bound (both sides positive).
        gap: by relation, the smallest (rhs - lhs) / max(|lhs|, |rhs|) of a bound.
        deviation: by relation, the largest |lhs - rhs| of an identity, relative to its sides where
            they exceed 1.
        killed: the relations whose derived mutant fails on an instance that satisfies the claim.
        seen: by relation, its kind and its label.
        asserted: by relation, the number of instances on which it was asserted.
        spread: by relation, how its ratios or its deviations are distributed over the instances.
        sharpest: by relation, the instance on which a bound is closest to equality.
        visible: by relation, on how many instances floats could see it fail.
        reached: by name, how many instances had which value; see `reach`.
        raised: the instances inside the hypotheses on which the generator or the body raised.
        disagree: of the first violation about which floats and balls disagree, both figures.
        checked: the shapes at which branches were looked for; see `check_branches`.
        idle: of a claim, the parts of its sides that no instance needs.
    """

    counts: Counts = field(default_factory=Counts)
    ratio: dict[int, float] = field(default_factory=dict)
    gap: dict[int, float] = field(default_factory=dict)
    deviation: dict[int, float] = field(default_factory=dict)
    killed: set[int] = field(default_factory=set)
    seen: dict[int, tuple[str, str]] = field(default_factory=dict)
    asserted: dict[int, int] = field(default_factory=dict)
    spread: dict[int, Spread] = field(default_factory=dict)
    sharpest: dict[int, Sharpest] = field(default_factory=dict)
    visible: dict[int, Seen] = field(default_factory=dict)
    reached: dict[str, Counter[int]] = field(default_factory=dict)
    raised: list[Raised] = field(default_factory=list)
    disagree: str | None = None
    checked: set[tuple[object, ...]] = field(default_factory=set)
    idle: Idle | None = None

    @property
    def lost(self) -> bool:
        """Whether so many instances raised that the search ends."""
        return len(self.raised) >= CULPRITS

    def add(self, part: Part, family: Instances) -> None:
        """Add the relations of a batch of a family, where its instances are valid."""
        if self.idle is not None:
            self.idle.add(part)
        valid = part.valid
        for number, relation in enumerate(part.relations):
            self.seen.setdefault(number, (relation.kind, relation.label))
            counted = relation.asserted & _trailing(valid, relation.lhs)
            if not bool(counted.any()):
                continue
            instances = counted.reshape(valid.numel(), -1).any(-1)
            self.asserted[number] = self.asserted.get(number, 0) + int(instances.sum())
            self.visible.setdefault(number, Seen()).add(relation, counted, part, family)
            lhs, rhs = relation.lhs.detach(), relation.rhs.detach()
            if number not in self.killed:
                mutant = relation.strengthened()
                beyond = mutant.excess.detach() > mutant.tolerance.detach()
                if bool((beyond & counted & ~relation.violated()).any()):
                    self.killed.add(number)
            if SIGNS[relation.kind].bound:
                positive = counted & (lhs > 0) & (rhs > relation.tolerance.detach())
                positive &= ~relation.violated()  # rounding, as the balls have shown
                if bool(positive.any()):
                    quotient = torch.where(positive, lhs, 0).double() / torch.where(
                        positive, rhs, 1
                    )
                    ratios = over_batch(quotient, part.batch, torch.amax)
                    self.ratio[number] = max(self.ratio.get(number, 0.0), float(ratios.max()))
                    self._sharpest(number, ratios, part, family)
                    some = over_batch(positive, part.batch, torch.any)
                    self._spread(number, relation.kind).add(ratios[some])
                gap = float(_relative_gap(lhs, rhs)[counted].min())
                self.gap[number] = min(self.gap.get(number, torch.inf), gap)
            elif relation.kind == "eq":
                size = relation.size.detach().clamp(min=1.0)
                away = torch.where(counted, relation.excess.detach() / size, -torch.inf)
                deviations = over_batch(away, part.batch, torch.amax)
                deviation = float(deviations.max())
                self.deviation[number] = max(self.deviation.get(number, 0.0), deviation)
                self._spread(number, "eq").add(deviations[deviations > -torch.inf])

    def _spread(self, number: int, kind: str) -> Spread:
        return self.spread.setdefault(number, Spread(kind))

    def _sharpest(self, number: int, ratios: torch.Tensor, part: Part, family: Instances) -> None:
        found = Sharpest.of(self.sharpest.get(number), ratios, part, family)
        if found is not None:
            self.sharpest[number] = found

    def reach(self, claim: Claim, part: Part) -> None:
        """Count what the instances of a batch reach."""
        for name, counts in reached(claim, part.built, part.batch, part.valid).items():
            self.reached.setdefault(name, Counter()).update(counts)


def hidden(claim: Claim, tallies: Sequence[Tally]) -> list[str]:
    """The relations that floats cannot see fail, for their tolerance, as sentences."""
    seen = {number: what for tally in tallies for number, what in tally.seen.items()}
    found = []
    for number, (_, label) in sorted(seen.items()):
        parts = [tally.visible[number] for tally in tallies if number in tally.visible]
        found.append(swallowed(claim, label, number, sum(parts, Seen())))
    return [why for why in found if why is not None]


def _trailing(valid: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    extra = like.ndim - valid.ndim
    return valid.reshape(valid.shape + (1,) * extra).expand(like.shape)


def _relative_gap(lhs: torch.Tensor, rhs: torch.Tensor) -> torch.Tensor:
    """How far a bound is from equality, relative to its larger side; 0 where both are 0."""
    lhs, rhs = lhs.to(torch.float64), rhs.to(torch.float64)
    size = torch.maximum(lhs.abs(), rhs.abs())
    gap = torch.where(size > 0, (rhs - lhs) / size, torch.zeros_like(size))
    # An infinite side is far from equality.
    return torch.where(gap.isnan(), torch.full_like(gap, torch.inf), gap)


def batches(
    claim: Claim,
    family: Instances,
    count: int,
    size: int,
    key: tuple[object, ...],
    *,
    first: int = 0,
) -> Iterator[Callable[[], Source]]:
    """What makes `count` seeded sources: of batches, or of instances if a body takes no batch.

    They are those of the numbers `first`, `first + 1`, ...; each number has its seed. Of a
    recorded experiment they are all its instances, once, whatever the numbers.

    Raises:
        InputError: if the generator of recorded runs raises.
    """
    if family.recording is not None:
        found = shapes(family, 0)
        for said in found.failed:
            raise InputError(f"the generator {family} raised {said}")
        for shape in found.found:
            yield partial(ScopeSource, shape, 0, None)
        return
    for index in range(first, first + count):
        seed = seed_of(*key, index)
        yield partial(BatchSource, seed, None if claim.no_batch is not None else size)


def sweep(
    claim: Claim,
    family: Instances,
    profile: Profile,
    seed: int,
    tally: Tally,
    *,
    share: float = 1.0,
    turn: int = 0,
    proof: bool = False,
    advance: Callable[[int], None] | None = None,
) -> Instance | None:
    """Sweep a family in batches; returns the first violation that is not rounding, or None.

    Args:
        tally: takes up what is seen.
        share: multiplies the number of batches of the profile.
        turn: 0 sweeps the first so many batches, 1 the next ones, and so on.
        proof: whether the sweep goes on after a violation that is not conclusive.
        advance: called with the number of instances of each batch.

    Raises:
        BatchError: if the claim makes a Python value of what is drawn, at one of the shapes.
    """
    planned = profile.batches if claim.no_batch is None else profile.single
    count = max(2, round(planned * share * claim.effort))
    key = (seed, claim.id, family.name)
    for make in batches(claim, family, count, profile.size, key, first=turn * count):
        evaluation = evaluate_instances(claim, family, make)
        tally.counts += evaluation.counts
        tally.raised += evaluation.raised
        undecided: Instance | None = None
        for part in evaluation.parts:
            if not proof:
                check_branches(claim, family, part.record, part.batch, tally.checked)
            found = _judged(claim, family, part, tally)
            if found is not None and found.proved:
                return found
            undecided = undecided or found
        if undecided is not None and (undecided.conclusive or not proof):
            return undecided
        for part in evaluation.parts:
            tally.add(part, family)
            tally.reach(claim, part)
        if tally.lost:
            return None
        if advance is not None and evaluation.parts:
            advance(sum(part.valid.numel() for part in evaluation.parts))
    return None


def _judged(claim: Claim, family: Instances, part: Part, tally: Tally) -> Instance | None:
    """Re-check the worst violations of a batch in balls; a proved one goes before an open one."""
    undecided: Instance | None = None
    for index in worst_of(part.relations, part):
        instance = Instance(claim, family, part.instance(index))
        judgement = settled_in(tally, instance)
        if judgement.finding == "refuted":
            return instance
        if judgement.violation:
            undecided = undecided or instance
    return undecided


def settled_in(tally: Tally, instance: Instance) -> Judgement:
    """Judge an instance that is violated in floats; what is no violation is counted."""
    judgement = instance.judgement
    if judgement.disagree:
        tally.disagree = tally.disagree or judgement.reason
    if not judgement.violation:
        tally.counts += Counts.of(judgement)
    return judgement


def worst_of(relations: tuple[Relation, ...], source: Source | Part) -> list[int]:
    """The indices of the largest violations in a batch, relative ones first, then absolute ones."""
    worst: list[int] = []
    for relative in (True, False):
        beyond = excess(relations, source.batch, relative=relative)
        beyond = torch.where(source.valid, beyond, -torch.inf).reshape(-1)
        order = beyond.argsort(descending=True, stable=True)[:JUDGED]
        worst += order[beyond[order] > -torch.inf].tolist()
    return list(dict.fromkeys(worst))


def draw(
    claim: Claim,
    family: Instances,
    examples: int,
    seed: int,
    tally: Tally,
    *,
    proof: bool = False,
    advance: Callable[[int], None] | None = None,
) -> Instance | None:
    """Let Hypothesis draw instances; returns the first violation that is not rounding, or None.

    With `proof`, the draws go on after a violation that is not conclusive.
    """
    found: list[Instance] = []

    def violates(drawn: _Drawn) -> bool:
        part = drawn.part
        if advance is not None:
            advance(1)
        if observability_enabled():
            _observe(drawn)
        if bool(excess(part.relations, ()) > -torch.inf):
            instance = Instance(claim, family, part.record)
            judgement = settled_in(tally, instance)
            event("judged", judgement.finding)
            if judgement.violation and (instance.conclusive or not proof):
                found.append(instance)
            return bool(found)
        tally.add(part, family)
        return False

    @st.composite
    def evaluated(draw_: Any) -> _Drawn:
        source = DrawSource(draw_)
        evaluation = evaluate_instances(claim, family, lambda: source)
        tally.counts += evaluation.counts
        if not tally.lost:
            tally.raised += evaluation.raised
        if not evaluation.parts:
            raise UnsatisfiedAssumption(_left_out(evaluation))
        return _Drawn(claim, family, evaluation.parts[0])

    quietly = settings(
        max_examples=max(2, examples),
        database=None,
        deadline=None,
        verbosity=Verbosity.normal,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    generator = random.Random(seed_of(seed, claim.id))
    try:
        with without_local_constants():
            find_named(claim.id, evaluated(), violates, quietly, random=generator)
    except (NoSuchExample, Unsatisfiable):
        return None
    return found[0]


class _Drawn:
    """An instance that Hypothesis drew; its text is made where somebody asks for it.

    No dataclass: Hypothesis would write all fields of one.
    """

    def __init__(self, claim: Claim, family: Instances, part: Part) -> None:
        self.claim, self.family, self.part = claim, family, part

    def __repr__(self) -> str:
        text = instance_text(self.claim, self.family, self.part.record)
        return f"({text or 'it has no description'})"

    def to_json(self) -> dict[str, Any]:
        """What an observation keeps as the arguments: what was drawn, and by which generator."""
        return {"family": str(self.family), "choices": write_choices(self.part.record)}


def _left_out(evaluation: Evaluation) -> str:
    """Why there is nothing to evaluate: the hypothesis that is broken, or what was raised."""
    raised = [f"the {one.by} raised {type(one.error).__name__}" for one in evaluation.raised]
    return "; ".join([*raised, *evaluation.reasons])


def _observe(drawn: _Drawn) -> None:
    """Note for the observations of Hypothesis how close an instance comes, and what it reaches."""
    seen = Tally()
    try:
        seen.add(drawn.part, drawn.family)
        seen.reach(drawn.claim, drawn.part)
    except Exception as error:  # the sweep and the verdict deal with it
        event("not measured", f"{type(error).__name__}: {error}")
    for number, (_, label) in seen.seen.items():
        name = f" of {relation_name(label, number)}" if len(seen.seen) > 1 else ""
        if number in seen.ratio:
            event(f"lhs / rhs{name}", seen.ratio[number])
        if number in seen.deviation:
            event(f"deviation{name}", seen.deviation[number])
    for name, counts in seen.reached.items():
        for value in counts:
            event(name, value)
