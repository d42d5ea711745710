"""A violation: an instance on which a claim fails, and how a claim is evaluated on an instance."""

from __future__ import annotations

from collections.abc import Mapping
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
    """An instance on which a claim fails, and what ball arithmetic says of it."""

    record: Record
    family: Instances
    judgement: Judgement


def evaluate(
    claim: Claim, family: Instances, source: Source, parameters: Mapping[str, Any]
) -> tuple[Relation, ...]:
    """Build an instance from a source and put it into the body.

    Raises:
        Rejected: if the source has no batch axis and the instance is outside the hypotheses.
    """
    instance = family(source)
    return tuple(
        relation.over(source.batch) for relation in claim.relations(instance, **parameters)
    )


def excess(
    relations: tuple[Relation, ...], batch: tuple[int, ...], *, relative: bool = True
) -> torch.Tensor:
    """By instance, the largest violation beyond the tolerance, by default relative to the sides.

    It is -inf where there is none, and inf where a side is not a number.
    """
    worst = [
        over_batch(relation.beyond(relative=relative), batch, torch.amax) for relation in relations
    ]
    return torch.stack(torch.broadcast_tensors(*worst)).amax(0).detach()
