"""Searches the instances of a claim for a violation: sweeps batches, and lets Hypothesis draw.

Instances are evaluated in floats. Any violation larger than its tolerance is re-checked in ball
arithmetic immediately; the search stops at the first one that is not rounding. Instances on which
the body raises are kept, and the search goes on.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from hypothesis import HealthCheck, Phase, Verbosity, event, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample, Unsatisfiable, UnsatisfiedAssumption
from hypothesis.internal.observability import observability_enabled

from rankcheck.claims.claim import Claim
from rankcheck.claims.labels import relation_name
from rankcheck.engine.counterexamples.drawing import find_named, without_local_constants
from rankcheck.engine.counterexamples.instance import Instance, excess
from rankcheck.engine.counterexamples.judge import Judgement
from rankcheck.engine.verification.batches import (
    Drawn,
    evaluate_batch,
    evaluate_drawn,
    evaluate_instances,
)
from rankcheck.engine.verification.counts import Counts
from rankcheck.engine.verification.evaluation import Evaluation, Part, instance_text
from rankcheck.engine.verification.profiles import Profile
from rankcheck.engine.verification.scouts import FEW, ScoutSource, Visited
from rankcheck.engine.verification.tally import Tally
from rankcheck.theory.instances.choices import write_choices
from rankcheck.theory.instances.drivers import BatchSource, Drawing, DrawSource
from rankcheck.theory.instances.source import Instances, seed_of

#: Of the violations in a batch, so many are re-checked in balls: the largest relative to their
#: sides, and as many of the largest in absolute terms. Where both sides nearly vanish, rounding is
#: relatively large, and the second measure finds what the first one overlooks.
JUDGED = 4
#: So many of each, if floats are far off at one of them.
DIFFERING = 32


def batches(count: int, size: int, key: tuple[object, ...], *, first: int = 0) -> Iterator[Drawing]:
    """Seeded sources of batches of that size: those of the numbers `first`, `first + 1`, ..."""
    for index in range(first, first + count):
        yield BatchSource(seed_of(*key, index), size)


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
    progress: Callable[[int], None] | None = None,
) -> Instance | None:
    """Sweep a family in batches; returns the first violation that is not rounding, or None.

    Scouts come first, few instances at each of many shapes, and then batches of full size. With
    `proof` it is the other way round: batches break more of the controls.

    Args:
        tally: takes up what is seen.
        share: multiplies the numbers of shapes and batches of the profile.
        turn: 0 sweeps the first so many batches, 1 the next ones, and so on.
        proof: whether the sweep goes on after a violation that is not conclusive.
        progress: called with the number of instances of each batch.

    Raises:
        ClaimError: if the code of the claim is no function of what is drawn.
    """
    visited, key = tally.visited, (seed, claim.id, family.name)
    singly = min(1.0, profile.single / (profile.batches * profile.size))
    for source, scout in _planned(claim, profile, share, turn, key, visited, proof):
        record, evaluation = evaluate_batch(claim, family, source, share=singly)
        tally.count(evaluation)
        known = visited.everywhere
        visited.add(record)
        found: Instance | None = None
        for part in evaluation.parts:
            violation = _judged(claim, part, tally)
            found = found or violation
            if violation is not None and violation.proved:
                found = violation
                break
        if found is not None and (found.conclusive or not proof):
            tally.unseen += evaluation.counts.total
            return found
        for part in evaluation.parts:
            tally.add(part, scout=scout)
            tally.reach(claim, part, sizes=scout)
        if tally.lost:
            return None
        if progress is not None and evaluation.parts:
            progress(sum(part.valid.numel() for part in evaluation.parts))
        if known and not record.tensors:  # every instance was seen
            return None
    return None


def again(claim: Claim, instance: Instance, tally: Tally) -> Instance | None:
    """Evaluate an instance that is known; returns it if it is violated by more than rounding."""
    family = instance.family
    evaluation = evaluate_instances(claim, family, Drawn(instance.record.as_batch()))
    tally.count(evaluation)
    for part in evaluation.parts:
        violation = _judged(claim, part, tally)
        if violation is not None:
            return violation
        tally.add(part, scout=True)
    return None


def _planned(
    claim: Claim,
    profile: Profile,
    share: float,
    turn: int,
    key: tuple[object, ...],
    visited: Visited,
    proof: bool,
) -> Iterator[tuple[Drawing, bool]]:
    """The sources of a sweep, and whether each is a scout.

    The scouts end where every shape is visited; what they leave of the instances is batches. With
    `proof` all of the instances are batches, and the scouts come on top.
    """
    part = share * claim.effort
    most = max(2, round(profile.batches * part))
    left = most * profile.size
    if proof:
        for batch in batches(most, profile.size, key, first=turn * most):
            yield batch, False
    for number in range(round(profile.shapes * part)):
        if left < FEW or visited.everywhere:
            break
        scout_seed = seed_of(*key, "scout", turn, number)
        yield ScoutSource(visited, number % 2 == 0, scout_seed, FEW), True
        left -= FEW
    count = 0 if proof else math.ceil(left / profile.size)
    for batch in batches(count, profile.size, key, first=turn * most):
        yield batch, False


def _judged(claim: Claim, part: Part, tally: Tally) -> Instance | None:
    """Re-check the worst violations of a batch in balls; a proved one goes before an open one."""
    if not (part.violating or part.wrapped):
        return None
    undecided: Instance | None = None
    for instance in violations(claim, part, tally):
        if instance.proved:
            return instance
        undecided = undecided or instance
    return undecided


def violations(
    claim: Claim, part: Part, tally: Tally, first: Iterable[int] = ()
) -> Iterator[Instance]:
    """The violations in floats of a batch that balls do not exclude, among those that are judged.

    These are the `first` indices, then the largest, and more where floats are far off.
    """
    before, done = tally.differing + tally.counts.outside, set[int]()
    failing = excess(part.relations) > -torch.inf

    def indices() -> Iterator[int]:
        yield from first
        yield from worst_of(part)
        if tally.differing + tally.counts.outside > before:  # the largest are none
            yield from worst_of(part, DIFFERING)
            yield from _spread(failing & part.valid, DIFFERING)
        if part.wrapped:
            yield from _spread(part.valid, JUDGED)

    for index in indices():
        if index in done:
            continue
        done.add(index)
        instance = Instance(claim, part.family, part.instance(index))
        fails = bool(failing[index])
        judgement = settled_in(tally, instance) if fails else instance.in_balls
        if judgement.violation:
            yield instance
        elif judgement.finding == "satisfied":
            part.satisfied.add(index)


def _spread(chosen: torch.Tensor, number: int) -> list[int]:
    """So many indices of a batch, evenly among those that are chosen."""
    places = chosen.nonzero().reshape(-1)
    return places[:: max(1, len(places) // number)].tolist()


def settled_in(tally: Tally, instance: Instance) -> Judgement:
    """Judge an instance that is violated in floats; what is no violation is counted."""
    judgement = instance.judgement
    if judgement.differs:
        tally.differs = tally.differs or judgement.differs
        tally.differing += 1
    if not judgement.violation:
        tally.counts += Counts.of(judgement)
    return judgement


def worst_of(part: Part, number: int = JUDGED) -> list[int]:
    """The indices of the largest violations in a batch, relative ones first, then absolute ones.

    Args:
        number: of each kind.
    """
    worst: list[int] = []
    for relative in (True, False):
        beyond = excess(part.relations, relative=relative)
        beyond = torch.where(part.valid, beyond, -torch.inf)
        order = beyond.argsort(descending=True, stable=True)[:number]
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
    progress: Callable[[int], None] | None = None,
) -> Instance | None:
    """Let Hypothesis draw instances; returns the first violation that is not rounding, or None.

    With `proof`, the draws go on after a violation that is not conclusive.
    """
    violations: list[Instance] = []

    def violates(drawn: _Drawn) -> bool:
        part = drawn.part
        if progress is not None:
            progress(1)
        if observability_enabled():
            _observe(drawn)
        if part.violating or part.wrapped:
            instance = Instance(claim, family, part.instance(0))
            judgement = settled_in(tally, instance) if part.violating else instance.in_balls
            event("judged", judgement.finding)
            tally.unseen += 1
            if judgement.violation and (instance.conclusive or not proof):
                violations.append(instance)
            return bool(violations)
        tally.add(part)
        return False

    @st.composite
    def evaluated(draw_: Any) -> _Drawn:
        source = DrawSource(draw_)
        evaluation = evaluate_drawn(claim, family, source)
        tally.count(evaluation)
        if not evaluation.parts:
            raise UnsatisfiedAssumption(_left_out(evaluation))
        return _Drawn(claim, evaluation.parts[0])

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
    return violations[0]


class _Drawn:
    """An instance that Hypothesis drew; its text is made where somebody asks for it.

    No dataclass: Hypothesis would write all fields of one.
    """

    def __init__(self, claim: Claim, part: Part) -> None:
        self.claim, self.part = claim, part

    def __repr__(self) -> str:
        text = instance_text(self.claim, self.part.family, self.part.instance(0))
        return f"({text or 'it has no description'})"

    def to_json(self) -> dict[str, Any]:
        """What an observation keeps as the arguments: what was drawn, and by which generator."""
        return {"family": str(self.part.family), "choices": write_choices(self.part.instance(0))}


def _left_out(evaluation: Evaluation) -> str:
    """Why there is nothing to evaluate: the hypothesis that is broken, or what was raised."""
    raised = [f"the {one.by} raised {type(one.error).__name__}" for one in evaluation.raised]
    return "; ".join([*raised, *evaluation.reasons])


def _observe(drawn: _Drawn) -> None:
    """Note for the observations of Hypothesis how close an instance comes, and what it reaches."""
    tally = Tally()
    try:
        tally.add(drawn.part)
        tally.reach(drawn.claim, drawn.part)
    except Exception as error:  # the sweep and the verdict deal with it
        event("not measured", f"{type(error).__name__}: {error}")
    for number, seen in tally.relations.items():
        name = f" of {relation_name(seen.label, number)}" if len(tally.relations) > 1 else ""
        if seen.ratio is not None:
            event(f"lhs / rhs{name}", seen.ratio)
        if seen.deviation is not None:
            event(f"deviation{name}", seen.deviation)
    for name, counts in tally.reached.items():
        for value in counts:
            event(name, value)
