"""What claims about experiments share: their instances, and the relation of a test at a level."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch

from rankcheck.claims.relations import Relation, leq
from rankcheck.experiments.records import current
from rankcheck.experiments.result import Run
from rankcheck.experiments.statistics import LEVEL, sign_test
from rankcheck.instances.source import Source, instances

__all__ = ["Runs", "mostly", "recorded_runs"]


class Runs(tuple[Run, ...]):
    """Runs of an experiment; in messages they are shown in a few words."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self:
            return "no runs"
        parts = sorted({run.part for run in self})
        return f"{len(self)} runs: {', '.join(parts)}"


@instances
def recorded_runs(
    source: Source, *, experiment: str, where: Sequence[tuple[tuple[str, Any], ...]] = ((),)
) -> tuple[Runs]:
    """Runs of the recorded result of an experiment, those with certain settings.

    Args:
        where: alternatives, of which one is drawn; each is pairs of a setting and its value.
    """
    chosen = source.choice(where) if len(where) > 1 else where[0]
    return (Runs(current(experiment).where(**dict(chosen))),)


def mostly(outcomes: Iterable[bool], label: str, *, level: float = LEVEL) -> Relation:
    """More than half of all runs end like this, at the level, by `sign_test` on those at hand.

    The left side is the p-value, the right side the level: five of five runs give 0.031, seven of
    eight 0.035.
    """
    found = [bool(each) for each in outcomes]
    p = sign_test(sum(found), len(found))
    return leq(torch.tensor(p, dtype=torch.float64), level, label=label)
