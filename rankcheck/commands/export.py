"""Export a stored counterexample: as LaTeX, as a file for Coq, or as a script of Python.

CERTIFICATE is a file, or the id of a claim whose certificate is stored. As LaTeX (the default) it
is a paragraph with the exact instance and both sides; nothing in the file is run, and nothing is
proved again. With --coq and --script the counterexample is proved again first, as `rankcheck
replay` does it. Then the body is evaluated on numbers that keep how they were computed, and what
they kept is written to standard output.

Exit codes: 0 it is written; 2 wrong input, or a file that does not prove what it says; 3 a step of
the evaluation has no form outside of rankcheck, floats and balls disagree, or the claim did not end
within --limit.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankcheck.catalogue.collect import project, project_folder
from rankcheck.catalogue.entry import Entry, shown_path
from rankcheck.catalogue.loader import load
from rankcheck.catalogue.selection import select
from rankcheck.commands.arguments import add_limit, limit, one_claim
from rankcheck.parallel import Tell
from rankcheck.parallel.alone import Alone, Stopped
from rankcheck.terminal.exits import Exit
from rankcheck.terminal.plain import one_line, say

HELP = "write a counterexample for others: LaTeX, Coq, or a script of Python"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `rankcheck export`."""
    parser.add_argument(
        "certificate", metavar="CERTIFICATE", help="a file, or the id of a refuted claim"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--tex", action="store_true", help="a paragraph of LaTeX (the default)")
    form.add_argument("--coq", action="store_true", help="a file that Coq's coqc checks")
    form.add_argument("--script", action="store_true", help="a script that needs no rankcheck")
    parser.add_argument(
        "--claims", metavar="SELECTOR", help="where the claim is, if it is not near the file"
    )
    add_limit(parser, "for --coq and --script. 0: no limit (default 120)")


def run(args: argparse.Namespace) -> int:
    """Print the paragraph, the file or the script."""
    language = "coq" if args.coq else "script" if args.script else None
    path, entry = _certificate(args.certificate)
    if language is None:
        say(_paragraph(path))
        return Exit.EXPECTED
    elsewhere = None if args.claims is None else select([args.claims])
    with closing(Alone(_prepare, limit(args, "replay"), warm=_warm)) as alone:
        try:
            if entry is None or elsewhere is not None:
                entry = alone.ask(_Find(path, elsewhere))
            if not entry.file.is_relative_to(project_folder()):
                say(f"running {shown_path(entry.file)}", sys.stderr)
            code, text = alone.ask(_Write(path, entry, language))
        except Stopped as stopped:
            code, text = Exit.UNDECIDED, f"the export of {path} {stopped.how()}"
    if code is not Exit.EXPECTED:
        text = f"rankcheck: {one_line(text)}"
    say(text.rstrip("\n"), sys.stdout if code is Exit.EXPECTED else sys.stderr)
    return code


def _certificate(given: str) -> tuple[Path, Entry | None]:
    """The file that is meant, and the claim if that was named."""
    from rankcheck.counterexamples.certificate import FORM

    path = Path(given)
    if path.suffix == ".json" or path.is_file():
        return path, None
    entry = one_claim(given)
    return FORM.path(entry), entry


def _paragraph(path: Path) -> str:
    from rankcheck.counterexamples.certificate import read
    from rankcheck.report.tex import paragraph

    data = read(path)
    references = {entry.id: entry.reference for entry in project()}
    return paragraph(data, references.get(data["claim"]))


@dataclass(frozen=True)
class _Find:
    """Read a certificate, and find its claim; nothing is imported."""

    path: Path
    elsewhere: Sequence[Entry] | None


@dataclass(frozen=True)
class _Write:
    """Import the file of a claim, and write what a certificate has of it."""

    path: Path
    entry: Entry
    language: str


def _warm() -> None:
    import rankcheck.exports  # noqa: F401 -- torch


def _prepare() -> Callable[[_Find | _Write, Tell], Any]:
    """What finds claims, and writes: the exit code, and the text."""
    from rankcheck.counterexamples import certificate
    from rankcheck.counterexamples.instance import DisagreementError
    from rankcheck.counterexamples.replay import find
    from rankcheck.exports import NotExportable, export

    def answer(question: _Find | _Write, tell: Tell) -> Any:
        path = question.path
        if isinstance(question, _Find):
            return find(path, certificate.read(path), question.elsewhere)
        [claim] = load([question.entry])
        try:
            return Exit.EXPECTED, export(path, claim, question.language)
        except (NotExportable, DisagreementError) as error:
            return Exit.UNDECIDED, str(error)

    return answer
