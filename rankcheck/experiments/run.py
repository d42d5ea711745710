"""`run_experiment`: all parts of an experiment, each resumed from what is there."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path

from rankcheck.errors import InputError
from rankcheck.experiments.base import SCALES, Experiment, Part, Scale
from rankcheck.experiments.folder import Finished, Head, opened
from rankcheck.experiments.known import experiment
from rankcheck.experiments.result import Result
from rankcheck.experiments.workers import Job, here, in_processes
from rankcheck.hunt.settings import check_device

__all__ = ["SEEDS", "command_line", "planned", "run_experiment"]

#: Seeds lie in [0, SEEDS): the seeds of runs derive from them.
SEEDS = 1 << 31


def command_line(name: str, scale: str, seed: int) -> str:
    """The command that remakes a result."""
    return f"rankcheck experiment {name} --scale {scale} --seed {seed}"


def planned(made: Experiment, scale: Scale, seed: int) -> tuple[Part, ...]:
    """The parts of an experiment.

    Raises:
        InputError: if there is no such scale, or no such seed.
        ValueError: if two parts have one name.
    """
    if scale not in SCALES:
        raise InputError(f"there is no scale {scale!r}; a scale is one of {', '.join(SCALES)}")
    if not 0 <= seed < SEEDS:
        raise InputError(f"the seed is {seed}; a seed is at least 0 and below {SEEDS}")
    parts = tuple(made.parts(scale, seed))
    # Files are named after parts, and some file systems ignore case.
    if len({part.name.lower() for part in parts}) < len(parts):
        raise ValueError(f"two parts of {made.name} have one name; the names of parts differ")
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
    told: Callable[[str, float, str], None] = lambda part, share, words: None,
    noticed: Callable[[str], None] = lambda text: None,
) -> Result:
    """Train and measure all parts of an experiment.

    The number of workers changes no digit. Interrupted at any moment, the same call with the same
    folder goes on to the same result; `made` and `seconds` may differ.

    Args:
        folder: keeps the result, finished parts, checkpoints and networks, see
            `rankcheck.experiments.folder`. None keeps nothing.
        workers: processes; None trains here, one part after the other.
        anew: whether what the folder has of this experiment is deleted first, if it was finished or
            was begun by other versions or sources.
        told: called with the name of a part, the share of it that is done, and a few words. The
            share is 1 once the part is finished, and less before.
        noticed: called with what went wrong and was mended, a sentence.

    Raises:
        InputError: if there is no such experiment, scale, seed or device, or what the folder has is
            of another one.
        PartError: if a part cannot be finished: it diverged, or its worker died twice. What was
            finished is kept.
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
    with nullcontext() if folder is None else opened(folder, head, anew=anew) as place:
        found = None if place is None else place.result(parts)
        if found is not None:
            return found
        done: dict[str, Finished] = {}
        for part in parts:
            finished = None if place is None else place.finished(part)
            if finished is not None:
                done[part.name] = finished
                told(part.name, 1.0, "done before")
        left = [part for part in parts if part.name not in done]
        job = Job(made, place, device)
        if workers is None:
            done |= here(job, left, told)
        else:
            done |= in_processes(job, left, workers, told, noticed)
        found = _result(head, parts, done)
        if place is not None:
            place.keep_result(found)
    return found


def _result(head: Head, parts: Sequence[Part], done: dict[str, Finished]) -> Result:
    """The result, from all parts."""
    return Result(
        experiment=head.experiment,
        scale=head.scale,
        seed=head.seed,
        command=command_line(head.experiment, head.scale, head.seed),
        device=head.device,
        versions=head.versions,
        seconds=sum(done[part.name].seconds for part in parts),
        made=datetime.datetime.now(datetime.UTC).date().isoformat(),
        runs=tuple(run for part in parts for run in done[part.name].runs),
    )
