"""A hunt: rounds of shards until a counterexample is proved or the budget is spent."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rankcheck.claims.claim import Claim
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.counterexamples.reporting import Found, report_violation
from rankcheck.engine.hunt.arena import BodyError
from rankcheck.engine.hunt.job import Task, inline, limits_of, workers_for
from rankcheck.engine.hunt.plan import Plan
from rankcheck.engine.hunt.report import (
    lost_text,
    report_finding,
    report_suspicion,
    seen_anew,
    troubles_text,
    without_violation,
)
from rankcheck.engine.hunt.result import Hunt, Progress
from rankcheck.engine.hunt.settings import Settings, check_claim
from rankcheck.engine.hunt.shard import Finding, Outcome, Shard
from rankcheck.engine.parallel import Deadline, Executor, Unfinished, single_thread
from rankcheck.engine.parallel.traces import RAN_OUT
from rankcheck.engine.verification.counts import Counts
from rankcheck.engine.verification.ledger import Scope
from rankcheck.engine.verification.profiles import PROFILES
from rankcheck.engine.verification.scope import (
    enumerate_scope,
    scope_facts,
    scope_of,
    smallest_text,
    wide,
)
from rankcheck.engine.verification.tally import Tally

#: A hunt begins with every instance of so many entries, if no other scope is asked for.
ENTRIES = 5
#: A hunt ends after this many rounds if no instance satisfied the hypotheses.
HOPELESS = 4


def hunt(
    claim: Claim,
    budget: float | None = 60.0,
    seed: int = 0,
    *,
    progress: Callable[[Progress], object] = lambda state: None,
    **settings: Any,
) -> Hunt:
    """Search for a counterexample to a claim, for a budget of seconds.

    The result of a number of rounds depends on the claim, the seed and the strategies alone, not on
    the workers: the reported counterexample is the first proved one in the order of the shards. A
    budget ends a hunt in the middle of a round.

    A claim that was declared at a prompt or in a notebook is hunted in this process. Workers import
    the file of the claim, so they need one.

    Args:
        progress: called after each shard.
        settings: the other fields of `Settings`, as `workers`, `executor`, `rounds`, `strategies`.

    Raises:
        ClaimError: if the code of the claim is no function of what is drawn.
        InputError: if there is no such executor, or its workers cannot import the claim.
        HuntError: if the claim has no instances, its body raises, or an argument is out of range.
    """
    check_claim(claim)
    chosen = Settings(budget=budget, seed=seed, **settings)
    run = _Run(claim, chosen, progress)
    workers: Executor | None = None
    try:
        with single_thread():
            run.enumerate()
            workers = workers_for(claim, chosen)
            while not run.ended():
                # This process runs the first round, which is short, while the workers start.
                run.one_round(inline(claim, chosen) if run.rounds == 0 else workers)
            return run.result()
    finally:
        if workers is not None:
            workers.close()


class _Run:
    """The state of a hunt: what its rounds have found so far, and its clock."""

    def __init__(
        self,
        claim: Claim,
        settings: Settings,
        progress: Callable[[Progress], object],
    ) -> None:
        self._claim = claim
        self._settings = settings
        self._progress = progress
        self._plan = Plan(claim, settings.strategies, settings.seed)
        self._begin = time.monotonic()
        self._until = math.inf if settings.budget is None else self._begin + settings.budget
        self._stages: dict[str, float] = {}
        self._counts = Counts()
        self._margin = math.inf
        self._found: tuple[Shard, Finding] | None = None
        self._cut = False
        self._lost: Counter[str] = Counter()
        self._troubles: Counter[str] = Counter()
        self._raised = ""
        self._scope: Scope | None = None
        self._smallest: Instance | None = None  # of the scope: proved, or the first suspect
        self._among = ""
        self.rounds = 0

    @property
    def seconds(self) -> float:
        """Seconds that the hunt has taken."""
        return time.monotonic() - self._begin

    def ended(self) -> bool:
        """Whether there is no further round."""
        if self._proved() or (self._smallest is not None and self._smallest.proved):
            return True
        hopeless = self.rounds >= HOPELESS and self._counts.evaluated == 0
        return self._cut or hopeless or self._spent() or self.rounds == self._settings.rounds

    def _spent(self) -> bool:
        return time.monotonic() >= self._until

    def _proved(self) -> bool:
        return self._found is not None and self._found[1].proved

    def enumerate(self) -> None:
        """Evaluate every instance with few entries; a proved violation is a smallest one.

        The strategies may find more than a violation that is not proved; otherwise it is reported.
        Fewer entries are taken than by default where there would be very many instances.
        """
        asked = self._settings.scope
        entries = ENTRIES if asked is None else asked
        if not entries:
            return
        begin, tally = time.perf_counter(), Tally()
        quick = PROFILES["quick"]
        profile = replace(quick, scope=entries) if asked is None else wide(quick, entries)
        shapes = scope_of(self._claim, profile)
        self._smallest = enumerate_scope(self._claim, shapes, tally, stop=self._spent)
        self._among = shapes.sentence()
        self._scope = scope_facts(shapes, tally.counts)
        if self._spent() and not self._scope.complete:
            self._scope = replace(self._scope, text=f"the budget ended within {self._among}")
        self._stages["scope"] = round(time.perf_counter() - begin, 4)
        if tally.raised:
            self._raised = tally.raised[0].told(self._claim)

    def one_round(self, executor: Executor) -> None:
        """Run the shards of a round, and take in their outcomes, up to a proof."""
        shards = self._plan.round(self.rounds)
        self._raised = self._raised or self._plan.raised
        if shards and self._spent():
            self._cut = True
        else:
            self._run(executor, shards)
        self.rounds += 1
        short = RAN_OUT in self._raised.partition("\n")[0]
        if self._raised and not self._counts.evaluated and not short:
            raised = self._raised.replace("\n  ", "; ")
            raise BodyError(f"{self._claim.id}: {raised}")

    def _run(self, executor: Executor, shards: Sequence[Shard]) -> None:
        outcomes: dict[Shard, Outcome] = {}
        taken = 0
        deadline = None if self._until == math.inf else Deadline(self._until)
        tasks: list[Task] = [(shard, deadline) for shard in shards]
        for end in executor.run(tasks, limits_of(self._settings, self._until)):
            shard = end.task[0]
            if isinstance(end, Unfinished):
                if end.seconds and self._spent():
                    end = replace(end, how="did not end with the budget")
                self._lost[end.why([self._claim.file])] += 1
                outcomes[shard] = Outcome()
            else:
                outcomes[shard] = end.answer
                self._cut = self._cut or end.answer.cut
                self._keep(shard, end.answer.found)
            taken = self._take(shards, outcomes, taken)
            if self._proved():
                return
        if any(shard not in outcomes for shard in shards):  # not begun when the budget ended
            self._cut = True
            self._take(shards, {shard: Outcome(cut=True) for shard in shards} | outcomes, taken)

    def _keep(self, shard: Shard, finding: Finding | None) -> None:
        """Write the certificate of a proof when it arrives, as what follows may be stopped."""
        if finding is not None and finding.proved:
            report_finding(self._claim, shard, finding, Path(self._settings.folder), 0.0)

    def _take(self, shards: Sequence[Shard], outcomes: dict[Shard, Outcome], taken: int) -> int:
        """Take in the known outcomes in the order of the shards, up to a gap or a proof."""
        while taken < len(shards) and shards[taken] in outcomes and not self._proved():
            shard = shards[taken]
            self._add(shard, outcomes[shard])
            taken += 1
        return taken

    def _add(self, shard: Shard, outcome: Outcome) -> None:
        self._plan.take(shard, outcome)
        self._counts += outcome.counts
        self._troubles.update(outcome.troubles)
        self._raised = self._raised or outcome.raised
        self._margin = min(self._margin, *outcome.least, math.inf)
        spent = self._stages.get(shard.strategy, 0.0) + outcome.seconds
        self._stages[shard.strategy] = round(spent, 4)
        finding = outcome.found
        if finding is not None and (self._found is None or finding.weight > self._found[1].weight):
            self._found = (shard, finding)
        self._progress(
            Progress(
                shard.strategy,
                self.rounds,
                self._plan.shapes,
                self._counts,
                self._shown_margin(),
                self.seconds,
                self._settings.budget,
                self._found,
            )
        )

    def _shown_margin(self) -> float | None:
        if self._found is not None:
            violation = self._found[1].violation
            return None if violation is None else -violation
        return self._margin if self._margin < math.inf else None

    def result(self) -> Hunt:
        """The verdict, with the counterexample made small and certified.

        Raises:
            HuntError: if the counterexample cannot be reported.
        """
        facts = self._facts()
        troubles = self._troubles + self._plan.troubles
        message = facts.pop("message") + troubles_text(troubles)
        lost = lost_text(self._lost)
        if lost and lost not in message:
            message += f"\n  {lost}"
        return Hunt(
            claim=self._claim,
            seed=self._settings.seed,
            counts=self._counts,
            shapes=self._plan.shapes,
            rounds=self.rounds,
            seconds=round(self.seconds, 3),
            stages=self._stages,
            troubles=dict(troubles),
            scope=self._scope,
            lost=self._lost.total(),
            message=message,
            **facts,
        )

    def _facts(self) -> dict[str, Any]:
        """The verdict, the message, and what belongs to the violation that is reported."""
        folder, shrink = Path(self._settings.folder), self._settings.shrink
        margin, smallest = self._shown_margin(), self._smallest
        if smallest is not None and smallest.proved:
            report = report_violation(smallest, folder, budget=0)
            report = replace(report, message=report.message + smallest_text(self._among))
            margin = -float(smallest.in_balls.relative_excess)
            return _reported("scope", margin, smallest, report)
        if self._found is not None:
            begin = time.perf_counter()
            shard, finding = self._found
            violation, report = report_finding(self._claim, shard, finding, folder, shrink)
            self._stages["shrink"] = round(time.perf_counter() - begin, 4)
            if self._raised:
                report = replace(report, message=f"{report.message}\n  elsewhere {self._raised}")
            return _reported(shard.strategy, margin, violation, report)
        if smallest is not None:
            report = report_suspicion(smallest, folder, shrink)
            return _reported("scope", margin, smallest, report)
        raised = self._raised or lost_text(self._lost)
        unseen, empty = ("", "") if raised else seen_anew(self._claim, self._settings.seed)
        verdict, message = without_violation(
            self._claim,
            self._counts,
            self._plan.shapes,
            margin,
            raised,
            self._scope,
            unseen,
        )
        return {"verdict": verdict, "message": message + empty, "margin": margin}


def as_found(claim: Claim, found: tuple[Shard, Finding], seed: int, folder: Path) -> Hunt:
    """The result of a hunt that was stopped: its best finding as it was found, with no counts.

    Raises:
        HuntError: if the finding cannot be reported.
    """
    shard, finding = found
    violation, report = report_finding(claim, shard, finding, folder, 0.0)
    margin = None if finding.violation is None else -finding.violation
    return Hunt(claim=claim, seed=seed, **_reported(shard.strategy, margin, violation, report))


def _reported(
    strategy: str, margin: float | None, violation: Instance, report: Found
) -> dict[str, Any]:
    """What a hunt says of the violation that it has found, by the names of `Hunt`."""
    return {
        "verdict": "refuted" if report.proved else "undecided",
        "strategy": strategy,
        "margin": margin,
        "violation": violation,
        "worst": report.worst,
        "smallest": report.smallest,
        "certificate": report.certificate,
        "message": report.message,
    }
