r"""Violations in floats that are not proved: do they stand clear of rounding, and why no proof.

The rounding error of `lhs - rhs` at an instance is estimated from its neighbours: each drawn entry
is changed by a factor of up to $1 \pm 2^{-50}$, many times, and the spread of `lhs - rhs` over
these neighbours shows what the conditioning of the body makes of errors in the last bits. A
violation is *clear* if it exceeds 100 times that spread and 1000 times the tolerance. This is an
estimate and no bound: an error that all neighbours share does not show. So a clear violation is
`undecided` as any other that is not proved.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass

import torch

from rankcheck import balls
from rankcheck.claims.claim import Claim
from rankcheck.claims.relations import Relation
from rankcheck.counterexamples.judge import PRECISIONS, exact_instance
from rankcheck.counterexamples.violation import evaluate, excess
from rankcheck.instances.record import Entries, Record
from rankcheck.instances.source import Instances, ReplaySource

#: Neighbours of an instance, as a batch and one by one, and their relative distance.
NEIGHBOURS, SINGLE_NEIGHBOURS, DISTANCE = 64, 16, 2.0**-50
#: A clear violation exceeds the spread and the tolerance by these factors.
SPREADS, TOLERANCES = 100.0, 1000.0
#: At least this share of the neighbours of a clear violation satisfies the hypotheses.
INSIDE = 0.5


@dataclass(frozen=True)
class Suspicion:
    """A violation in floats.

    Attributes:
        relative: its size relative to the sides; infinite if a side is not a number.
        excess: its absolute size.
        tolerance: that of the relation.
        spread: the estimated rounding error; infinite if there is no estimate.
    """

    relative: float
    excess: float
    tolerance: float
    spread: float

    @property
    def clear(self) -> bool:
        """Whether the violation stands clear of the tolerance and of the estimated rounding."""
        return (
            self.relative < torch.inf
            and self.excess > SPREADS * self.spread
            and self.excess > TOLERANCES * self.tolerance
        )


def suspect(claim: Claim, family: Instances, record: Record) -> Suspicion | None:
    """The violation in floats of an instance; None if there is none.

    Raises:
        Exception: what the family and the body raise on the instance, `Rejected` among others.
    """
    relations = evaluate(claim, family, ReplaySource(record), {})
    relative = float(excess(relations, ()))
    if relative == -torch.inf:
        return None
    number = max(range(len(relations)), key=lambda one: float(relations[one].beyond().max()))
    relation = relations[number]
    place = int(relation.beyond().reshape(-1).argmax())
    size = float(relation.excess.reshape(-1)[place])
    tolerance = float(relation.tolerance.reshape(-1)[place])
    return Suspicion(relative, size, tolerance, _spread(claim, family, record, number, place))


def _spread(claim: Claim, family: Instances, record: Record, number: int, place: int) -> float:
    """The largest change of an entry of `lhs - rhs` among the neighbours of an instance."""
    batched = claim.no_batch is None
    count = NEIGHBOURS if batched else SINGLE_NEIGHBOURS
    near = neighbours(record, count)
    if not near.tensors:
        return 0.0
    found: list[float] = []
    inside = 0
    sources = (
        [ReplaySource(near, batch=(count + 1,))]
        if batched
        else [ReplaySource(near.instance(index)) for index in range(count + 1)]
    )
    for source in sources:
        try:
            relation = evaluate(claim, family, source, {})[number]
        except Exception:  # a neighbour outside the hypotheses, or on which a routine fails
            continue
        rows = (len(source.batch) and source.batch[0]) or 1
        values = _difference(relation).reshape(rows, -1)[:, place]
        asserted = relation.asserted.reshape(rows, -1)[:, place]
        kept = source.valid.reshape(rows).cpu() & asserted.cpu()
        inside += int(kept.sum())
        found += values.cpu()[kept].tolist()
    if inside < INSIDE * (count + 1) or not all(abs(value) < torch.inf for value in found):
        return torch.inf
    return max(found) - min(found)


def _difference(relation: Relation) -> torch.Tensor:
    """`lhs - rhs` as floats."""
    return torch.as_tensor(relation.lhs - relation.rhs).detach().double()


def neighbours(record: Record, count: int) -> Record:
    """A batch of an instance and `count` neighbours; zeros are moved in half of them."""
    generator = torch.Generator().manual_seed(0)
    tensors = []
    for choice in record.choices:
        if isinstance(choice, Entries):
            values = choice.values.detach().cpu()
            random = torch.rand(
                (count + 1, *values.shape), dtype=torch.float64, generator=generator
            )
            step = DISTANCE * (2 * random - 1)
            step[0] = 0.0
            size = values.abs().expand_as(step).clone()
            size[1::2] = torch.where(size[1::2] == 0, 1.0, size[1::2])
            tensors.append((values + step * size).clamp(choice.low, choice.high))
    return record.with_tensors(tensors)


def obstacle(claim: Claim, family: Instances, record: Record) -> str | None:
    """The line of the body at which ball arithmetic ends: `FILE:LINE: its text`.

    None if the body runs on balls, or the claim declares that it does not.
    """
    if claim.no_ball is not None:
        return None
    with balls.precision(PRECISIONS[-1]):
        try:
            claim.relations(exact_instance(family, record))
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
        else:
            return None
    own = [frame for frame in frames if frame.filename == str(claim.file)]
    if not own:
        return None
    last = own[-1]
    return f"{claim.file.name}:{last.lineno}: {last.line or ''}".rstrip(": ")
