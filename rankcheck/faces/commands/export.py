"""Export a stored counterexample: as LaTeX, as a file for Coq, or as a script of Python.

CERTIFICATE is a file, or the id of a claim that has one, stored beside its file or left in
.rankcheck by a run. As LaTeX (the default) it is a paragraph with the exact instance and both
sides; nothing in the file is run, and nothing is proved again. With --coq and --script the
counterexample is proved again first, as `rankcheck replay` does it. Then the body is evaluated on
numbers that keep how they were computed, and what they kept is written to standard output. --bibtex
takes any claims, also such that hold, and writes what they cite, and rankcheck itself.

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

from rankcheck.claims.catalogue import certificates
from rankcheck.claims.catalogue.entry import Entry
from rankcheck.claims.catalogue.finding import find, found
from rankcheck.claims.catalogue.loader import load
from rankcheck.claims.catalogue.selection import select
from rankcheck.claims.reference import Reference
from rankcheck.engine.parallel import Tell
from rankcheck.engine.parallel.alone import Alone, Stopped
from rankcheck.errors import InputError
from rankcheck.faces.commands.arguments import add_limit, add_selectors, limit
from rankcheck.faces.commands.kept import Kept, file_of, kept_of
from rankcheck.faces.terminal.exits import Exit
from rankcheck.faces.terminal.plain import one_line, say
from rankcheck.files import project_folder, shown_path

HELP = "write a counterexample for others: LaTeX, Coq, or a script of Python; or BibTeX"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `rankcheck export`."""
    add_selectors(parser, "kept", "CERTIFICATE", "+", "a file, or an id")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--tex", action="store_true", help="paragraphs of LaTeX (the default)")
    form.add_argument("--coq", action="store_true", help="a file that Coq's coqc checks")
    form.add_argument("--script", action="store_true", help="a script that needs no rankcheck")
    form.add_argument("--bibtex", action="store_true", help="what any claims cite, and rankcheck")
    add_limit(parser, "for --coq and --script. 0: no limit (default 120)")


def run(args: argparse.Namespace) -> int:
    """Print the paragraphs, the file, the script or the references."""
    language = "coq" if args.coq else "script" if args.script else None
    if args.bibtex:
        say(_references(args.kept))
        return Exit.EXPECTED
    every = kept_of(args.kept)
    if language is None:
        say("\n".join(map(_paragraph, every)).rstrip("\n"))
        return Exit.EXPECTED
    if len(every) > 1:
        names = ", ".join(kept.path.stem for kept in every)
        raise InputError(f"--{language} was given {names}; one certificate is taken at a time")
    [(path, entry)] = [(kept.path, kept.entry) for kept in every]
    with closing(Alone(_prepare, limit(args, "replay"), warm=_warm)) as alone:
        try:
            if entry is None:
                entry = alone.ask(_Find(path))
            if not entry.file.is_relative_to(project_folder()):
                say(f"running {shown_path(entry.file)}", sys.stderr)
            code, text = alone.ask(_Write(path, entry, language))
        except Stopped as stopped:
            code, text = Exit.UNDECIDED, f"the export of {path} {stopped.how()}"
    if code is not Exit.EXPECTED:
        text = f"rankcheck: {one_line(text)}"
    say(text.rstrip("\n"), sys.stdout if code is Exit.EXPECTED else sys.stderr)
    return code


def _paragraph(kept: Kept) -> str:
    from rankcheck.faces.report.tex import paragraph

    data = certificates.read(kept.path)
    return paragraph(data, kept.entry or found(kept.path, data))


def _references(arguments: Sequence[str]) -> str:
    """BibTeX of what claims, or those of files that are kept, refer to."""
    from rankcheck.faces.report.bibtex import bibliography

    cited: list[Reference | None] = []
    for argument in arguments:
        if (path := file_of(argument)) is not None:
            cited.append(find(path, certificates.read(path)).reference)
        else:
            cited += [entry.reference for entry in select([argument])]
    return bibliography([reference for reference in cited if reference is not None])


@dataclass(frozen=True)
class _Find:
    """Read a certificate, and find its claim; nothing is imported."""

    path: Path


@dataclass(frozen=True)
class _Write:
    """Import the file of a claim, and write what a certificate has of it."""

    path: Path
    entry: Entry
    language: str


def _warm() -> None:
    import rankcheck.faces.exports  # noqa: F401 -- torch


def _prepare() -> Callable[[_Find | _Write, Tell], Any]:
    """What finds claims, and writes: the exit code, and the text."""
    from rankcheck.engine.counterexamples.instance import DisagreementError
    from rankcheck.faces.exports import NotExportable, export

    def answer(question: _Find | _Write, tell: Tell) -> Any:
        path = question.path
        if isinstance(question, _Find):
            return find(path, certificates.read(path))
        [claim] = load([question.entry])
        try:
            return Exit.EXPECTED, export(path, claim, question.language)
        except (NotExportable, DisagreementError) as error:
            return Exit.UNDECIDED, str(error)

    return answer
