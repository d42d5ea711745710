"""What ball arithmetic says of one instance: a violation is proved, excluded, or neither.

The generator and the body run again on the recorded numbers, exactly: every float is the dyadic
rational that it is, and what is not rational is enclosed by a ball. A hypothesis that the generator
re-checks (`Source.require`) or that a relation carries (`where`) is decided exactly too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from rankcheck import balls
from rankcheck.balls import BallArray, NoBallForm, Undecided
from rankcheck.claims import tolerances
from rankcheck.claims.claim import Claim
from rankcheck.claims.relations import Relation
from rankcheck.instances.record import Record
from rankcheck.instances.source import Instances, Rejected, ReplaySource

#: Precisions that are tried, in bits, until the balls decide.
PRECISIONS = (128, 256, 512, 1024, 2048)

Finding = Literal["genuine", "satisfied", "outside", "suspected"]


@dataclass(frozen=True, eq=False)
class Judgement:
    """The finding on one instance.

    Attributes:
        finding: `genuine` (a violation is proved), `satisfied` (there is none, or equality to
            within 2⁻⁸⁰), `outside` (the instance breaks a hypothesis), `suspected` (not decided).
        reason: why, where nothing is proved.
        relation: which relation of the body is violated, its kind, and what the body calls it.
        lhs, rhs: its two sides as balls, at the entry with the largest proved excess.
        excess: a proved lower bound of the violation.
        bits: the precision at which it was decided.
    """

    finding: Finding
    bits: int
    reason: str = ""
    relation: int = 0
    kind: Literal["leq", "eq"] = "leq"
    label: str = ""
    lhs: BallArray | None = None
    rhs: BallArray | None = None
    excess: Fraction = Fraction(0)


def exact_instance(family: Instances, record: Record) -> tuple[Any, ...]:
    """The instance of a record in exact numbers.

    Raises:
        Rejected: if it breaks a hypothesis that the generator re-checks.
        ReplayError: if the record does not fit the generator.
    """
    source = ReplaySource(record, BallArray.exact)
    instance = family(source)
    source.finish()
    return instance


def judge(
    claim: Claim,
    record: Record,
    *,
    family: Instances | None = None,
    dials: Mapping[str, Any] | None = None,
    precisions: tuple[int, ...] = PRECISIONS,
) -> Judgement:
    """Decide a recorded instance in ball arithmetic, with more bits until it is decided."""
    family = family or claim.instances
    if family is None:
        raise TypeError(f"{claim.id} is cited: it has no instances")
    if claim.no_ball is not None:
        return Judgement("suspected", 0, f"no ball form: {claim.no_ball}")
    reason = ""
    for bits in precisions:
        with balls.precision(bits):
            try:
                instance = exact_instance(family, record)
                decided = _decide(claim.relations(instance, **(dials or {})), bits)
            except Rejected as rejected:
                return Judgement("outside", bits, str(rejected))
            except NoBallForm as missing:
                return Judgement("suspected", bits, f"no ball form: {missing}")
            except Undecided as undecided:
                reason = f"undecided at {bits} bits: {undecided}"
                continue
        if decided.finding != "suspected":
            return decided
        reason = decided.reason
    return Judgement("suspected", precisions[-1], reason)


def _decide(relations: tuple[Relation, ...], bits: int) -> Judgement:
    """Hold every entry of every relation against its proved bounds."""
    worst: Judgement | None = None
    open_entry = ""
    for number, relation in enumerate(relations):
        lhs, rhs = balls.balls(relation.lhs).reshape(-1), balls.balls(relation.rhs).reshape(-1)
        asserted = relation.asserted.reshape(-1)
        lower, upper = balls.difference_bounds(lhs, rhs)
        for entry in range(lhs.shape[0]):
            if not bool(asserted[entry]):
                continue
            low, high = lower[entry], upper[entry]
            if relation.kind == "eq" and high < 0:
                low, high = -high, -low
            if low > 0:
                if worst is None or low > worst.excess:
                    worst = Judgement(
                        "genuine",
                        bits,
                        "",
                        number,
                        relation.kind,
                        relation.label,
                        lhs[entry],
                        rhs[entry],
                        low,
                    )
                continue
            reach = max(abs(low), abs(high)) if relation.kind == "eq" else high
            if reach > 0 and not _is_equality(reach, lhs[entry], rhs[entry]):
                open_entry = (
                    f"the balls of {relation.label or 'the sides'} overlap at {bits} bits, "
                    f"by as much as {float(reach):.3g}"
                )
    if worst is not None:
        return worst
    if open_entry:
        return Judgement("suspected", bits, open_entry)
    return Judgement("satisfied", bits)


def _is_equality(reach: Fraction, lhs: BallArray, rhs: BallArray) -> bool:
    size = max(abs(Fraction(float(side.midpoints()))) for side in (lhs, rhs))
    return reach <= tolerances.EQUALITY_ON_BALLS * max(size, Fraction(1, 2**60))
