"""What ball arithmetic says of one instance: a violation is proved, excluded, or neither.

The generator and the body run again on the recorded numbers, exactly: every float is the dyadic
rational that it is, and what is not rational is enclosed by a ball. A hypothesis that the generator
re-checks (`Source.require`) or that a relation carries (`where`) is decided exactly too.

A violation counts as proved only where the lower end of the ball of `lhs - rhs` is positive, in an
entry in which the relation is provably asserted. Whatever stands in the way of that (balls that
overlap, an operation without a ball form, a body that leaves ball arithmetic) leaves the instance
undecided, and never makes it a counterexample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import torch

from rankcheck import balls
from rankcheck.balls import BallArray, NoBallForm, Undecided
from rankcheck.claims import tolerances
from rankcheck.claims.claim import Claim, ClaimError
from rankcheck.claims.relations import Relation
from rankcheck.instances.record import Record
from rankcheck.instances.source import Instances, Rejected, ReplayError, ReplaySource

#: Precisions that are tried, in bits, until the balls decide.
PRECISIONS = (128, 256, 512, 1024, 2048)
#: Sides smaller than this are zero as far as equality is concerned.
NEARLY_ZERO = Fraction(1, 2**60)

ARBITRARY = (
    "the violation depends on the signs of singular vectors or eigenvectors, or on the order of "
    "eigenvalues, which are arbitrary"
)

Finding = Literal["refuted", "satisfied", "outside", "undecided"]


@dataclass(frozen=True, eq=False)
class Judgement:
    """The finding on one instance.

    Attributes:
        finding: `refuted` (a violation is proved), `satisfied` (there is none, or equality to
            within 2⁻⁸⁰), `outside` (the instance breaks a hypothesis), `undecided` (not decided).
        bits: the precision at which it was decided.
        reason: why, where nothing is proved.
        unprovable: whether that is because the claim has no ball form, so that floats must do.
        relation: which relation of the body is violated, its kind, and what the body calls it.
        lhs, rhs: its two sides as balls, at the entry with the largest proved violation; of a
            undecided one, at an entry that the balls leave open, if it came to that.
        excess: a proved lower bound of the violation.
        relative_excess: the same relative to the larger side.
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
    relative_excess: Fraction = Fraction(0)
    unprovable: bool = False


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
    parameters: Mapping[str, Any] | None = None,
    precisions: tuple[int, ...] = PRECISIONS,
) -> Judgement:
    """Decide a recorded instance in ball arithmetic, with more bits until it is decided.

    Raises:
        ReplayError: if the record does not fit the generator.
        ClaimError: if the body returns anything but relations.
        TypeError: if the claim has no instances.
    """
    family = family or claim.instances
    if family is None:
        raise TypeError(f"{claim.id} is cited: it has no instances")
    if claim.no_ball is not None:
        return Judgement("undecided", 0, f"no ball form: {claim.no_ball}", unprovable=True)
    undecided = Judgement("undecided", 0, "no precision was tried")
    for bits in precisions:
        with balls.precision(bits):
            try:
                instance = exact_instance(family, record)
                with balls.conventions() as choices:
                    decided = _decide(claim.relations(instance, **(parameters or {})), bits)
                if decided.finding == "refuted" and choices.used:
                    for pattern in balls.OTHER_CONVENTIONS:
                        with balls.conventions(pattern):
                            again = _decide(claim.relations(instance, **(parameters or {})), bits)
                        if again.finding != "refuted":
                            return Judgement("undecided", bits, ARBITRARY)
            except Rejected as rejected:
                return Judgement("outside", bits, str(rejected))
            except NoBallForm as missing:
                return Judgement("undecided", bits, f"no ball form: {missing}", unprovable=True)
            except Undecided as reason:
                undecided = Judgement("undecided", bits, f"undecided at {bits} bits: {reason}")
                continue
            except (ClaimError, ReplayError):
                raise
            except Exception as error:
                # The floats went through: what a body does on balls alone is no counterexample,
                # and must not hide one either.
                failure = f"it fails on balls, with {type(error).__name__}: {error}"
                return Judgement("undecided", bits, failure)
        if decided.finding != "undecided":
            return decided
        undecided = decided
    return undecided


def _decide(relations: tuple[Relation, ...], bits: int) -> Judgement:
    """Hold every entry of every relation against its proved bounds."""
    worst: Judgement | None = None
    doubt: Judgement | None = None
    for number, relation in enumerate(relations):
        if isinstance(relation.lhs, torch.Tensor) and relation.lhs.is_floating_point():
            raise NoBallForm(
                f"the relation {relation.label or number + 1}", "its sides are floats, not balls"
            )
        for lhs, rhs in _asserted(relation):
            entry = Judgement(
                "undecided",
                bits,
                f"the balls of its sides do not decide it at {bits} bits",
                number,
                relation.kind,
                relation.label,
                lhs,
                rhs,
            )
            try:
                low, high = balls.difference_bounds(lhs, rhs)
                size = _size(lhs, rhs)
            except Undecided:
                doubt = entry
                continue
            if relation.kind == "eq" and high < 0:
                low, high = -high, -low
            if low > 0:
                if worst is None or low / size > worst.relative_excess:
                    worst = replace(
                        entry, finding="refuted", reason="", excess=low, relative_excess=low / size
                    )
                continue
            reach = max(-low, high) if relation.kind == "eq" else high
            if reach > tolerances.EQUALITY_ON_BALLS * max(size, NEARLY_ZERO):
                doubt = entry
    return worst or doubt or Judgement("satisfied", bits)


def _asserted(relation: Relation) -> Iterator[tuple[BallArray, BallArray]]:
    """The two sides, entry by entry, where the relation is asserted."""
    lhs, rhs = (side.reshape(-1) for side in relation.sides())
    for entry in relation.asserted.reshape(-1).nonzero().reshape(-1).tolist():
        yield lhs[entry], rhs[entry]


def _size(lhs: BallArray, rhs: BallArray) -> Fraction:
    """The larger side, in absolute value and bounded from above."""
    return max(abs(end) for side in (lhs, rhs) for end in (side.lower(), side.upper()))
