"""Show claims: statement, source, witness, tight case, controls, known errata, file.

A CLAIM is an id, or another SELECTOR of `rankcheck verify`; nothing is run.
"""

from __future__ import annotations

import argparse

from rankcheck.catalogue.selection import select
from rankcheck.terminal import catalogue as index

HELP = "show the statement, source and witness of a claim"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `rankcheck show`."""
    parser.add_argument("claims", metavar="CLAIM", nargs="+")


def run(args: argparse.Namespace) -> int:
    """Print a paragraph a claim."""
    print("\n\n".join(index.page(entry) for entry in select(args.claims)))
    return 0
