"""Evaluates a batch of instances, of which some may raise.

`torch.linalg.inv`, `solve`, `cholesky` and `eigh` raise for a whole batch if one of its matrices is
singular. A batch that raises is therefore evaluated again without the instances that are known to
break a hypothesis; if it still raises, it is halved until the instances that raise are alone.
"""

from __future__ import annotations

import json
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import torch
from hypothesis.errors import HypothesisException

from rankcheck.balls import wraps
from rankcheck.claims.claim import Claim, ClaimError
from rankcheck.claims.labels import readable
from rankcheck.claims.relations import Relation
from rankcheck.engine.counterexamples.describe import describe_instance
from rankcheck.engine.counterexamples.judge import exact_instance
from rankcheck.engine.parallel.traces import raised
from rankcheck.engine.verification.branches import Watch, Watched, watching
from rankcheck.engine.verification.counts import Counts
from rankcheck.errors import InputError, short_of_memory
from rankcheck.theory.instances.choices import write_choices
from rankcheck.theory.instances.drivers import ReplayError, ReplaySource
from rankcheck.theory.instances.record import Record
from rankcheck.theory.instances.source import Instances, Rejected, Source

#: Halving ends once this many instances of a batch have raised: the claim has failed anyway.
CULPRITS = 64
#: Errors that say nothing about an instance: they are not caught.
PASSED = (ClaimError, InputError, ReplayError, HypothesisException)


@dataclass(frozen=True, eq=False)
class Part:
    """Instances of one batch that were evaluated together.

    Attributes:
        record: what was drawn for them.
        batch: the batch axes of the record and of the sides; `()` for one instance.
        valid: which of them satisfy the hypotheses, of shape `batch`.
        built: the instances, as the body received them.
        relations: what the body returned, over the batch axes.
        wrapped: whether integers wrapped on the way, so that floats decide nothing.
        satisfied: the indices of those that balls have decided to satisfy the claim.
    """

    record: Record
    batch: tuple[int, ...]
    valid: torch.Tensor
    built: tuple[Any, ...]
    relations: tuple[Relation, ...]
    wrapped: bool = False
    satisfied: set[int] = field(default_factory=set)

    @cached_property
    def violated(self) -> tuple[torch.Tensor, ...]:
        """Where each relation fails by more than its tolerance."""
        return tuple(relation.violated() for relation in self.relations)

    @cached_property
    def violating(self) -> bool:
        """Whether any relation fails anywhere, inside the hypotheses or not."""
        return any(bool(violated.any()) for violated in self.violated)

    def instance(self, index: int) -> Record:
        """The record of one instance; the index of the only one is 0."""
        return self.record.instance(index) if self.batch else self.record.detach()


@dataclass(frozen=True, eq=False)
class Raised:
    """An instance inside the hypotheses on which the generator or the body raises.

    Attributes:
        record: what was drawn for it; up to the error, if the generator raised.
        error: the exception.
        by: what raised.
    """

    record: Record
    family: Instances
    error: Exception
    by: str

    def instance(self, claim: Claim) -> tuple[str, ...]:
        """The instance as the body received it, and the choices that make it."""
        drawn = readable(f"drawn: {self.family}: {json.dumps(write_choices(self.record))}")
        text = instance_text(claim, self.family, self.record) if self.by == "body" else None
        return (drawn,) if text is None else (text, drawn)

    def told(self, claim: Claim) -> str:
        """What was raised, in which line, the instance, and the rule."""
        rule = f"the {self.by} accepts every instance inside the hypotheses (source.require)"
        what = raised(self.error, claim.file, self.by)
        return "\n  ".join([what, *self.instance(claim), *([] if self.short else [rule])])

    @property
    def short(self) -> bool:
        """Whether memory was short."""
        return short_of_memory(self.error)

    def outside_exactly(self) -> bool:
        """Whether the instance breaks a hypothesis exactly, though not in floats."""
        try:
            exact_instance(self.family, self.record)
        except Rejected:
            return True
        except Exception:
            return False
        return False


def instance_text(claim: Claim, family: Instances, record: Record) -> str | None:
    """An instance as the body receives it; None if it cannot be built alone, or described."""
    try:
        return readable(describe_instance(claim, family(ReplaySource(record))))
    except Exception:
        return None


@dataclass(eq=False)
class Evaluation:
    """What became of the instances of a batch: each is in a part, rejected, or raised.

    Instances are left out only after `CULPRITS` of them have raised.

    Attributes:
        rejected: instances that no part holds because they break a hypothesis.
        reasons: by hypothesis, how many of those break it.
        source: what the whole batch was drawn from, up to what was raised.
    """

    parts: list[Part] = field(default_factory=list)
    raised: list[Raised] = field(default_factory=list)
    rejected: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    source: Source | None = None

    @property
    def counts(self) -> Counts:
        """How many instances were evaluated, and how many break a hypothesis."""
        valid = sum(int(part.valid.sum()) for part in self.parts)
        total = sum(part.valid.numel() for part in self.parts)
        return Counts(valid, self.rejected + total - valid, 0, dict(self.reasons))

    def reject(self, number: int, reasons: Mapping[str, int]) -> None:
        """Count instances that break a hypothesis."""
        self.rejected += number
        self.reasons.update(reasons)

    def add(
        self, source: Source, built: tuple[Any, ...], relations: tuple[Relation, ...], wrapped: bool
    ) -> None:
        """Add the instances that a source has built."""
        part = Part(source.record, source.batch, source.valid, built, relations, wrapped)
        self.parts.append(part)
        self.reasons.update(source.reasons)


def evaluate_instances(
    claim: Claim,
    family: Instances,
    make: Callable[[], Source],
    *,
    watched: bool = False,
) -> Evaluation:
    """Evaluate a claim on the instances that a generator builds from a source.

    In the common case the evaluation has one part, which holds the whole batch. An exception counts
    only if it is raised by an instance alone, without batch axes, inside the hypotheses.

    Args:
        make: makes the source; called again for each part of a batch that raises, so it has to
            make the same source each time. A source without batch axes is made once.
        watched: whether to look for branches on what is drawn; see `check_branches`.

    Raises:
        BatchError: if there are any.
        ClaimError: if the body returns anything but relations.
        InputError: if the body or the generator does.
    """
    evaluation = Evaluation()
    with watching(claim, family) if watched else nullcontext() as watch:
        _evaluate(claim, family, make, None, evaluation, watch)
    return evaluation


def _evaluate(
    claim: Claim,
    family: Instances,
    make: Callable[[], Source],
    index: torch.Tensor | None,
    evaluation: Evaluation,
    watch: Watch | None = None,
) -> None:
    """Evaluate the instances at these indices of the source, a number or a vector of them.

    With a watch, the parts of a batch that raises are evaluated without it.
    """
    if len(evaluation.raised) >= CULPRITS:
        return
    source = make() if index is None else Chosen(make(), index)
    source = source if watch is None else Watched(source, watch)
    evaluation.source = evaluation.source or source
    by, before = "generator", wraps()
    try:
        with watch or nullcontext():
            instance = family(source)
            by = "body"
            relations = tuple(relation.over(source.batch) for relation in claim.relations(instance))
    except Rejected as rejected:
        evaluation.reject(1, {str(rejected): 1})
        return
    except PASSED:
        raise
    except Exception as error:
        if short_of_memory(error):  # the frames of its traceback hold what was allocated
            traceback.clear_frames(error.__traceback__)
        if not source.batch:
            raised = Raised(source.record.detach(), family, error, by)
            if raised.outside_exactly():
                evaluation.reject(1, {"a hypothesis, in exact numbers": 1})
            else:
                evaluation.raised.append(raised)
            return
        inside = source.valid.cpu()
        indices = torch.arange(len(inside)) if index is None else index
        again = partial(_evaluate, claim, family, make, evaluation=evaluation)
        if not bool(inside.all()):
            evaluation.reject(int((~inside).sum()), source.reasons)
            indices = indices[inside]
            if len(indices):
                again(indices)
        elif len(indices) == 1:
            again(indices[0])
        else:
            half = len(indices) // 2
            again(indices[:half])
            again(indices[half:])
        return
    evaluation.add(source, instance, relations, wraps() > before)


class Chosen(Source):
    """The instances at some indices of the batch that another source draws.

    Args:
        source: a source with one batch axis that has drawn nothing yet.
        index: the indices, in any order; a single number gives an instance without batch axes.
    """

    def __init__(self, source: Source, index: torch.Tensor) -> None:
        super().__init__(tuple(index.shape))
        self._source = source
        self._index = index

    def _integer(self, low: int, high: int) -> int:
        return self._source.integer(low, high, self._weights)

    def _tensor(self, shape: tuple[int, ...], low: float, high: float) -> Any:
        values = self._source.tensor(*shape, low=low, high=high)
        return values[self._index.to(values.device)]
