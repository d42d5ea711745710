"""Shrinks a violation: the record becomes small, and the violation stays proved."""

from __future__ import annotations

from fractions import Fraction

from rankcheck.counterexamples.instance import Instance
from rankcheck.counterexamples.judge import PRECISIONS
from rankcheck.counterexamples.shrinking.records import shrink_record
from rankcheck.instances.record import Record
from rankcheck.instances.source import Rejected

#: The share of the relative violation that a smaller instance has to keep.
KEEP = Fraction(1, 2)
#: Seconds for shrinking one violation.
BUDGET = 5.0
#: A candidate is judged at up to the precision of the violation, or this one if it is higher.
BITS = 256


def shrink_violation(violation: Instance, budget: float = BUDGET) -> tuple[Instance, str | None]:
    """A small instance that violates the claim by at least half as much, judged on balls.

    Candidates are evaluated in floats first; those that violate the claim clearly are judged on
    balls. An undecided violation is returned as it is: it would shrink towards instances on which
    floats are least accurate.

    Args:
        budget: seconds.

    Returns:
        The instance, and why Hypothesis did not take part, or None if it did.
    """
    if not violation.proved:
        return violation, None
    claim, family, judgement = violation.claim, violation.family, violation.in_balls
    least = KEEP * judgement.relative_excess
    precisions = tuple(bits for bits in PRECISIONS if bits <= max(BITS, judgement.bits))

    def candidate(record: Record) -> Instance:
        return Instance(claim, family, record, precisions)

    def violates(record: Record) -> bool:
        one = candidate(record)
        return one.proved and one.in_balls.relative_excess >= least

    def seems_to(record: Record) -> bool:
        try:
            return float(least) <= candidate(record).relative < float("inf")
        except (Rejected, ArithmeticError, MemoryError, RuntimeError, ValueError):
            # A candidate that breaks a hypothesis or fails numerically is not a counterexample.
            return False

    shrunk = shrink_record(
        family,
        violation.record,
        violates,
        screen=seems_to,
        budget=budget,
        name=f"{claim.id}, shrinking",
    )
    unchanged = shrunk.record is violation.record
    return violation if unchanged else candidate(shrunk.record), shrunk.left_out
