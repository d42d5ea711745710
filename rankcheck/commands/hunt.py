"""Hunt a claim: spend seconds on breaking it; a counterexample is certified and made small.

A SELECTOR is the id of a claim, a file, or FILE::NAME with claims of your own; each claim that it
selects is hunted for the budget. A claim that cannot be hunted, because it is malformed or mixes
the instances of a batch, is reported, and the others are hunted.

Exit codes: 0 the claims survived, 1 a counterexample is proved, 2 wrong input, 3 undecided (a
violation is neither proved nor excluded, or almost no instance satisfied the hypotheses), 130
interrupted (--resume continues the hunt). Of several claims the worst counts: 2 before 1, 1 before
3.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankcheck.catalogue.entry import Entry
from rankcheck.catalogue.loader import BrokenClaim, load_each
from rankcheck.catalogue.selection import select
from rankcheck.commands.arguments import (
    JsonFile,
    add_budget,
    add_json,
    add_limit,
    add_processes,
    add_seed,
    add_selectors,
    add_shrink,
    at_least,
    limit,
)
from rankcheck.errors import InputError
from rankcheck.files import LEFT, shown_path
from rankcheck.parallel import Alone, Stopped, Tell
from rankcheck.stored import StoredError, parse
from rankcheck.terminal import exits, hunting
from rankcheck.terminal.exits import Exit
from rankcheck.terminal.plain import one_line, say
from rankcheck.verification.one import suspected
from rankcheck.versions import versions

if TYPE_CHECKING:
    from rankcheck.hunt.result import Progress

HELP = "look for a counterexample to a claim"
SCHEMA = 2
CODES = {
    "survived": Exit.EXPECTED,
    "refuted": Exit.REFUTED,
    "undecided": Exit.UNDECIDED,
    "gave_up": Exit.UNDECIDED,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rankcheck hunt`."""
    add_selectors(parser, "selector", nargs=None, text=None)
    add_budget(parser, 60.0)
    add_seed(parser)
    add_shrink(parser)
    parser.add_argument(
        "--scope",
        metavar="N",
        type=at_least(0, "it is a number of entries, 0 for none"),
        help="first evaluate every instance of up to N entries from {-1, 0, 1}; 0 for none "
        "(default 5, or fewer where these are many)",
    )
    parser.add_argument(
        "--control",
        metavar="NAME",
        help="hunt a control of the claim in its place: a mutant, or a hypothesis that it needs",
    )
    add_processes(parser)
    add_limit(
        parser,
        "for the end of a hunt after its budget, and for the imports; then it is stopped, and "
        "undecided. 0: no limit; hunts then run in this process, as a debugger needs it "
        "(default 30)",
    )
    add_json(parser, "the result")
    parser.add_argument(
        "--journal", metavar="FILE", help=f"finished shards (default {LEFT}/ID.hunt.jsonl)"
    )
    parser.add_argument("--resume", action="store_true", help="continue the journal")


def run(args: argparse.Namespace) -> int:
    """Hunt the claims, show and write the results; returns the exit code."""
    result = JsonFile(args, "the result of a hunt", "schema", "hunts")
    entries = select([args.selector])
    if args.journal is not None and len(entries) > 1:
        raise InputError(
            f"{args.selector} selects {len(entries)} claims; a journal is kept for one"
        )
    if args.control is not None and len(entries) > 1:
        raise InputError(f"{args.selector} selects {len(entries)} claims; a control belongs to one")
    if args.control is not None and (args.workers > 1 or args.executor is not None):
        raise InputError("--control is given with workers; a control is hunted in one process")

    seconds = limit(args, "hunt")
    hunts: list[dict[str, Any]] = []
    codes: list[Exit] = []
    ask = _Ask(args, entries, seconds)
    with closing(
        Alone(partial(_prepare, entries), seconds, entries, warm=_warm, nested=True)
    ) as alone:
        for index in range(len(entries)):
            shown = hunting.HuntDisplay(result.stream)
            shown.doing = "importing"
            with shown:
                known = ask.known(alone, index)
            problem = known.problem
            if not problem:
                try:
                    report = ask.hunt(alone, index, known, shown)
                except InputError as error:  # of this claim; the others are hunted
                    problem = str(error)
                else:
                    hunts.append(report.data)
                    codes.append(CODES[report.data["verdict"]])
                    problem = report.problem
            if problem:
                if len(entries) == 1 and not hunts:
                    raise InputError(problem)
                say(f"rankcheck: {one_line(problem)}", sys.stderr)
                codes.append(Exit.USAGE)
    fields = {"schema": SCHEMA, "versions": versions(), "budget": args.budget}
    result.write({**fields, "hunts": hunts})
    return exits.worst(codes)


@dataclass(frozen=True)
class _Report:
    """A hunt as plain data, from the process that hunts.

    Attributes:
        data: the hunt as JSON.
        ended: whether it ended by itself, with all of its shards.
        problem: why the claim cannot be hunted, or the journal cannot be written.
    """

    data: dict[str, Any] = field(default_factory=dict)
    ended: bool = True
    problem: str = ""


def _warm() -> None:
    import rankcheck.hunt.run  # noqa: F401 -- torch


def _prepare(entries: Sequence[Entry]) -> Callable[[Any, Tell], _Report]:
    """Import the files; returns what answers two questions about the claim of a number.

    Without settings: what is known of it, as a hunt that has found nothing; with them, its hunt.
    """
    claims = load_each(entries)
    from rankcheck.hunt.controls import hunt_variant
    from rankcheck.hunt.result import Hunt
    from rankcheck.hunt.run import hunt

    def answer(question: tuple[int, dict[str, Any] | None], progress: Tell) -> _Report:
        index, settings = question
        claim = claims[index]
        if isinstance(claim, BrokenClaim):
            return _Report(problem=claim.problem)
        if settings is None:
            return _Report(Hunt(claim, "undecided", 0).to_json())
        control = settings.pop("control")
        if control is None:
            result = hunt(claim, progress=progress, **settings)
        else:
            result = hunt_variant(claim, control, progress=progress, **settings)
        data = result.to_json() | ({} if control is None else {"control": control})
        ended = result.verdict == "refuted" or not (result.lost or result.unwritten)
        return _Report(data, ended, result.unwritten)

    return answer


@dataclass(frozen=True)
class _Ask:
    """Asks the process that hunts, and shows its answers."""

    args: argparse.Namespace
    entries: Sequence[Entry]
    limit: float | None

    def known(self, alone: Alone, index: int) -> _Report:
        """What is known of a claim once its file is imported."""
        try:
            known: _Report = alone.ask((index, None))
        except Stopped as stopped:
            raise InputError(f"the process that imports the files {stopped.how()}") from stopped
        return known

    def hunt(self, alone: Alone, index: int, known: _Report, shown: hunting.HuntDisplay) -> _Report:
        """Hunt a claim, and show how it goes on and what it has found.

        Raises:
            InputError: as `rankcheck.hunt.hunt`.
        """
        args, entry = self.args, self.entries[index]
        journal = _journal(entry, args)
        shown.doing = "the first round"
        what = entry.id if args.control is None else f"the control {args.control!r} of {entry.id}"
        shown.say(f"hunting {what} for {args.budget:g} s, seed {args.seed}: {entry.title}")
        of_it = f" for {shown_path(entry.file)}::{entry.id}" if len(self.entries) > 1 else ""
        try:
            with shown:
                report = self._answer(alone, index, known, shown, journal)
        except KeyboardInterrupt:
            shown.say(f"interrupted; the same command{of_it} with --resume continues the hunt")
            raise
        except InputError:
            if args.journal is None and not args.resume and not _has_shards(journal):
                journal.unlink(missing_ok=True)  # the hunt did not begin
            raise
        if args.journal is None and (report.ended or not _has_shards(journal)):
            journal.unlink(missing_ok=True)
        shown.say(report.data["message"])
        if not report.ended and journal.exists():
            shown.say(
                f"  the same command{of_it} with --resume continues the hunt; --limit gives it "
                "longer"
            )
        shown.say(hunting.sentence(report.data))
        return report

    def _answer(
        self,
        alone: Alone,
        index: int,
        known: _Report,
        shown: hunting.HuntDisplay,
        journal: Path,
    ) -> _Report:
        """The hunt of a claim; if its process was stopped, or died, what is known of it.

        A violation that was found before is reported as it is: the journal has it.
        """
        args = self.args
        settings: dict[str, Any] = {
            name: getattr(args, name)
            for name in ("budget", "seed", "workers", "executor", "device", "scope", "control")
        }
        settings |= {"journal": journal, "folder": LEFT, "shrink": args.shrink}
        settings["limit"] = None if self.limit is None else self.limit / 3
        whole = self.limit and args.budget + settings["shrink"] + self.limit
        try:
            try:
                report: _Report = alone.ask((index, settings), shown.progress, whole)
            except Stopped as stopped:
                last = shown.state
                if last is None or last.found is None:
                    raise
                settings |= {"shrink": 0.0, "budget": 1e-9}  # what the journal has, and no more
                report = alone.ask((index, settings), shown.progress, whole)
                if report.data["verdict"] != "refuted":
                    report.data["message"] += (
                        f"\n  the hunt {stopped.how([self.entries[index].file])}"
                    )
                    report = _Report(report.data, ended=False)
        except Stopped as stopped:
            return _stopped(self.entries[index], known, stopped, shown.state, args.seed)
        return report


def _stopped(
    entry: Entry, known: _Report, stopped: Stopped, last: Progress | None, seed: int
) -> _Report:
    """The report of a hunt whose process was stopped, or died; `last` is its last progress."""
    message = f"{entry.id} is undecided: the hunt {stopped.how([entry.file])}"
    message += suspected(stopped.trace)
    data = known.data | {"seconds": stopped.seconds, "seed": seed}
    if last is not None:
        data |= {"counts": asdict(last.counts), "shapes": last.shapes, "rounds": last.round}
        data["margin"] = last.margin
        what = "no counterexample" if last.found is None else "a violation was found"
        message += f"\n  {what} in the {last.counts.evaluated} instances before"
    return _Report(data | {"message": message}, ended=False)


def _has_shards(journal: Path) -> bool:
    """Whether a journal has a shard that evaluated something, and so is worth keeping."""
    try:
        lines = journal.read_bytes().splitlines()[1:]
    except OSError:
        return False
    for line in lines:
        try:
            if parse(line)["outcome"]["counts"]["evaluated"]:
                return True
        except (StoredError, KeyError, TypeError):
            continue  # the last line, cut off
    return False


def _journal(entry: Entry, args: argparse.Namespace) -> Path:
    """The path of the journal: an existing file with --resume, a new one without."""
    path = LEFT / f"{entry.id}.hunt.jsonl" if args.journal is None else Path(args.journal)
    if args.resume:
        if not path.exists():
            raise InputError(
                f"the journal {path} does not exist; --resume continues an existing one"
            )
    elif args.journal is None:
        if LEFT.exists() and not LEFT.is_dir():
            raise InputError(f"{LEFT} is a file; certificates and journals are left in a folder")
        from rankcheck.hunt.journal import set_aside

        aside = set_aside(path)
        if aside is not None:
            say(
                f"the journal of an interrupted hunt is now {aside}; --resume --journal {aside} "
                "continues it",
                sys.stderr,
            )
    elif path.exists():
        raise InputError(f"the journal {path} already exists; pass --resume to continue it")
    return path
