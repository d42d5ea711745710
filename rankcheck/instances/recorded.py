"""Runs that are on record: networks that a script of `examples/figures` trained and measured.

The record of a figure is `recorded/NAME.json` beside the claims of its document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from rankcheck.errors import InputError
from rankcheck.files import project_folder
from rankcheck.instances.source import Source, instances
from rankcheck.stored import StoredError, build, read_json

__all__ = ["Run", "recorded_runs"]


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


@cache
def _record(name: str) -> tuple[Run, ...]:
    path = project_folder() / name.partition(".")[0] / "recorded" / f"{name}.json"
    try:
        data = read_json(path)
        runs = tuple(build(Run, one, foreign=True) for one in data["runs"])
        if pilot := {run.seed for run in runs} & {*data["pilot"]}:
            raise StoredError(f"the run with seed {min(pilot)} is one of the pilot")
    except (OSError, LookupError, TypeError, StoredError) as error:
        raise InputError(f"the record {path} cannot be read: {error}") from error
    return runs


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
