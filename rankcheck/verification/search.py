"""Driving a claim over instances: sweeping batches and drawing with Hypothesis, in floats.

A sweep tallies what it sees; it stops at the first instance that violates the claim beyond its
tolerance *and* is not rounding by ball arithmetic.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from hypothesis import HealthCheck, Phase, find, reject, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample, Unsatisfiable

from rankcheck.claims.claim import Claim
from rankcheck.claims.relations import Relation
from rankcheck.counterexamples.judge import judge
from rankcheck.counterexamples.violation import Violation, evaluate, excess
from rankcheck.instances.constants import without_local_constants
from rankcheck.instances.record import Record
from rankcheck.instances.source import (
    BatchSource,
    DrawSource,
    Instances,
    Rejected,
    seed_of,
)
from rankcheck.verification.profiles import Profile

#: Of the violations in one batch, this many are put to the balls: the worst relative to their
#: sides, and as many of the worst as such, which are not rounding where both sides nearly vanish.
JUDGED = 4


@dataclass
class Tally:
    """What has been seen of a claim.

    Attributes:
        evaluated, rejected: numbers of instances inside and outside the hypotheses.
        rounding: violations in floats that ball arithmetic showed to be rounding.
        ratio: by relation, the largest lhs / rhs of a bound (both sides positive).
        deviation: by relation, the largest |lhs - rhs| of an identity, relative to its size.
        killed: the derived mutants that some instance broke which does not break the claim, by
            relation.
        seen: by relation, what the body calls it and whether it is a bound.
        asserted: the relations that were asserted of some instance.
    """

    evaluated: int = 0
    rejected: int = 0
    rounding: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    ratio: dict[int, float] = field(default_factory=dict)
    deviation: dict[int, float] = field(default_factory=dict)
    killed: set[int] = field(default_factory=set)
    seen: dict[int, tuple[str, str]] = field(default_factory=dict)
    asserted: set[int] = field(default_factory=set)

    def add(self, relations: tuple[Relation, ...], valid: torch.Tensor) -> None:
        """Take in the relations of a batch with `valid` of shape `(*batch)`."""
        for number, relation in enumerate(relations):
            self.seen.setdefault(number, (relation.kind, relation.label))
            counted = relation.asserted & _trailing(valid, relation.lhs)
            if not bool(counted.any()):
                continue
            self.asserted.add(number)
            lhs, rhs = relation.lhs.detach(), relation.rhs.detach()
            if number not in self.killed:
                mutant = relation.strengthened()
                beyond = mutant.excess.detach() > mutant.tolerance.detach()
                if bool((beyond & counted & ~relation.violated()).any()):
                    self.killed.add(number)
            if relation.kind == "leq":
                positive = counted & (lhs > 0) & (rhs > relation.tolerance.detach())
                if bool(positive.any()):
                    ratio = float((lhs[positive] / rhs[positive]).max())
                    self.ratio[number] = max(self.ratio.get(number, 0.0), ratio)
            else:
                size = torch.maximum(lhs.abs(), rhs.abs()).clamp(min=1.0)
                deviation = float(((lhs - rhs).abs() / size)[counted].max())
                self.deviation[number] = max(self.deviation.get(number, 0.0), deviation)


def _trailing(valid: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    extra = like.ndim - valid.ndim
    return valid.reshape(valid.shape + (1,) * extra).expand(like.shape)


def batches(
    claim: Claim, family: Instances, count: int, size: int, key: tuple[object, ...]
) -> Iterator[BatchSource]:
    """Sources for `count` batches; single instances where the body cannot carry a batch axis."""
    for index in range(count):
        seed = seed_of(*key, claim.id, family.name, index)
        yield BatchSource(seed, None if claim.no_batch is not None else size)


def sweep(
    claim: Claim,
    family: Instances,
    profile: Profile,
    seed: int,
    tally: Tally,
    *,
    parameters: Mapping[str, Any] | None = None,
    share: float = 1.0,
    advance: Callable[[int], None] | None = None,
) -> Violation | None:
    """Sweep a family in batches, tallying; the first violation that balls do not clear, or None.

    Args:
        share: of the profile's number of instances.
        advance: called with the number of instances of each batch.
    """
    planned = profile.batches if claim.no_batch is None else profile.single
    count = max(2, round(planned * share * claim.effort))
    for source in batches(claim, family, count, profile.size, (seed,)):
        size = source.batch[0] if source.batch else 1
        try:
            relations = evaluate(claim, family, source, parameters or {})
        except Rejected as rejected:
            tally.rejected += 1
            tally.reasons[str(rejected)] = tally.reasons.get(str(rejected), 0) + 1
            continue
        valid = int(source.valid.sum())
        tally.evaluated += valid
        tally.rejected += size - valid
        for why, lost in source.reasons.items():
            tally.reasons[why] = tally.reasons.get(why, 0) + lost
        found = _judged(claim, family, source, relations, parameters or {}, tally)
        if found is not None:
            return found
        tally.add(relations, source.valid)
        if advance is not None:
            advance(size)
    return None


def _judged(
    claim: Claim,
    family: Instances,
    source: BatchSource,
    relations: tuple[Relation, ...],
    parameters: Mapping[str, Any],
    tally: Tally,
) -> Violation | None:
    """Put the worst violations of a batch to the balls: a refuted one, else a undecided one."""
    undecided: Violation | None = None
    for index in worst_of(relations, source):
        record = source.record.instance(index) if source.batch else source.record.detach()
        judgement = judge(claim, record, family=family, parameters=parameters)
        if judgement.finding == "refuted":
            return Violation(record, family, judgement)
        if judgement.finding == "undecided":
            undecided = undecided or Violation(record, family, judgement)
        else:
            tally.rounding += 1
    return undecided


def worst_of(relations: tuple[Relation, ...], source: BatchSource) -> list[int]:
    """The instances that violate a relation by most, by one measure and by the other."""
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
    parameters: Mapping[str, Any] | None = None,
    advance: Callable[[int], None] | None = None,
) -> Violation | None:
    """Let Hypothesis draw instances, tallying; the first violation that balls do not clear."""
    found: list[Violation] = []

    def violates(drawn: tuple[tuple[Relation, ...], Record]) -> bool:
        relations, record = drawn
        if advance is not None:
            advance(1)
        tally.evaluated += 1
        if bool(excess(relations, ()) > -torch.inf):
            judgement = judge(claim, record, family=family, parameters=parameters)
            if judgement.finding in ("refuted", "undecided"):
                found.append(Violation(record, family, judgement))
                return True
            tally.rounding += 1
            return False
        tally.add(relations, torch.tensor(True))
        return False

    @st.composite
    def evaluated(draw_: Any) -> tuple[tuple[Relation, ...], Record]:
        source = DrawSource(draw_)
        try:
            relations = evaluate(claim, family, source, parameters or {})
        except Rejected as rejected:
            tally.rejected += 1
            tally.reasons[str(rejected)] = tally.reasons.get(str(rejected), 0) + 1
            reject()
        return relations, source.record

    quietly = settings(
        max_examples=max(2, examples),
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    generator = random.Random(seed_of(seed, claim.id))
    try:
        with without_local_constants():
            find(evaluated(), violates, settings=quietly, random=generator)
    except (NoSuchExample, Unsatisfiable):
        return None
    return found[0]
