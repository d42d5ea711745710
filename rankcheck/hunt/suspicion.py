r"""Violations in floats that are not proved: do they stand clear of rounding, and why no proof.

The rounding error of $f = $ `lhs - rhs` at an instance $x$ is estimated from its neighbours. The
changes $|f(x + hd) - f(x)|$ with $h = 2^{-50}$, for random directions $d$ relative to the entries,
show what the conditioning of the body makes of errors in the last bits. Errors that such neighbours
share, because a large number absorbs the change, show in the second differences
$|f(x + 2hd) - 2 f(x + hd) + f(x)|$ with $h = 2^{-38}$ and $2^{-26}$, where a smooth $f$ nearly
cancels. A violation is *clear* if it exceeds 100 times the largest of these and 1000 times the
tolerance. This is an estimate and no bound: an error that all neighbours share does not show. So a
clear violation is `undecided` as any other that is not proved.
"""

from __future__ import annotations

import traceback
from contextlib import suppress
from dataclasses import dataclass

import torch

from rankcheck import balls
from rankcheck.claims.claim import Claim
from rankcheck.claims.relations import Relation
from rankcheck.counterexamples.judge import PRECISIONS, exact_instance
from rankcheck.counterexamples.violation import evaluate, excess
from rankcheck.instances.record import Entries, Record
from rankcheck.instances.source import Instances, ReplaySource

#: Directions to neighbours of an instance, as a batch and one by one; and their relative distances.
#: At the first one changes are looked at, at the others second differences.
DIRECTIONS, SINGLE_DIRECTIONS = 24, 6
DISTANCES = (2.0**-50, 2.0**-38, 2.0**-26)
#: A clear violation exceeds the spread and the tolerance by these factors.
SPREADS, TOLERANCES = 100.0, 1000.0
#: At least this share of the differences around a clear violation is known, because the neighbours
#: satisfy the hypotheses.
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
    relations = evaluate(claim, family, ReplaySource(record))
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
    """The estimated rounding error of an entry of `lhs - rhs`; infinite if there is none."""
    batched = claim.no_batch is None
    near = neighbours(record, DIRECTIONS if batched else SINGLE_DIRECTIONS)
    if not near.tensors:
        return 0.0
    count = near.tensors[0].shape[0]
    values = torch.full((count,), torch.nan, dtype=torch.float64)
    if batched:
        values = _values(claim, family, ReplaySource(near, batch=(count,)), number, place)
    else:
        for index in range(count):
            # A neighbour may be outside the hypotheses, or a routine fails on it.
            with suppress(Exception):
                source = ReplaySource(near.instance(index))
                values[index] = _values(claim, family, source, number, place)[0]
    first, (one, two) = values[0], values[1:].reshape(len(DISTANCES), 2, -1).unbind(1)
    changes = torch.cat(((one[0] - first).abs(), (two[1:] - 2 * one[1:] + first).abs().reshape(-1)))
    known = changes[changes.isfinite()]
    return float(known.max()) if len(known) >= INSIDE * len(changes) else torch.inf


def _values(
    claim: Claim, family: Instances, source: ReplaySource, number: int, place: int
) -> torch.Tensor:
    """An entry of `lhs - rhs` by instance; NaN outside the hypotheses."""
    relation = evaluate(claim, family, source)[number]
    rows = source.batch[0] if source.batch else 1
    values = _difference(relation).reshape(rows, -1)[:, place].cpu()
    asserted = relation.asserted.reshape(rows, -1)[:, place].cpu()
    return torch.where(source.valid.reshape(rows).cpu() & asserted, values, torch.nan)


def _difference(relation: Relation) -> torch.Tensor:
    """`lhs - rhs` as floats."""
    return torch.as_tensor(relation.lhs - relation.rhs).detach().double()


def neighbours(record: Record, directions: int) -> Record:
    """A batch of an instance, and its neighbours once and twice as far, by distance and direction.

    Directions point into the ranges. Zeros are moved in half of the directions.
    """
    generator = torch.Generator().manual_seed(0)
    tensors = []
    for choice in record.choices:
        if isinstance(choice, Entries):
            x = choice.values.detach().cpu()
            shape = (directions, *x.shape)
            d = 2 * torch.rand(shape, dtype=torch.float64, generator=generator) - 1
            size = x.abs().expand(shape).clone()
            size[1::2] = torch.where(size[1::2] == 0, 1.0, size[1::2])
            reach = 2 * DISTANCES[-1] * size
            d = torch.where(x + reach > choice.high, -d.abs(), d)
            d = torch.where(x - reach < choice.low, d.abs(), d) * size
            steps = [x + far * h * d for h in DISTANCES for far in (1, 2)]
            tensors.append(torch.cat((x[None], *steps)).clamp(choice.low, choice.high))
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
