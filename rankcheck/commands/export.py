"""Export a certificate for a paper: a paragraph with the exact instance and both sides.

Nothing in the file is run, and nothing is proved again: `rankcheck replay FILE` does that.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rankcheck.catalogue.collect import project
from rankcheck.terminal.plain import say

HELP = "write a counterexample as a paragraph of LaTeX"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `rankcheck export`."""
    parser.add_argument("certificate", metavar="FILE", type=Path)
    parser.add_argument("--tex", action="store_true", help="as LaTeX (the only form, the default)")


def run(args: argparse.Namespace) -> int:
    """Print the paragraph."""
    from rankcheck.counterexamples.certificate import read
    from rankcheck.report.tex import paragraph

    data = read(args.certificate)
    references = {entry.id: entry.reference for entry in project()}
    say(paragraph(data, references.get(data["claim"])))
    return 0
