"""The settings of a hunt, checked before it begins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from rankcheck.claims.claim import Claim
from rankcheck.engine.counterexamples.shrinking import BUDGET
from rankcheck.engine.hunt.arena import HuntError
from rankcheck.engine.hunt.strategies import STANDARD
from rankcheck.engine.hunt.strategies.base import Strategy
from rankcheck.files import LEFT


@dataclass(frozen=True)
class Settings:
    """What a hunt does, and for how long.

    Attributes:
        budget: seconds for the search; making a counterexample small comes on top. None for no
            limit, with `rounds`.
        workers: processes on this machine.
        executor: `dask://host:port`, a `distributed.Client`, or another one of
            `rankcheck.engine.parallel`, in place of workers.
        device: where tensors live: `cpu` or `cuda`.
        rounds: the largest number of rounds.
        folder: where the certificate is left.
        shrink: seconds for making a counterexample small.
        scope: before anything else, every instance with at most so many entries is evaluated, each
            entry 0, 1 or -1; 0 for none. By default as many entries as `verify` takes.
        limit: seconds in which shards on workers or a cluster have to end after the budget; one
            that takes thirty times as long is given up at any time. The hunt is then undecided.
            None for no limit.

    Raises:
        HuntError: if one of them is out of range.
    """

    budget: float | None = 60.0
    seed: int = 0
    workers: int = 1
    executor: Any = None
    device: str = "cpu"
    rounds: int | None = None
    strategies: Sequence[Strategy] = STANDARD
    folder: Path | str = LEFT
    shrink: float = BUDGET
    scope: int | None = None
    limit: float | None = 10.0

    def __post_init__(self) -> None:
        limit = self.limit
        check_ends("a hunt", self.budget, "rounds", self.rounds, self.workers)
        if len(set(self.names)) < len(self.names) or not self.names:
            raise HuntError(
                f"the strategies are {self.names}; a hunt has at least one, and their names differ"
            )
        if self.scope is not None and (not isinstance(self.scope, int) or self.scope < 0):
            raise HuntError(
                f"the scope is {self.scope}; it is a number of entries, 0 for no enumeration"
            )
        if limit is not None and not 0 < limit < math.inf:
            raise HuntError(f"the limit is {limit}; it is a positive number of seconds, or None")
        check_device(self.device)

    @property
    def names(self) -> list[str]:
        """The names of the strategies."""
        return [strategy.name for strategy in self.strategies]


def check_claim(claim: Claim) -> None:
    """Refuse what is not a claim, and a claim without instances.

    Raises:
        HuntError: with the rule.
    """
    if not isinstance(claim, Claim):
        raise HuntError(
            f"{claim!r:.80} is not a claim; hunt takes what @conjecture or another decorator makes"
        )
    if claim.instances is None:
        raise HuntError(f"{claim.id} is {claim.kind}, without instances; a hunt searches instances")


def check_ends(
    what: str, budget: float | None, name: str, number: int | None, workers: int
) -> None:
    """Refuse a search that would not end, or not begin.

    Args:
        name, number: what it ends after besides the budget, and after how many of these.

    Raises:
        HuntError: with the rule.
    """
    if budget is None and number is None:
        raise HuntError(f"neither a budget nor {name} is given; {what} ends after one of them")
    if budget is not None and not 0 < budget < math.inf:
        raise HuntError(f"the budget is {budget}; it is a positive, finite number of seconds")
    if number is not None and number < 1:
        raise HuntError(f"received {number} {name}; {what} has at least one")
    if workers < 1:
        raise HuntError(f"received {workers} workers; {what} has at least one")


def check_device(device: str) -> None:
    """Refuse a device that torch cannot use.

    Raises:
        HuntError: with what torch says.
    """
    try:
        torch.zeros(1, dtype=torch.float64, device=device).item()  # a meta tensor has no numbers
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).strip().splitlines()[0]
        raise HuntError(
            f"torch cannot use the device {device!r} here ({reason}); a device is cpu or cuda"
        ) from error
