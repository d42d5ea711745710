"""Making a counterexample small while it stays one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from rankcheck.claims.claim import Claim
from rankcheck.counterexamples.judge import PRECISIONS, judge
from rankcheck.counterexamples.shrinking.record import shrink
from rankcheck.counterexamples.violation import Violation, evaluate, excess
from rankcheck.instances.record import Record
from rankcheck.instances.source import Rejected, ReplaySource

#: The share of the relative violation that a smaller instance has to keep.
KEEP = Fraction(1, 2)
#: Seconds for making one counterexample small.
BUDGET = 5.0
#: A candidate is judged with as many bits as the violation took, and at least with these.
BITS = 256


@dataclass(frozen=True, eq=False)
class Small:
    """A violation in its smallest and in its worst form.

    Attributes:
        worst: the one of the largest violation relative to the sides.
        left_out: why Hypothesis took no part, if so.
    """

    smallest: Violation
    worst: Violation
    left_out: str | None = None


def shrink_violation(claim: Claim, violation: Violation, budget: float = BUDGET) -> Small:
    """The smallest instance that still violates the claim by half as much, certified anew.

    Candidates are put into the body in floats first, and to the balls only where they violate the
    claim clearly. Only a proved violation is made small: one that is merely undecided would drift
    to where the floats are worst.

    Args:
        budget: seconds.
    """
    if violation.judgement.finding != "refuted":
        return Small(violation, violation)
    family, judgement = violation.family, violation.judgement
    least = KEEP * judgement.relative_excess
    precisions = tuple(bits for bits in PRECISIONS if bits <= max(BITS, judgement.bits))

    def violates(record: Record) -> bool:
        found = judge(claim, record, family=family, precisions=precisions)
        return found.finding == "refuted" and found.relative_excess >= least

    def seems_to(record: Record) -> bool:
        try:
            relations = evaluate(claim, family, ReplaySource(record), {})
        except (Rejected, ArithmeticError, RuntimeError, ValueError):
            # Out at the edge, where a hypothesis or an operation ends, nothing is simpler.
            return False
        return float(least) <= float(excess(relations, ())) < float("inf")

    shrunk = shrink(family, violation.record, violates, screen=seems_to, budget=budget)
    smallest = Violation(
        shrunk.record, family, judge(claim, shrunk.record, family=family, precisions=precisions)
    )
    both = (violation, smallest)
    return Small(smallest, max(both, key=lambda v: v.judgement.relative_excess), shrunk.left_out)
