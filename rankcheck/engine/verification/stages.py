"""Goes through the stages of a search: small instances, records, the tight family, a sweep, draws.

A claim and its controls go through the same stages. A search of a claim ends with the first
violation that is not rounding, and begins with the small instances, so that it is a smallest one. A
search of a control ends with the first violation that is proved, and begins with what proves most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from rankcheck.claims import tolerances
from rankcheck.claims.claim import Claim
from rankcheck.claims.labels import relation_name
from rankcheck.claims.signs import SIGNS
from rankcheck.engine.counterexamples.given import NotRefutedError, proved
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.records.file import Held
from rankcheck.engine.verification.counts import Counts
from rankcheck.engine.verification.evaluation import Raised, instance_text
from rankcheck.engine.verification.ledger import RelationFacts
from rankcheck.engine.verification.profiles import Settings
from rankcheck.engine.verification.scope import enumerate_scope, scope_facts, scope_of
from rankcheck.engine.verification.search import again, draw, sweep
from rankcheck.engine.verification.standing import Standing
from rankcheck.engine.verification.tally import RelationTally, Sharpest, Tally, hollow, seen_in
from rankcheck.errors import InputError
from rankcheck.theory.instances.scope import Shapes

#: The share of the profile's batches that is spent on a tight family; again, up to so many times,
#: while one of the bounds has not been sharp.
TIGHT_SHARE = 0.25
TIGHT_TURNS = 8
HANDFUL = 5  # instances on which a relation is asserted at least, of as many hundreds


@dataclass
class Search:
    """What the searches of a claim saw, and the violation that ended them."""

    shapes: Shapes | None = None
    standing: Standing | None = None
    small: Tally = field(default_factory=Tally)
    tight: Tally = field(default_factory=Tally)
    swept: Tally = field(default_factory=Tally)
    drawn: Tally = field(default_factory=Tally)
    violation: Instance | None = None
    smallest: bool = False

    @property
    def tallies(self) -> tuple[Tally, Tally, Tally]:
        return self.tight, self.swept, self.drawn

    @property
    def raised(self) -> list[Raised]:
        """The instances inside the hypotheses on which the generator or the body raised."""
        return [raised for tally in (self.small, *self.tallies) for raised in tally.raised]

    @property
    def arithmetic(self) -> tuple[str, ...]:
        """How floats differ where balls decide, and how many instances nobody has decided."""
        tallies = (self.small, *self.tallies)
        times, left = (sum(getattr(one, name) for one in tallies) for name in ("differing", "left"))
        first = next((tally.differs for tally in tallies if tally.differs), "")
        said = (
            [f"{first}, on {times} instance{'s' * (times > 1)} that balls decide"] if times else []
        )
        if left:
            said.append(f"{left} others are not counted: floats do not decide them")
        return tuple(said)

    @property
    def singly(self) -> str:
        """On how many of the instances that were not drawn the claim ran one at a time, and why."""
        tallies = (self.small, self.tight, self.swept)
        reasons = sum((tally.singly for tally in tallies), Counter[str]())
        number, total = reasons.total(), sum(tally.counts.evaluated for tally in tallies)
        share = f"{number} of {total} instances " if number < total else ""
        return f"{share}one at a time: {'; '.join(reasons)}" if number else ""

    def facts(self, claim: Claim) -> dict[str, Any]:
        """The fields of a row that the searches fill."""
        scope = None if self.shapes is None else scope_facts(self.shapes, self.small.counts)
        return {
            "scope": scope,
            "drawn": self.drawn.counts,
            "swept": self.swept.counts,
            "tight_swept": self.tight.counts,
            "shapes": self.swept.visited.shapes,
            "tight": None if claim.tight is None else claim.tight.name,
            "relations": tuple(
                self._relation(claim, number, seen[-1])
                for number, seen in seen_in(self.tallies).items()
            ),
            "reached": {name: dict(counts) for name, counts in self.swept.reached.items()},
            "singly": self.singly,
            "arithmetic": self.arithmetic,
        }

    @property
    def counts(self) -> Counts:
        """The instances of all stages."""
        return sum((tally.counts for tally in (self.small, *self.tallies)), Counts())

    def record(self, label: str, number: int) -> Held | None:
        """The best instance on record of the bound of that label or number, if there is one."""
        return None if self.standing is None else self.standing.records.of_relation(label, number)

    @property
    def vacuous(self) -> dict[str, str]:
        """By relation, that its hypothesis, `where`, was true of no instance, or of hardly any."""
        total = sum(tally.counts.evaluated for tally in self.tallies)
        return {
            name: f"{name} is asserted on {asserted} of {total} instances"
            for number, seen in seen_in(self.tallies).items()
            if (asserted := sum(one.asserted for one in seen)) < min(HANDFUL, 1 + total // 100)
            for name in [relation_name(seen[-1].label, number)]
        }

    @property
    def closest(self) -> Iterator[tuple[int, str, Sharpest]]:
        """With number and label of a bound, the instances that came closest to equality."""
        for number, seen in seen_in(self.tallies).items():
            sharpest = [one.sharpest for one in seen if one.sharpest is not None]
            for one in sorted(sharpest, key=lambda one: one.rank, reverse=True):
                yield number, seen[-1].label, one

    def _relation(self, claim: Claim, number: int, seen: RelationTally) -> RelationFacts:
        """What the sweep and the draws saw of a relation, and the tight family."""
        tight, swept, drawn = (tally.relations.get(number) for tally in self.tallies)
        away = [one for one in (swept, drawn) if one is not None]
        total = sum(
            tally.counts.total - tally.unseen - tally.left for tally in (self.swept, self.drawn)
        )
        record = self.record(seen.label, number)
        # The sharpest instance is that of the tight family, or else of the sweep.
        sharpest = [one.sharpest for one in (tight, *away) if one is not None and one.sharpest]
        return RelationFacts(
            label=seen.label,
            kind=seen.kind,
            asserted=sum(one.asserted for one in away) / max(total, 1),
            ratio=max((one.ratio for one in away if one.ratio is not None), default=None),
            tight_ratio=None if tight is None else tight.ratio,
            deviation=None if swept is None else swept.deviation,
            sharpest=instance_text(claim, sharpest[0].family, sharpest[0].record)
            if sharpest
            else None,
            hollow=hollow(claim, number, [one for one in (tight, *away) if one is not None]),
            record=None if record is None else record.ratio,
        )


def search(
    claim: Claim,
    settings: Settings,
    progress: Callable[[int], None] | None = None,
    *,
    control: bool = False,
) -> Search:
    """Go through the stages until an instance breaks the claim.

    Args:
        progress: called with the number of instances whenever some more were evaluated.
        control: whether the claim is a control, which only a proof breaks, unless the claim has no
            ball form.
    """
    assert claim.instances is not None
    family, profile, seed = claim.instances, settings.profile, settings.seed
    result = Search()

    def enumerated() -> Instance | None:
        result.shapes = scope_of(claim, profile)
        return enumerate_scope(claim, result.shapes, result.small, progress=progress)

    def recorded() -> Instance | None:
        result.standing = Standing.of(claim)
        for instance in result.standing.instances:
            tally = result.tight if instance.family is claim.tight else result.swept
            violation = again(claim, instance, tally)
            if violation is not None:
                return violation
        return None

    def tight() -> Instance | None:
        violation = None
        for turn in range(TIGHT_TURNS if claim.tight is not None else 0):
            if violation is not None or (turn and not not_tight(claim, result.tight)):
                break
            assert claim.tight is not None
            violation = sweep(
                claim,
                claim.tight,
                replace(profile, shapes=0),
                seed,
                result.tight,
                share=TIGHT_SHARE,
                turn=turn,
                proof=control,
                progress=progress,
            )
        return violation

    def swept() -> Instance | None:
        return sweep(claim, family, profile, seed, result.swept, proof=control, progress=progress)

    def drawn() -> Instance | None:
        examples = max(5, round(profile.drawn * claim.effort))
        return draw(claim, family, examples, seed, result.drawn, proof=control, progress=progress)

    stages = (
        [tight, swept, enumerated, drawn]
        if control
        else [enumerated, recorded, tight, swept, drawn]
    )
    for stage in stages:
        violation = stage()
        if violation is not None and (violation.conclusive or not control):
            result.violation = violation
            result.smallest = stage is enumerated and violation.proved
            break
    return result


def not_tight(claim: Claim, tally: Tally) -> list[str]:
    """Why the tight family is not tight: a sentence for each bound that is not sharp on it.

    That an instance of another family attains a bound, on record say, does not count: whoever
    breaks the tight family would not hear of it.
    """
    if claim.tight is None:
        return []
    if tally.counts.evaluated == 0:
        return [f"{claim.tight.name} is not tight: none of its instances satisfied the hypotheses"]
    return [
        f"{relation_name(seen.label, number)} is not tight on {claim.tight.name}: the closest "
        f"instance is {seen.gap:.3g} of the larger side from equality; each bound is sharp on the "
        "tight family, or loose= says why not"
        for number, seen in sorted(tally.relations.items())
        if SIGNS[seen.kind].bound
        and claim.loose_because(seen.label) is None
        and seen.gap > tolerances.TIGHT
    ]


def from_search(claim: Claim, settings: Settings) -> Instance:
    """The first violation that the stages of a search find, to be certified; it is not shrunk.

    Raises:
        InputError: if the claim has no instances.
        NotRefutedError: if no violation is found, or balls do not prove it.
        MemoryError or what else says so: if memory was short for every instance.
        ClaimError: if the code of the claim is no function of what is drawn.
    """
    if claim.instances is None:
        raise InputError(f"{claim.id} is cited and has no instances; an instance refutes a claim")
    result = search(claim, settings)
    if result.violation is not None:
        return proved(result.violation)
    if result.counts.evaluated == 0 and any(one.short for one in result.raised):
        raise next(one.error for one in result.raised if one.short)
    raise NotRefutedError(
        f"none of {result.counts.evaluated} instances refutes {claim.id} "
        f"(profile {settings.profile.name}, seed {settings.seed})"
    )
