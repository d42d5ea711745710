"""The shards of a hunt as a work of `rankcheck.engine.parallel`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from rankcheck.claims import registry
from rankcheck.claims.catalogue.loader import import_file
from rankcheck.claims.claim import Claim
from rankcheck.engine.hunt.arena import HuntError
from rankcheck.engine.hunt.settings import Settings
from rankcheck.engine.hunt.shard import Outcome, Shard, run_shard
from rankcheck.engine.hunt.strategies.base import Strategy
from rankcheck.engine.parallel import Deadline, Executor, Limits, Tell, Work, executor_for

#: A shard whose worker has died so often is given up.
DEATHS = 3
#: Of the seconds in which shards have to end after the budget, so many times as many are those that
#: a single shard may take, however long the budget is.
SHARD = 30.0

#: A shard and the end of the budget.
Task: TypeAlias = tuple[Shard, Deadline | None]


@dataclass(frozen=True)
class Target:
    """Where a worker finds the claim: its file, its id, and the hash of its text.

    Attributes:
        claim: the claim itself, in the process that hunts it; it is not sent to others.
    """

    file: str
    id: str
    statement_hash: str
    claim: Claim | None = None

    @classmethod
    def of(cls, claim: Claim) -> Target:
        """The target of a claim."""
        return cls(str(claim.file), claim.id, claim.statement_hash, claim)

    def __reduce__(self) -> tuple[Any, ...]:
        return Target, (self.file, self.id, self.statement_hash)

    def load(self) -> Claim:
        """The claim as this process declared it, or from its file.

        Raises:
            InputError: if the file cannot be imported.
            HuntError: if the file does not declare the claim, or with another text.
        """
        claim = self.claim or registry.declared().get(self.id)
        if claim is None:
            import_file(Path(self.file))
            claim = registry.declared().get(self.id)
        if claim is None or claim.statement_hash != self.statement_hash:
            raise HuntError(
                f"{self.file} does not declare {self.id}, or with another text than the process "
                "that hunts it; workers import the file of the claim"
            )
        return claim


def inline(claim: Claim, settings: Settings) -> Executor:
    """Runs the shards in this process."""
    return executor_for(None, _work(claim, settings))


def workers_for(claim: Claim, settings: Settings) -> Executor:
    """The executor that the settings ask for.

    Raises:
        InputError: if there is none, or the strategies cannot be sent to it.
        HuntError: if workers could not import the claim.
    """
    executor = settings.executor
    if executor is None and settings.workers == 1:
        return inline(claim, settings)
    if not callable(executor) and not claim.file.is_file():
        raise HuntError(
            f"{claim.id} is declared in {claim.file}, which is not a file; workers import that"
        )
    return executor_for(settings.workers if executor is None else executor, _work(claim, settings))


def _work(claim: Claim, settings: Settings) -> Work:
    prepare = partial(_prepare, Target.of(claim), tuple(settings.strategies), settings.device)
    return Work(prepare, [claim.file])


def limits_of(settings: Settings, until: float) -> Limits:
    """The limits of shards, for a budget that ends at a time on `time.monotonic()`."""
    if settings.limit is None:
        return Limits(deaths=DEATHS)
    return Limits(SHARD * settings.limit, until, settings.limit, DEATHS)


def _prepare(
    target: Target, strategies: Sequence[Strategy], device: str
) -> Callable[[Task, Tell], Outcome]:
    """What a worker does first: import the file of the claim."""
    claim = target.load()

    def run(task: Task, progress: Tell) -> Outcome:
        shard, deadline = task
        until = None if deadline is None else deadline.at
        return run_shard(claim, strategies, shard, device=device, until=until)

    return run
