"""Making a counterexample small while it stays one."""

from __future__ import annotations

from rankcheck.claims.claim import Claim
from rankcheck.claims.judge import Judgement, judge
from rankcheck.claims.search import Violation
from rankcheck.instances.record import Record
from rankcheck.instances.shrink import shrink

#: The share of the relative violation that a smaller instance has to keep.
KEEP = 0.5


def relative_excess(judgement: Judgement) -> float:
    """The proved violation relative to the larger side."""
    assert judgement.lhs is not None
    assert judgement.rhs is not None
    size = max(abs(float(side.midpoints())) for side in (judgement.lhs, judgement.rhs))
    return float(judgement.excess) / size


def smallest(claim: Claim, violation: Violation) -> Violation:
    """The smallest instance that still violates the claim by half as much, re-certified.

    Only a proved violation is made small: one that is merely suspected would drift to where the
    floats are worst.
    """
    if violation.judgement.finding != "genuine":
        return violation
    least = KEEP * relative_excess(violation.judgement)

    def interesting(record: Record) -> bool:
        judgement = judge(claim, record, family=violation.family)
        return judgement.finding == "genuine" and relative_excess(judgement) >= least

    record = shrink(violation.family, violation.record, interesting)
    return Violation(record, violation.family, judge(claim, record, family=violation.family))
