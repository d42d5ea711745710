"""Evaluates an instance of a claim once: in floats, on balls, and at its neighbours.

What the balls decide is the answer. A violation in floats that they exclude is mostly rounding; one
much larger than its tolerance, and than any rounding error that is plausible at the instance, is
said.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import torch

from rankcheck import balls
from rankcheck.balls import BallArray
from rankcheck.claims.claim import Claim
from rankcheck.claims.relations import Relation
from rankcheck.engine.counterexamples.judge import PRECISIONS, Judgement, judge
from rankcheck.engine.counterexamples.rounding import (
    CLEAR,
    ERRORS,
    TOLERANCES,
    Entry,
    furthest,
    is_rounding,
    pairs,
    violated_entries,
)
from rankcheck.errors import short_of_memory
from rankcheck.notebook import Readable
from rankcheck.theory.instances.drivers import ReplaySource
from rankcheck.theory.instances.record import Record
from rankcheck.theory.instances.source import Instances, Rejected, Source


class DisagreementError(ValueError):
    """Balls prove a violation, and floats contradict them: nothing is proved."""


@dataclass(frozen=True, eq=False, repr=False)
class Instance(Readable):
    """An instance of a claim. Whatever is computed of it is computed when it is asked for, once.

    Attributes:
        record: what its generator drew, without batch axes.
        family: the generator.
        precisions: in bits, those that balls may take; see `judge`.
    """

    claim: Claim
    family: Instances
    record: Record
    precisions: tuple[int, ...] = PRECISIONS

    @cached_property
    def relations(self) -> tuple[Relation, ...]:
        """What the body returns in floats, for this instance alone.

        Raises:
            Rejected: if it breaks a hypothesis.
            Exception: what the generator or the body raises.
        """
        return evaluate(self.claim, self.family, ReplaySource(self.record))

    @cached_property
    def in_balls(self) -> Judgement:
        """What ball arithmetic says of it; see `judge`."""
        return judge(self.claim, self.record, family=self.family, precisions=self.precisions)

    @cached_property
    def neighbours(self) -> tuple[tuple[tuple[Relation, ...] | None, ...], ...]:
        """The relations in floats at the `pairs` of neighbours; None where there are none."""
        return tuple(tuple(map(self._relations_at, pair)) for pair in pairs(self.record))

    def _relations_at(self, record: Record) -> tuple[Relation, ...] | None:
        try:
            return evaluate(self.claim, self.family, ReplaySource(record))
        except Exception:  # Rejected, or an operation that has no value there
            return None

    @property
    def proved(self) -> bool:
        """Whether ball arithmetic proves a violation."""
        return self.in_balls.finding == "refuted"

    @property
    def conclusive(self) -> bool:
        """Whether a violation is proved, or would be if the claim had a ball form."""
        return self.proved or (self.in_balls.unprovable and self.relative > -torch.inf)

    @property
    def exact(self) -> tuple[Any, ...]:
        """The parts of the instance in exact numbers, as they were judged.

        Raises:
            ValueError: if there are none, because the claim has no ball form.
        """
        if self.in_balls.instance is None:
            raise ValueError(
                f"this instance of {self.family} was not built in exact numbers: "
                f"{self.in_balls.reason}"
            )
        return self.in_balls.instance

    @cached_property
    def judgement(self) -> Judgement:
        """What a violation in floats is: what the balls say.

        If they exclude one that rounding does not explain, by the rules of
        `rankcheck.engine.counterexamples.rounding`, `differs` says by how much the sides differ. An
        instance whose violation the balls do not assert is outside the hypotheses.
        """
        judgement = self.in_balls
        if judgement.finding != "satisfied":
            return judgement
        try:
            violated = violated_entries(self.relations)
        except Rejected:  # inside in its batch, and outside alone: on the edge
            return replace(judgement, finding="outside")
        sides = self._sides_in_balls(violated)
        if violated and not sides:
            return replace(judgement, finding="outside")
        for entry in violated:
            exact = sides.get(entry.number)
            if exact is not None and not is_rounding(entry, partial(self.error, entry)):
                return replace(judgement, differs=_difference(entry, *exact))
        return judgement

    def _sides_in_balls(self, entries: list[Entry]) -> dict[int, tuple[BallArray, BallArray]]:
        """By relation, the two sides on balls at an entry, if it is asserted there.

        A body may return fewer relations or entries on balls; what is missing is not asserted.
        """
        sides: dict[int, Any] = {}
        with balls.precision(self.in_balls.bits):
            for entry in entries:
                there = entry.among(self.in_balls.relations)
                if there is not None and bool(there.relation.asserted.reshape(-1)[entry.place]):
                    lhs, rhs = there.relation.sides()
                    sides[entry.number] = tuple(s.reshape(-1)[entry.place] for s in (lhs, rhs))
        return sides

    def error(self, entry: Entry) -> float:
        """The rounding error of the sides in an entry, as its neighbours show it.

        It is infinite where nothing can be said: on the edge of a hypothesis, if one of the
        neighbours of the instance leaves the hypotheses or raises.
        """
        errors = [0.0]
        for pair in self.neighbours:
            ahead, behind = (entry.among(relations) for relations in pair)
            for one in (ahead, behind):
                if one is None or not one.asserted:
                    return torch.inf
            assert ahead is not None
            assert behind is not None
            errors.append(entry.error(ahead, behind))
        return max(errors)

    @cached_property
    def relative(self) -> float:
        """The largest violation in floats, relative to the sides; -inf without one."""
        return max(float(relation.beyond().max()) for relation in self.relations)

    @cached_property
    def clear(self) -> bool:
        """Whether there is a violation in floats, of finite size, that rounding does not explain.

        This is an estimate. So a clear violation is `undecided` as any other that is not proved.
        """
        if not -torch.inf < self.relative < torch.inf:
            return False
        entry = furthest(self.relations)
        return not is_rounding(entry, partial(self.error, entry), tolerances=CLEAR)

    def require_agreement(self) -> None:
        """Check that floats do not contradict a proof about an instance that no search has found.

        Floats may miss a violation that is smaller than their errors. Their sides must then be
        those of the balls, up to the same multiples of the tolerance and of the rounding error; and
        if floats put the instance outside the hypotheses, it must lie on the edge.

        Raises:
            DisagreementError: if a violation is proved that floats contradict.
            MemoryError or what else says so: if memory was short for the floats.
        """
        judgement = self.in_balls
        if judgement.finding != "refuted":
            return
        assert judgement.lhs is not None
        assert judgement.rhs is not None
        entry: Entry | None = None
        try:
            relations = self.relations
        except Rejected as rejected:
            figures = f"put the instance outside the hypotheses ({rejected})"
        except Exception as error:
            if short_of_memory(error):
                raise
            raise self._contradicted(f"raise {type(error).__name__}: {error}") from error
        else:
            if any(bool(relation.violated().any()) for relation in relations):
                return
            if judgement.relation >= len(relations):
                raise self._contradicted("have no such relation")
            entry = _closest(
                relations[judgement.relation], judgement.relation, judgement.lhs, judgement.rhs
            )
            figures = f"have lhs {entry.lhs:.17g}, rhs {entry.rhs:.17g}"
            if not entry.asserted:
                figures = "do not assert the relation there"
        if entry is None or not entry.asserted:
            if self._on_edge(entry):
                return
            raise self._contradicted(figures)
        lhs, rhs = (float(side.midpoints()) for side in (judgement.lhs, judgement.rhs))
        apart = max(abs(entry.lhs - lhs), abs(entry.rhs - rhs))
        if apart > TOLERANCES * entry.tolerance and apart > ERRORS * self.error(entry):
            raise self._contradicted(figures)

    def _on_edge(self, entry: Entry | None) -> bool:
        """Whether floats put some neighbour inside the hypotheses, and assert the entry there."""
        for relations in (one for pair in self.neighbours for one in pair):
            there = None if entry is None else entry.among(relations)
            if relations is not None and (entry is None or (there is not None and there.asserted)):
                return True
        return False

    def _contradicted(self, figures: str) -> DisagreementError:
        lhs, rhs = self.in_balls.lhs, self.in_balls.rhs
        assert lhs is not None
        assert rhs is not None
        return DisagreementError(
            f"{self.claim.id} is undecided: floats and balls disagree: in balls "
            f"lhs = {lhs.describe()}, rhs = {rhs.describe()}; floats {figures}"
        )


def _closest(relation: Relation, number: int, lhs: BallArray, rhs: BallArray) -> Entry:
    """The entry whose sides in floats are closest to those of the balls, among those asserted."""
    apart = torch.maximum(
        (relation.lhs.double() - lhs.midpoints()).abs(),
        (relation.rhs.double() - rhs.midpoints()).abs(),
    ).nan_to_num(nan=torch.inf)
    if bool(relation.asserted.any()):
        apart = torch.where(relation.asserted, apart, torch.inf)
    return Entry(relation, number, int(apart.reshape(-1).argmin()))


def _difference(entry: Entry, lhs: BallArray, rhs: BallArray) -> str:
    """Floats beside balls at an entry."""
    apart = max(
        abs(one - float(other.midpoints())) for one, other in ((entry.lhs, lhs), (entry.rhs, rhs))
    )
    equal = "the sides are equal" if entry.relation.kind == "eq" else "the relation holds"
    return f"floats differ by {apart:.2g}; in balls {equal}"


def evaluate(claim: Claim, family: Instances, source: Source) -> tuple[Relation, ...]:
    """The relations of a claim on the instance that its generator builds from a source.

    Raises:
        Rejected: if the instance breaks a hypothesis.
    """
    relations = claim.relations(family(source))
    return tuple(relation.map(torch.Tensor.detach) for relation in relations)


def excess(relations: Iterable[Relation], *, relative: bool = True) -> torch.Tensor:
    """The largest violation of each of n instances, shape (n); see `Relation.beyond`.

    It is -inf where all relations hold within their tolerance, and inf where a side is NaN.
    """
    worst = [by_instance(relation.beyond(relative=relative)).amax(1) for relation in relations]
    return torch.stack(worst).amax(0).detach()


def by_instance(values: torch.Tensor) -> torch.Tensor:
    """The entries of each of n instances in a row, shape (n, entries), of values (n, *S)."""
    return values.unsqueeze(-1).flatten(1)


def wide(values: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """Values of shape (n), with an axis of length 1 for each further axis of `like`."""
    return values.reshape(-1, *(1 for _ in like.shape[1:]))
