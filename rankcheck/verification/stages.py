"""The stages of a search: small instances, the tight family, a sweep, and draws.

A claim and its controls go through the same stages. A search of a claim ends with the first
violation that is not rounding, and begins with the small instances, so that it is a smallest one. A
search of a control ends with the first violation that is proved, and begins with what proves most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rankcheck.claims import tolerances
from rankcheck.claims.claim import Claim
from rankcheck.claims.labels import relation_name
from rankcheck.claims.signs import SIGNS
from rankcheck.counterexamples.instance import Instance
from rankcheck.instances.scope import Shapes
from rankcheck.verification.evaluation import Raised, instance_text
from rankcheck.verification.idle import Idle
from rankcheck.verification.ledger import RelationFacts
from rankcheck.verification.profiles import Settings
from rankcheck.verification.scope import enumerate_scope, scope_facts, scope_of
from rankcheck.verification.search import Tally, draw, sweep

__all__ = ["Search", "not_tight", "search"]

#: The share of the profile's batches that is spent on a tight family; again, up to so many times,
#: while one of the bounds has not been sharp.
TIGHT_SHARE = 0.25
TIGHT_TURNS = 8


@dataclass
class Search:
    """What the searches of a claim saw, and the violation that ended them."""

    shapes: Shapes | None = None
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
    def disagree(self) -> str | None:
        """Of the first violation about which floats and balls disagree, both figures."""
        tallies = (self.small, *self.tallies)
        return next((tally.disagree for tally in tallies if tally.disagree is not None), None)

    def facts(self, claim: Claim) -> dict[str, Any]:
        """The fields of a row that the searches fill."""
        scope = None if self.shapes is None else scope_facts(self.shapes, self.small.counts)
        return {
            "scope": scope,
            "drawn": self.drawn.counts,
            "swept": self.swept.counts,
            "tight_swept": self.tight.counts,
            "tight": None if claim.tight is None else claim.tight.name,
            "relations": self._relations(claim),
            "reached": {name: dict(counts) for name, counts in self.swept.reached.items()},
        }

    def _relations(self, claim: Claim) -> tuple[RelationFacts, ...]:
        """What the sweep and the draws saw of each relation, and the tight family."""
        away = (self.swept, self.drawn)
        total = sum(tally.counts.total for tally in away)
        seen = {number: what for tally in self.tallies for number, what in tally.seen.items()}

        def largest(by_tally: list[dict[int, float]], number: int) -> float | None:
            return max((found[number] for found in by_tally if number in found), default=None)

        return tuple(
            RelationFacts(
                label=label,
                kind=kind,
                asserted=sum(tally.asserted.get(number, 0) for tally in away) / max(total, 1),
                ratio=largest([tally.ratio for tally in away], number),
                tight_ratio=self.tight.ratio.get(number),
                deviation=self.swept.deviation.get(number),
                spread=self._spread(number),
                sharpest=self._sharpest(claim, number),
                idle=() if self.swept.idle is None else self.swept.idle.sentences(number),
            )
            for number, (kind, label) in sorted(seen.items())
        )

    def _spread(self, number: int) -> tuple[int, ...]:
        spreads = [t.spread[number] for t in (self.swept, self.drawn) if number in t.spread]
        return tuple(sum(spreads[1:], spreads[0]).counts) if spreads else ()

    def _sharpest(self, claim: Claim, number: int) -> str | None:
        """The sharpest instance of the tight family, or else of the sweep."""
        found = [t.sharpest[number] for t in self.tallies if number in t.sharpest]
        if not found:
            return None
        return instance_text(claim, found[0].family, found[0].record)


def search(
    claim: Claim,
    settings: Settings,
    advance: Callable[[int], None] | None = None,
    *,
    control: bool = False,
) -> Search:
    """Go through the stages until an instance breaks the claim.

    Args:
        advance: called with the number of instances whenever some more were evaluated.
        control: whether the claim is a control, which only a proof breaks, unless the claim has no
            ball form.
    """
    assert claim.instances is not None
    family, profile, seed = claim.instances, settings.profile, settings.seed
    found = Search()
    if not control and family.recording is None:
        found.tight.idle = found.swept.idle = Idle.of(claim)

    def enumerated() -> Instance | None:
        found.shapes = scope_of(claim, profile)
        return enumerate_scope(claim, found.shapes, found.small, advance=advance)

    def tight() -> Instance | None:
        violation = None
        for turn in range(TIGHT_TURNS if claim.tight is not None else 0):
            if violation is not None or (turn and not not_tight(claim, found.tight)):
                break
            assert claim.tight is not None
            violation = sweep(
                claim,
                claim.tight,
                profile,
                seed,
                found.tight,
                share=TIGHT_SHARE,
                turn=turn,
                proof=control,
                advance=advance,
            )
        return violation

    def swept() -> Instance | None:
        return sweep(claim, family, profile, seed, found.swept, proof=control, advance=advance)

    def drawn() -> Instance | None:
        examples = max(5, round(profile.drawn * claim.effort))
        return draw(claim, family, examples, seed, found.drawn, proof=control, advance=advance)

    stages = [tight, swept, enumerated, drawn] if control else [enumerated, tight, swept, drawn]
    if family.recording is not None:
        stages = [swept]  # there is nothing to enumerate or to draw: all instances are swept
    for stage in stages:
        violation = stage()
        if violation is not None and (violation.conclusive or not control):
            found.violation = violation
            found.smallest = stage is enumerated and violation.proved
            break
    return found


def not_tight(claim: Claim, tally: Tally) -> list[str]:
    """Why the tight family is not tight: a sentence for each bound that is not sharp on it."""
    if claim.tight is None:
        return []
    if tally.counts.evaluated == 0:
        return [f"{claim.tight.name} is not tight: none of its instances satisfied the hypotheses"]
    return [
        f"{relation_name(label, number)} is not tight on {claim.tight.name}: the closest instance "
        f"is {tally.gap.get(number, float('inf')):.3g} of the larger side from equality; each "
        "bound is sharp on the tight family, or loose= says why not"
        for number, (kind, label) in sorted(tally.seen.items())
        if SIGNS[kind].bound
        and claim.loose_because(label) is None
        and tally.gap.get(number, float("inf")) > tolerances.TIGHT
    ]
