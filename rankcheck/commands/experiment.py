"""Run an experiment: train the networks behind a figure of the documents, and measure them.

NAME is the id of a claim on a figure; without it, the experiments are listed with what each scale
costs. `small` takes minutes, `paper` has the size of the document's own experiment. The result is
shown beside the printed one; the folder keeps it as result.json, with the figures and the trained
networks, which `rankcheck audit` reads.

Parts that are finished are kept: after an interruption the same command does the others. The number
of workers changes no digit. A result that is there is shown again. Figures need matplotlib.

Exit codes: 0 done; 1 a theorem fails on a trained network, which shows a bug of rankcheck; 2 wrong
input; 4 a part cannot be finished: its training diverged, or its worker died; 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankcheck.commands.arguments import add_workers
from rankcheck.errors import InputError
from rankcheck.experiments.base import RECORDED_SCALE, SCALES
from rankcheck.experiments.known import NAMES, experiment
from rankcheck.files import LEFT
from rankcheck.parallel.arithmetic import fix_arithmetic
from rankcheck.terminal.exits import Exit
from rankcheck.terminal.plain import one_line, readable, say, width_of

if TYPE_CHECKING:
    from rankcheck.experiments.base import Experiment, Finding
    from rankcheck.experiments.result import Result
    from rankcheck.terminal.experiment import ExperimentDisplay

HELP = "train the networks behind a figure, and measure them"
#: Where experiments are kept, a folder for each name, scale and seed.
FOLDER = LEFT / "experiments"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rankcheck experiment`."""
    name: Any = parser.add_argument("name", metavar="NAME", nargs="?", help="none: list them")
    name.completer = _names
    parser.add_argument("--scale", choices=SCALES, default="small", help="the size (default small)")
    parser.add_argument(
        "--seed", metavar="N", type=int, help="default: that of the record; smaller ones are pilots"
    )
    parser.add_argument("--device", default="cpu", help="of the training: cpu (default) or cuda")
    add_workers(parser, "processes (default: cores, or parts if fewer)", default=None)
    parser.add_argument("--out", metavar="DIR", type=Path, help=f"default {FOLDER}/NAME-SCALE-SEED")


def run(args: argparse.Namespace) -> int:
    """Run the experiment, show and write the result; returns the exit code."""
    fix_arithmetic()  # so that the number of workers changes no digit
    if args.name is None:
        return _list()
    made = experiment(args.name)
    args.seed = made.pilots if args.seed is None else args.seed
    from rankcheck.experiments.run import PartError, planned, run_experiment
    from rankcheck.terminal.experiment import ExperimentDisplay, lines
    from rankcheck.verification.run import default_workers

    parts = planned(made, args.scale, args.seed)
    folder = _folder(args)
    shown = ExperimentDisplay(sys.stdout, parts)
    shown.say(f"{made.name}, scale {args.scale}, seed {args.seed}, in {folder}")
    try:
        with shown:
            result = run_experiment(
                args.name,
                args.scale,
                seed=args.seed,
                device=args.device,
                folder=folder,
                workers=args.workers or default_workers(len(parts)),
                progress=shown.progress,
            )
    except KeyboardInterrupt:
        shown.say(
            f"interrupted: {len(shown.done)} of {len(parts)} parts are done and kept; the same "
            "command does the others"
        )
        raise
    except PartError as error:
        say(f"rankcheck: {one_line(str(error))}", sys.stderr)
        return Exit.INTERNAL
    stored = not shown.done
    if stored:
        shown.say("it was finished before; nothing is trained")
    findings = _findings(made, result, folder)
    for line in (
        *lines(made, result, findings, **_style()),
        "",
        f"result: {folder / 'result.json'}",
    ):
        shown.say(line)
    _draw(result, folder, shown)
    if (folder / "networks").is_dir():
        shown.say(f"networks: {folder / 'networks'}")
    fails = any(run.audit is not None and run.audit.failing for run in result.runs)
    return Exit.REFUTED if fails else Exit.EXPECTED


def _names(prefix: str, **_: Any) -> list[str]:
    """What a shell completes where NAME stands."""
    return [name for name in NAMES if name.startswith(prefix)]


def _folder(args: argparse.Namespace) -> Path:
    """The folder of the experiment.

    Raises:
        InputError: if a link stands in the place of the default one.
    """
    if args.out is not None:
        out: Path = args.out
        return out
    folder = FOLDER / f"{args.name}-{args.scale}-{args.seed}"
    for one in (*FOLDER.parents[-2::-1], FOLDER, folder):
        if one.is_symlink():
            raise InputError(f"{one} is a link; name the folder yourself with --out")
    return folder


def _findings(made: Experiment, result: Result, folder: Path) -> list[Finding]:
    """What the result says.

    Raises:
        InputError: if the result lacks what the experiment measures: it is not what was written.
    """
    try:
        return list(made.findings(result))
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        if os.environ.get("RANKCHECK_TRACEBACK"):
            raise
        raise InputError(
            f"the result {folder / 'result.json'} has no findings ({type(error).__name__}: "
            f"{error}); delete it, and the same command makes it again from the parts that are kept"
        ) from error


def _draw(result: Result, folder: Path, shown: ExperimentDisplay) -> None:
    """Draw the figures, if matplotlib is there; those that are there are kept.

    Raises:
        OSError: if they cannot be written.
    """
    figures = folder / "figures"
    if not figures.is_dir():
        from rankcheck.report.charts.experiments import write_figures

        begun = folder / ".figures"
        shutil.rmtree(begun, ignore_errors=True)
        try:
            write_figures(result, begun)
        except InputError as error:
            shown.say(f"no figures: {error}")
            return
        begun.rename(figures)
    shown.say(f"figures: {figures}")


def _style() -> dict[str, Any]:
    """How lines are written for standard output."""
    return {"width": width_of(sys.stdout), "written": partial(readable, stream=sys.stdout)}


def _list() -> int:
    """Print the experiments with what each scale costs."""
    from rankcheck.terminal.experiment import index

    entries = [(experiment(name), _costs(name)) for name in NAMES]
    for line in index(entries, **_style()):
        say(line)
    return Exit.EXPECTED


def _costs(name: str) -> dict[str, str]:
    """By scale, how many networks are trained; and the time of the recorded result."""
    from rankcheck.experiments.records import RECORDED, recorded
    from rankcheck.experiments.run import planned
    from rankcheck.terminal.experiment import duration

    costs: dict[str, str] = {}
    for scale in SCALES:
        made = experiment(name)
        parts = planned(made, scale, made.pilots)
        networks = sum(len(part.seeds) for part in parts)
        costs[scale] = f"{networks} networks in {len(parts)} parts"
    if (RECORDED / f"{name}.json").exists():
        seconds = recorded(name).seconds
        costs[RECORDED_SCALE] += f", {duration(seconds)} of processor time when it was recorded"
    return costs
