"""Hunt a claim: spend seconds on breaking it; a counterexample is certified and made small.

A SELECTOR is the id of a claim, a file, or FILE::NAME with claims of your own; each claim that it
selects is hunted for the budget. A claim that cannot be hunted, because it is malformed, is
reported, and the others are hunted.

Exit codes: 0 the claims survived, 1 a counterexample is proved, 2 wrong input, 3 undecided (a
violation is neither proved nor excluded, or almost no instance satisfied the hypotheses), 130
interrupted. Of several claims the worst counts: 2 before 1, 1 before 3.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from rankcheck.claims.catalogue.entry import Entry
from rankcheck.claims.catalogue.loader import BrokenClaim, load_each
from rankcheck.claims.catalogue.selection import select
from rankcheck.engine.parallel import Alone, Stopped, Tell
from rankcheck.engine.verification.one import suspected
from rankcheck.errors import InputError
from rankcheck.faces.commands.arguments import (
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
from rankcheck.faces.terminal import exits
from rankcheck.faces.terminal.display import HuntDisplay, hunt_sentence
from rankcheck.faces.terminal.exits import Exit
from rankcheck.faces.terminal.plain import one_line, say
from rankcheck.files import LEFT
from rankcheck.versions import versions

if TYPE_CHECKING:
    from rankcheck.engine.hunt.result import Progress

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


def run(args: argparse.Namespace) -> int:
    """Hunt the claims, show and write the results; returns the exit code."""
    result = JsonFile(args, "the result of a hunt", "schema", "hunts")
    entries = select([args.selector])
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
            shown = HuntDisplay(result.stream)
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
        problem: why the claim cannot be hunted.
    """

    data: dict[str, Any] = field(default_factory=dict)
    problem: str = ""


def _warm() -> None:
    import rankcheck.engine.hunt.run  # noqa: F401 -- torch


def _prepare(entries: Sequence[Entry]) -> Callable[[Any, Tell], _Report]:
    """Import the files; returns what answers two questions about the claim of a number.

    Without settings: what is known of it, as a hunt that has found nothing; with them, its hunt, or
    the report of what a hunt has `found` that was stopped.
    """
    claims = load_each(entries)
    from rankcheck.engine.hunt.controls import hunt_variant
    from rankcheck.engine.hunt.result import Hunt
    from rankcheck.engine.hunt.run import as_found, hunt

    def answer(question: tuple[int, dict[str, Any] | None], progress: Tell) -> _Report:
        index, settings = question
        claim = claims[index]
        if isinstance(claim, BrokenClaim):
            return _Report(problem=claim.problem)
        if settings is None:
            return _Report(Hunt(claim, "undecided", 0).to_json())
        if "found" in settings:
            return _Report(as_found(claim, **settings).to_json())
        control = settings.pop("control")
        if control is None:
            result = hunt(claim, progress=progress, **settings)
        else:
            result = hunt_variant(claim, control, progress=progress, **settings)
        return _Report(result.to_json() | ({} if control is None else {"control": control}))

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

    def hunt(self, alone: Alone, index: int, known: _Report, shown: HuntDisplay) -> _Report:
        """Hunt a claim, and show how it goes on and what it has found.

        Raises:
            InputError: as `rankcheck.engine.hunt.hunt`.
        """
        args, entry = self.args, self.entries[index]
        shown.doing = "the first round"
        what = entry.id if args.control is None else f"the control {args.control!r} of {entry.id}"
        shown.say(f"hunting {what} for {args.budget:g} s, seed {args.seed}: {entry.title}")
        try:
            with shown:
                report = self._answer(alone, index, known, shown)
        except KeyboardInterrupt:
            kept = LEFT / f"{entry.id}.json"
            if shown.state is not None and shown.state.found == "refuted" and kept.exists():
                shown.say(f"a counterexample was proved before: rankcheck replay {kept}")
            raise
        shown.say(report.data["message"])
        shown.say(hunt_sentence(report.data))
        return report

    def _answer(
        self,
        alone: Alone,
        index: int,
        known: _Report,
        shown: HuntDisplay,
    ) -> _Report:
        """The hunt of a claim; if its process was stopped, or died, what is known of it.

        A violation that was found before is reported as it is.
        """
        args = self.args
        settings: dict[str, Any] = {
            name: getattr(args, name)
            for name in ("budget", "seed", "workers", "executor", "device", "scope", "control")
        }
        settings |= {"folder": LEFT, "shrink": args.shrink}
        settings["limit"] = None if self.limit is None else self.limit / 3
        whole = self.limit and args.budget + settings["shrink"] + self.limit
        try:
            report: _Report = alone.ask((index, settings), shown.progress, whole)
        except Stopped as stopped:
            last = shown.state
            best = None if last is None or args.control is not None else last.best
            if best is not None:
                found = {"found": best, "seed": args.seed, "folder": LEFT}
                with suppress(Stopped):
                    report = alone.ask((index, found))
                    return _stopped(self.entries[index], report, stopped, last, args.seed)
            return _stopped(self.entries[index], known, stopped, last, args.seed)
        return report


def _stopped(
    entry: Entry, known: _Report, stopped: Stopped, last: Progress | None, seed: int
) -> _Report:
    """The report of a hunt whose process was stopped, or died; `last` is its last progress."""
    how = f"the hunt {stopped.how([entry.file])}{suspected(stopped.trace)}"
    data = known.data | {"seconds": stopped.seconds, "seed": seed}
    if data["smallest"] is not None:
        message = f"{data['message']}\n  {how}"
    else:
        message = f"{entry.id} is undecided: {how}"
    if last is not None:
        data |= {"counts": asdict(last.counts), "shapes": last.shapes, "rounds": last.round}
        data["margin"] = last.margin
        what = "no counterexample" if last.found is None else "a violation was found"
        message += f"\n  {what} in the {last.counts.evaluated} instances before"
    return _Report(data | {"message": message})
