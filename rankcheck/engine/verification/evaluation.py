"""What became of the instances of a batch: they are in parts, rejected, or raised."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import torch

from rankcheck.claims.claim import Claim
from rankcheck.claims.labels import readable
from rankcheck.claims.relations import Relation
from rankcheck.engine.counterexamples.describe import describe_instance
from rankcheck.engine.counterexamples.judge import exact_instance
from rankcheck.engine.parallel.traces import raised
from rankcheck.engine.verification.counts import Counts
from rankcheck.errors import short_of_memory
from rankcheck.theory.instances.choices import write_choices
from rankcheck.theory.instances.drivers import ReplaySource
from rankcheck.theory.instances.record import Record
from rankcheck.theory.instances.source import Instances, Rejected

#: Halving ends once this many instances of a batch have raised: the claim has failed anyway.
CULPRITS = 64


@dataclass(frozen=True, eq=False)
class Part:
    """Instances of one batch whose relations have one form.

    Attributes:
        family: their generator.
        record: what was drawn for them, along a leading axis.
        places: their indices in the batch.
        valid: which of them satisfy the hypotheses.
        relations: what the body returned, along a leading axis.
        wrapped: whether integers wrapped on the way, so that floats decide nothing.
        satisfied: the indices of those that balls have decided to satisfy the claim.
    """

    family: Instances
    record: Record
    places: torch.Tensor
    valid: torch.Tensor
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
        """The record of one of them."""
        return self.record.instance(index)


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
    """What became of the instances of a batch: each is in a part, rejected, raised, or left out.

    Instances are left out where they run one at a time, and after `CULPRITS` of them have raised.

    Attributes:
        rejected: instances that no part holds because they break a hypothesis.
        reasons: by hypothesis, how many of those break it.
        alone: how many instances ran one at a time.
        singly: why instances ran one at a time, such as ".item() in line 12"; else empty.
    """

    parts: list[Part] = field(default_factory=list)
    raised: list[Raised] = field(default_factory=list)
    rejected: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    alone: int = 0
    singly: str = ""

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
