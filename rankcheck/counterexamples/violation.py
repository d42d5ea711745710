"""A violation, an instance on which a claim fails; and the evaluation of a claim in floats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from rankcheck.claims.claim import Claim
from rankcheck.claims.relations import Relation
from rankcheck.counterexamples.judge import Judgement
from rankcheck.instances.record import Record
from rankcheck.instances.source import Instances, Source, over_batch


@dataclass(frozen=True, eq=False)
class Violation:
    """An instance on which a claim fails, and how ball arithmetic judged it."""

    record: Record
    family: Instances
    judgement: Judgement

    @property
    def proved(self) -> bool:
        """Whether ball arithmetic proves the violation."""
        return self.judgement.finding == "refuted"

    @property
    def conclusive(self) -> bool:
        """Whether it is proved, or would be if the claim had a ball form."""
        return self.proved or self.judgement.unprovable

    @property
    def instance(self) -> tuple[Any, ...]:
        """The instance in exact numbers, as it was judged.

        Raises:
            ValueError: if the judgement has none, because the claim has no ball form.
        """
        if self.judgement.instance is None:
            raise ValueError(
                f"this instance of {self.family} was not built in exact numbers: "
                f"{self.judgement.reason}"
            )
        return self.judgement.instance


def evaluate(claim: Claim, family: Instances, source: Source) -> tuple[Relation, ...]:
    """The relations of a claim on the instance that its generator builds from a source.

    Their sides have the batch axes of the source.

    Raises:
        Rejected: if the source has no batch axis and the instance breaks a hypothesis.
    """
    instance = family(source)
    return tuple(relation.over(source.batch) for relation in claim.relations(instance))


def excess(
    relations: tuple[Relation, ...], batch: tuple[int, ...], *, relative: bool = True
) -> torch.Tensor:
    """The largest violation of each instance, of shape `batch`; see `Relation.beyond`.

    It is -inf where all relations hold within their tolerance, and inf where a side is NaN.
    """
    worst = [
        over_batch(relation.beyond(relative=relative), batch, torch.amax) for relation in relations
    ]
    return torch.stack(torch.broadcast_tensors(*worst)).amax(0).detach()
