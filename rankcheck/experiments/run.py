"""`run_experiment`: all parts of an experiment; those that are finished are kept."""

from __future__ import annotations

import datetime
import re
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from rankcheck.errors import InputError
from rankcheck.experiments.base import SCALES, Experiment, Part, Place, Scale
from rankcheck.experiments.folder import Finished, Folder, Head, misfit
from rankcheck.experiments.known import experiment
from rankcheck.experiments.result import Result, packed, unpacked
from rankcheck.hunt.settings import check_device
from rankcheck.parallel import Done, Started, Told, Unfinished, Work, executor_for
from rankcheck.stored import StoredError

__all__ = ["SEEDS", "PartError", "command_line", "planned", "run_experiment", "trained"]

#: Seeds lie in [0, SEEDS): the seeds of runs derive from them.
SEEDS = 1 << 31
#: Called with the name of a part, the share of it that is done, and a few words. The share is 1
#: once the part is finished, and less before.
Listener: TypeAlias = Callable[[str, float, str], None]


class PartError(RuntimeError):
    """A part that cannot be finished; the message says why."""


def command_line(name: str, scale: str, seed: int) -> str:
    """The command that remakes a result."""
    return f"rankcheck experiment {name} --scale {scale} --seed {seed}"


def planned(made: Experiment, scale: Scale, seed: int) -> tuple[Part, ...]:
    """The parts of an experiment.

    Raises:
        InputError: if there is no such scale, or no such seed.
        ValueError: if two parts have one name, or a run of a test is one of the pilot.
    """
    if scale not in SCALES:
        raise InputError(f"there is no scale {scale!r}; a scale is one of {', '.join(SCALES)}")
    if not 0 <= seed < SEEDS:
        raise InputError(f"the seed is {seed}; a seed is at least 0 and below {SEEDS}")
    parts = tuple(made.parts(scale, seed))
    # Files are named after parts, and some file systems ignore case.
    if len({part.name.lower() for part in parts}) < len(parts):
        raise ValueError(f"two parts of {made.name} have one name; the names of parts differ")
    if seed >= made.pilots:
        own = {each for part in parts for each in part.seeds}
        if both := own & set(made.pilot_seeds()):
            raise ValueError(
                f"the run of {made.name} with seed {min(both)} is one of its pilot; no run is "
                "both of the pilot, on which thresholds are fixed, and of a test"
            )
    return parts


def run_experiment(
    name: str,
    scale: Scale = "small",
    *,
    seed: int = 0,
    device: str = "cpu",
    folder: Path | None = None,
    workers: int | None = None,
    anew: bool = False,
    progress: Listener = lambda part, share, words: None,
) -> Result:
    """Train and measure all parts of an experiment. The number of workers changes no digit.

    Args:
        folder: keeps the result, finished parts and networks, see `rankcheck.experiments.folder`:
            the same call does only what is not finished. None keeps nothing.
        workers: processes; None trains here, one part after the other.
        anew: whether what the folder has of an experiment is deleted first, if that was finished or
            is another one.

    Raises:
        InputError: if there is no such experiment, scale, seed or device, or what the folder has is
            of another one.
        PartError: if a part cannot be finished: it diverged, or its worker died. What was finished
            is kept.
        OSError: if a file cannot be written. What was written before is kept.
    """
    if workers is not None and workers < 1:
        raise InputError(f"received {workers} workers; an experiment has at least one")
    made = experiment(name)
    parts = planned(made, scale, seed)
    if not re.fullmatch(r"cpu|cuda(:[0-9]{1,3})?", device):
        raise InputError(f"the device is {device!r}; it is cpu, cuda, or cuda:NUMBER")
    check_device(device)
    head = Head(name, scale, seed, device)
    place = None if folder is None else Folder(folder, head, anew=anew)
    if place is not None and (result := place.result(parts)) is not None:
        return result
    done: dict[str, Finished] = {}
    for part in parts:
        if place is not None and (finished := place.finished(part)) is not None:
            done[part.name] = finished
            progress(part.name, 1.0, "done before")
    left = [part for part in parts if part.name not in done]
    work = Work(partial(_prepare, made, device, None if place is None else place.networks))
    executor = executor_for(workers and min(workers, max(len(left), 1)), work)
    with closing(executor):
        for end in executor.run(left, progress=partial(_report, progress)):
            match end:
                case Done(part, Finished() as finished):
                    if place is not None:
                        place.keep_part(part, finished)
                    done[part.name] = finished
                    progress(part.name, 1.0, "done")
                case Done(_, PartError() as error):
                    raise error
                case Unfinished(part, how):
                    raise PartError(
                        f"part {part.name}: {how}; fewer --workers need less memory, and the same "
                        "command does what is left"
                    )
    result = Result(
        experiment=name,
        scale=scale,
        seed=seed,
        command=command_line(name, scale, seed),
        device=device,
        versions=head.versions,
        seconds=sum(done[part.name].seconds for part in parts),
        made=datetime.datetime.now(datetime.UTC).date().isoformat(),
        runs=tuple(run for part in parts for run in done[part.name].runs),
        pilot=made.pilot_seeds() if seed >= made.pilots else (),
    )
    if place is not None:
        place.keep_result(result)
    return result


def _report(progress: Listener, event: object) -> None:
    """Pass on what a part says, which is not finished as long as it says something."""
    match event:
        case Started(part):
            progress(part.name, 0.0, "begun")
        case Told(part, (share, words)):
            progress(part.name, min(share, 0.999), words)


def _prepare(
    made: Experiment, device: str, networks: Path | None
) -> Callable[[Part, Callable[[Any], None]], Finished | PartError]:
    """What trains a part in a worker."""

    def run(part: Part, tell: Callable[[Any], None]) -> Finished | PartError:
        place = Place(device, networks, lambda share, words: tell((share, words)))
        try:
            return trained(made, part, place)
        except PartError as error:
            return error

    return run


def trained(made: Experiment, part: Part, place: Place) -> Finished:
    """Train and measure a part; the numbers are those that a file keeps.

    Raises:
        PartError: if it diverges, or measures what is no finite number.
    """
    since = time.process_time()
    try:
        runs = unpacked(packed(made.run(part, place)))
        if why := misfit(runs, [part]):
            raise StoredError(why)
    except (FloatingPointError, StoredError, TypeError) as error:
        raise PartError(f"part {part.name}: {error}") from error
    return Finished(time.process_time() - since, runs)
