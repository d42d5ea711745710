"""Evaluates a claim on a batch of instances: mapped over them, or on one at a time.

A map cannot read values. Where a body or a generator does, its instances run one at a time, fewer
of them. `torch.linalg.inv`, `solve`, `cholesky` and `eigh` raise for a whole batch if one of its
matrices is singular. Such a batch is mapped again without the instances that are known to break a
hypothesis; if it still raises, it is halved until the instances that raise are alone.

At each discrete shape an instance is also evaluated alone, and compared with what the map made of
it. What a claim says of an instance alone is what it says.
"""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from rankcheck.balls import risks, watching, wraps
from rankcheck.claims.claim import Claim, ImpureError
from rankcheck.claims.relations import Relation
from rankcheck.engine.counterexamples.rounding import beyond_rounding
from rankcheck.engine.parallel.traces import innermost
from rankcheck.engine.verification.evaluation import CULPRITS, Evaluation, Part, Raised
from rankcheck.engine.verification.mapped import PASSED, Mapped, beside, pure, relations_over
from rankcheck.engine.verification.sizes import sizes_of
from rankcheck.engine.verification.ways import Way, catches_nothing, way_of, ways_of
from rankcheck.errors import short_of_memory
from rankcheck.files import shown_path
from rankcheck.theory.instances.drivers import Drawing, ReplayError, ReplaySource, drawn
from rankcheck.theory.instances.record import Record
from rankcheck.theory.instances.source import Instances, Rejected, Source

#: So many instances of a shape are evaluated alone until one agrees with what the map made of it.
COMPARED = 4
#: Why instances run one at a time where none agrees.
OTHERWISE = "torch's map gives other sides"


@dataclass(frozen=True, eq=False)
class Drawn:
    """A batch that was drawn.

    Attributes:
        record: of the whole batch, as far as it was drawn.
        place, instance: one of the batch as it was built, if it is inside the hypotheses.
        integers: whether integers may wrap in others.
        evaluation: empty, unless the generator raises before everything is drawn.
    """

    record: Record
    place: int = -1
    instance: Any = None
    integers: bool = True
    evaluation: Evaluation = field(default_factory=Evaluation)

    @property
    def whole(self) -> bool:
        """Whether everything was drawn."""
        return not (self.evaluation.raised or self.evaluation.rejected)


def draw_batch(claim: Claim, family: Instances, source: Drawing) -> Drawn:
    """Draw a batch of a family of a claim.

    Raises:
        ImpureError: if what the generator draws depends on what it has drawn.
    """
    with _one_shape(claim, family), pure(claim), watching(ways_of(claim, family).watched):
        before = risks()
        found = drawn(family, source)
        integers = risks() > before
    if isinstance(found, tuple):
        instance, place = found
        return Drawn(source.record, place, instance, integers)
    evaluation = Evaluation()
    for one in found:
        if one.unmet:
            evaluation.reject(1, {one.unmet: 1})
        else:
            evaluation.raised.append(Raised(one.record, family, one.error, "generator"))
    if not evaluation.raised:  # all of the batch seem to be outside
        left = source.size - len(found)
        evaluation.reject(left, {found[0].unmet: left})
    return Drawn(source.record, evaluation=evaluation)


def evaluate_batch(
    claim: Claim, family: Instances, source: Drawing, *, share: float = 1.0
) -> tuple[Record, Evaluation]:
    """Draw a batch and evaluate it; see `evaluate_instances`."""
    batch = draw_batch(claim, family, source)
    if not batch.whole:
        return batch.record, batch.evaluation
    return batch.record, evaluate_instances(claim, family, batch, share=share)


def evaluate_instances(
    claim: Claim,
    family: Instances,
    batch: Drawn,
    *,
    share: float = 1.0,
    before_each: Callable[[], None] = lambda: None,
) -> Evaluation:
    """Evaluate a claim on the instances of a batch.

    In the common case the evaluation has one part, which holds the whole batch. An exception counts
    only if it is raised by an instance alone, inside the hypotheses. Without tensors, the batch is
    one instance.

    Args:
        share: where instances run one at a time, so many of them do, evenly spread.
        before_each: called then before each of them.

    Raises:
        ClaimError: if the body returns anything but relations.
        ImpureError: if the code of the claim is no function of what is drawn.
        InputError: if the body or the generator does.
    """
    work = _Work(claim, family, batch.record, share, before_each=before_each)
    count = batch.record.count
    with _one_shape(claim, family, count):
        if all(way.singly is None for way in ways_of(claim, family).at.values()):
            work.check_repeatable(list(range(count))[-COMPARED:])
        if batch.record.tensors:
            if work.way.singly is None:
                work.look_at(batch)
            work.together(torch.arange(count))
        else:
            work.way.singly = ""
            work.singly([0])
    return work.evaluation


def evaluate_drawn(claim: Claim, family: Instances, source: Source) -> Evaluation:
    """Evaluate a claim on the one instance that a generator builds from a source."""
    work = _Work(claim, family, Record(()))
    work.keep({0: work.alone(source)}, lambda _: source.record.as_batch())
    return work.evaluation


def runs_singly(claim: Claim, family: Instances, batch: Drawn) -> bool:
    """Whether the instances of the shape of a batch run one at a time; evaluates some of them."""
    if not batch.record.tensors:
        return True
    way = way_of(claim, family, batch.record)
    if way.singly is None:
        evaluate_instances(claim, family, batch, share=0.0)
    return bool(way.singly)


@dataclass(eq=False)
class _Work:
    """The evaluation of one batch."""

    claim: Claim
    family: Instances
    record: Record
    share: float = 1.0
    evaluation: Evaluation = field(default_factory=Evaluation)
    before_each: Callable[[], None] = lambda: None
    #: An instance that has run alone: its index, and its relations as those of a batch of one.
    known: tuple[int, tuple[Relation, ...]] | None = None

    @property
    def lost(self) -> bool:
        """Whether so many instances have raised that the others are left out."""
        return len(self.evaluation.raised) >= CULPRITS

    def together(self, index: torch.Tensor) -> None:
        """Map the claim over the instances at these indices, or evaluate them one at a time."""
        if self.lost:
            return
        if len(index) == 1 or self.way.singly:
            self.evaluation.singly = self.evaluation.singly or self.way.singly or ""
            self.singly(self.some(index) if self.way.singly else index.tolist())
            return
        record = self.record.select(index)
        with watching(not self.way.plain):
            found, relations = relations_over(self.claim, self.family, record)
        if found.stopped and self.way.plain:  # again, to say by what
            self.way.plain = False
            found, relations = relations_over(self.claim, self.family, record)
        if found.error is None or found.stopped:
            self.take(index, record, found, relations)
            return
        inside = found.valid.cpu()
        self.evaluation.reject(int((~inside).sum()), found.reasons)
        index = index[inside]
        halves = index.split((len(index) + 1) // 2) if bool(inside.all()) else (index,)
        for half in halves if len(index) else ():
            self.together(half)

    def take(
        self, index: torch.Tensor, record: Record, found: Mapped, relations: tuple[Relation, ...]
    ) -> None:
        """Take what a map has found of the instances at these indices, if it can be trusted."""
        wrapped = found.wrapped.cpu()
        if found.stopped:
            self.way.singly = found.stopped
        elif not self.way.generic and not bool(wrapped.all()):
            self.way.singly = self.compared(index, found.valid.cpu(), ~wrapped, relations)
        if self.way.singly:
            self.together(index)
            return
        if bool(wrapped.any()):
            self.evaluation.singly = "integers wrap"
            self.singly(self.some(index[wrapped]))
            index, kept = index[~wrapped], (~wrapped).nonzero().reshape(-1)
            record = record.select(kept)
            relations = tuple(one.map(lambda array: array[kept]) for one in relations)
            found = replace(found, valid=found.valid[kept])
        if len(index):
            self.evaluation.parts.append(Part(self.family, record, index, found.valid, relations))
            self.evaluation.reasons.update(found.reasons)

    @property
    def way(self) -> Way:
        """What is known of the shape."""
        return way_of(self.claim, self.family, self.record)

    def look_at(self, batch: Drawn) -> None:
        """Run the body on the instance of a new shape that was built, and note how it runs."""
        if batch.instance is None:
            return
        self.way.sizes = sizes_of(self.claim, batch.instance)
        ways, place = ways_of(self.claim, self.family), range(batch.record.count)[batch.place]
        higher, before = ways.take(batch.record.integers), risks()
        instance, watched = batch.instance, ways.watched
        with suppress(Exception), pure(self.claim), watching(watched or higher):
            if higher and not watched:
                instance = self.family(ReplaySource(batch.record.at(place)))
            relations = tuple(one.spread() for one in self.claim.relations(instance))
            self.known = place, beside([relations])
            risky = (batch.integers and watched) or risks() > before
            ways.plain = 0 if risky else ways.plain + catches_nothing(self.claim.file)
            self.way.plain = bool(ways.plain)

    def some(self, index: torch.Tensor) -> list[int]:
        """A share of some indices, evenly spread; one at least.

        The first two are among them, which in scouts are the ends of all ranges.
        """
        few = max(1, math.ceil(len(index) * self.share))
        spread = index[torch.arange(few) * len(index) // few].tolist()
        return [*dict.fromkeys([*index[: min(2, few)].tolist(), *spread])]

    def singly(self, places: Iterable[int]) -> None:
        """Evaluate the instances at these indices one at a time."""
        found = {}
        for place in places:
            if self.lost:
                break
            self.before_each()
            self.evaluation.alone += 1
            found[place] = self.alone(ReplaySource(self.record.at(place)))
        self.keep(found, self.record.select)

    def keep(
        self,
        found: Mapping[int, tuple[tuple[Relation, ...], bool] | None],
        records: Callable[[torch.Tensor], Record],
    ) -> None:
        """Put instances that were evaluated alone beside one another, those of one form."""
        forms: dict[Any, dict[int, tuple[Relation, ...]]] = {}
        for place, one in found.items():
            if one is not None:
                relations, wrapped = one
                form = (wrapped, *(each.form for each in relations))
                forms.setdefault(form, {})[place] = relations
        for (wrapped, *_), alike in forms.items():
            relations = beside([*alike.values()])
            index = torch.tensor([*alike])
            inside = torch.ones_like(index, dtype=torch.bool, device=relations[0].lhs.device)
            part = Part(self.family, records(index), index, inside, relations, wrapped)
            self.evaluation.parts.append(part)

    def alone(self, source: Source) -> tuple[tuple[Relation, ...], bool] | None:
        """The relations of one instance, and whether integers wrapped; None if it has none."""
        by, before = "generator", wraps()
        try:
            with pure(self.claim):
                instance = self.family(source)
                by = "body"
                relations = tuple(one.spread() for one in self.claim.relations(instance))
        except Rejected as rejected:
            self.evaluation.reject(1, {str(rejected): 1})
            return None
        except PASSED:
            raise
        except Exception as error:
            if short_of_memory(error):  # the frames of its traceback hold what was allocated
                traceback.clear_frames(error.__traceback__)
            raised = Raised(source.record.detach(), self.family, error, by)
            if raised.outside_exactly():
                self.evaluation.reject(1, {"a hypothesis, in exact numbers": 1})
            else:
                self.evaluation.raised.append(raised)
            return None
        return relations, wraps() > before

    def compared(
        self,
        index: torch.Tensor,
        valid: torch.Tensor,
        sound: torch.Tensor,
        relations: tuple[Relation, ...],
    ) -> str:
        """Compare instances of a mapped batch with themselves alone; empty if one agrees.

        At a kink, or where a rank is on its edge, rounding may decide; so one is enough. Those
        with numbers other than integers come first.

        Args:
            sound: the instances without integers that wrap.
        """
        inside = valid & sound
        tensors = [t[index] for t in self.record.tensors]
        broken = torch.stack([(t != t.round()).reshape(len(t), -1).any(1).cpu() for t in tensors])
        generic = inside & broken.any(0)
        self.way.generic = bool(generic.any())
        chosen = next((some for some in (generic, inside, sound) if bool(some.any())), sound)
        if self.known is not None:
            place, known = self.known
            for number in (index == place).nonzero().reshape(-1).tolist():
                if chosen[number] and inside[number] and _agree(known, relations, number):
                    return ""
        for number in chosen.nonzero().reshape(-1).tolist()[-COMPARED:]:
            trial = _Work(self.claim, self.family, self.record)
            trial.singly([int(index[number])])
            parts = trial.evaluation.parts
            if not bool(inside.any()) and not parts and not trial.evaluation.raised:
                return ""
            if inside[number] and parts and _agree(parts[0].relations, relations, number):
                return ""
        return OTHERWISE

    def check_repeatable(self, places: Sequence[int]) -> None:
        """Evaluate an instance twice, the first of these that has relations.

        Raises:
            ImpureError: if it has others the second time.
        """
        for place in places:
            trials = []
            for _ in range(2):
                trial = _Work(self.claim, self.family, self.record)
                trial.singly([place])
                trials.append(trial.evaluation)
            first, second = (trial.parts for trial in trials)
            if first and not (second and _agree(first[0].relations, second[0].relations, 0)):
                raise ImpureError(
                    self.claim,
                    f"with {self.family}, the sides of an instance are others when it is evaluated "
                    "again, so something is random or has a memory; a body and a generator are "
                    "functions of what is drawn from the source, and of nothing else",
                )
            if first:
                return


def _agree(one: tuple[Relation, ...], batch: tuple[Relation, ...], place: int) -> bool:
    """Whether an instance alone, a batch of one, has the relations of a batch at a place."""
    if len(one) != len(batch):
        return False
    for alone, among in zip(one, batch, strict=True):
        a, b = alone.map(lambda array: array[0]), among.map(lambda array: array[place])
        if (a.kind, a.label, a.lhs.shape) != (b.kind, b.label, b.lhs.shape):
            return False
        if not torch.equal(a.asserted, b.asserted):
            return False
        bands = a.tolerance, b.tolerance
        for here, there in ((a.lhs, b.lhs), (a.rhs, b.rhs)):
            if beyond_rounding(here, there, *bands):
                return False
    return True


@contextmanager
def _one_shape(claim: Claim, family: Instances, batch: int = 2) -> Iterator[None]:
    """Run a generator on the instances of a batch, for which it draws the same integers and sizes.

    Raises:
        ImpureError: if it does not.
    """
    try:
        yield
    except ReplayError as error:
        if batch == 1:
            raise
        file = Path(family.origin.__code__.co_filename)
        frame = innermost(error, [file])
        place = "" if frame is None else f"{shown_path(file)}:{frame.lineno}, `{frame.line}`: "
        raise ImpureError(
            claim,
            f"with {family}: {place}what is drawn depends on a value that was drawn before "
            f"({error}); what a generator draws next depends on its integers alone",
        ) from error
