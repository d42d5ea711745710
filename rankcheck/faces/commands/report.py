"""Write a ledger as one HTML page: what is wrong in print first, then the claims, to be opened.

They filter and sort, with formulas and matrices. The page needs no other file and no
network. The ledger is what `rankcheck verify --json FILE` or `pytest --rankcheck-ledger FILE` have
written; nothing is verified. A SELECTOR is one of `rankcheck verify`.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from rankcheck import files
from rankcheck.claims.catalogue.collect import project
from rankcheck.claims.catalogue.selection import select
from rankcheck.engine.verification.ledger import Ledger, read_ledger
from rankcheck.faces.commands.arguments import add_selectors
from rankcheck.faces.terminal.exits import Exit
from rankcheck.faces.terminal.plain import say

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
    parser.add_argument(
        "--ledger", metavar="FILE", type=Path, required=True, help="the ledger to show"
    )


def run(args: argparse.Namespace) -> int:
    """Read the ledger, and write the page."""
    files.check_writable(args.out, "a page of rankcheck")
    ledger = _chosen(read_ledger(args.ledger), args.selectors)
    from rankcheck.faces.report import ledger_page  # its libraries take a while to import

    files.write_text(args.out, ledger_page(ledger, project()))
    say(f"page: {args.out}")
    return Exit.EXPECTED


def _chosen(ledger: Ledger, selectors: list[str]) -> Ledger:
    """The rows of a ledger that are selected.

    Raises:
        InputError: if the ledger has no row of a selected claim.
    """
    if not selectors:
        return ledger
    return replace(ledger, rows=ledger.rows_of(sorted(entry.id for entry in select(selectors))))
