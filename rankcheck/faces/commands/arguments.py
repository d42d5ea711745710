"""Arguments that several commands take; a number that is out of range is refused as it is read."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from rankcheck import files
from rankcheck.claims.catalogue.entry import Entry
from rankcheck.claims.catalogue.selection import select
from rankcheck.decide.prove.standing import standing
from rankcheck.engine.hunt.controls import hunt_control
from rankcheck.engine.verification.profiles import PROFILES, Settings, profile
from rankcheck.errors import InputError

#: Seconds for a claim by profile, for a hunt after its budget, for a certificate, and for the tasks
#: of `doctor`. On one core of a shared machine, the slowest claims took 10 s (quick,
#: separation.oscillating-example), 16 s (ci, the same) and 209 s (deep,
#: separation.depth-three-network); certificates take less than 2 s, and those tasks 3 s.
LIMITS: dict[str, float] = {
    "quick": 120.0,
    "ci": 600.0,
    "deep": 7200.0,
    "hunt": 30.0,
    "sharpen": 60.0,
    "prove": 60.0,
    "replay": 120.0,
    "record": 120.0,
    "score": 120.0,
    "doctor": 120.0,
}


def number(fits: Callable[[float], bool], rule: str) -> Callable[[str], float]:
    """What argparse reads a number with; one that does not fit is refused with the rule."""

    def read(text: str) -> float:
        value = float(text)
        if not fits(value):
            raise argparse.ArgumentTypeError(f"received {text}; {rule}")
        return value

    read.__name__ = "float"  # argparse names it where a text is no number
    return read


def at_least(least: int, rule: str) -> Callable[[str], int]:
    """What argparse reads a whole number with; a smaller one is refused with the rule."""

    def read(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"received {text}; {rule}")
        return value

    read.__name__ = "int"
    return read


_SECONDS = number(lambda seconds: 0 <= seconds < math.inf, "it takes finite seconds, 0 or more")
_WORKERS = at_least(1, "there is at least one worker")


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Add `--seed`."""
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="default 0")


def add_json(parser: argparse.ArgumentParser, what: str) -> None:
    """Add `--json`, which `JsonFile` reads."""
    parser.add_argument("--json", metavar="FILE", help=f"write {what}; - for standard output")


def add_workers(
    parser: argparse._ActionsContainer,
    text: str = "processes (default 1)",
    *,
    default: int | None = 1,
) -> None:
    """Add `--workers`."""
    parser.add_argument("--workers", metavar="N", type=_WORKERS, default=default, help=text)


def add_processes(parser: argparse.ArgumentParser) -> None:
    """Add `--workers` or `--executor`, and `--device`."""
    either = parser.add_mutually_exclusive_group()
    add_workers(either)
    either.add_argument("--executor", metavar="dask://HOST:PORT", help="a Dask scheduler")
    parser.add_argument("--device", default="cpu", help="of the tensors: cpu (default) or cuda")


def add_budget(parser: argparse.ArgumentParser, seconds: float) -> None:
    """Add `--budget`, with so many seconds by default."""
    parser.add_argument(
        "--budget",
        metavar="SECONDS",
        type=number(lambda s: 0 < s < math.inf, "it is a positive, finite number of seconds"),
        default=seconds,
        help=f"for each claim (default {seconds:g})",
    )


def add_shrink(parser: argparse.ArgumentParser) -> None:
    """Add `--shrink`."""
    parser.add_argument(
        "--shrink",
        metavar="SECONDS",
        type=_SECONDS,
        default=Settings.shrink,
        help="how long a counterexample is made smaller; 0: not at all "
        f"(default {Settings.shrink:g})",
    )


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of which `settings` makes `Settings`, but for `--shrink`."""
    parser.add_argument(
        "--profile",
        default="quick",
        metavar="|".join(PROFILES),
        help="how much is drawn and swept (default quick)",
    )
    add_seed(parser)


def settings(args: argparse.Namespace, shrink: float = Settings.shrink) -> Settings:
    """The settings that the arguments say.

    Raises:
        InputError: if the profile is unknown.
    """
    chosen = profile(args.profile)
    return Settings(chosen, args.seed, shrink=shrink, hunter=hunt_control, prover=standing)


def add_instance(
    parser: argparse._ActionsContainer, metavar: str, *, required: bool = False
) -> None:
    """Add `--instance`."""
    parser.add_argument(
        "--instance",
        metavar=metavar,
        required=required,
        help="what the generator of the claim draws, in order",
    )


def one_claim(selector: str) -> Entry:
    """The only claim that is selected.

    Raises:
        InputError: if there are several, or none.
    """
    entries = select([selector])
    if len(entries) != 1:
        ids = ", ".join(entry.id for entry in entries)
        raise InputError(f"{selector!r} selects {ids}; one claim is taken at a time")
    return entries[0]


def add_limit(parser: argparse.ArgumentParser, text: str) -> None:
    """Add `--limit`: how long the code of a claim may run before it is stopped."""
    parser.add_argument("--limit", metavar="SECONDS", type=_SECONDS, help=text)


def limit(args: argparse.Namespace, name: str) -> float | None:
    """The seconds of `--limit`, or those of a profile or a command; None for no limit."""
    seconds: float = LIMITS[name] if args.limit is None else args.limit
    return seconds or None


def check_apart(paths: Iterable[Path | None]) -> None:
    """Check that no file is named twice among those that are read and written.

    Raises:
        InputError: one is.
    """
    seen: set[Path] = set()
    for one in filter(None, paths):
        place = one.absolute()
        if place in seen:
            raise InputError(f"{one} is named twice; what is read and written are different files")
        seen.add(place)


class JsonFile:
    """Where `--json` writes: to a file, to standard output for `-`, or nowhere.

    Attributes:
        path: the file; None for standard output and for nowhere.
        stream: where everything else is printed.

    Raises:
        InputError: if the file cannot be written, or is no such JSON.
    """

    def __init__(self, args: argparse.Namespace, what: str, *fields: str) -> None:
        argument: str | None = args.json
        self._printed = argument == "-"
        self.path = None if argument is None or self._printed else Path(argument)
        self.stream = sys.stderr if self._printed else sys.stdout
        if self.path is not None:
            files.check_writable(self.path, what, fields)
        args.report = self  # for an error that ends the run

    def write(self, data: object) -> None:
        """Write JSON.

        Raises:
            OSError: if the file cannot be written.
        """
        if self.path is not None:
            files.write_json(self.path, data)
        elif self._printed:
            print(json.dumps(data, indent=2, ensure_ascii=False))


def add_selectors(
    parser: argparse.ArgumentParser,
    name: str = "selectors",
    metavar: str = "SELECTOR",
    nargs: str | None = "*",
    text: str | None = "all claims by default",
) -> None:
    """Add the claims that a command takes, or files that are kept for them."""
    parser.add_argument(name, metavar=metavar, nargs=nargs, help=text)
