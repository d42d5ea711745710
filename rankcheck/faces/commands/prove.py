"""Prove a claim: at small shapes it is true of all entries, not only of those that were tried.

A SELECTOR is the id of a claim, a file, or FILE::NAME with claims of your own. Each claim that it
selects is proved at its smallest shapes, one after the other, for the seconds that it has: by exact
algebra on all paths through its body; a claim over integers instance by instance. A second checker
goes through each proof before it is shown. Then follow the mutants: a proof at a shape where these
are proved as well says little.

  rankcheck prove rank.jacobian-bounds-cost --shape depth=1,2 --shape width=1

Nothing is said of other shapes, and nothing against a claim that is not proved. The proofs are left
in .rankcheck/proofs; --keep keeps them beside the claim, where `verify` reads them.

Exit codes: 0 something is proved of every claim; 2 wrong input; 3 nothing is proved of one; 4 the
second checker refuses a proof, so that nothing of its claim is shown, or a false mutant was proved,
which ends the run: no proof is to be trusted; 130 interrupted, after what was proved so far.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from rankcheck import files
from rankcheck.claims.catalogue.entry import Entry
from rankcheck.claims.catalogue.loader import BrokenClaim, load_each
from rankcheck.claims.catalogue.selection import select
from rankcheck.decide.prove import file
from rankcheck.decide.prove.result import Outcome, Plan, Result
from rankcheck.decide.prove.settings import Settings
from rankcheck.decide.prove.target import Target
from rankcheck.decide.prove.through import FaultError, through
from rankcheck.engine.parallel import Alone, Stopped, Tell
from rankcheck.errors import InputError
from rankcheck.faces.commands.arguments import (
    JsonFile,
    add_json,
    add_limit,
    add_seed,
    add_selectors,
    at_least,
    limit,
    number,
)
from rankcheck.faces.terminal import exits
from rankcheck.faces.terminal.display import ProveDisplay
from rankcheck.faces.terminal.exits import Exit
from rankcheck.faces.terminal.plain import one_line, say
from rankcheck.files import shown_path
from rankcheck.versions import versions

HELP = "prove a claim at small shapes, for all entries"
SCHEMA = 1

Shape = dict[str, tuple[int, ...]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rankcheck prove`."""
    add_selectors(parser, "selector", nargs=None, text=None)
    parser.add_argument(
        "--shape",
        metavar="NAME=N,…",
        type=_shape,
        action="append",
        default=[],
        help="at these shapes alone, such as depth=2,3; may be given again",
    )
    parser.add_argument(
        "--entries",
        metavar="N",
        type=at_least(0, "it is a number of entries, 0 or more"),
        default=8,
        help="shapes have at most so many entries (default 8)",
    )
    parser.add_argument(
        "--seconds",
        metavar="SECONDS",
        type=number(lambda s: 0 < s < math.inf, "it is a positive, finite number of seconds"),
        default=20.0,
        help="for each claim (default 20)",
    )
    add_seed(parser)
    parser.add_argument("--keep", action="store_true", help="keep the proofs beside the claim")
    add_limit(
        parser,
        "for the end of a shape after its seconds, and for the imports; then it is stopped, and "
        "the next one begins. 0: no limit; it then runs in this process, as a debugger needs it "
        "(default 60)",
    )
    add_json(parser, "the result")


def _shape(text: str) -> tuple[str, tuple[int, ...]]:
    """Read `depth=2,3`."""
    name, equals, values = text.rpartition("=")
    try:
        chosen = tuple(int(value) for value in values.split(","))
    except ValueError:
        chosen = ()
    if not (name.strip() and equals and chosen):
        raise argparse.ArgumentTypeError(f"received {text!r:.80}; it is NAME=N,… as in depth=2,3")
    return name.strip(), chosen


def run(args: argparse.Namespace) -> int:
    """Prove the claims, show and write the results; returns the exit code."""
    written = JsonFile(args, "the result of a proof", "schema", "proved")
    entries = select([args.selector])
    for path in map(file.FORM.path, entries if args.keep else []):
        files.check_place(path)
    shape: Shape = {}
    for name, values in args.shape:
        shape[name] = (*shape.get(name, ()), *values)
    seconds = limit(args, "prove")
    settings = Settings(seconds=args.seconds, seed=args.seed)
    codes: list[Exit] = []
    found: list[dict[str, Any]] = []
    interrupted = False
    with closing(
        Alone(partial(_prepare, entries, args.entries, shape), seconds, entries, warm=_warm)
    ) as alone:
        for index, entry in enumerate(entries):
            ask = _Ask(alone, index, entry, seconds)
            try:
                result = ask.result(settings, args.keep, written)
            except (InputError, OSError) as error:  # of this claim; the others are proved
                if len(entries) == 1:
                    raise
                say(f"rankcheck: {one_line(str(error))}", sys.stderr)
                codes.append(Exit.USAGE)
                continue
            except FaultError as error:  # nothing of this claim is shown
                say(f"rankcheck: {one_line(str(error))}", sys.stderr)
                codes.append(Exit.INTERNAL)
                continue
            if result is None:
                codes.append(Exit.UNDECIDED)
                continue
            codes.append(Exit.EXPECTED if result.proved else Exit.UNDECIDED)
            found.append(result.to_json())
            interrupted = result.interrupted
            if interrupted:
                break
    written.write({"schema": SCHEMA, "versions": versions(), "proved": found})
    if interrupted:
        raise KeyboardInterrupt
    return exits.worst(codes)


@dataclass(frozen=True)
class _Ask:
    """Asks the process that proves, and shows its answers."""

    alone: Alone
    index: int
    entry: Entry
    limit: float | None

    def result(self, settings: Settings, keep: bool, written: JsonFile) -> Result | None:
        """Prove a claim, and show how it goes on and what comes out; None without its shapes.

        Raises:
            InputError: as `rankcheck.decide.prove.run.prove`.
        """
        entry, shown = self.entry, ProveDisplay(written.stream)
        shown.say(f"proving {entry.id} for {settings.seconds:g} s: {entry.title}")
        with shown:
            try:
                plan: Plan = self.alone.ask((self.index, None, settings))
            except Stopped as stopped:
                how = self._how(stopped)
                shown.say(f"{entry.id}: not proved; the search for its shapes {how}")
                return None
            result = through(plan, self._attempt, settings, shown.progress)
        problem = ""
        try:
            left = file.leave(entry, result)
            result = replace(result, left=None if left is None else shown_path(left))
        except OSError as error:
            problem = f"{error.filename}: {error.strerror}"
        shown.result(result.message.splitlines(), "bold green" if result.proved else "bold yellow")
        if problem:
            raise InputError(problem)
        if keep:
            path = file.keep(entry, result)
            none = "nothing to keep: no part of a shape is kept"
            shown.say(f"  {none}" if path is None else f"  kept in {shown_path(path)}")
        return result

    def _attempt(self, target: Target, settings: Settings) -> Outcome:
        """What becomes of the claim at a shape; its process may be stopped there, or die."""
        whole = self.limit and settings.seconds + self.limit
        try:
            outcome: Outcome = self.alone.ask((self.index, target, settings), None, whole)
        except Stopped as stopped:
            return Outcome(
                target=target, reason=f"the proof {self._how(stopped)}", seconds=stopped.seconds
            )
        return outcome

    def _how(self, stopped: Stopped) -> str:
        return stopped.how([self.entry.file])


def _warm() -> None:
    import rankcheck.decide.prove.prover  # noqa: F401 -- torch


def _prepare(
    entries: Sequence[Entry], most: int, shape: Shape
) -> Callable[[tuple[int, Target | None, Settings], Tell], Plan | Outcome]:
    """Import the files; returns what answers questions about the claim of a number.

    Without a shape: its plan; with one, what becomes of the claim there.
    """
    claims = load_each(entries)
    from rankcheck.decide.prove.prover import Prover, check_claim

    provers: dict[int, Prover] = {}

    def answer(question: tuple[int, Target | None, Settings], tell: Tell) -> Plan | Outcome:
        index, target, settings = question
        if index not in provers:
            claim = claims[index]
            if isinstance(claim, BrokenClaim):
                raise InputError(claim.problem)
            check_claim(claim)
            provers[index] = Prover(claim, most, shape)
        prover = provers[index]
        return prover.plan if target is None else prover.attempt(target, settings)

    return answer
