"""Show claims: statement, source, witness, tight case, controls, known errata, file.

A CLAIM is an id, or another SELECTOR of `rankcheck verify`, or a certificate; nothing is run. Of a
claim that has a certificate also the counterexample: both sides, what they are, and the instance,
as the file says. `rankcheck replay` proves it. With a ledger that `rankcheck verify --json FILE`
wrote, also what was found: the share of the instances on which each relation was asserted, the
ratios with and without the tight family, the depths and ranks reached.
"""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path

from rankcheck.claims.catalogue import certificates
from rankcheck.claims.catalogue.collect import problems
from rankcheck.claims.catalogue.entry import CatalogueError
from rankcheck.claims.catalogue.finding import found
from rankcheck.claims.catalogue.selection import select
from rankcheck.engine.verification.ledger import Row, read_ledger
from rankcheck.errors import InputError
from rankcheck.faces.commands.arguments import add_selectors
from rankcheck.faces.commands.kept import file_of
from rankcheck.faces.terminal import catalogue as index
from rankcheck.faces.terminal import table
from rankcheck.faces.terminal.plain import say

HELP = "show the statement, source and witness of a claim"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `rankcheck show`."""
    add_selectors(parser, "claims", "CLAIM", "+", None)
    parser.add_argument(
        "--ledger", metavar="FILE", type=Path, help="show what this ledger says of the claims, too"
    )


def run(args: argparse.Namespace) -> int:
    """Print a paragraph a claim."""
    meant = {argument: file_of(argument) for argument in args.claims}
    given = [path for path in meant.values() if path is not None]
    claims = [argument for argument, path in meant.items() if path is None]
    if given and args.ledger is not None:
        raise InputError(f"{given[0]} is a file; --ledger takes claims")
    shown = [_certificate(path) for path in dict.fromkeys(given)]
    entries = select(claims) if claims else []
    for problem in problems(entries):
        raise CatalogueError(problem)
    pages = [index.page(entry) for entry in entries]
    if args.ledger is not None:
        rows = {row.id: row for row in read_ledger(args.ledger).rows}
        pages = [
            page + "\n\n" + _found(rows.get(entry.id), args.ledger)
            for page, entry in zip(pages, entries, strict=True)
        ]
    say("\n\n".join(shown + pages))
    return 0


def _certificate(path: Path) -> str:
    """What a certificate says, under the name and the statement of its claim."""
    data = certificates.read(path)
    entry = found(path, data)
    statement = textwrap.indent(data["statement"], "  ")
    return "\n".join([data["claim"], "", statement, "", *index.found(path, data, entry)])


def _found(row: Row | None, path: Path) -> str:
    """What a ledger says of a claim, as lines."""
    if row is None:
        return f"{path} has no row of this claim"
    return "\n".join([f"in {path}:", *(f"  {line}" for line in table.facts(row))])
