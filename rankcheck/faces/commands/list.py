"""List claims: id, kind, place in the document, title; read from their files, nothing is run.

A SELECTOR is one of `rankcheck verify`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from dataclasses import asdict
from typing import Any

from rankcheck.claims.catalogue.collect import problems
from rankcheck.claims.catalogue.entry import Entry
from rankcheck.claims.catalogue.selection import select
from rankcheck.decide.prove.file import Proofs
from rankcheck.faces.commands.arguments import add_selectors
from rankcheck.faces.terminal import catalogue as index
from rankcheck.faces.terminal.exits import Exit
from rankcheck.faces.terminal.plain import say

HELP = "list claims with kind, source and title"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `rankcheck list`."""
    add_selectors(parser)
    parser.add_argument("--json", action="store_true", help="all that is known, as JSON")


def run(args: argparse.Namespace) -> int:
    """Print the chosen form; lines are cut to the terminal, and whole elsewhere.

    A claim that cannot be read is left out and reported; the exit code is then 2.
    """
    selected = select(args.selectors)
    entries = [entry for entry in selected if entry.problem is None]
    broken = problems(selected)
    for problem in broken:
        say(f"rankcheck: {problem}", sys.stderr)
    if args.json:
        data = [entry.to_json() | {"proved": _proved(entry)} for entry in entries]
        print(json.dumps(data, indent=2, ensure_ascii=False))
    else:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        for line in index.lines(entries, sys.stdout, width):
            say(line)
    return Exit.USAGE if broken else Exit.EXPECTED


def _proved(entry: Entry) -> dict[str, Any] | None:
    """What the proofs prove that are kept beside a claim, as its row in a ledger has it."""
    proved = Proofs.summary(entry)
    return None if proved is None else asdict(proved)
