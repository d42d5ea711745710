"""From a violation to what a person reads: made small, certified, in numbers to retype."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rankcheck import balls
from rankcheck.catalogue.entry import shown_path
from rankcheck.claims.claim import Claim
from rankcheck.claims.relations import Relation
from rankcheck.counterexamples import certificate as certificates
from rankcheck.counterexamples.describe import approximately, describe_instance, middle
from rankcheck.counterexamples.judge import Judgement, exact_instance
from rankcheck.counterexamples.shrinking.smallest import BUDGET, shrink_violation
from rankcheck.counterexamples.violation import Violation, evaluate
from rankcheck.instances.source import ReplaySource

#: Instances whose text is longer are left to the certificate.
READABLE = 2000


@dataclass(frozen=True, eq=False)
class Found:
    """A reported violation.

    Attributes:
        refuted: whether it is proved.
        message: what a person needs to know.
        certificate: its file, if it is proved and could be written.
        smallest: the violation in its smallest form, and
        worst: in the form with the largest violation relative to the sides.
    """

    proved: bool
    message: str
    certificate: str | None
    smallest: Violation
    worst: Violation


def report_violation(
    claim: Claim, violation: Violation, folder: Path, *, budget: float = BUDGET
) -> Found:
    """Make a violation small, leave its certificate if it is proved, and say it in mathematics.

    Args:
        folder: where the certificate is left.
        budget: seconds for making it small.

    A certificate that cannot be written takes nothing from the proof: the message says so.
    """
    if violation.judgement.finding != "refuted":
        return Found(False, undecided_message(claim, violation), None, violation, violation)
    small = shrink_violation(claim, violation, budget)
    worst = small.worst if small.worst is not small.smallest else None
    try:
        path = certificates.write(folder, claim, small.smallest, worst)
        left = f"certificate: {shown_path(path)}      rankcheck replay {shown_path(path)}"
    except OSError as error:
        path, left = None, f"no certificate: {folder} cannot be written to ({error.strerror})"
    message = refuted_message(claim, small.smallest, small.worst, left)
    if small.left_out is not None:
        message += f"\n  it may not be the smallest: {small.left_out}"
    return Found(True, message, None if path is None else str(path), small.smallest, small.worst)


def refuted_message(claim: Claim, smallest: Violation, worst: Violation, left: str) -> str:
    """A proved violation: both sides, the instance, the statement, and what is left of it."""
    judgement = smallest.judgement
    assert judgement.lhs is not None
    assert judgement.rhs is not None
    sides_ = f"lhs = {judgement.lhs.describe()}, rhs = {judgement.rhs.describe()}"
    tolerance = _tolerance(claim, smallest)
    lines = [
        f"{claim.id} is false: {sides(judgement)} (certified, {judgement.bits}-bit balls)",
        f"  {_instance(claim, smallest)}",
        f"  claimed: {claim.statement}",
        f"  exactly: {sides_}" + (f"; tolerance in floats {tolerance:.2g}" if tolerance else ""),
    ]
    if worst is not smallest:
        lines.append(f"  at worst: {sides(worst.judgement)} (in the certificate as well)")
    return "\n".join([*lines, f"  {left}"])


def undecided_message(claim: Claim, violation: Violation) -> str:
    """A violation that is not proved: both figures, in floats and in balls, and why not."""
    judgement = violation.judgement
    source = ReplaySource(violation.record)
    instance = violation.family(source)
    relation, entry = _worst(claim.relations(instance))
    lhs, rhs, tolerance = (
        float(side.reshape(-1)[entry]) for side in (relation.lhs, relation.rhs, relation.tolerance)
    )
    sign = ">" if relation.kind == "leq" else "!="
    label = f"{relation.label}: " if relation.label else ""
    lines = [
        f"{claim.id} is undecided false: {label}lhs {lhs:.17g} {sign} rhs {rhs:.17g} by "
        f"{abs(lhs - rhs):.6g} in floats (tolerance {tolerance:.3g})",
        f"  not certified: {judgement.reason}",
    ]
    if judgement.lhs is not None and judgement.rhs is not None:
        lines.append(
            f"  in balls: lhs = {judgement.lhs.describe()}, rhs = {judgement.rhs.describe()}"
        )
    text = describe_instance(claim, instance)
    return "\n".join([*lines, f"  {_readable(text)}", f"  claimed: {claim.statement}"])


def sides(judgement: Judgement) -> str:
    """`lhs 1 > rhs 0.9 by 0.1` of a proved violation, rounded to what a person reads."""
    assert judgement.lhs is not None
    assert judgement.rhs is not None
    lhs, rhs = (approximately(middle(side)) for side in (judgement.lhs, judgement.rhs))
    label = f"{judgement.label}: " if judgement.label else ""
    relation = ">" if judgement.kind == "leq" else "!="
    return f"{label}lhs {lhs} {relation} rhs {rhs} by {approximately(judgement.excess)}"


def _instance(claim: Claim, violation: Violation) -> str:
    with balls.precision(violation.judgement.bits):
        return _readable(
            describe_instance(claim, exact_instance(violation.family, violation.record))
        )


def _readable(text: str) -> str:
    return text if len(text) <= READABLE else f"{text[:READABLE]} … ({len(text)} characters)"


def _tolerance(claim: Claim, violation: Violation) -> float | None:
    """The numerical band of the relation that is violated; None where it has none."""
    relations = evaluate(claim, violation.family, ReplaySource(violation.record), {})
    relation = relations[violation.judgement.relation]
    return None if relation.exact else float(relation.tolerance.max())


def _worst(relations: tuple[Relation, ...]) -> tuple[Relation, int]:
    """The relation and the entry that float arithmetic finds furthest beyond the tolerance."""
    best: tuple[float, Relation, int] | None = None
    for relation in relations:
        beyond = (relation.excess - relation.tolerance).double().nan_to_num(nan=float("inf"))
        beyond = beyond.masked_fill(~relation.asserted, -float("inf")).reshape(-1)
        entry = int(beyond.argmax())
        if best is None or float(beyond[entry]) > best[0]:
            best = (float(beyond[entry]), relation, entry)
    assert best is not None
    return best[1], best[2]
