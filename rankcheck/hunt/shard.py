"""A shard: one strategy at one shape with one seed. A pure function of its key, to plain JSON."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from rankcheck.catalogue.loader import import_file
from rankcheck.claims import registry
from rankcheck.claims.claim import Claim
from rankcheck.counterexamples.judge import judge
from rankcheck.errors import InputError
from rankcheck.hunt.arena import Arena, HuntError, OutOfTime, Shape
from rankcheck.hunt.strategies.base import Strategy
from rankcheck.instances.record import Entries, Record

#: Before an instance is judged, its entries are rounded to multiples of this, if it stays one.
GRIDS = (1.0, 2.0**-6, 2.0**-16)
#: The share of its violation that an instance keeps when it is rounded.
KEEP = 0.75


@dataclass(frozen=True)
class Target:
    """Where a worker finds the claim: its file, its id, and the hash of what it says."""

    file: str
    id: str
    statement_hash: str

    @classmethod
    def of(cls, claim: Claim) -> Target:
        """The target of a claim."""
        return cls(str(claim.file), claim.id, claim.statement_hash)

    def load(self) -> Claim:
        """The claim, from this process or from its file.

        Raises:
            LoadError: if the file cannot be imported.
            HuntError: if it holds another claim than was asked for.
        """
        claim = registry.declared().get(self.id)
        if claim is None:
            import_file(Path(self.file))
            claim = registry.declared().get(self.id)
        if claim is None or claim.statement_hash != self.statement_hash:
            what = "survived" if claim is None else "one with another text"
            raise HuntError(
                f"a worker hunts the claim of its parent; {self.id} in {self.file} is {what}"
            )
        return claim


@dataclass(frozen=True)
class Shard:
    """The key: round and place, strategy, shape and seed."""

    round: int
    index: int
    strategy: str
    shape: Shape
    seed: int

    @property
    def key(self) -> str:
        """The key as text; all of it, so that two hunts cannot be confused."""
        numbers = ",".join(map(str, self.shape.integers))
        return (
            f"{self.round}.{self.index} {self.strategy} {self.shape.family}({numbers}) {self.seed}"
        )


@dataclass(frozen=True)
class Finding:
    """A violation as plain data: the record, and what was found out about it.

    `violation` is relative to the sides; None where a side is not a number.
    """

    record: list[dict[str, Any]]
    proved: bool
    violation: float | None
    reason: str = ""


@dataclass(frozen=True)
class Outcome:
    """What a shard found.

    Attributes:
        evaluated, rejected: numbers of instances inside and outside the hypotheses.
        rounding: violations in floats that ball arithmetic showed to be rounding.
        least: the least margin of each relation, violations that are not refuted left out; empty
            where nothing was evaluated.
        found: the worst violation that is not rounding.
        cut: whether the budget ended before the shard did: then it is not a function of its key.
        seconds: the time that it took.
    """

    evaluated: int = 0
    rejected: int = 0
    rounding: int = 0
    least: tuple[float, ...] = ()
    found: Finding | None = None
    cut: bool = False
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; an infinite margin is null."""
        data = asdict(self)
        data["least"] = [None if margin == torch.inf else margin for margin in self.least]
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Outcome:
        """Read what `to_json` wrote.

        Raises:
            TypeError, KeyError: if it is anything else.
        """
        values = dict(data)
        found = values.pop("found")
        least = tuple(
            torch.inf if margin is None else float(margin) for margin in values.pop("least")
        )
        return cls(found=None if found is None else Finding(**found), least=least, **values)


def run_shard(
    claim: Claim,
    strategies: Sequence[Strategy],
    shard: Shard,
    *,
    device: str = "cpu",
    until: float | None = None,
) -> Outcome:
    """Let the strategy search, and put the worst of what it offers to the balls.

    Args:
        until: when the budget ends, in seconds since the epoch (the workers may be other machines).
            A shard that is cut off by it is judged as far as it came.

    Raises:
        HuntError: if the body or the strategy raises, or the strategy is unknown.
    """
    begin = time.perf_counter()
    arena = Arena(claim, shard.shape, device=device, until=until)
    chosen = {strategy.name: strategy for strategy in strategies}
    if shard.strategy not in chosen:
        raise HuntError(f"a shard names a strategy of its hunt; received {shard.strategy!r}")
    cut = False
    try:
        chosen[shard.strategy].search(arena, shard.seed)
    except OutOfTime:
        cut = True
    except InputError:
        raise
    except Exception as error:
        raise HuntError(
            f"a strategy searches at every shape; {shard.strategy} raised {type(error).__name__} "
            f"at {shard.shape.integers} of {claim.id}: {error}"
        ) from error
    found, rounding = _judge(arena)
    tally = arena.tally
    least = tally.least
    if rounding and least:  # what was rounding is equality
        least = tuple(min(m, 0.0) if m == min(least) else m for m in least)
    return Outcome(
        tally.evaluated,
        tally.rejected,
        rounding,
        least,
        found,
        cut,
        round(time.perf_counter() - begin, 4),
    )


def _judge(arena: Arena) -> tuple[Finding | None, int]:
    """The first refuted offer, else the first undecided one; and how many were rounding."""
    undecided: Finding | None = None
    rounding = 0
    for beyond, offered in arena.offers:
        record = rounded(arena, offered, beyond)
        judgement = judge(arena.claim, record, family=arena.family)
        if judgement.finding == "outside" and record is not offered:  # the rounding led there
            record, judgement = offered, judge(arena.claim, offered, family=arena.family)
        if judgement.finding == "refuted":
            return Finding(record.to_json(), True, float(judgement.relative_excess)), rounding
        if judgement.finding == "undecided":
            violation = beyond if beyond < torch.inf else None
            undecided = undecided or Finding(record.to_json(), False, violation, judgement.reason)
            if arena.claim.no_ball is not None:
                break
        else:
            rounding += 1
    return undecided, rounding


def rounded(arena: Arena, record: Record, beyond: float) -> Record:
    """The record on the coarsest grid on which it keeps most of its violation; or as it is."""
    if not record.tensors or not 0 < beyond < torch.inf:
        return record
    ranges = [choice for choice in record.choices if isinstance(choice, Entries)]
    grids = torch.tensor(GRIDS, dtype=torch.float64)
    on_grids = []
    for entry in ranges:
        steps = grids.reshape(-1, *(1 for _ in entry.shape))
        # Rounding may leave the range of an entry: its ends need not lie on the grid.
        on_grids.append((torch.round(entry.values / steps) * steps).clamp(entry.low, entry.high))
    batch = record.with_tensors([values.to(arena.device) for values in on_grids])
    measured = Arena(arena.claim, arena.shape, device=arena.device).at(batch).margins
    kept = measured.valid.cpu() & (measured.beyond.cpu() >= KEEP * beyond)
    kept &= measured.beyond.cpu() < torch.inf
    return batch.instance(int(kept.double().argmax())) if bool(kept.any()) else record
