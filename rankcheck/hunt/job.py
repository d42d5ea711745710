"""What the shards of a hunt share, and how a worker runs one of them."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from pathlib import Path

from rankcheck.catalogue.loader import import_file
from rankcheck.claims import registry
from rankcheck.claims.claim import Claim
from rankcheck.errors import InputError, short_of_memory
from rankcheck.hunt.arena import HuntError
from rankcheck.hunt.shard import Lost, Outcome, Shard, run_shard
from rankcheck.hunt.strategies.base import Strategy
from rankcheck.parallel.arithmetic import single_thread
from rankcheck.parallel.traces import ran_out

#: A shard whose worker has died so often is given up.
DEATHS = 3
#: Of the seconds in which shards have to end after the budget, so many times as many are those that
#: a single shard may take, however long the budget is.
SHARD = 30.0


@dataclass(frozen=True)
class Target:
    """Where a worker finds the claim: its file, its id, and the hash of its text."""

    file: str
    id: str
    statement_hash: str

    @classmethod
    def of(cls, claim: Claim) -> Target:
        """The target of a claim."""
        return cls(str(claim.file), claim.id, claim.statement_hash)

    def load(self) -> Claim:
        """The claim as this process declared it, or from its file.

        Raises:
            LoadError: if the file cannot be imported.
            HuntError: if the file does not declare the claim, or with another text.
        """
        claim = registry.declared().get(self.id)
        if claim is None:
            import_file(Path(self.file))
            claim = registry.declared().get(self.id)
        if claim is None:
            raise HuntError(
                f"{self.file} does not declare {self.id}; workers import the file of the claim"
            )
        if claim.statement_hash != self.statement_hash:
            raise HuntError(
                f"{self.id} has another text in {self.file} than in the process that hunts it; "
                "workers import the file of the claim"
            )
        return claim


@dataclass(frozen=True)
class Job:
    """What all shards of a hunt share."""

    target: Target
    strategies: tuple[Strategy, ...]
    device: str = "cpu"


#: The precision of ball arithmetic belongs to the process, so a process runs one shard at a time.
_alone = threading.Lock()


def late(place: str = "") -> Lost:
    """A shard that had not ended when the budget had, nor some seconds later."""
    return Lost(f"did not end with the budget{_at(place)}")


def endless(seconds: float, place: str = "") -> Lost:
    """A shard that had not ended after so many seconds."""
    return Lost(f"did not end within {seconds:g} s{_at(place)}")


def _at(place: str) -> str:
    return f"; it was at {place}" if place else ""


def run_for(job: Job, shard: Shard, until: float | None) -> Outcome | Lost | str:
    """Run a shard in a worker: its outcome, or the reason why the hunt cannot continue.

    Args:
        until: as in `run_shard`; `time.monotonic()` is the same for all processes of a machine.
    """
    with _alone, single_thread():
        try:
            claim = job.target.load()
            return run_shard(claim, job.strategies, shard, device=job.device, until=until)
        except InputError as error:
            return str(error)
        except Exception as error:
            if short_of_memory(error):
                return Lost(ran_out(error, [Path(job.target.file)]))
            return f"shard {shard.key} raised {type(error).__name__} in a worker: {error}"


def run_within(job: Job, shard: Shard, seconds: float | None) -> Outcome | Lost | str:
    """Run a shard on another machine, whose clock is another one, within so many seconds."""
    return run_for(job, shard, None if seconds is None else time.monotonic() + seconds)
