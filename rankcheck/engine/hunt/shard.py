"""A shard: one strategy at one shape with one seed. Its outcome depends on these alone."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from rankcheck.claims.claim import Claim
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.hunt.arena import Arena, HuntError, OutOfTime, Shape, trouble
from rankcheck.engine.hunt.strategies.base import Strategy
from rankcheck.engine.verification.counts import Counts
from rankcheck.errors import InputError
from rankcheck.theory.instances.choices import write_choices
from rankcheck.theory.instances.record import Entries, Record

#: Before an instance is judged, its entries are rounded to multiples of the first of these at which
#: it keeps the share `KEEP` of its violation.
GRIDS = (1.0, 2.0**-6, 2.0**-16)
KEEP = 0.75

#: What is counted of instances that balls decide and floats are far from.
DIFFERS = "floats differ by more than rounding, and balls decide"


@dataclass(frozen=True)
class Shard:
    """What identifies a shard: round, place in the round, strategy, shape and seed."""

    round: int
    index: int
    strategy: str
    shape: Shape
    seed: int

    @property
    def key(self) -> str:
        """All fields as text. Shards of different hunts have different keys."""
        numbers = ",".join(map(str, self.shape.integers))
        return (
            f"{self.round}.{self.index} {self.strategy} {self.shape.family}({numbers}) {self.seed}"
        )


@dataclass(frozen=True)
class Finding:
    """A violation as plain data.

    Attributes:
        choices: the instance, as `rankcheck.theory.instances.choices` writes it.
        proved: whether ball arithmetic proves the violation.
        violation: its size relative to the sides; None where a side is not a number.
        clear: whether it stands clear of rounding in floats; see `Instance.clear`.
    """

    choices: list[Any]
    proved: bool
    violation: float | None
    clear: bool = False

    @property
    def weight(self) -> tuple[bool, bool, float]:
        """Findings in order: proved, clear, then by the size of the violation."""
        return self.proved, self.clear, -1.0 if self.violation is None else self.violation


@dataclass(frozen=True)
class Outcome:
    """What a shard found.

    Attributes:
        counts: the instances inside and outside the hypotheses, and the violations in floats that
            are rounding.
        troubles: by reason, how many searches, or starts of one, ended early.
        raised: what the body or the generator raised on an instance inside the hypotheses.
        least: the least margin of each relation over the instances within their tolerance; empty
            where none was evaluated.
        found: the worst violation that is not rounding: a proved one, else an undecided one.
        cut: whether the budget ended before the shard did. Then the outcome depends on the clock.
        seconds: the duration of the shard.
    """

    counts: Counts = Counts()  # noqa: RUF009 -- it does not change
    least: tuple[float, ...] = ()
    found: Finding | None = None
    cut: bool = False
    seconds: float = 0.0
    troubles: Mapping[str, int] = field(default_factory=dict)
    raised: str = ""


def run_shard(
    claim: Claim,
    strategies: Sequence[Strategy],
    shard: Shard,
    *,
    device: str = "cpu",
    until: float | None = None,
) -> Outcome:
    """Let the strategy search, and judge the worst violations that it offers in ball arithmetic.

    An exception in the strategy ends its search; it is counted in `troubles`, and what the strategy
    offered before is judged.

    Args:
        until: the end of the budget on `time.monotonic()`. A shard that reaches it stops searching,
            and what it has offered is judged.

    Raises:
        HuntError: if the strategy is unknown.
    """
    begin = time.perf_counter()
    arena = Arena(claim, shard.shape, device=device, until=until, number=shard.round)
    chosen = {strategy.name: strategy for strategy in strategies}
    if shard.strategy not in chosen:
        raise HuntError(
            f"the strategy {shard.strategy!r} is unknown; this hunt has {', '.join(chosen)}"
        )
    cut = False
    try:
        chosen[shard.strategy].search(arena, shard.seed)
    except OutOfTime:
        cut = True
    except InputError:
        raise
    except Exception as error:
        arena.troubles[trouble(shard.strategy, error)] += 1
    finding, others = _judge(arena)
    least = arena.least
    if others.rounding and least:  # a violation that is rounding counts as equality
        least = tuple(min(m, 0.0) if m == min(least) else m for m in least)
    return Outcome(
        arena.counts + others,
        least,
        finding,
        cut,
        round(time.perf_counter() - begin, 4),
        dict(arena.troubles),
        arena.raised,
    )


def _judge(arena: Arena) -> tuple[Finding | None, Counts]:
    """The first proved offer, else the best undecided one; and the number of the others."""
    undecided: Finding | None = None
    rounding = edges = 0
    for beyond, offered in arena.judged:
        record = rounded(arena, offered, beyond)
        instance = Instance(arena.claim, arena.family, record)
        if instance.in_balls.finding == "outside" and record is not offered:
            instance = Instance(arena.claim, arena.family, offered)  # rounded out of the family
        judgement = instance.judgement
        if judgement.differs:
            arena.troubles[DIFFERS] += 1
        if judgement.finding == "refuted":
            excess = float(judgement.relative_excess)
            return (
                Finding(write_choices(instance.record), True, excess),
                Counts(rounding=rounding, outside=edges),
            )
        if judgement.violation:
            if undecided is None or not undecided.clear:
                suspected = _suspected(arena, instance, beyond)
                undecided = max(undecided or suspected, suspected, key=lambda one: one.weight)
        elif judgement.finding == "satisfied":
            rounding += 1
        else:
            edges += 1
    return undecided, Counts(rounding=rounding, outside=edges)


def _suspected(arena: Arena, instance: Instance, beyond: float) -> Finding:
    """A violation that is not proved."""
    clear = False
    try:
        beyond = instance.relative if instance.relative > -torch.inf else beyond
        clear = instance.clear
    except Exception as error:  # the body ran on the batch; this instance alone is left unclear
        arena.troubles[trouble("the estimate of rounding errors", error)] += 1
    return Finding(
        write_choices(instance.record),
        False,
        beyond if beyond < torch.inf else None,
        clear,
    )


def rounded(arena: Arena, record: Record, beyond: float) -> Record:
    """The record on the coarsest grid on which it keeps most of its violation, or as it is."""
    if not record.tensors or not 0 < beyond < torch.inf:
        return record
    ranges = [choice for choice in record.choices if isinstance(choice, Entries)]
    grids = torch.tensor(GRIDS, dtype=torch.float64)
    on_grids = []
    for entry in ranges:
        steps = grids.reshape(-1, *(1 for _ in entry.shape))
        # The ends of a range need not lie on the grid, so that rounding may leave the range.
        on_grids.append((torch.round(entry.values / steps) * steps).clamp(entry.low, entry.high))
    batch = record.with_tensors([values.to(arena.device) for values in on_grids])
    measured = Arena(arena.claim, arena.shape, device=arena.device).at(batch).margins
    as_far = measured.valid.cpu() & (measured.beyond.cpu() >= KEEP * beyond)
    as_far &= measured.beyond.cpu() < torch.inf
    return batch.instance(int(as_far.double().argmax())) if bool(as_far.any()) else record
