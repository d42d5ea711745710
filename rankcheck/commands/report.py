"""Write a ledger as one HTML page: what is wrong in print first, then the claims, to be opened.

They filter and sort, with formulas and matrices. The page needs no other file and no
network. With --ledger, what `rankcheck verify --json FILE` or `pytest --rankcheck-ledger FILE`
wrote is shown, and nothing is verified; otherwise the claims are verified first. A SELECTOR is one
of `rankcheck verify`.

Exit code: with --ledger 0, else that of `rankcheck verify`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rankcheck import files
from rankcheck.catalogue.collect import project
from rankcheck.catalogue.entry import Entry
from rankcheck.catalogue.selection import select
from rankcheck.commands.arguments import add_selectors
from rankcheck.commands.verify import Run, add_run
from rankcheck.terminal import exits
from rankcheck.terminal.exits import Exit
from rankcheck.terminal.live import Progress
from rankcheck.terminal.plain import say
from rankcheck.verification.ledger import Ledger, read_ledger

HELP = "write a ledger as an HTML page"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `rankcheck report`."""
    add_selectors(parser)
    parser.add_argument(
        "--out",
        metavar="FILE",
        type=Path,
        default=Path("rankcheck-report.html"),
        help="the page (default rankcheck-report.html)",
    )
    parser.add_argument("--ledger", metavar="FILE", type=Path, help="show this ledger")
    add_run(parser)


def run(args: argparse.Namespace) -> int:
    """Verify the claims or read the ledger, and write the page."""
    files.check_writable(args.out, "a page of rankcheck")
    if args.ledger is None:  # before numpy and torch are imported
        prepared = Run.of(args, select(args.selectors))
    if args.ledger is not None:
        ledger, code = _chosen(read_ledger(args.ledger), args.selectors), Exit.EXPECTED
        entries: Sequence[Entry] = project()
    else:
        entries = prepared.entries
        say(f"{len(entries)} claim{'s' * (len(entries) != 1)} to verify, for the page {args.out}")
        ledger = prepared.ledger(Progress(sys.stdout, len(entries)))
        code = exits.of_rows(ledger.rows)
    from rankcheck.report import ledger_page  # its libraries take a while to import

    page = ledger_page(ledger, entries)
    files.write_text(args.out, page)
    say(f"page: {args.out}")
    return code


def _chosen(ledger: Ledger, selectors: list[str]) -> Ledger:
    """The rows of a ledger that are selected.

    Raises:
        InputError: if the ledger has no row of a selected claim.
    """
    if not selectors:
        return ledger
    return replace(ledger, rows=ledger.rows_of(sorted(entry.id for entry in select(selectors))))
