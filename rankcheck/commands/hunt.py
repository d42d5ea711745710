"""Hunt a claim: spend seconds on breaking it; what is found is certified and made small.

A SELECTOR is the id of a claim, a file, or FILE::NAME with claims of your own; each claim that it
selects is hunted for the budget.

Exit codes: 0 nothing found, 1 a counterexample is proved, 2 usage, 3 undecided (a counterexample is
undecided, or hardly an instance lay inside the hypotheses), 130 interrupted (--resume goes on).
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from rankcheck import files
from rankcheck.catalogue.selection import select
from rankcheck.errors import InputError
from rankcheck.terminal import hunting
from rankcheck.versions import versions

if TYPE_CHECKING:
    from rankcheck.claims.claim import Claim
    from rankcheck.hunt.run import Hunt

HELP = "look for a counterexample to a claim"
#: Where certificates and journals are left.
FOLDER = Path(".rankcheck")
CODES = {"survived": 0, "refuted": 1, "undecided": 3, "gave_up": 3}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `rankcheck hunt`."""
    parser.add_argument("selector", metavar="SELECTOR")
    parser.add_argument(
        "--budget", metavar="SECONDS", type=float, default=60.0, help="a claim (default 60)"
    )
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="default 0")
    parser.add_argument("--workers", metavar="N", type=int, default=1, help="processes (default 1)")
    parser.add_argument("--executor", metavar="dask://HOST:PORT", help="a Dask scheduler")
    parser.add_argument("--device", default="cpu", help="of the tensors: cpu (default) or cuda")
    parser.add_argument("--json", metavar="FILE", help="write the result; - for standard output")
    parser.add_argument(
        "--journal", metavar="FILE", help=f"finished shards (default {FOLDER}/ID.hunt.jsonl)"
    )
    parser.add_argument("--resume", action="store_true", help="go on from the journal")


def run(args: argparse.Namespace) -> int:
    """Hunt, show, write."""
    entries = select([args.selector])
    path = None if args.json in (None, "-") else Path(args.json)
    if path is not None:
        try:
            files.check_writable(path)
        except ValueError as error:
            raise InputError(str(error)) from error
    if args.journal is not None and len(entries) > 1:
        raise InputError(f"a journal is kept for one claim; {args.selector} selects {len(entries)}")
    if args.workers > 1 and args.executor is not None:
        raise InputError("a hunt has workers here or an executor elsewhere; received both")

    from rankcheck.catalogue.loader import load

    stream = sys.stderr if args.json == "-" else sys.stdout
    found = [_hunt(claim, args, stream) for claim in load(entries)]
    data = {
        "schema": 1,
        "versions": versions(),
        "budget": args.budget,
        "hunts": [one.to_json() for one in found],
    }
    if path is not None:
        try:
            files.write_json(path, data)
        except OSError as error:
            raise InputError(f"the result cannot be written to {path}: {error.strerror}") from error
    elif args.json == "-":
        print(json.dumps(data, indent=2, ensure_ascii=False))
    codes = {CODES[one.verdict] for one in found}
    return 1 if 1 in codes else max(codes)


def _hunt(claim: Claim, args: argparse.Namespace, stream: TextIO) -> Hunt:
    from rankcheck.hunt.run import hunt

    journal = _journal(claim, args)
    shown = hunting.display(stream)
    shown.say(f"hunting {claim.id} for {args.budget:g} s, seed {args.seed}: {claim.title}")
    try:
        with shown:
            found = hunt(
                claim,
                args.budget,
                args.seed,
                args.workers,
                args.executor,
                args.device,
                shown.advance,
                journal,
                folder=FOLDER,
            )
    except KeyboardInterrupt:
        named = "" if args.journal is None else f" --journal {args.journal}"
        shown.say(f"interrupted; rankcheck hunt {args.selector}{named} --resume goes on")
        raise
    if args.journal is None:
        journal.unlink(missing_ok=True)
    shown.say(found.message)
    shown.say(hunting.sentence(found))
    return found


def _journal(claim: Claim, args: argparse.Namespace) -> Path:
    """The file of finished shards, which is there to go on from, or not there."""
    path = FOLDER / f"{claim.id}.hunt.jsonl" if args.journal is None else Path(args.journal)
    if args.resume:
        if not path.exists():
            raise InputError(f"a hunt goes on from a journal that exists; received {path}")
    elif args.journal is None:
        if FOLDER.exists() and not FOLDER.is_dir():
            raise InputError(f"certificates and journals are left in a folder; {FOLDER} is a file")
        path.unlink(missing_ok=True)
    elif path.exists():
        raise InputError(f"a journal that exists is gone on from with --resume; received {path}")
    return path
