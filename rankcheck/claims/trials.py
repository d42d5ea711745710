r"""Statements about random runs, at a level: more than half of them end like this.

Several runs say nothing of "all trainings". What can be tested is a statement on the distribution
of one run, over data and first weights: *more than half of the runs end like this*. If at most half
of them did, S or more of n independent runs would with probability at most
$P(\mathrm{Bin}(n, 1/2) \ge S)$. Where this is below the level, the statement is kept.

Runs may be on record: networks that a script of `examples/figures` trained and measured. The record
of a figure is `recorded/NAME.json` beside the claims of its document.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch

from rankcheck.claims.relations import Relation, leq
from rankcheck.errors import InputError
from rankcheck.files import project_folder
from rankcheck.stored import StoredError, build, read_json
from rankcheck.theory.instances.source import Source, instances

#: The level of all claims about trained networks.
LEVEL = 0.05


def sign_test(successes: int, runs: int) -> float:
    """P(Bin(runs, 1/2) ≥ successes): the p-value against "at most half of all runs do".

    Raises:
        ValueError: unless 0 ≤ successes ≤ runs, and runs ≥ 1.

    >>> sign_test(5, 5), sign_test(4, 5), sign_test(0, 5)
    (0.03125, 0.1875, 1.0)
    """
    if not (0 <= successes <= runs and runs >= 1):
        raise ValueError(f"received {successes} successes in {runs} runs; at most all succeed")
    from scipy.special import bdtrc  # scipy.stats would take a second to import

    return float(bdtrc(successes - 1, runs, 0.5))


def mostly(outcomes: Iterable[bool], label: str) -> Relation:
    """More than half of all runs end like this, at `LEVEL`, by `sign_test` on those at hand.

    The left side is the p-value, the right side the level: five of five runs give 0.031, seven of
    eight 0.035.

    Args:
        outcomes: of independent runs, whether they end like this.
    """
    ends = [bool(each) for each in outcomes]
    p = sign_test(sum(ends), len(ends))
    return leq(torch.tensor(p, dtype=torch.float64), LEVEL, label=label)


@dataclass(frozen=True)
class Run:
    """A trained network: its part and seed, what was trained, and by name what was measured."""

    part: str
    seed: int
    settings: Mapping[str, Any]
    measured: Mapping[str, Any]

    def describe(self) -> str:
        """The run in a message."""
        return f"{self.part} {self.seed}"


@dataclass(frozen=True)
class _Record:
    """The runs of a figure, and the seeds of its pilot, on which its thresholds were fixed."""

    runs: tuple[Run, ...]
    pilot: tuple[int, ...]

    def __post_init__(self) -> None:
        if both := {run.seed for run in self.runs} & {*self.pilot}:
            raise ValueError(f"the run with seed {min(both)} is one of the pilot")


@cache
def _record(name: str) -> tuple[Run, ...]:
    path = project_folder() / name.partition(".")[0] / "recorded" / f"{name}.json"
    try:
        return build(_Record, read_json(path), foreign=True).runs
    except (OSError, StoredError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"the record {path} cannot be read: {why}") from error


@instances
def recorded_runs(
    source: Source, *, experiment: str, where: Sequence[tuple[tuple[str, Any], ...]]
) -> tuple[tuple[Run, ...]]:
    """Runs of a record, those with certain settings; nothing else is drawn.

    Args:
        where: alternatives, each of which is an instance: pairs of a setting and its value.

    Raises:
        InputError: if the record cannot be read, has a run of the pilot, or no run like this.
    """
    chosen = source.choice(where)
    runs = tuple(run for run in _record(experiment) if {*chosen} <= {*run.settings.items()})
    if not runs:
        raise InputError(f"no run of {experiment} has the settings {chosen}")
    return (runs,)
