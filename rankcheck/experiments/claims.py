r"""What claims about experiments share: their instances, and the relation of a test at a level.

    @statistical(
        "rank.figure-9",
        paper("rank", "Figure 9"),
        instances=recorded_runs(experiment="rank.figure-9", where=((("depth", 9),),)),
        needs={"depth": recorded_runs(experiment="rank.figure-9", where=((("depth", 2),),))},
        mutants={"one singular value less": {"values": 3}},
        no_batch="an instance is a recorded experiment",
        no_ball="trained weights are floats",
    )
    def test_figure_9(runs, *, values=4):
        return (
            mostly([run.measured["error"] < 0.01 for run in runs], "the data are fitted"),
            mostly([run.measured["near_one"] == values for run in runs], "4 values near 1"),
        )

An instance is not drawn: it is all runs of the recorded result with certain settings. `verify`
evaluates each alternative of `where` once, in every profile, and each control as well. The profile
`deep` trains everything again, with the seed of the run, and evaluates the claim and its controls
on that, too. `--seed 0` makes the record again, another seed tests the statement on new data.

* `needs` names a control group on which some relation has to fail. `mutants` set a threshold, which
  is a keyword-only parameter of the body. A claim has one of them.
* `loose`, `tight` and `effort` are left out. A p-value is not sharp against its level, so nothing
  is made 2 % stronger; and there is nothing to draw more or less of.
* Every relation is a `mostly`, so that rows and messages say how many runs ended how.
"""

from __future__ import annotations

import hashlib
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from rankcheck import files
from rankcheck.catalogue.collect import project_folder
from rankcheck.claims.recording import Provenance
from rankcheck.claims.relations import Relation, leq
from rankcheck.errors import InputError
from rankcheck.experiments.known import experiment as known
from rankcheck.experiments.records import RECORDED, current, recorded, using
from rankcheck.experiments.result import Result, Run, rounded
from rankcheck.experiments.run import run_experiment
from rankcheck.experiments.statistics import LEVEL, sign_test
from rankcheck.instances.source import Source, instances, recorded_by
from rankcheck.stored import StoredError, read_json
from rankcheck.versions import versions

__all__ = ["RecordedExperiment", "Runs", "faults", "mostly", "recorded_runs"]

#: The folder of the package.
_PACKAGE = Path(__file__).parent.parent
#: The file that says with which code and versions an experiment is made again.
_BEGUN = "begun.json"
#: The files of its parts, and its result.
_PARTS, _RESULT = "parts", "result.json"


class Runs(tuple[Run, ...]):
    """Runs of an experiment; in messages they are shown in a few words."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self:
            return "no runs"
        parts = Counter(run.part for run in self)
        named = ", ".join(f"{part} ({count})" for part, count in sorted(parts.items()))
        return f"{len(self)} runs: {named}" if len(self) != 1 else f"1 run: {self[0].part}"

    def describe(self) -> str:
        """The runs in a message."""
        return repr(self)


@dataclass(frozen=True)
class RecordedExperiment:
    """An experiment of which claims evaluate the recorded result, a `Recording` of the engine."""

    name: str

    def provenance(self) -> Provenance:
        """Of the result that claims evaluate now.

        Raises:
            InstallationError: if the record cannot be read.
        """
        result = current(self.name)
        kept = result is recorded(self.name)
        return _provenance(result, RECORDED / f"{self.name}.json" if kept else None)

    def faults(self) -> Sequence[str]:
        """Why the result that claims evaluate now is none of the experiment as it is now."""
        return faults(current(self.name))

    @contextmanager
    def again(self, seed: int, folder: Path, told: Callable[[float], None]) -> Iterator[Provenance]:
        """Make the experiment again, scale small; inside, claims evaluate the new result.

        The folder keeps the parts, the networks and the result under the name of the experiment. An
        interrupted experiment goes on there, if the code and the versions are still the same; one
        that had ended is made anew.

        Raises:
            InputError: if the folder has files of something else.
            OSError: if it cannot be written to.
            ArithmeticError, RuntimeError: if a training diverges.
        """
        place = folder / f"{self.name}-seed-{seed}"
        _begin(place)
        shares = {part.name: 0.0 for part in known(self.name).parts("small", seed)}

        def part_told(part: str, share: float, words: str) -> None:
            shares[part] = share
            told(sum(shares.values()) / len(shares))

        told(0.0)
        try:
            made = run_experiment(
                self.name, "small", seed=seed, folder=place / _PARTS, told=part_told
            )
        finally:
            torch.set_flush_denormal(False)  # training sets it, and claims are evaluated without
        files.write_json(place / _RESULT, made.to_json())
        found = _provenance(made, place / _RESULT)
        record = recorded(self.name)
        if (record.seed, record.device) == (made.seed, made.device):
            found = replace(found, same=_same(record, made))
        with using(made):
            yield found


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
    """Why a result is none that its experiment, as it is now, would have made: sentences.

    The runs have the parts, settings and seeds of `Experiment.parts`, and their audits found no
    theorem that fails.
    """
    again = f"`{result.command}` makes it anew"
    said = [] if result.scale == "small" else [f"it is of the scale {result.scale}, not small"]
    expected = {
        (part.name, seed): rounded(dict(part.settings))
        for part in known(result.experiment).parts("small", result.seed)
        for seed in part.seeds
    }
    all_, there = Counter(list(expected)), Counter((run.part, run.seed) for run in result.runs)
    if all_ != there:
        missing = all_ - there
        part, seed = min(missing or there - all_)
        which = "has no run" if missing else "has a run too many"
        said.append(f"it {which} of {part} with seed {seed}")
    for run in result.runs:
        wanted = expected.get((run.part, run.seed), run.settings)
        names = wanted.keys() | run.settings.keys()
        other = sorted(name for name in names if wanted.get(name) != run.settings.get(name))
        if other:
            values = f"{run.settings.get(other[0])!r} and is now {wanted.get(other[0])!r}"
            said.append(f"the setting {other[0]} of {run.part} was {values}")
            break
    found = [f"{text}; {again}" for text in said]
    for run in result.runs:
        if run.audit is not None and run.audit.failing:
            found.append(
                f"the audit of {run.part} with seed {run.seed} says that {run.audit.failing[0]} "
                "fails, which is a theorem: one of the two is computed wrongly"
            )
    return [f"the result of {result.experiment} does not fit: {text}" for text in found]


def _begin(place: Path) -> None:
    """Prepare a folder: what is there is kept if it is the unfinished work of the same code.

    Raises:
        InputError: if the folder is not one of these.
    """
    begun = {"code": _code(), "versions": versions()}
    if place.exists() and any(place.iterdir()):
        try:
            before = read_json(place / _BEGUN)
        except (OSError, StoredError) as error:
            raise InputError(
                f"{place} is not a folder in which an experiment was begun ({error}); "
                "move it elsewhere"
            ) from error
        if before == begun and not (place / _RESULT).exists():
            (place / _PARTS).mkdir(exist_ok=True)
            return
        if (place / _PARTS).exists():
            shutil.rmtree(place / _PARTS)
        (place / _RESULT).unlink(missing_ok=True)
    place.mkdir(parents=True, exist_ok=True)
    files.write_json(place / _BEGUN, begun)
    (place / _PARTS).mkdir()


def _code() -> str:
    """A digest of the code of rankcheck, and of its claims, which audits evaluate."""
    digest = hashlib.sha256()
    for folder in (_PACKAGE, project_folder()):
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


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
    found = Runs(current(experiment).where(**dict(chosen)))
    if not found:
        said = ", ".join(f"{name} = {value!r}" for name, value in chosen) or "anything"
        raise InputError(f"no run of the experiment {experiment} has {said}")
    return (found,)


def mostly(outcomes: Iterable[bool], label: str, *, level: float = LEVEL) -> Relation:
    """More than half of all runs end like this, at the level, by `sign_test` on those at hand.

    The left side is the p-value, the right side the level: five of five runs give 0.031, seven of
    eight 0.035.
    """
    found = [bool(each) for each in outcomes]
    p = sign_test(sum(found), len(found))
    relation = leq(torch.tensor(p, dtype=torch.float64), level, label=label)
    sign = "≤" if p <= level else ">"
    return replace(
        relation, note=f"{sum(found)} of {len(found)} runs, p = {p:.3g} {sign} {level:g}"
    )
