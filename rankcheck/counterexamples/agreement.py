"""Whether floats and balls agree: about a violation in floats, and about one that balls prove.

A violation in floats that the balls do not confirm is mostly rounding. But the body computes floats
and balls along different paths, and either may be wrong. A violation much larger than its
tolerance, and than any rounding error that is plausible at the instance, is reported as undecided.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch

from rankcheck import balls
from rankcheck.balls import BallArray
from rankcheck.claims.claim import Claim
from rankcheck.claims.relations import Relation
from rankcheck.claims.signs import SIGNS
from rankcheck.counterexamples.judge import Judgement, exact_instance
from rankcheck.counterexamples.violation import evaluate
from rankcheck.errors import short_of_memory
from rankcheck.instances.record import Integer, Record
from rankcheck.instances.source import Instances, Rejected, ReplaySource

__all__ = [
    "DISAGREEMENT",
    "DisagreementError",
    "Settled",
    "pairs",
    "require_agreement",
    "rounding",
    "settle",
]

#: Up to this multiple of its tolerance, a violation in floats that the balls do not confirm is
#: rounding. The largest that any claim of the ledger has is 9.8 (profile deep); 6.4 in the sweeps,
#: draws and controls of the profile quick, seeds 0 to 4.
DISAGREEMENT = 64.0
#: So is one below this multiple of the rounding error that is measured at the instance.
MEASURED = 64.0
#: The rounding error is measured with this many pairs of neighbours, on both sides of the instance
#: at this distance, relative to entries of absolute value 1 or more, and
PAIRS, DISTANCE = 8, 2.0**-30
#: so many times as far. At equal distances the errors of sums would often cancel exactly.
FAR = 5

OF_ROUNDING = (
    "the violation is no larger than the rounding errors of the floats there, so the relation "
    "needs scale=, the size of what cancels"
)
OF_A_RANK = (
    "if it rests on a rank, floats count singular values at rounding level as 0: pass noise= "
    "(rankcheck.linalg), or instances whose singular values are 0 or clearly not"
)

Outcome = Literal["refuted", "undecided", "rounding", "outside"]


@dataclass(frozen=True, eq=False)
class Settled:
    """What a violation in floats is, after ball arithmetic has judged its instance.

    Attributes:
        outcome: `refuted` or `undecided`, as the balls say; `rounding`, if they exclude the
            violation; `outside`, if they put the instance outside the hypotheses, on whose edge it
            lies. If floats and balls disagree, it is `undecided`.
        judgement: of the balls; its reason has both figures if floats and balls disagree.
        disagree: whether they do.
    """

    outcome: Outcome
    judgement: Judgement
    disagree: bool = False

    @property
    def violation(self) -> bool:
        """Whether the instance ends a search: it is refuted or undecided."""
        return self.outcome in ("refuted", "undecided")


def settle(
    claim: Claim,
    family: Instances,
    record: Record,
    judgement: Judgement,
) -> Settled:
    r"""Settle what a violation in floats is, given what the balls say of its instance.

    Violations that the balls exclude are rounding up to `DISAGREEMENT` times the tolerance. Beyond
    that the rounding error at the instance is measured: for a side $f$ and a small step $d$, the
    difference $5 f(x + d) - 6 f(x) + f(x - 5 d)$ is rounding where $f$ is smooth, and the size of a
    jump where rounding decides a mask or a rank. Where that does not explain the violation, floats
    and balls disagree.

    An instance that the balls put outside the hypotheses lies on their edge if some of its
    neighbours satisfy no hypothesis, or no violation, in floats; if none of them does, floats and
    balls disagree about the hypotheses.

    Args:
        record: of one instance that is violated in floats.
        judgement: what `judge` returned for it.
    """
    if judgement.finding == "undecided":
        return Settled("undecided", _advised(claim, family, record, judgement))
    if judgement.finding == "refuted":
        return Settled("refuted", judgement)
    outside = judgement.finding == "outside"
    try:
        violated = _violated(evaluate(claim, family, ReplaySource(record)))
    except Rejected:  # inside in its batch, and outside alone: on the edge
        return Settled("outside", judgement)
    exact = {} if outside else _exact(claim, family, record, judgement, violated)
    for worst in sorted(violated, key=lambda worst: -worst.multiple):
        if worst.multiple <= DISAGREEMENT:
            break
        sides = exact.get(worst.number)
        error = _measured(claim, family, record, worst, sides is None)
        if worst.excess > MEASURED * error:
            return Settled("undecided", _alarm(judgement, worst, sides), disagree=True)
    asserted = not outside and (not violated or bool(exact))
    return Settled("rounding" if asserted else "outside", judgement)


def _advised(
    claim: Claim,
    family: Instances,
    record: Record,
    judgement: Judgement,
) -> Judgement:
    """An undecided judgement; if rounding explains the violation in floats, its reason says so."""
    if not record.tensors:  # nothing rounds that could be moved
        return judgement
    try:
        violated = _violated(evaluate(claim, family, ReplaySource(record)))
    except Exception:  # what the body raises is reported elsewhere
        return judgement
    for worst in violated:
        error = _measured(claim, family, record, worst, False)
        if not worst.excess <= MEASURED * error < torch.inf:
            return judgement
    if not violated:
        return judgement
    return replace(judgement, reason=f"{judgement.reason}; {OF_ROUNDING}")


class DisagreementError(ValueError):
    """Balls prove a violation, and floats contradict them: nothing is proved."""


def require_agreement(
    claim: Claim, family: Instances, record: Record, judgement: Judgement
) -> None:
    """That floats do not contradict what balls prove of an instance which no search has found.

    Floats may miss a violation that is smaller than their errors. Their sides must then be those of
    the balls, up to the same multiples of the tolerance and of the rounding error at the instance
    as in `settle`; and if floats put the instance outside the hypotheses, it must lie on the edge.

    Args:
        record, judgement: the instance, and what `judge` returned for it.

    Raises:
        DisagreementError: if a violation is proved that floats contradict.
        MemoryError or what else says so: if memory was short for the floats.
    """
    if judgement.finding != "refuted":
        return
    assert judgement.lhs is not None
    assert judgement.rhs is not None
    proved = f"in balls lhs = {judgement.lhs.describe()}, rhs = {judgement.rhs.describe()}"
    number, closest = judgement.relation, None
    try:
        relations = evaluate(claim, family, ReplaySource(record))
    except Rejected as rejected:
        found = f"put the instance outside the hypotheses ({rejected})"
    except Exception as error:
        if short_of_memory(error):
            raise
        raise _contradiction(claim, proved, f"raise {type(error).__name__}: {error}") from error
    else:
        if any(bool(relation.violated().any()) for relation in relations):
            return
        if number >= len(relations):
            raise _contradiction(claim, proved, "have no such relation")
        closest = _closest(relations[number], number, judgement.lhs, judgement.rhs)
        found = f"have {closest.sides()}"
        if not closest.asserted:
            found = "do not assert the relation there"
    if closest is None or not closest.asserted:
        if any(_is_inside(claim, family, near, closest) for pair in pairs(record) for near in pair):
            return
        raise _contradiction(claim, proved, found)
    lhs, rhs = (float(side.midpoints()) for side in (judgement.lhs, judgement.rhs))
    relation = closest.relation
    apart = max(abs(closest.at(relation.lhs) - lhs), abs(closest.at(relation.rhs) - rhs))
    if apart <= DISAGREEMENT * closest.at(relation.tolerance):
        return
    if apart > MEASURED * _measured(claim, family, record, closest, False):
        raise _contradiction(claim, proved, found)


def _contradiction(claim: Claim, proved: str, found: str) -> DisagreementError:
    return DisagreementError(
        f"{claim.id} is undecided: floats and balls disagree: {proved}; floats {found}; one of the "
        "two is computed wrongly"
    )


def _closest(relation: Relation, number: int, lhs: BallArray, rhs: BallArray) -> _Worst:
    """The entry whose sides in floats are closest to those of the balls, among those asserted.

    Of a disjunction, the part and its entry.
    """
    found = []
    for which, part in enumerate(relation.parts):
        apart = torch.maximum(
            (part.lhs.double() - lhs.midpoints()).abs(),
            (part.rhs.double() - rhs.midpoints()).abs(),
        ).nan_to_num(nan=torch.inf)
        if bool(relation.asserted.any()):
            apart = torch.where(relation.asserted, apart, torch.inf)
        entry = int(apart.reshape(-1).argmin())
        found.append((float(apart.reshape(-1)[entry]), which, entry))
    _, which, entry = min(found)
    return _Worst(relation.parts[which], number, entry, which)


def _is_inside(claim: Claim, family: Instances, record: Record, entry: _Worst | None) -> bool:
    """Whether floats put an instance inside the hypotheses, and assert the relation there."""
    try:
        relations = evaluate(claim, family, ReplaySource(record))
    except Exception:  # Rejected, or an operation that has no value there
        return False
    if entry is None:
        return True
    part = relations[entry.number].parts[entry.part]
    return bool(replace(entry, relation=part).asserted)


def _alarm(
    judgement: Judgement, worst: _Worst, sides: tuple[BallArray, BallArray] | None
) -> Judgement:
    """The judgement of an instance on which floats and balls disagree, with both figures."""
    lhs, rhs = sides or (None, None)
    if lhs is not None and rhs is not None:
        said = f"in balls lhs = {lhs.describe()}, rhs = {rhs.describe()}"
    else:
        why = judgement.reason or "the relation is not asserted there"
        said = f"the balls put the instance outside the hypotheses ({why})"
    return replace(
        judgement,
        finding="undecided",
        reason=(
            f"floats and balls disagree: in floats {worst.describe()}; {said}; one of the two is "
            f"computed wrongly, or the relation needs scale= or error=; {OF_A_RANK}"
        ),
        relation=worst.number,
        kind=worst.relation.kind,
        label=worst.relation.label,
        lhs=lhs,
        rhs=rhs,
    )


@dataclass(frozen=True, eq=False)
class _Worst:
    """The entry of a relation with the largest violation, as a multiple of the tolerance.

    Of a disjunction, `relation` is the part that is nearest to holding there.
    """

    relation: Relation
    number: int
    entry: int
    part: int

    def at(self, side: torch.Tensor) -> float:
        return float(side.detach().double().reshape(-1)[self.entry])

    @property
    def excess(self) -> float:
        """How far the entry is from satisfying the relation; infinite if a side is NaN."""
        excess = self.at(self.relation.excess)
        return torch.inf if excess != excess else excess

    @property
    def multiple(self) -> float:
        """The excess as a multiple of the tolerance."""
        tolerance = self.at(self.relation.tolerance)
        return self.excess / tolerance if tolerance > 0 else torch.inf

    @property
    def asserted(self) -> bool:
        return self.at(self.relation.asserted) > 0

    def sides(self) -> str:
        return f"lhs {self.at(self.relation.lhs):.17g}, rhs {self.at(self.relation.rhs):.17g}"

    def describe(self) -> str:
        lhs, rhs = self.at(self.relation.lhs), self.at(self.relation.rhs)
        sign = SIGNS[self.relation.kind].fails
        label = f"{self.relation.label}: " if self.relation.label else ""
        tolerance = self.at(self.relation.tolerance)
        times = f"{self.multiple:.3g} times the tolerance" if tolerance > 0 else "tolerance 0"
        return f"{label}lhs {lhs:.17g} {sign} rhs {rhs:.17g} by {self.excess:.6g}, {times}"


def _violated(relations: tuple[Relation, ...]) -> list[_Worst]:
    """For each relation that is violated, its worst entry; the instance has no batch axes."""
    found = []
    for number, relation in enumerate(relations):
        violated = relation.violated().reshape(-1)
        if not bool(violated.any()):
            continue
        excess = relation.excess.detach().double().reshape(-1).nan_to_num(nan=torch.inf)
        tolerance = relation.tolerance.detach().double().reshape(-1)
        multiple = torch.where(tolerance > 0, excess / tolerance, torch.inf)
        multiple = torch.where(violated, multiple.nan_to_num(nan=torch.inf), -torch.inf)
        largest = torch.where(multiple == multiple.max(), excess, -torch.inf)
        entry = int(largest.argmax())
        part = int(relation.nearest.reshape(-1)[entry])
        found.append(_Worst(relation.parts[part], number, entry, part))
    return found


def _exact(
    claim: Claim,
    family: Instances,
    record: Record,
    judgement: Judgement,
    violated: list[_Worst],
) -> dict[int, tuple[BallArray, BallArray]]:
    """By relation, the two sides on balls at its worst entry, if it is asserted there.

    A body may return fewer relations or entries on balls; what is missing is not asserted.
    """
    found: dict[int, Any] = {}
    with balls.precision(judgement.bits):
        relations = claim.relations(exact_instance(family, record))
        for worst in violated:
            if worst.number >= len(relations):
                continue
            relation = relations[worst.number]
            asserted = relation.asserted.reshape(-1)
            if worst.entry < asserted.numel() and bool(asserted[worst.entry]):
                part = relation.parts[worst.part]
                lhs, rhs = (side.reshape(-1)[worst.entry] for side in part.sides())
                found[worst.number] = lhs, rhs
    return found


def _measured(
    claim: Claim,
    family: Instances,
    record: Record,
    worst: _Worst,
    outside: bool,
) -> float:
    """The rounding error of the sides in an entry, from second differences of both.

    It is infinite where nothing can be said: on the edge of a hypothesis, if one of the neighbours
    of the instance leaves the hypotheses or raises.
    """
    centre = [worst.at(worst.relation.lhs), worst.at(worst.relation.rhs)]
    measured = 0.0
    for pair in pairs(record):
        sides = []
        for neighbour in pair:
            try:
                relation = evaluate(claim, family, ReplaySource(neighbour))[worst.number]
                there = replace(worst, relation=relation.parts[worst.part])
                asserted = there.at(relation.asserted) > 0
                violated = there.at(relation.violated()) > 0
                sides.append([there.at(there.relation.lhs), there.at(there.relation.rhs)])
            except Exception:  # Rejected, or an operation that has no value there
                return torch.inf
            if not asserted or (outside and not violated):
                return torch.inf
        for ahead, here, behind in zip(sides[0], centre, sides[1], strict=True):
            measured = max(measured, rounding(ahead, here, behind))
    return measured


def rounding(ahead: float, here: float, behind: float) -> float:
    """The rounding error of a side, from its values at an instance and at a pair of `pairs`.

    It is infinite where the side jumps.
    """
    if here != here or abs(here) == torch.inf:  # a jump, unless it is no number everywhere
        return 0.0 if ahead != ahead or ahead == here else torch.inf
    difference = abs(FAR * ahead - (FAR + 1) * here + behind) / 3
    slope = abs(ahead - behind) / (FAR + 1) * (2.0**-53 / DISTANCE)
    return difference + slope if difference == difference else torch.inf


def pairs(record: Record) -> Iterator[tuple[Record, Record]]:
    """Pairs of instances on both sides of one, inside the ranges of entries: near and far."""
    generator = torch.Generator().manual_seed(0)
    for _ in range(PAIRS):
        ahead, behind = [], []
        for choice in record.choices:
            if isinstance(choice, Integer):
                continue
            values = choice.values
            random = 2 * torch.rand(values.shape, dtype=torch.float64, generator=generator) - 1
            # Zeros stay zero: a sparse instance stays sparse.
            step = DISTANCE * random * values.abs().clamp(min=1.0) * (values != 0)
            reach = FAR * step.abs()
            inside = (values + reach <= choice.high) & (values - reach >= choice.low)
            step = torch.where(inside, step, 0.0)
            ahead.append(values + step)
            behind.append(values - FAR * step)
        yield record.with_tensors(ahead), record.with_tensors(behind)
