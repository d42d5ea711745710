"""Shrinking a violation: the record becomes small, and the violation stays proved."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from rankcheck.claims.claim import Claim
from rankcheck.counterexamples.judge import PRECISIONS, judge
from rankcheck.counterexamples.shrinking.records import shrink_record
from rankcheck.counterexamples.violation import Violation, evaluate, excess
from rankcheck.instances.record import Record
from rankcheck.instances.source import Rejected, ReplaySource

#: The share of the relative violation that a smaller instance has to keep.
KEEP = Fraction(1, 2)
#: Seconds for shrinking one violation.
BUDGET = 5.0
#: A candidate is judged at up to the precision of the violation, or this one if it is higher.
BITS = 256


@dataclass(frozen=True, eq=False)
class Small:
    """A violation in its smallest and in its worst form.

    Attributes:
        worst: the instance with the largest violation relative to the sides.
        left_out: why Hypothesis did not take part, or None if it did.
    """

    smallest: Violation
    worst: Violation
    left_out: str | None = None


def shrink_violation(claim: Claim, violation: Violation, budget: float = BUDGET) -> Small:
    """A small instance that violates the claim by at least half as much, judged on balls.

    Candidates are evaluated in floats first; those that violate the claim clearly are judged on
    balls. An undecided violation is returned as it is: it would shrink towards instances on which
    floats are least accurate.

    Args:
        budget: seconds.
    """
    if not violation.proved:
        return Small(violation, violation)
    family, judgement = violation.family, violation.judgement
    least = KEEP * judgement.relative_excess
    precisions = tuple(bits for bits in PRECISIONS if bits <= max(BITS, judgement.bits))

    def violates(record: Record) -> bool:
        found = judge(claim, record, family=family, precisions=precisions)
        return found.finding == "refuted" and found.relative_excess >= least

    def seems_to(record: Record) -> bool:
        try:
            relations = evaluate(claim, family, ReplaySource(record))
        except (Rejected, ArithmeticError, MemoryError, RuntimeError, ValueError):
            # A candidate that breaks a hypothesis or fails numerically is not a counterexample.
            return False
        return float(least) <= float(excess(relations, ())) < float("inf")

    shrunk = shrink_record(
        family,
        violation.record,
        violates,
        screen=seems_to,
        budget=budget,
        name=f"{claim.id}, shrinking",
    )
    smallest = Violation(
        shrunk.record, family, judge(claim, shrunk.record, family=family, precisions=precisions)
    )
    both = (violation, smallest)
    return Small(smallest, max(both, key=lambda v: v.judgement.relative_excess), shrunk.left_out)
