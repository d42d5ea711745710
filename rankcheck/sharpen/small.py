"""Makes an extremal instance small while it keeps its ratio."""

from __future__ import annotations

from fractions import Fraction

import torch

from rankcheck.claims.relations import Relation
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.counterexamples.judge import PRECISIONS
from rankcheck.engine.counterexamples.shrinking import shrink_record
from rankcheck.engine.records.ratio import NotCertifiedError, attained
from rankcheck.theory.instances.record import Record
from rankcheck.theory.instances.source import Rejected

#: The share of its ratio that an instance may lose.
KEEP = Fraction(1, 10**6)
#: Seconds for making one instance small.
BUDGET = 3.0
#: A candidate is evaluated at up to this precision, or that of the instance if it is higher.
BITS = 256
#: Floats that are further below, relatively, are not evaluated in balls.
ROUNDING = 1e-9


def made_small(instance: Instance, number: int, budget: float = BUDGET) -> Instance:
    """A small instance that attains at least 1 - `KEEP` of the ratio of relation `number`.

    Cropping and simplifying lower the numbers of entries and their bits; see
    `rankcheck.engine.counterexamples.shrinking`. An instance without a certified positive ratio of
    that relation comes back as it is.

    Args:
        number: the place of the relation in what the body returns.
        budget: seconds.

    Raises:
        HandoverError: if Hypothesis does not replay the record that it was handed.
    """
    ratio, bits = _certified(instance, number)
    if ratio <= 0:
        return instance
    claim, family = instance.claim, instance.family
    least = ratio * (1 - KEEP)
    precisions = tuple(each for each in PRECISIONS if each <= max(BITS, bits))

    def candidate(record: Record) -> Instance:
        return Instance(claim, family, record, precisions)

    def keeps(record: Record) -> bool:
        return _certified(candidate(record), number)[0] >= least

    def seems_to(record: Record) -> bool:
        try:
            relations = candidate(record).relations
        except (Rejected, ArithmeticError, MemoryError, RuntimeError, ValueError):
            # A candidate that breaks a hypothesis or fails numerically has no ratio.
            return False
        return number < len(relations) and _in_floats(relations[number]) >= least * (1 - ROUNDING)

    shrunk = shrink_record(
        family,
        instance.record,
        keeps,
        screen=seems_to,
        budget=budget,
        name=f"{claim.id}, sharpening",
    )
    unchanged = shrunk.record is instance.record
    return instance if unchanged else Instance(claim, family, shrunk.record)


def _certified(instance: Instance, number: int) -> tuple[Fraction, int]:
    """The proved ratio of a relation, and at which precision; 0 without one."""
    try:
        proved = attained(instance)
    except NotCertifiedError:
        return Fraction(0), 0
    return next(((one.low, one.bits) for one in proved if one.number == number), (Fraction(0), 0))


def _in_floats(relation: Relation) -> float:
    """The largest ratio, or deviation, of a relation in floats, where it is asserted."""
    lhs, rhs = (side.detach().double() for side in (relation.lhs, relation.rhs))
    if relation.kind == "eq":
        values = (lhs - rhs).abs() / torch.maximum(lhs.abs(), rhs.abs())
    else:
        values = torch.where(rhs > 0, lhs / rhs, -torch.inf)
    values = torch.where(relation.asserted, values, -torch.inf).nan_to_num(nan=-torch.inf)
    return float(values.max()) if values.numel() else -torch.inf
