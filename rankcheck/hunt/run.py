"""A hunt: rounds of shards until a counterexample is certified or the budget is spent."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch

from rankcheck.claims.claim import Claim
from rankcheck.counterexamples.judge import judge
from rankcheck.counterexamples.reporting import report_violation
from rankcheck.counterexamples.shrinking import BUDGET
from rankcheck.counterexamples.violation import Violation
from rankcheck.hunt.arena import HuntError
from rankcheck.hunt.executors import Executor, Inline, Job, executor_for
from rankcheck.hunt.journal import Journal
from rankcheck.hunt.plan import Plan
from rankcheck.hunt.shard import Finding, Outcome, Shard, Target
from rankcheck.hunt.strategies import STANDARD
from rankcheck.hunt.strategies.base import Strategy
from rankcheck.instances.record import Record
from rankcheck.verification.run import single_thread

Verdict = Literal["refuted", "undecided", "survived", "gave_up"]

#: Where less than this share of the instances lies inside the hypotheses, a hunt has seen nothing.
INSIDE = 0.05
#: Without an instance inside the hypotheses after so many rounds there will be none; and if then
#: nothing but operations without a ball form stands in the way of a proof, it will stay there.
HOPELESS = 4


@dataclass(frozen=True)
class Progress:
    """How a hunt stands.

    Attributes:
        strategy: that of the shard that was finished last.
        margin: the least margin so far, None where nothing was measured.
        found: the best finding so far, None where there is none.
    """

    strategy: str
    round: int
    shapes: int
    instances: int
    rejected: int
    rounding: int
    margin: float | None
    seconds: float
    budget: float | None
    found: Literal["refuted", "undecided"] | None = None


@dataclass(frozen=True)
class Hunt:
    """What a hunt found.

    Attributes:
        verdict: `refuted`, a counterexample is proved; `undecided`, one that lies outside the
            numerical band cannot be proved or rounding; `none`, the budget is spent; `gave_up`, too
            few instances lay inside the hypotheses to say anything.
        margin: the least margin that was seen (`rankcheck.hunt.margins`): that of the violation
            where one was found.
        instances, rejected: evaluations inside and outside the hypotheses.
        rounding: violations in floats that ball arithmetic showed to be rounding.
        shapes, rounds: how many discrete shapes were looked at, in how many rounds.
        seconds: in all; `stages` by strategy, summed over workers, with `shrink`.
        strategy: which one found the violation.
        violation: as it was found; `worst` and `smallest` after it was made small.
        certificate: the file of the smallest one, if it is refuted.
        message: what a person reads.
    """

    claim: Claim
    verdict: Verdict
    seed: int
    margin: float | None = None
    instances: int = 0
    rejected: int = 0
    rounding: int = 0
    shapes: int = 0
    rounds: int = 0
    seconds: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)
    strategy: str | None = None
    violation: Violation | None = None
    worst: Violation | None = None
    smallest: Violation | None = None
    certificate: str | None = None
    message: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; instances as exact numbers."""

        def shown(violation: Violation | None) -> dict[str, Any] | None:
            if violation is None:
                return None
            return {
                "family": violation.family.name,
                "record": violation.record.to_json(),
                "finding": violation.judgement.finding,
                "relative_excess": float(violation.judgement.relative_excess),
            }

        return {
            "schema": 1,
            "claim": self.claim.id,
            "statement_sha256": self.claim.statement_hash,
            "verdict": self.verdict,
            "seed": self.seed,
            "margin": self.margin,
            "instances": self.instances,
            "rejected": self.rejected,
            "rounding": self.rounding,
            "shapes": self.shapes,
            "rounds": self.rounds,
            "seconds": self.seconds,
            "stages": self.stages,
            "strategy": self.strategy,
            "worst": shown(self.worst),
            "smallest": shown(self.smallest),
            "certificate": self.certificate,
            "message": self.message,
        }


def hunt(
    claim: Claim | Callable[[], None],
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
) -> Hunt:
    """Spend a budget of seconds on breaking a claim.

    The result of a number of rounds depends on the claim, the seed and the strategies alone, not on
    the workers: the reported counterexample is the first certified one in the order of the shards'
    keys. A budget ends a hunt wherever it stands.

    Args:
        claim: a claim, or the test that declares one.
        budget: seconds before the counterexample is made small; None for no limit.
        workers: processes on this machine.
        executor: `dask://host:port`, a `distributed.Client`, or an `Executor`; instead of workers.
        device: of the tensors, `cpu` or `cuda`.
        on_progress: called after each shard.
        journal: a file that keeps finished shards; a hunt goes on from it where it stopped, and the
            seconds that were spent already count.
        rounds: an end of another kind, besides the budget.
        folder: where the certificate is left.
        shrink: seconds for making a counterexample small.

    Raises:
        HuntError: if the claim has no instances, its body raises, or an argument is out of range.
        JournalError: if the journal is that of another hunt.
    """
    claim = _claim(claim)
    names = [strategy.name for strategy in strategies]
    if len(set(names)) < len(names) or not names:
        raise HuntError(f"strategies have names that differ; received {names}")
    if budget is not None and not budget > 0:
        raise HuntError(f"a budget is a positive number of seconds; received {budget}")
    if budget is None and rounds is None:
        raise HuntError("a hunt has a budget or a number of rounds; received neither")
    check_device(device)
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
            runner = executor_for(claim, job, workers, executor)
            while not run.ended(rounds):
                # The first round is short: this process is done with it before others are ready.
                run.one_round(Inline(claim, job) if run.rounds == 0 else runner)
            return run.result(Path(folder), shrink)
    finally:
        if runner is not None:
            runner.close()
        if kept is not None:
            kept.close()


def check_device(device: str) -> None:
    """Find out that a device cannot be used before the work.

    Raises:
        HuntError: with the reason.
    """
    try:
        torch.zeros(1, dtype=torch.float64, device=device)
    except (RuntimeError, AssertionError) as error:
        said = str(error).strip().splitlines()[0]
        raise HuntError(
            f"a device is one that torch can use here; received {device!r}: {said}"
        ) from error


class _Run:
    """A hunt as it goes on."""

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
        self._begin = time.time() - (0.0 if journal is None else journal.seconds)
        self._stages: dict[str, float] = {}
        self._instances = self._rejected = self._cleared = 0
        self._margin = math.inf
        self._found: tuple[Shard, Finding] | None = None
        self._cut = False
        self.rounds = 0

    @property
    def seconds(self) -> float:
        """Since the beginning, with what the journal says of earlier."""
        return time.time() - self._begin

    def ended(self, rounds: int | None) -> bool:
        """Whether there is no further round."""
        if self._found is not None and (self._found[1].proved or self._claim.no_ball is not None):
            return True
        formless = self._found is not None and "no ball form" in self._found[1].reason
        hopeless = self.rounds >= HOPELESS and (self._instances == 0 or formless)
        known = self._journal is not None and self.rounds < self._journal.rounds
        spent = self._spent() and not known
        return self._cut or hopeless or spent or (rounds is not None and self.rounds >= rounds)

    def _spent(self) -> bool:
        return self._budget is not None and self.seconds >= self._budget

    def one_round(self, executor: Executor) -> None:
        """Run the shards of a round, those that the journal does not have, and take them in."""
        shards = self._plan.round(self.rounds)
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
                outcomes[shard] = outcome
                self._cut = self._cut or outcome.cut
                if self._journal is not None and not outcome.cut:
                    self._journal.add(shard, outcome, self.seconds)
                taken = self._take(shards, outcomes, taken)
                if self._proved():
                    break
        self.rounds += 1

    def _proved(self) -> bool:
        return self._found is not None and self._found[1].proved

    def _take(self, shards: Sequence[Shard], outcomes: dict[Shard, Outcome], taken: int) -> int:
        """Take in what is there in the order of the keys, up to a gap or a counterexample."""
        while taken < len(shards) and shards[taken] in outcomes and not self._proved():
            shard = shards[taken]
            self._add(shard, outcomes[shard])
            taken += 1
        return taken

    def _add(self, shard: Shard, outcome: Outcome) -> None:
        self._plan.take(shard, outcome)
        self._instances += outcome.evaluated
        self._rejected += outcome.rejected
        self._cleared += outcome.rounding
        self._margin = min(self._margin, *outcome.least, math.inf)
        spent = self._stages.get(shard.strategy, 0.0) + outcome.seconds
        self._stages[shard.strategy] = round(spent, 4)
        if outcome.found is not None and (self._found is None or outcome.found.proved):
            self._found = (shard, outcome.found)
        if self._on_progress is not None:
            self._on_progress(self._progress(shard))

    def _progress(self, shard: Shard) -> Progress:
        return Progress(
            shard.strategy,
            self.rounds,
            self._plan.shapes,
            self._instances,
            self._rejected,
            self._cleared,
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
        """The verdict, with the counterexample made small and certified."""
        common: dict[str, Any] = {
            "claim": self._claim,
            "seed": self._seed,
            "margin": self._shown_margin(),
            "instances": self._instances,
            "rejected": self._rejected,
            "rounding": self._cleared,
            "shapes": self._plan.shapes,
            "rounds": self.rounds,
        }
        if self._found is None:
            verdict, message = self._nothing()
            return Hunt(
                verdict=verdict,
                message=message,
                seconds=round(self.seconds, 3),
                stages=self._stages,
                **common,
            )
        return self._violated(folder, shrink, common)

    def _nothing(self) -> tuple[Verdict, str]:
        """What to say where there is no violation."""
        total = self._instances + self._rejected
        if self._instances < INSIDE * total or total == 0:
            inside = f"{self._instances} of {total} instances lie inside the hypotheses"
            return "gave_up", f"{self._claim.id}: gave up, {inside}"
        margin = self._shown_margin()
        best = "nothing was at stake" if margin is None else f"least margin {margin:.3g}"
        return (
            "survived",
            f"{self._claim.id}: no counterexample in {self._instances} instances "
            f"({self._plan.shapes} shapes, {best})",
        )

    def _violated(self, folder: Path, shrink: float, common: dict[str, Any]) -> Hunt:
        assert self._found is not None
        shard, finding = self._found
        family = shard.shape.of(self._claim)
        record = Record.from_json(finding.record)
        violation = Violation(record, family, judge(self._claim, record, family=family))
        begin = time.perf_counter()
        try:
            found = report_violation(self._claim, violation, folder, budget=shrink)
        except OSError as error:
            raise HuntError(
                f"a certificate is left where writing is allowed; {folder}: {error.strerror}"
            ) from error
        except (RuntimeError, TypeError, ValueError) as error:
            raise HuntError(
                f"a body does with one instance what it does with a batch; {self._claim.id} raised "
                f"{type(error).__name__}: {error}"
            ) from error
        self._stages["shrink"] = round(time.perf_counter() - begin, 4)
        return Hunt(
            verdict="refuted" if found.proved else "undecided",
            seconds=round(self.seconds, 3),
            stages=self._stages,
            strategy=shard.strategy,
            violation=violation,
            worst=found.worst,
            smallest=found.smallest,
            certificate=found.certificate,
            message=found.message,
            **common,
        )


def _claim(claim: Claim | Callable[[], None]) -> Claim:
    found = claim if isinstance(claim, Claim) else getattr(claim, "claim", None)
    if not isinstance(found, Claim):
        raise HuntError(f"a hunt is for a claim, or the test of one; received {claim!r}")
    if found.instances is None:
        raise HuntError(f"{found.id} is {found.kind}: it has no instances to hunt over")
    return found
