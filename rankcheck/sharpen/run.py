"""A sharpening: how large the ratios of a claim become, what attains them, and what they look like.

`sharpen(claim)` searches for a budget of seconds, from the instances that earlier runs have left.
Then it makes the extremal instances small, says what is special about them, recognises the number,
and extrapolates. Whatever it reports was proved by balls, and can be replayed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

from rankcheck.claims.claim import Claim
from rankcheck.claims.labels import relation_name
from rankcheck.claims.relations import Relation
from rankcheck.claims.signs import SIGNS
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.counterexamples.reporting import Found, report_violation
from rankcheck.engine.hunt.arena import NOT_ASSERTED, Shape
from rankcheck.engine.hunt.settings import check_claim
from rankcheck.engine.parallel import executor_for, single_thread
from rankcheck.engine.records.ratio import attained
from rankcheck.sharpen import keeping
from rankcheck.sharpen.dial import frontier
from rankcheck.sharpen.extremal import Extremal
from rankcheck.sharpen.glance import glance
from rankcheck.sharpen.growth import growing
from rankcheck.sharpen.progress import Progress
from rankcheck.sharpen.recognise import MOST, recognise
from rankcheck.sharpen.result import Sharp, Sharpened
from rankcheck.sharpen.search import Search, work_of
from rankcheck.sharpen.settings import Settings
from rankcheck.sharpen.sizes import sizes
from rankcheck.sharpen.small import made_small
from rankcheck.sharpen.special import of_end, special
from rankcheck.sharpen.task import Broken, Finding, key_of
from rankcheck.sharpen.trend import trend
from rankcheck.sharpen.values import Dial

#: An extremal instance is made small so often, as long as a better one lies near what comes out:
#: one that is better by this share.
ROUNDS, SAME = 2, 1e-13
#: What was found is left in a file after so many seconds.
WRITTEN = 2.0


def sharpen(
    claim: Claim,
    *,
    dial: str | Dial | None = None,
    budget: float | None = 10.0,
    seed: int = 0,
    progress: Callable[[Progress], object] = lambda state: None,
    **settings: Any,
) -> Sharpened:
    """The largest proved ratios lhs / rhs of a claim, and what attains them.

    Ctrl-C ends the search, and what was found by then is reported.

    Args:
        dial: a parameter of the body and an interval, `NAME=LO..HI`: for which of its values is the
            statement false?
        budget: seconds for the search.
        progress: called as the search goes on.
        settings: the other fields of `rankcheck.sharpen.settings.Settings`, as `workers`,
            `tasks`, `shrink`.

    Raises:
        InputError: if the claim has no instances that can be drawn, no such dial, or a
            setting is out of range.
        ClaimError: if the code of the claim is no function of what is drawn.
    """
    check_claim(claim)
    chosen = Settings(budget=budget, seed=seed, **settings)
    if isinstance(dial, str):
        dial = Dial.parse(dial)
    instance, relations = glance(claim)
    by = tuple(sizes(claim, instance))[:1]
    return _Run(claim, relations, chosen, dial, by, progress).result()


class _Run:
    """A sharpening as it goes on."""

    def __init__(
        self,
        claim: Claim,
        relations: Sequence[Relation],
        settings: Settings,
        dial: Dial | None,
        by: tuple[str, ...],
        progress: Callable[[Progress], object],
    ) -> None:
        self._claim = claim
        self._returned = relations  # what the body returned for an instance
        self._settings = settings
        self._dial = dial
        self._by = by
        self._progress = progress
        self._since = time.monotonic()
        self._path = settings.folder / "records" / f"{claim.id}.json"
        self._interrupted = False
        self._written = 0.0

    def result(self) -> Sharpened:
        """Search, and make the result of what was found."""
        settings, claim = self._settings, self._claim
        begin, before = keeping.known(claim, self._path)
        workers = settings.workers if settings.workers > 1 else None
        found = None
        with closing(executor_for(workers, work_of(claim))) as executor:
            make = partial(
                Search,
                claim,
                settings,
                executor,
                progress=self._tell,
                since=self._since,
                by=self._by,
            )
            search = make(begin=begin)
            try:
                if self._dial is not None:
                    until = self._since + (settings.budget or math.inf)
                    found, search, self._interrupted = frontier(
                        claim, self._dial, settings, make, until
                    )
                else:
                    search.run(settings.budget, settings.tasks)
            except KeyboardInterrupt:
                self._interrupted = True
        relations: tuple[Sharp, ...] = ()
        report: Found | None = None
        kept = None
        if found is None:
            with single_thread():
                relations = self._relations(search, before)
                report = self._certificate(search)
                kept = keeping.leave(search, self._path)
        return Sharpened(
            claim=claim,
            seed=settings.seed,
            budget=settings.budget,
            seconds=round(time.monotonic() - self._since, 3),
            relations=relations,
            by=search.by,
            dial=found,
            counts=search.counts,
            shapes=search.shapes,
            interrupted=self._interrupted,
            troubles=dict(search.troubles),
            certificate=None if report is None else report.certificate,
            counterexample=None if report is None else report.counterexample,
            record_file=kept,
        )

    def _tell(self, search: Search) -> None:
        """Say how it goes on, and leave what was found so far where a later run finds it."""
        best = {name: one.attained.written for name, one in search.best.items()}
        doing = "" if search.dial is None else f"{search.dial[0]} = {search.dial[1]}"
        seconds, budget = search.seconds, self._settings.budget
        state = Progress(seconds, budget, search.shapes, search.counts.evaluated, best, doing)
        self._progress(state)
        if search.dial is None and seconds - self._written > WRITTEN:
            self._written = seconds
            keeping.leave(search, self._path)

    def _relations(self, search: Search, before: dict[str, str]) -> tuple[Sharp, ...]:
        """What is known of each relation, in the order of the body."""
        found = []
        for number, relation in enumerate(self._returned):
            name = relation_name(relation.label, number)
            known = Sharp(
                name=name,
                label=relation.label,
                kind=relation.kind,
                record=before.get(name),
                measured=search.measured[name] / max(search.asserted[name], 1),
                broken=name in search.broken,
            )
            best = search.best.get(name)
            if best is None:
                found.append(replace(known, why=_why(name, search)))
            else:
                found.append(self._finished(known, best, search))
        return tuple(found)

    def _finished(self, known: Sharp, best: Finding, search: Search) -> Sharp:
        """What is made of the best instance of a relation."""
        bound = SIGNS[known.kind].bound
        told = bound or best.attained.refutes
        small = best
        if told and not self._interrupted:
            best, small = self._smaller(best, search)
        groups = [one for (name, _), one in search.groups.items() if name == known.name]
        groups.sort(key=lambda one: one.key)
        values = [(one.key[0], one.attained.low) for one in groups if len(one.key) == 1]
        ladder = growing(self._claim, best, self._settings.seed) if bound else []
        proved, shown = best.attained, small.attained
        end = of_end(best.record, proved.low, proved.high)
        like = recognise(proved.low, proved.high) if told and not (ladder or end) else ()
        exact = shown.low == shown.high and (not like or like[0].text == str(shown.low))
        all_ = MOST if like and like[0].digits >= MOST else 0
        return replace(
            known,
            best=self._extremal(best),
            small=self._extremal(small) if told else None,
            special=(*end, *special(self._claim, small.instance(self._claim))) if told else (),
            how="attained" if exact else f"attained to {all_} digits" if all_ else "approached",
            groups=tuple(map(self._extremal, groups)) if search.by else (),
            growing=tuple(map(self._extremal, ladder)),
            looks_like=like,
            trend=trend(values, search.by[0]) if bound and search.by else None,
            history=tuple(search.history.get(known.name, ())),
        )

    def _smaller(self, best: Finding, search: Search) -> tuple[Finding, Finding]:
        """The best instance, and a small one.

        What is made small has fewer entries, near which there may be a better instance.
        """
        small = best
        for _ in range(ROUNDS):
            instance = made_small(
                best.instance(self._claim),
                best.attained.number,
                budget=self._settings.shrink / ROUNDS,
            )
            small = self._found(best, instance, search)
            search.keep(small)
            again = search.polish(small)
            if again.height <= best.height + abs(best.height) * SAME:
                break
            best = again
        return search.best[best.name], small

    def _found(self, of: Finding, instance: Instance, search: Search) -> Finding:
        """An instance that was made of another one, as a finding of the same relation."""
        [proved] = [one for one in attained(instance) if one.number == of.attained.number]
        shape = Shape(of.shape.family, instance.record.integers)
        key = key_of(self._claim, shape, search.by)
        return Finding(of.name, shape, key, instance.record, proved)

    def _extremal(self, finding: Finding) -> Extremal:
        return Extremal(finding.instance(self._claim), finding.attained, finding.key)

    def _certificate(self, search: Search) -> Found | None:
        """The counterexample to the relation that fails most, if one is proved to fail."""
        wrong = [one for one in search.best.values() if one.attained.refutes]
        wrong.sort(key=lambda one: -one.attained.low)
        failing: list[Finding | Broken] = [*wrong, *search.broken.values()]
        if not failing:
            return None
        first = failing[0]
        instance = Instance(self._claim, first.shape.of(self._claim), first.record)
        budget = 0.0 if self._interrupted else self._settings.shrink
        return report_violation(instance, self._settings.folder, budget=budget)


def _why(name: str, search: Search) -> str:
    """Why a relation has no ratio."""
    if name in search.broken:
        return (
            "it fails where its right side is not positive, so that no factor repairs it; the "
            "certificate has an instance"
        )
    if not search.asserted[name]:
        if search.counts.evaluated or NOT_ASSERTED in search.counts.reasons:
            return "its hypothesis (where=) was true of no instance"
        return "no instance satisfied the hypotheses" + (search.raised and f"; {search.raised}")
    if not search.measured[name]:
        return (
            "its right side was positive at no instance; a ratio is measured where it is, so write "
            "lhs <= rhs < 0 as leq(-rhs, -lhs)"
        )
    if search.uncertified:
        reason, times = search.uncertified.most_common(1)[0]
        return f"{reason} (of {times} instances that balls were to judge)"
    return "balls prove no ratio at the instances that were found"
