"""Ball arithmetic decides one instance: it proves a violation, excludes one, or does neither.

The generator and the body run again on the recorded numbers. Every float is taken as the dyadic
rational that it is; a number that is not rational is enclosed in a ball. The hypotheses, those of
the generator (`Source.require`) and those of a relation (`where`), are decided on balls too.

A violation is proved only if the lower end of the ball of `lhs - rhs` is positive, in an entry in
which the relation is provably asserted; of a strict relation if it is not negative, which exact and
equal sides alone can have at zero. If the balls overlap, an operation has no ball form, or the body
leaves ball arithmetic, the instance is undecided and not a counterexample. If the body has floats
that were computed, the reason names them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, cast

import torch

from rankcheck import balls
from rankcheck.balls import BallArray, Computed, NoBallForm, Undecided
from rankcheck.claims.catalogue.certificates import PRECISIONS
from rankcheck.claims.claim import Claim, ClaimError
from rankcheck.claims.excess import Excess
from rankcheck.claims.labels import relation_name
from rankcheck.claims.relations import Relation
from rankcheck.claims.signs import RelationKind
from rankcheck.errors import short_of_memory
from rankcheck.files import shown_path
from rankcheck.notebook import Readable
from rankcheck.theory.instances.drivers import ReplayError, ReplaySource
from rankcheck.theory.instances.record import Record
from rankcheck.theory.instances.source import Instances, Rejected

#: So many computed floats are named in a reason.
CONSTANTS_NAMED = 3

ARBITRARY = (
    "the violation depends on the signs of singular vectors or eigenvectors, or on the order of "
    "eigenvalues, which are arbitrary"
)

Finding = Literal["refuted", "satisfied", "outside", "undecided"]


@dataclass(frozen=True, eq=False, repr=False)
class Judgement(Readable):
    """What was found about one instance.

    Attributes:
        finding: `refuted` (a violation is proved), `satisfied` (there is none, or equality to
            within 2⁻⁸⁰ where that is none), `outside` (the instance breaks a hypothesis), or
            `undecided`.
        bits: the precision at which it was decided.
        reason: if no violation is proved, why.
        unprovable: whether the reason is that the claim has no ball form. The verdict then rests
            on floats.
        short: whether the reason is that memory was short, which says nothing about the instance.
        relation, kind, label: index, kind and name of the relation that is violated.
        lhs, rhs: its two sides as balls, at the entry with the largest proved violation. If the
            instance is undecided, at an entry that the balls do not decide, or None.
        entry, entries: the index of that entry among the axes of a side, and how many there are.
        excess: a proved lower bound of the violation; 0 where a strict relation has equal sides.
        relative_excess: the same relative to the larger side.
        differs: of an instance that is satisfied, how its sides in floats differ, if rounding does
            not explain that.
        instance: the instance in exact numbers, as it was judged; None if it was not built.
        relations: what the body returned for it on balls; None if it did not.
    """

    finding: Finding
    bits: int
    reason: str = ""
    relation: int = 0
    kind: RelationKind = "leq"
    label: str = ""
    lhs: BallArray | None = None
    rhs: BallArray | None = None
    entry: tuple[int, ...] = ()
    entries: int = 1
    excess: Fraction = Fraction(0)
    relative_excess: Fraction = Fraction(0)
    unprovable: bool = False
    short: bool = False
    differs: str = ""
    instance: tuple[Any, ...] | None = None
    relations: tuple[Relation, ...] | None = None

    @property
    def violation(self) -> bool:
        """Whether the instance ends a search: a violation is proved, or not excluded."""
        return self.finding in ("refuted", "undecided")


def _exact_copy(values: torch.Tensor) -> BallArray:
    """An array of exact numbers that a body may write into."""
    return cast(BallArray, BallArray.exact(values).clone())


def exact_instance(family: Instances, record: Record) -> tuple[Any, ...]:
    """The instance of a record in exact numbers.

    Raises:
        Rejected: if it breaks a hypothesis that the generator re-checks.
        ReplayError: if the record does not fit the generator.
    """
    source = ReplaySource(record, _exact_copy)
    with balls.conventions():
        instance = family(source)
    source.finish()
    return instance


def judge(
    claim: Claim,
    record: Record,
    *,
    family: Instances | None = None,
    precisions: tuple[int, ...] = PRECISIONS,
) -> Judgement:
    """Decide a recorded instance in ball arithmetic; the precision rises until it is decided.

    Args:
        family: the generator of the record, by default `claim.instances`.
        precisions: in bits, in the order in which they are tried.

    Raises:
        ReplayError: if the record does not fit the generator.
        ClaimError: if the body returns anything but relations.
        TypeError: if the claim has no instances.
    """
    chosen = family or claim.instances
    if chosen is None:
        raise TypeError(f"{claim.id} is cited and has no instances; a claim is judged on one")
    return judge_instance(
        claim,
        lambda: exact_instance(chosen, record),
        precisions=precisions,
    )


def judge_instance(
    claim: Claim,
    build: Callable[[], tuple[Any, ...]],
    *,
    precisions: Iterable[int] = PRECISIONS,
) -> Judgement:
    """Decide an instance that `build` makes in exact numbers, at the precision in force.

    Args:
        build: called once for each precision. It may raise `Rejected`, `Undecided` or `NoBallForm`.
        precisions: as for `judge`.

    Raises:
        ReplayError: if `build` does.
        ClaimError: if the body returns anything but relations.
    """
    if claim.no_ball is not None:
        return Judgement("undecided", 0, f"no ball form: {claim.no_ball}", unprovable=True)
    with balls.computed_constants(str(claim.file)) as constants:
        judgement = _decided(claim, build, precisions)
    if constants and judgement.finding == "undecided" and not judgement.unprovable:
        named = f"{judgement.reason}; {_inexact(claim, list(constants.values()))}"
        judgement = replace(judgement, reason=named)
    return judgement


def _decided(
    claim: Claim,
    build: Callable[[], tuple[Any, ...]],
    precisions: Iterable[int],
) -> Judgement:
    undecided = Judgement("undecided", 0, "no precision was tried")
    for bits in precisions:
        instance = relations = None
        choices = balls.Conventions()
        with balls.precision(bits):
            try:
                with balls.conventions() as choices:
                    instance = build()
                    relations = claim.relations(instance)
                    decided = _decide(relations, bits)
                if choices.wrote:  # the body, into its arguments perhaps
                    instance = build()
                if decided.finding == "refuted" and choices.used:
                    for pattern in balls.OTHER_CONVENTIONS:
                        with balls.conventions(pattern):
                            again = _decide(claim.relations(build()), bits)
                        if again.finding != "refuted":
                            return Judgement("undecided", bits, ARBITRARY)
            except Rejected as rejected:
                return Judgement("outside", bits, str(rejected))
            except NoBallForm as missing:
                why = f"no ball form: {balls.without_transforms(missing) or missing}"
                return Judgement("undecided", bits, why, unprovable=True, instance=instance)
            except Undecided as reason:
                way = ", ".join(choices.undefined)
                why = f"undecided at {bits} bits: {reason}" + (
                    f"; on the way is {way}" if way else ""
                )
                undecided = Judgement("undecided", bits, why, instance=instance)
                continue
            except (ClaimError, ReplayError):
                raise
            except Exception as error:
                # The body ran in floats. An error on balls alone does not prove a violation, and
                # the violation in floats stays reported, as undecided.
                if instead := balls.without_transforms(error):
                    why = f"no ball form: {instead}"
                    return Judgement("undecided", bits, why, unprovable=True, instance=instance)
                why = f"it fails on balls, with {type(error).__name__}: {error}"
                short = short_of_memory(error)
                return Judgement("undecided", bits, why, short=short, instance=instance)
        decided = replace(_without_value(decided, choices), instance=instance, relations=relations)
        if decided.finding != "undecided":
            return decided
        undecided = decided
    return undecided


def _without_value(judgement: Judgement, noticed: balls.Conventions) -> Judgement:
    """An undecided judgement; if a side has no value, it says which operations had none."""
    sides = [side for side in (judgement.lhs, judgement.rhs) if side is not None]
    if judgement.finding != "undecided" or all(bool(s.midpoints().isfinite()) for s in sides):
        return judgement
    why = ", ".join(noticed.undefined) or "a quotient by a ball that contains 0, or an overflow"
    return replace(judgement, reason=f"a side has no value in balls; on the way is {why}")


def _inexact(claim: Claim, constants: list[Computed]) -> str:
    """The floats that are no exact constants, with the lines where they met balls."""
    named = []
    for constant in constants[:CONSTANTS_NAMED]:
        place = "" if constant.line is None else f" ({shown_path(claim.file)}:{constant.line})"
        width = constant.radius.str(2, radius=False)
        named.append(
            f"{constant.text}{place}, {constant.what}, stands for all numbers within {width}"
        )
    if len(constants) > CONSTANTS_NAMED:
        named.append(f"{len(constants) - CONSTANTS_NAMED} other floats are not exact either")
    return f"{'; '.join(named)}; a fractions.Fraction is exact"


def _decide(relations: tuple[Relation, ...], bits: int) -> Judgement:
    """The worst proved violation among all entries, else an undecided entry, else satisfied."""
    worst: Judgement | None = None
    doubt: Judgement | None = None
    for number, relation in enumerate(relations):
        for entry, lhs, rhs in _asserted(relation, number):
            judged = replace(
                _judged(relation, lhs, rhs, number, bits),
                entry=entry,
                entries=relation.asserted.numel(),
            )
            if judged.finding == "undecided":
                doubt = judged
            elif judged.finding == "refuted" and (
                worst is None or judged.relative_excess > worst.relative_excess
            ):
                worst = judged
    return worst or doubt or Judgement("satisfied", bits)


def _judged(
    relation: Relation, lhs: BallArray, rhs: BallArray, number: int, bits: int
) -> Judgement:
    """What the balls of the two sides of an entry say of a relation."""
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
        excess = Excess.of(relation.kind, lhs, rhs)
    except Undecided:
        return entry
    if excess.fails:
        low, size = excess.low, excess.size
        relative = low / size if size else low
        return replace(entry, finding="refuted", reason="", excess=low, relative_excess=relative)
    return replace(entry, finding="satisfied", reason="") if excess.holds else entry


def _asserted(
    relation: Relation, number: int
) -> Iterator[tuple[tuple[int, ...], BallArray, BallArray]]:
    """The index of an entry and the two sides there, where the relation is asserted."""
    if isinstance(relation.lhs, torch.Tensor) and relation.lhs.is_floating_point():
        raise NoBallForm(relation_name(relation.label, number), "its sides are floats, not balls")
    lhs, rhs = relation.sides()
    for entry in map(tuple, relation.asserted.nonzero().tolist()):
        yield entry, balls.balls(lhs[entry]), balls.balls(rhs[entry])
