"""What claims about experiments share: their instances, and the relation of a test at a level.

An instance is not drawn: it is all runs of the recorded result with certain settings. `verify`
evaluates each alternative of `where` once, in every profile; `deep` trains everything again, with
the seed of the run, and evaluates the claim and its controls on that, too. docs/writing-claims.md
has an example.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Self

import torch

from rankcheck.claims.relations import Relation, leq
from rankcheck.errors import InputError
from rankcheck.experiments.recording import RecordedExperiment
from rankcheck.experiments.records import current
from rankcheck.experiments.result import Run
from rankcheck.experiments.statistics import LEVEL, sign_test
from rankcheck.instances.source import Source, instances, recorded_by

__all__ = ["Runs", "mostly", "recorded_runs"]


class Runs(tuple[Run, ...]):
    """Runs of an experiment; in messages they are shown in a few words.

    Args:
        chosen: the settings that they were chosen by, with their values.
    """

    chosen: tuple[tuple[str, Any], ...]

    def __new__(cls, runs: Iterable[Run] = (), chosen: Sequence[tuple[str, Any]] = ()) -> Self:
        made = super().__new__(cls, tuple(runs))
        made.chosen = tuple(chosen)
        return made

    def __repr__(self) -> str:
        """How many runs, and those of which settings, or of which parts.

        >>> Runs([Run("a", 0, {"depth": 3}, {})], [("depth", 3)])
        1 run with depth = 3
        """
        count = f"{len(self) or 'no'} run{'s' * (len(self) != 1)}"
        if self.chosen:
            return f"{count} with " + ", ".join(f"{name} = {value}" for name, value in self.chosen)
        parts = Counter(run.part for run in self)
        named = ", ".join(f"{part} ({count})" for part, count in sorted(parts.items()))
        return f"{count}: {named}" if named else count

    def describe(self) -> str:
        """The runs in a message."""
        return repr(self)


def _recorded_experiment(
    *, experiment: str, where: Sequence[tuple[tuple[str, Any], ...]] = ((),)
) -> RecordedExperiment:
    """The recording of `recorded_runs` with these options, which are checked.

    Raises:
        TypeError: if `where` is no sequence of alternatives.
    """
    pairs = [pair for alternative in where for pair in alternative]
    if not where or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise TypeError(
            f"recorded_runs: where={where!r}; it is a tuple of alternatives, each a tuple of pairs "
            'of a setting and its value, such as ((("depth", 9),),)'
        )
    return RecordedExperiment(experiment)


@instances
@recorded_by(_recorded_experiment)
def recorded_runs(
    source: Source, *, experiment: str, where: Sequence[tuple[tuple[str, Any], ...]] = ((),)
) -> tuple[Runs]:
    """Runs of the recorded result of an experiment, those with certain settings.

    Args:
        where: alternatives, each of which is an instance; each is pairs of a setting and its value.

    Raises:
        InputError: if no run has these settings.
    """
    chosen = source.choice(where) if len(where) > 1 else where[0]
    runs = Runs(current(experiment).where(**dict(chosen)), chosen)
    if not runs:
        raise InputError(f"the experiment {experiment} has {runs!r}")
    return (runs,)


def mostly(outcomes: Iterable[bool], label: str, *, of: str = "runs") -> Relation:
    """More than half of all runs end like this, at `LEVEL`, by `sign_test` on those at hand.

    The left side is the p-value, the right side the level: five of five runs give 0.031, seven of
    eight 0.035.

    Args:
        outcomes: of independent runs, whether they end like this.
        of: what the outcomes are of, for messages, where it is not single runs.
    """
    ends = [bool(each) for each in outcomes]
    p = sign_test(sum(ends), len(ends))
    relation = leq(torch.tensor(p, dtype=torch.float64), LEVEL, label=label)
    sign = "≤" if p <= LEVEL else ">"
    note = f"{sum(ends)} of {len(ends)} {of}, p = {p:.3g} {sign} {LEVEL:g}"
    return replace(relation, note=note)
