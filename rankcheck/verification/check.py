"""Verifying one claim: its instances, its controls, and the verdict."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from rankcheck.catalogue.entry import shown_path
from rankcheck.claims import tolerances
from rankcheck.claims.claim import FALSE, Claim
from rankcheck.claims.labels import relation_name
from rankcheck.claims.signs import SIGNS
from rankcheck.counterexamples import certificate as certificates
from rankcheck.counterexamples.agreement import DisagreementError
from rankcheck.counterexamples.message import raised_message
from rankcheck.counterexamples.replay import replay
from rankcheck.counterexamples.reporting import report_violation
from rankcheck.counterexamples.violation import Violation
from rankcheck.instances.scope import Shapes
from rankcheck.verification.batching import BatchError, check_batching
from rankcheck.verification.controls import Control, check_hypotheses, check_mutants
from rankcheck.verification.evaluation import Raised, instance_text
from rankcheck.verification.experiments import on_experiments
from rankcheck.verification.ledger import Counterexample, RelationFacts, Row, Verdict
from rankcheck.verification.profiles import Settings
from rankcheck.verification.scope import enumerate_scope, scope_facts, scope_of, smallest_text
from rankcheck.verification.search import Tally, draw, hidden, sweep

__all__ = ["verify_claim"]

#: The share of the profile's batches that is spent on a tight family; again, up to so many times,
#: while one of the bounds has not been sharp.
TIGHT_SHARE = 0.25
TIGHT_TURNS = 8


def verify_claim(
    claim: Claim,
    settings: Settings = Settings(),  # noqa: B008 -- it does not change
    *,
    advance: Callable[[int], None] | None = None,
    told: Callable[[float], None] | None = None,
) -> Row:
    """Verify a claim; returns its row of the ledger.

    First the body and the generators are checked to be functions of one instance; the row of a
    claim that mixes the instances of a batch has failed, with the message of the `BatchError`. A
    claim that is declared false replays its stored certificate. Any other claim is searched for a
    violation, and its controls are checked. One about a recorded experiment is evaluated on the
    record and, with a profile that makes experiments again, on the new result as well.

    Args:
        settings: profile, seed, and the folder for the certificate of a new counterexample.
        advance: called with the number of instances whenever some more were evaluated.
        told: called with the share of an experiment that has been made again.

    Raises:
        ClaimError: if the body returns anything but relations.
        Exception: what the generator or the body raises, if it does so on every instance.
    """
    start = time.perf_counter()
    if claim.kind == "cited":
        row = Row.of(claim, "cited")
    else:
        try:
            check_batching(claim, settings.seed)
        except BatchError as error:
            row = Row.of(claim, "failed", messages=(str(error),))
        else:
            if claim.kind in FALSE:
                row = _replayed(claim)
            else:
                row = on_experiments(
                    claim, settings, lambda: _searched(claim, settings, advance), told
                )
    return replace(row, seconds=round(time.perf_counter() - start, 3))


def _replayed(claim: Claim) -> Row:
    """The row of a claim that is declared false: its stored certificate has to prove it so."""
    path = certificates.stored_path(claim)
    message = ""
    try:
        found = replay(path, claim=claim)
        if found.changed:
            message = (
                f"{claim.id}: the claim has changed since its counterexample was certified; "
                f"`rankcheck certify {claim.id} --again` certifies it for the claim as it is now"
            )
    except certificates.CertificateError as error:
        message = f"{claim.id}: {error}"
    except DisagreementError as error:
        return Row.of(claim, "undecided", certificate=shown_path(path), messages=(str(error),))
    if message:
        return Row.of(claim, "failed", certificate=shown_path(path), messages=(message,))
    proved = Counterexample.of(found.smallest)
    return Row.of(claim, "refuted", certificate=shown_path(path), counterexample=proved)


@dataclass
class _Search:
    """What the searches of a claim saw, and the violation that ended them."""

    shapes: Shapes | None = None
    small: Tally = field(default_factory=Tally)
    tight: Tally = field(default_factory=Tally)
    swept: Tally = field(default_factory=Tally)
    drawn: Tally = field(default_factory=Tally)
    violation: Violation | None = None
    smallest: bool = False

    @property
    def tallies(self) -> tuple[Tally, Tally, Tally]:
        return self.tight, self.swept, self.drawn

    @property
    def raised(self) -> list[Raised]:
        """The instances inside the hypotheses on which the generator or the body raised."""
        return [raised for tally in (self.small, *self.tallies) for raised in tally.raised]

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


def _searched(claim: Claim, settings: Settings, advance: Callable[[int], None] | None) -> Row:
    """The row of a claim that is said to hold."""
    assert claim.instances is not None
    search = _search(claim, settings, advance)
    facts = search.facts(claim)
    if search.violation is not None and claim.instances.recording is not None:
        return Row.of(claim, "failed", **facts)  # `on_experiments` says why
    if search.violation is not None:
        # The first counterexample of a scope is a smallest one: there is nothing to shrink.
        budget = None if search.smallest else settings.shrink
        found = report_violation(claim, search.violation, settings.folder, budget=budget)
        return Row.of(
            claim,
            "refuted" if found.proved else "undecided",
            certificate=found.certificate,
            counterexample=Counterexample.of(certificates.section(claim, found.smallest))
            if found.proved
            else None,
            messages=(found.message + _before(search),),
            **facts,
        )
    if search.raised:
        failed = any(not raised.short for raised in search.raised)
        verdict: Verdict = "failed" if failed else "undecided"
        return Row.of(claim, verdict, messages=(_raised(claim, search),), **facts)
    needs = check_hypotheses(claim, settings.profile, settings.seed)
    broken = [name for name, control in needs.items() if control.caught]
    unbroken = [name for name, control in needs.items() if not control.caught]
    vacuous = _vacuous(search)
    mutants, named = check_mutants(claim, search.tallies, settings.profile, settings.seed)
    messages = [
        f"{claim.id}: the control without the hypothesis {name!r} does not break the claim"
        f"{_because(needs[name])}"
        for name in unbroken
    ]
    messages += [
        f"{claim.id}: the mutant {name!r} survives{_because(named.get(name))}"
        for name in mutants.survivors
    ]
    caught = {
        name: control.instance(claim)
        for name, control in {**needs, **named}.items()
        if control.caught
    }
    disagree = [
        f"{claim.id} is undecided: {control.disagree}, in the {what} {name!r}"
        for what, controls in (("control without", needs), ("mutant", named))
        for name, control in controls.items()
        if control.disagree is not None
    ]
    messages += [f"{claim.id}: {why}" for why in _not_tight(claim, search.tight)]
    counts = search.swept.counts + search.drawn.counts
    if counts.evaluated == 0:
        messages.append(
            f"{claim.id}: no instance satisfied the hypotheses ({counts.rejected} rejected)"
        )
    messages += [f"{claim.id}: {name} is asserted on no instance" for name in vacuous]
    messages += [f"{claim.id}: {why}" for why in hidden(claim, search.tallies)]
    good: Verdict = "guarded" if claim.kind == "conjecture" else "holds"
    return Row.of(
        claim,
        "undecided" if disagree else "failed" if messages else good,
        needs=tuple(broken),
        broken_by={name: text for name, text in caught.items() if text is not None},
        unbroken=tuple(unbroken),
        vacuous=tuple(vacuous),
        mutants=mutants,
        messages=(*disagree, *messages),
        **facts,
    )


def _raised(claim: Claim, search: _Search) -> str:
    """What was raised on some instances, where, and on which.

    Raises:
        Exception: what was raised, with the instance as a note, if no instance was evaluated.
    """
    counts = search.small.counts + search.tight.counts + search.swept.counts + search.drawn.counts
    first, *others = sorted(search.raised, key=lambda raised: raised.short)
    if counts.evaluated == 0:
        first.error.add_note(f"on the instance {first.describe(claim)}")
        raise first.error
    message = raised_message(claim, first.record, first.family, first.error, by=first.by)
    if others:
        message += f"\n  and on {len(others)} other instance{'s' * (len(others) > 1)}"
    if first.short:
        return message + "\n  smaller ranges in the generator, or more memory, would decide it"
    return message + (
        f"\n  the {first.by} accepts every instance inside the hypotheses; source.require in the "
        "generator, before the operation that raises, leaves an instance out"
    )


def _because(control: Control | None) -> str:
    """What the body raised in a control that was not caught."""
    return "" if control is None or control.raised is None else f"; it raised {control.raised}"


def _search(claim: Claim, settings: Settings, advance: Callable[[int], None] | None) -> _Search:
    """Enumerate the small instances, sweep, and draw, until an instance breaks the claim."""
    assert claim.instances is not None
    profile, seed = settings.profile, settings.seed
    if claim.instances.recording is not None:
        search = _Search()  # there is nothing to enumerate or to draw: all instances are swept
        family, tally = claim.instances, search.swept
        search.violation = sweep(claim, family, profile, seed, tally, advance=advance)
        return search
    shapes = scope_of(claim, profile)
    search = _Search(shapes=shapes)
    search.violation = enumerate_scope(claim, shapes, search.small, advance=advance)
    search.smallest = search.violation is not None and search.violation.proved
    if claim.tight is not None:
        for turn in range(TIGHT_TURNS):
            if search.violation is not None or (turn and not _not_tight(claim, search.tight)):
                break
            search.violation = sweep(
                claim,
                claim.tight,
                profile,
                seed,
                search.tight,
                share=TIGHT_SHARE,
                turn=turn,
                advance=advance,
            )
    if search.violation is None:
        search.violation = sweep(
            claim, claim.instances, profile, seed, search.swept, advance=advance
        )
    if search.violation is None:
        examples = max(5, round(profile.drawn * claim.effort))
        search.violation = draw(
            claim, claim.instances, examples, seed, search.drawn, advance=advance
        )
    return search


def _before(search: _Search) -> str:
    """A line of the message of a counterexample that the enumeration found."""
    if not search.smallest or search.shapes is None:
        return ""
    return smallest_text(search.shapes.sentence())


def _not_tight(claim: Claim, tally: Tally) -> list[str]:
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


def _vacuous(search: _Search) -> list[str]:
    """The relations whose hypothesis, `where`, was true of no instance."""
    seen = {number: what for tally in search.tallies for number, what in tally.seen.items()}
    asserted = {number for tally in search.tallies for number in tally.asserted}
    return [
        relation_name(label, number)
        for number, (_, label) in sorted(seen.items())
        if number not in asserted
    ]
