"""Show claims: statement, source, witness, tight case, controls, known errata, file.

A CLAIM is an id, or another SELECTOR of `rankcheck verify`; nothing is run.
"""

from __future__ import annotations

import argparse

from rankcheck.catalogue.collect import problems
from rankcheck.catalogue.entry import CatalogueError
from rankcheck.catalogue.selection import select
from rankcheck.terminal import catalogue as index

HELP = "show the statement, source and witness of a claim"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `rankcheck show`."""
    parser.add_argument("claims", metavar="CLAIM", nargs="+")


def run(args: argparse.Namespace) -> int:
    """Print a paragraph a claim."""
    entries = select(args.claims)
    for problem in problems(entries):
        raise CatalogueError(problem)
    print("\n\n".join(index.page(entry) for entry in entries))
    return 0
