"""`run_experiment`: all parts of an experiment, each resumed from what is there."""

from __future__ import annotations

import datetime
import json
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rankcheck import files
from rankcheck.errors import InputError
from rankcheck.experiments.experiment import Part, Place, Scale
from rankcheck.experiments.known import experiment
from rankcheck.experiments.result import Result, Run, rounded
from rankcheck.hunt.arguments import check_device
from rankcheck.stored import StoredError, build, read_json
from rankcheck.versions import versions

__all__ = ["command_line", "run_experiment"]


def command_line(name: str, scale: Scale, seed: int) -> str:
    """The command that remakes a result."""
    return f"rankcheck experiment {name} --scale {scale} --seed {seed}"


def run_experiment(
    name: str,
    scale: Scale = "small",
    *,
    seed: int = 0,
    device: str = "cpu",
    folder: Path | None = None,
    told: Callable[[str, float, str], None] = lambda part, share, words: None,
) -> Result:
    """Train and measure all parts of an experiment.

    Args:
        folder: keeps finished parts, checkpoints and networks; parts that are finished there are
            taken over, and a training that was interrupted goes on. None keeps nothing.
        told: called with the name of a part, the share of it that is done, and a few words.

    Raises:
        InputError: if there is no such experiment, or what the folder has is of another one.
    """
    check_device(device)
    made = experiment(name)
    runs: list[Run] = []
    seconds = 0.0
    for part in made.parts(scale, seed):
        found, taken = run_part(name, part, device, folder, told)
        runs += found
        seconds += taken
    return Result(
        experiment=name,
        scale=scale,
        seed=seed,
        command=command_line(name, scale, seed),
        device=device,
        versions=versions(),
        seconds=seconds,
        made=datetime.datetime.now(datetime.UTC).date().isoformat(),
        runs=tuple(runs),
    )


def run_part(
    name: str,
    part: Part,
    device: str,
    folder: Path | None,
    told: Callable[[str, float, str], None],
) -> tuple[list[Run], float]:
    """The runs of a part and the seconds of computing, from the folder if they are there."""
    path = None if folder is None else folder / f"{part.name}.json"
    if path is not None and path.exists():
        return _finished(path, part)
    since = time.process_time()

    def part_told(share: float, words: str) -> None:
        told(part.name, share, words)

    place = Place(device, folder, part_told)
    runs = list(experiment(name).run(part, place))
    seconds = time.process_time() - since
    written: Any = rounded([asdict(run) for run in runs])
    if path is not None:
        files.write_json(path, {"identity": part.identity, "seconds": seconds, "runs": written})
    part_told(1.0, "done")
    return [build(Run, each) for each in json.loads(json.dumps(written))], seconds


def _finished(path: Path, part: Part) -> tuple[list[Run], float]:
    """The runs of a part that was finished before.

    Raises:
        InputError: if the file is of another part, or cannot be read.
    """
    rule = "delete it to begin this part anew, or choose another folder"
    try:
        data = read_json(path)
        if not isinstance(data, dict) or data.get("identity") != part.identity:
            raise InputError(f"{path} is of another experiment; {rule}")
        return [build(Run, each) for each in data["runs"]], float(data["seconds"])
    except (OSError, StoredError, KeyError, TypeError) as error:
        raise InputError(f"{path} cannot be read ({error}); {rule}") from error
