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
import json
import math
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from rankcheck import files
from rankcheck.catalogue.entry import Entry, shown_path
from rankcheck.catalogue.selection import select
from rankcheck.commands import exits, limits
from rankcheck.commands.completion import completes
from rankcheck.commands.exits import Exit
from rankcheck.commands.verify import add_shrink, shrink_seconds
from rankcheck.errors import InputError
from rankcheck.stored import StoredError, parse
from rankcheck.terminal import hunting
from rankcheck.terminal.plain import one_line, say
from rankcheck.versions import versions

if TYPE_CHECKING:
    from rankcheck.hunt.apart import Apart, Report

HELP = "look for a counterexample to a claim"
SCHEMA = 2
#: Where certificates and journals are left.
FOLDER = Path(".rankcheck")
CODES = {
    "survived": Exit.EXPECTED,
    "refuted": Exit.REFUTED,
    "undecided": Exit.UNDECIDED,
    "gave_up": Exit.UNDECIDED,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rankcheck hunt`."""
    completes(parser.add_argument("selector", metavar="SELECTOR"))
    parser.add_argument(
        "--budget", metavar="SECONDS", type=float, default=60.0, help="for each claim (default 60)"
    )
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="default 0")
    add_shrink(parser)
    parser.add_argument(
        "--scope",
        metavar="N",
        type=int,
        help="first evaluate every instance of up to N entries from {-1, 0, 1}; 0 for none "
        "(default 5, or fewer where these are many)",
    )
    parser.add_argument(
        "--control",
        metavar="NAME",
        help="hunt a control of the claim in its place: a mutant, or a hypothesis that it needs",
    )
    parser.add_argument("--workers", metavar="N", type=int, default=1, help="processes (default 1)")
    parser.add_argument("--executor", metavar="dask://HOST:PORT", help="a Dask scheduler")
    parser.add_argument("--device", default="cpu", help="of the tensors: cpu (default) or cuda")
    limits.add_limit(
        parser,
        "for the end of a hunt after its budget, and for the imports; then it is stopped, and "
        "undecided. 0: no limit; hunts then run in this process, as a debugger needs it "
        "(default 30)",
    )
    parser.add_argument("--json", metavar="FILE", help="write the result; - for standard output")
    parser.add_argument(
        "--journal", metavar="FILE", help=f"finished shards (default {FOLDER}/ID.hunt.jsonl)"
    )
    parser.add_argument("--resume", action="store_true", help="continue the journal")


def run(args: argparse.Namespace) -> int:
    """Hunt the claims, show and write the results; returns the exit code."""
    entries = select([args.selector])
    path = None if args.json in (None, "-") else Path(args.json)
    if path is not None:
        files.check_writable(path, "the result of a hunt", ("schema", "hunts"))
    if not 0 < args.budget < math.inf:
        raise InputError(f"--budget is {args.budget}; it is a positive, finite number of seconds")
    shrink_seconds(args)
    if args.scope is not None and args.scope < 0:
        raise InputError(f"--scope is {args.scope}; it is a number of entries, 0 for none")
    if args.journal is not None and len(entries) > 1:
        raise InputError(
            f"{args.selector} selects {len(entries)} claims; a journal is kept for one"
        )
    if args.workers > 1 and args.executor is not None:
        raise InputError("--workers and --executor are both given; a hunt takes one of them")

    limit = limits.limit(args, "hunt")
    if args.workers < 1:
        raise InputError(f"received {args.workers} workers; a hunt has at least one")
    if args.control is not None and len(entries) > 1:
        raise InputError(f"{args.selector} selects {len(entries)} claims; a control belongs to one")
    if args.control is not None and (args.workers > 1 or args.executor is not None):
        raise InputError("--control is given with workers; a control is hunted in one process")

    from rankcheck.hunt.apart import Apart

    stream = sys.stderr if args.json == "-" else sys.stdout
    found: list[Report] = []
    codes: list[Exit] = []
    with closing(Apart(entries, limit)) as apart:
        for index, entry in enumerate(entries):
            shown = hunting.HuntDisplay(stream)
            shown.doing = "importing"
            with shown:
                problem = apart.known(index).problem
            if not problem:
                try:
                    report = _hunt(apart, index, entry, args, shown, limit, len(entries))
                except InputError as error:  # of this claim; the others are hunted
                    problem = str(error)
                else:
                    found.append(report)
                    codes.append(CODES[report.verdict])
                    problem = report.unwritten
            if problem:
                say(f"rankcheck: {one_line(problem)}", sys.stderr)
                codes.append(Exit.USAGE)
    if not found:
        return exits.worst(codes)
    data = {
        "schema": SCHEMA,
        "versions": versions(),
        "budget": args.budget,
        "hunts": [dict(one.data) for one in found],
    }
    if path is not None:
        try:
            files.write_json(path, data)
        except OSError as error:
            raise InputError(f"the result cannot be written to {path}: {error.strerror}") from error
    elif args.json == "-":
        print(json.dumps(data, indent=2, ensure_ascii=False))
    return exits.worst(codes)


def _hunt(
    apart: Apart,
    index: int,
    entry: Entry,
    args: argparse.Namespace,
    shown: hunting.HuntDisplay,
    limit: float | None,
    claims: int,
) -> Report:
    """Hunt one of a number of claims, and show how it goes on."""
    journal = _journal(entry, args)
    shown.doing = "the first round"
    what = entry.id if args.control is None else f"the control {args.control!r} of {entry.id}"
    shown.say(f"hunting {what} for {args.budget:g} s, seed {args.seed}: {entry.title}")
    of_it = "" if claims == 1 else f" for {shown_path(entry.file)}::{entry.id}"
    try:
        with shown:
            found = apart.hunt(
                index,
                shown.advance,
                budget=args.budget,
                seed=args.seed,
                workers=args.workers,
                executor=args.executor,
                device=args.device,
                journal=journal,
                folder=FOLDER,
                shrink=shrink_seconds(args),
                scope=args.scope,
                control=args.control,
                limit=None if limit is None else limit / 3,
            )
    except KeyboardInterrupt:
        shown.say(f"interrupted; the same command{of_it} with --resume continues the hunt")
        raise
    except InputError:
        if args.journal is None and not args.resume and not _has_shards(journal):
            journal.unlink(missing_ok=True)  # the hunt did not begin
        raise
    if args.journal is None and (found.ended or not _has_shards(journal)):
        journal.unlink(missing_ok=True)
    shown.say(found.message)
    if not found.ended and journal.exists():
        shown.say(
            f"  the same command{of_it} with --resume continues the hunt; --limit gives it longer"
        )
    shown.say(hunting.sentence(found))
    return found


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
            continue  # a damaged line
    return False


def _journal(entry: Entry, args: argparse.Namespace) -> Path:
    """The path of the journal: an existing file with --resume, a new one without."""
    path = FOLDER / f"{entry.id}.hunt.jsonl" if args.journal is None else Path(args.journal)
    if args.resume:
        if not path.exists():
            raise InputError(
                f"the journal {path} does not exist; --resume continues an existing one"
            )
    elif args.journal is None:
        if FOLDER.exists() and not FOLDER.is_dir():
            raise InputError(f"{FOLDER} is a file; certificates and journals are left in a folder")
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
