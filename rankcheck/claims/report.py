"""From a violation to what a person reads: made small, certified, in numbers to retype."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rankcheck import balls
from rankcheck.claims import certificates
from rankcheck.claims.claim import Claim
from rankcheck.claims.describe import describe_instance
from rankcheck.claims.judge import Judgement, exact_instance
from rankcheck.claims.search import Violation
from rankcheck.claims.small import smallest
from rankcheck.instances.source import ReplaySource


@dataclass(frozen=True)
class Found:
    """A reported violation: the message, whether it is proved, and the certificate if it is."""

    genuine: bool
    message: str
    certificate: str | None = None


def report_violation(claim: Claim, violation: Violation, folder: Path) -> Found:
    """Make a violation small, leave its certificate if it is proved, and say it in mathematics."""
    violation = smallest(claim, violation)
    judgement = violation.judgement
    if judgement.finding == "genuine":
        path = certificates.write(folder, claim, violation)
        return Found(True, _genuine(claim, violation, path), str(path))
    return Found(False, _suspected(claim, violation))


def _genuine(claim: Claim, violation: Violation, path: Path) -> str:
    judgement = violation.judgement
    with balls.precision(judgement.bits):
        instance = exact_instance(violation.family, violation.record)
    certified = f"certified, {judgement.bits}-bit balls"
    return "\n".join(
        [
            f"{claim.id} is false: {sides(judgement)} ({certified})",
            f"  {describe_instance(claim, instance)}",
            f"  claimed: {claim.statement}",
            f"  certificate: {path}      rankcheck replay {path}",
        ]
    )


def sides(judgement: Judgement) -> str:
    """`lhs 1 > rhs 9/10 by 1/10`, rounded to what a person reads."""
    assert judgement.lhs is not None
    assert judgement.rhs is not None
    lhs, rhs = (float(side.midpoints()) for side in (judgement.lhs, judgement.rhs))
    label = f"{judgement.label}: " if judgement.label else ""
    relation = ">" if judgement.kind == "leq" else "!="
    return f"{label}lhs {lhs:.6g} {relation} rhs {rhs:.6g} by {float(judgement.excess):.6g}"


def _suspected(claim: Claim, violation: Violation) -> str:
    source = ReplaySource(violation.record)
    instance = violation.family(source)
    relations = claim.relations(instance)
    worst = max(relations, key=lambda r: float((r.excess - r.tolerance).max()))
    entry = int((worst.excess - worst.tolerance).reshape(-1).argmax())
    lhs, rhs, tolerance = (
        float(side.reshape(-1)[entry]) for side in (worst.lhs, worst.rhs, worst.tolerance)
    )
    sign = ">" if worst.kind == "leq" else "!="
    label = f"{worst.label}: " if worst.label else ""
    return "\n".join(
        [
            f"{claim.id} is suspected false: {label}lhs {lhs:.17g} {sign} rhs {rhs:.17g} by "
            f"{abs(lhs - rhs):.6g} (tolerance {tolerance:.3g}; {violation.judgement.reason})",
            f"  {describe_instance(claim, instance)}",
            f"  claimed: {claim.statement}",
        ]
    )
