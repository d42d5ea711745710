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
from rankcheck.counterexamples.instance import Instance
from rankcheck.counterexamples.shrinking import BUDGET
from rankcheck.hunt.arena import BodyError
from rankcheck.hunt.arguments import (
    check_claim,
    check_device,
    check_end,
    check_limit,
    check_scope,
    check_strategies,
)
from rankcheck.hunt.executors import Executor, Inline, executor_for
from rankcheck.hunt.job import Job, Target
from rankcheck.hunt.journal import Journal, damaged_text
from rankcheck.hunt.plan import Plan
from rankcheck.hunt.result import (
    Fall,
    Hunt,
    Progress,
    hidden_text,
    lost_text,
    report_finding,
    report_smallest,
    report_suspicion,
    troubles_text,
    without_violation,
)
from rankcheck.hunt.shard import Finding, Lost, Outcome, Shard
from rankcheck.hunt.strategies import STANDARD
from rankcheck.hunt.strategies.base import Strategy
from rankcheck.parallel.arithmetic import single_thread
from rankcheck.verification.batching import check_batching
from rankcheck.verification.counts import Counts
from rankcheck.verification.evaluation import RAN_OUT
from rankcheck.verification.ledger import Scope
from rankcheck.verification.profiles import PROFILES
from rankcheck.verification.scope import enumerate_scope, scope_facts, scope_of, wide
from rankcheck.verification.tally import Tally

#: A hunt begins with every instance of so many entries, if no other scope is asked for.
ENTRIES = 5
#: A hunt ends after this many rounds if no instance satisfied the hypotheses.
HOPELESS = 4


def hunt(
    claim: Claim,
    budget: float | None = 60.0,
    seed: int = 0,
    workers: int = 1,
    executor: Any = None,
    device: str = "cpu",
    on_progress: Callable[[Progress], None] | None = None,
    journal: Path | str | None = None,
    *,
    rounds: int | None = None,
    strategies: Sequence[Strategy] = STANDARD,
    folder: Path | str = Path(".rankcheck"),
    shrink: float = BUDGET,
    scope: int | None = None,
    limit: float | None = 10.0,
) -> Hunt:
    """Search for a counterexample to a claim, for a budget of seconds.

    The result of a number of rounds depends on the claim, the seed and the strategies alone, not on
    the workers: the reported counterexample is the first proved one in the order of the shards. A
    budget ends a hunt in the middle of a round.

    A claim that was declared at a prompt or in a notebook is hunted in this process. Workers import
    the file of the claim, so they need one.

    Args:
        budget: seconds for the search; making a counterexample small comes on top. None for no
            limit, with `rounds`.
        workers: processes on this machine.
        executor: `dask://host:port`, a `distributed.Client`, or an `Executor`, in place of workers.
        device: where tensors live: `cpu` or `cuda`.
        on_progress: called after each shard.
        journal: a file of finished shards. If it exists, the hunt continues it, and the seconds
            that it has taken count towards the budget.
        rounds: the largest number of rounds.
        folder: where the certificate is left.
        shrink: seconds for making a counterexample small.
        scope: before anything else, every instance with at most so many entries is evaluated, each
            entry 0, 1 or -1; 0 for none. By default as many entries as `verify` takes.
        limit: seconds in which shards on workers or a cluster have to end after the budget; one
            that takes thirty times as long is given up at any time. The hunt is then undecided.
            None for no limit.

    Raises:
        BatchError: if the body or a generator mixes the instances of a batch, is random, or
            changes its arguments.
        HuntError: if the claim has no instances, its body raises, or an argument is out of range.
        JournalError: if the journal belongs to another hunt.
    """
    check_claim(claim)
    names = check_strategies(strategies)
    check_end(budget, rounds)
    check_scope(scope)
    check_limit(limit)
    check_device(device)
    check_batching(claim, seed)
    job = Job(Target.of(claim), tuple(strategies), device)
    head = {
        "claim": claim.id,
        "statement_sha256": claim.statement_hash,
        "seed": seed,
        "strategies": names,
    }
    kept = None if journal is None else Journal(Path(journal), head)
    run = _Run(claim, seed, budget, on_progress, kept, Plan(claim, strategies, seed))
    runner: Executor | None = None
    try:
        with single_thread():
            run.enumerate(ENTRIES if scope is None else scope, capped=scope is None)
            runner = executor_for(claim, job, workers, executor, limit)
            while not run.ended(rounds):
                # This process runs the first round, which is short, while the workers start.
                run.one_round(Inline(claim, job) if run.rounds == 0 else runner)
            return run.result(Path(folder), shrink)
    finally:
        if runner is not None:
            runner.close()
        if kept is not None:
            kept.close()


class _Run:
    """The state of a hunt: what its rounds have found so far, and its clock."""

    def __init__(
        self,
        claim: Claim,
        seed: int,
        budget: float | None,
        on_progress: Callable[[Progress], None] | None,
        journal: Journal | None,
        plan: Plan,
    ) -> None:
        self._claim = claim
        self._seed = seed
        self._budget = budget
        self._on_progress = on_progress
        self._journal = journal
        self._plan = plan
        self._begin = time.monotonic() - (0.0 if journal is None else journal.seconds)
        self._stages: dict[str, float] = {}
        self._counts = Counts()
        self._margin = math.inf
        self._falls: dict[str, float] = {}
        self._history: list[Fall] = []
        self._found: tuple[Shard, Finding] | None = None
        self._cut = False
        self._lost: Counter[str] = Counter()
        self._troubles: Counter[str] = Counter()
        self._raised = ""
        self._unwritten = ""
        self._scope: Scope | None = None
        self._smallest: tuple[Instance, str] | None = None
        self._suspect: Instance | None = None
        self.rounds = 0

    @property
    def seconds(self) -> float:
        """Seconds that the hunt has taken, with those before it was interrupted."""
        return time.monotonic() - self._begin

    def ended(self, rounds: int | None) -> bool:
        """Whether there is no further round."""
        if self._proved() or self._smallest is not None:
            return True
        hopeless = self.rounds >= HOPELESS and self._counts.evaluated == 0
        known = self._journal is not None and self.rounds < self._journal.rounds
        spent = self._spent() and not known
        return self._cut or hopeless or spent or (rounds is not None and self.rounds >= rounds)

    def _spent(self) -> bool:
        return self._budget is not None and self.seconds >= self._budget

    def enumerate(self, entries: int, *, capped: bool) -> None:
        """Evaluate every instance with few entries; a proved violation is a smallest one.

        The strategies may find more than a violation that is not proved; otherwise it is reported.

        Args:
            capped: whether fewer entries are taken where there would be very many instances.
        """
        if not entries:
            return
        begin, tally = time.perf_counter(), Tally()
        quick = PROFILES["quick"]
        profile = replace(quick, scope=entries) if capped else wide(quick, entries)
        shapes = scope_of(self._claim, profile)
        found = enumerate_scope(self._claim, shapes, tally, stop=self._spent)
        self._scope = scope_facts(shapes, tally.counts)
        if self._spent() and not self._scope.complete:
            said = f"the budget ended within {shapes.sentence()}"
            self._scope = replace(self._scope, text=said)
        self._stages["scope"] = round(time.perf_counter() - begin, 4)
        if tally.raised:
            self._raised = tally.raised[0].sentence(self._claim)
        if found is not None and found.proved:
            self._smallest = found, shapes.sentence()
            self._measured("scope", -float(found.judgement.relative_excess))
        else:
            self._suspect = found

    def one_round(self, executor: Executor) -> None:
        """Take the shards of a round from the journal, run the others, and take in the outcomes."""
        shards = self._plan.round(self.rounds)
        self._raised = self._raised or self._plan.raised
        outcomes: dict[Shard, Outcome] = {}
        if self._journal is not None:
            known = {shard: self._journal.get(shard) for shard in shards}
            outcomes = {shard: outcome for shard, outcome in known.items() if outcome is not None}
        left = [shard for shard in shards if shard not in outcomes]
        until = None if self._budget is None else self._begin + self._budget
        taken = self._take(shards, outcomes, 0)
        if left and self._spent():
            self._cut = True
        elif left and not self._proved():
            for shard, outcome in executor.run(left, until):
                if isinstance(outcome, Lost):
                    self._lost[outcome.why] += 1
                    outcomes[shard] = Outcome()
                else:
                    outcomes[shard] = outcome
                    self._cut = self._cut or outcome.cut
                    if not outcome.cut:
                        self._keep(shard, outcome)
                taken = self._take(shards, outcomes, taken)
                if self._proved():
                    break
        self.rounds += 1
        short = self._raised.startswith(f"{self._claim.id} {RAN_OUT}")
        if self._raised and not self._counts.evaluated and not short:
            raise BodyError(self._raised.replace("\n  ", "; one is "))

    def _keep(self, shard: Shard, outcome: Outcome) -> None:
        """Write an outcome to the journal; where that fails, the hunt ends with the round."""
        if self._journal is None or self._unwritten:
            return
        try:
            self._journal.add(shard, outcome, self.seconds)
        except OSError as error:
            self._unwritten = f"the journal {self._journal.path} cannot be written"
            self._unwritten += f": {error.strerror}; the hunt ended there"
            self._cut = True

    def _proved(self) -> bool:
        return self._found is not None and self._found[1].proved

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
        found = outcome.found
        if found is not None and found.violation is not None:
            self._measured(shard.strategy, -found.violation)
        else:
            self._measured(shard.strategy, max(0.0, min(outcome.least, default=math.inf)))
        if found is not None and (self._found is None or found.weight > self._found[1].weight):
            self._found = (shard, found)
        if self._on_progress is not None:
            self._on_progress(self._progress(shard))

    def _measured(self, strategy: str, margin: float) -> None:
        """Keep a margin, if it is finite and the least of its strategy."""
        if math.isfinite(margin) and margin < self._falls.get(strategy, math.inf):
            self._falls[strategy] = margin
            self._history.append(Fall(strategy, self._counts.evaluated, margin))

    def _progress(self, shard: Shard) -> Progress:
        return Progress(
            shard.strategy,
            self.rounds,
            self._plan.shapes,
            self._counts,
            self._shown_margin(),
            self.seconds,
            self._budget,
            None if self._found is None else "refuted" if self._found[1].proved else "undecided",
        )

    def _shown_margin(self) -> float | None:
        if self._found is not None:
            violation = self._found[1].violation
            return None if violation is None else -violation
        return self._margin if self._margin < math.inf else None

    def result(self, folder: Path, shrink: float) -> Hunt:
        """The verdict, with the counterexample made small and certified.

        Raises:
            HuntError: if the counterexample cannot be reported.
        """
        margin = self._shown_margin()
        values: dict[str, Any] = {}
        if self._smallest is not None:
            violation, scope = self._smallest
            found = report_smallest(violation, scope, folder)
            margin = -float(violation.judgement.relative_excess)
            values = {
                "verdict": "refuted",
                "strategy": "scope",
                "violation": violation,
                "worst": found.worst,
                "smallest": found.smallest,
                "certificate": found.certificate,
                "message": found.message,
            }
        elif self._found is None and self._suspect is not None:
            found = report_suspicion(self._suspect, folder, shrink)
            values = {
                "verdict": "refuted" if found.proved else "undecided",
                "strategy": "scope",
                "violation": self._suspect,
                "worst": found.worst,
                "smallest": found.smallest,
                "certificate": found.certificate,
                "message": found.message,
            }
        elif self._found is None:
            raised = self._raised or lost_text(self._lost)
            values["verdict"], values["message"] = without_violation(
                self._claim,
                self._counts,
                self._plan.shapes,
                margin,
                raised,
                self._scope,
                "" if raised else hidden_text(self._claim, self._seed),
            )
        else:
            begin = time.perf_counter()
            shard, finding = self._found
            violation, found = report_finding(self._claim, shard, finding, folder, shrink)
            self._stages["shrink"] = round(time.perf_counter() - begin, 4)
            values = {
                "verdict": "refuted" if found.proved else "undecided",
                "strategy": shard.strategy,
                "violation": violation,
                "worst": found.worst,
                "smallest": found.smallest,
                "certificate": found.certificate,
                "message": found.message,
            }
            if self._raised:
                values["message"] += f"\n  elsewhere {self._raised}"
        troubles = self._troubles + self._plan.troubles
        values["message"] += troubles_text(troubles)
        lost = lost_text(self._lost)
        if lost and lost not in values["message"]:
            values["message"] += f"\n  {lost}"
        if self._journal is not None:
            values["message"] += damaged_text(self._journal)
        return Hunt(
            claim=self._claim,
            seed=self._seed,
            margin=margin,
            counts=self._counts,
            shapes=self._plan.shapes,
            rounds=self.rounds,
            seconds=round(self.seconds, 3),
            stages=self._stages,
            troubles=dict(troubles),
            scope=self._scope,
            history=tuple(self._history),
            lost=self._lost.total(),
            unwritten=self._unwritten,
            **values,
        )
