"""A recorded experiment as the engine knows it: its provenance, and how to make it again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from rankcheck.claims.recording import Provenance
from rankcheck.errors import InstallationError
from rankcheck.experiments.folder import misfit
from rankcheck.experiments.known import experiment
from rankcheck.experiments.records import RECORDED, current, recorded, using
from rankcheck.experiments.result import Result, rounded
from rankcheck.experiments.run import run_experiment

__all__ = ["RecordedExperiment", "faults"]

#: The folder of the package.
_PACKAGE = Path(__file__).parent.parent


@dataclass(frozen=True)
class RecordedExperiment:
    """An experiment of which claims evaluate the recorded result, a `Recording` of the engine."""

    name: str

    def provenance(self) -> Provenance:
        """Of the result that claims evaluate now; the file is that of the record, or none.

        Raises:
            InstallationError: if the record cannot be read.
        """
        result = current(self.name)
        try:
            on_record = result is recorded(self.name)
        except InstallationError:  # inside of `using`, there may be no record
            on_record = False
        return _provenance(result, RECORDED / f"{self.name}.json" if on_record else None)

    def faults(self) -> Sequence[str]:
        """Why the result that claims evaluate now is none of the experiment as it is now."""
        return faults(current(self.name))

    @contextmanager
    def again(
        self, seed: int, folder: Path, progress: Callable[[float], None]
    ) -> Iterator[Provenance]:
        """Make the experiment again, scale small; inside, claims evaluate the new result.

        The seed 0 makes the record again: seeds of the experiment are counted from there, behind
        the pilots.

        The folder keeps parts, networks and the result under the name of the experiment. The
        finished parts of one that was interrupted are used, if the code and the versions are still
        the same; one that had ended is made anew.

        Raises:
            InputError: if the folder has files of something else.
            OSError: if it cannot be written to.
            ArithmeticError, RuntimeError: if a training diverges.
        """
        record = current(self.name)
        made_of = experiment(self.name)
        seed += made_of.pilots
        place = folder / f"{self.name}-seed-{seed}"
        shares = {part.name: 0.0 for part in made_of.parts("small", seed)}

        def of_part(part: str, share: float, words: str) -> None:
            shares[part] = share
            progress(sum(shares.values()) / len(shares))

        progress(0.0)
        try:
            made = run_experiment(
                self.name, "small", seed=seed, folder=place, anew=True, progress=of_part
            )
        finally:
            torch.set_flush_denormal(False)  # training sets it, and claims are evaluated without
        provenance = _provenance(made, place / "result.json")
        if (record.seed, record.device) == (made.seed, made.device):
            provenance = replace(provenance, same=_same(record, made))
        with using(made):
            yield provenance


def _provenance(result: Result, file: Path | None) -> Provenance:
    return Provenance(
        command=result.command,
        seed=result.seed,
        device=result.device,
        versions=dict(result.versions),
        made=result.made,
        seconds=result.seconds,
        runs=len(result.runs),
        file="" if file is None else _shown(file),
    )


def _shown(path: Path) -> str:
    """The name of a file; that of a record is the same on every machine."""
    inside = path.is_relative_to(_PACKAGE)
    return (path.relative_to(_PACKAGE.parent) if inside else path).as_posix()


def _same(record: Result, made: Result) -> int:
    """How many runs have the measurements of the record."""
    before = {(run.part, run.seed): run.measured for run in record.runs}
    return sum(rounded(run.measured) == before.get((run.part, run.seed)) for run in made.runs)


def faults(result: Result) -> list[str]:
    """Sentences that say why the experiment, as it is now, would not have made this result.

    The runs have the parts, settings and seeds of `Experiment.parts`, none is of the pilot, and
    their audits found no theorem that fails.
    """
    made = experiment(result.experiment)
    parts = made.parts("small", result.seed)
    scale = "" if result.scale == "small" else f"it is of the scale {result.scale}, not small"
    pilot = "" if result.pilot == made.pilot_seeds() else "its pilot had other seeds"
    reasons = [
        f"{why}; `{result.command}` makes it anew"
        for why in (scale, misfit(result.runs, parts), pilot)
        if why and result.seed >= made.pilots
    ]
    if result.seed < made.pilots:
        reasons.append(
            f"the seed {result.seed} is that of a pilot, on whose runs thresholds were fixed; a "
            f"claim is tested on the seed {made.pilots} or a larger one"
        )
    for run in result.runs:
        if run.audit is not None and run.audit.failing:
            reasons.append(
                f"the audit of {run.part} with seed {run.seed} says that {run.audit.failing[0]} "
                "fails, which is a theorem: one of the two is computed wrongly"
            )
    return [f"the result of {result.experiment} does not fit: {text}" for text in reasons]
