"""Sharpen a claim: how large its ratios lhs / rhs become, and which instance attains that.

A SELECTOR is the id of a claim, a file, or FILE::NAME with claims of your own. For the budget, each
claim that it selects is searched for instances that come close to equality, or go beyond it. Every
ratio that is shown is proved in ball arithmetic, so it is a lower bound of the supremum; what no
instance of the generator reaches, no search finds.

--dial asks for which values of a parameter of the body the statement is false:

  rankcheck sharpen mine.py::test_mine --dial exponent=-2..0

The best instances are left in .rankcheck/records, where the next run goes on from; --record keeps
them beside the claim, where `verify` starts from them.

Exit codes: 0 done; 1 a relation is proved to fail, with a certificate; 2 wrong input; 3 nothing is
certified (no ball form, no instance inside the hypotheses), or the search did not end; 130
interrupted, after what was found so far.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from rankcheck import files
from rankcheck.claims.catalogue.entry import Entry
from rankcheck.claims.catalogue.loader import BrokenClaim, load_each
from rankcheck.claims.catalogue.selection import select
from rankcheck.engine.parallel import Alone, Stopped, Tell
from rankcheck.engine.records.file import FORM
from rankcheck.errors import InputError
from rankcheck.faces.commands.arguments import (
    JsonFile,
    add_budget,
    add_json,
    add_limit,
    add_seed,
    add_selectors,
    add_workers,
    check_apart,
    limit,
)
from rankcheck.faces.terminal import exits
from rankcheck.faces.terminal.display import SharpenDisplay
from rankcheck.faces.terminal.exits import Exit
from rankcheck.faces.terminal.plain import one_line, say
from rankcheck.files import LEFT, shown_path
from rankcheck.versions import versions

HELP = "how sharp a bound is, and what attains it"
SCHEMA = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rankcheck sharpen`."""
    add_selectors(parser, "selector", nargs=None, text=None)
    parser.add_argument(
        "--dial", metavar="NAME=LO..HI", help="a parameter of the body: where is it false?"
    )
    add_budget(parser, 10.0)
    add_seed(parser)
    parser.add_argument(
        "--record", action="store_true", help="keep better instances beside the claim"
    )
    add_workers(parser)
    add_limit(
        parser,
        "for the end of a search after its budget, and for the imports; then it is stopped. 0: no "
        "limit; it then runs in this process, as a debugger needs it (default 60)",
    )
    add_json(parser, "the result")
    parser.add_argument("--html", metavar="FILE", type=Path, help="write the result as a page")


def run(args: argparse.Namespace) -> int:
    """Sharpen the claims, show and write the results; returns the exit code."""
    result = JsonFile(args, "the result of a sharpening", "schema", "sharpenings")
    entries = select([args.selector])
    for path in map(FORM.path, entries if args.record else []):
        files.check_place(path)
    if len(entries) > 1:
        for name in ("dial", "html"):
            if getattr(args, name) is not None:
                raise InputError(
                    f"{args.selector} selects {len(entries)} claims; --{name} is for one"
                )
    if args.html is not None:
        files.check_writable(args.html, "a page of rankcheck")
        check_apart([args.html, result.path])
    seconds = limit(args, "sharpen")
    codes: list[Exit] = []
    found: list[dict[str, Any]] = []
    with closing(
        Alone(partial(_prepare, entries), seconds, entries, warm=_warm, nested=True)
    ) as alone:
        for index, entry in enumerate(entries):
            try:
                data = _sharpened(alone, index, entry, args, seconds, result)
            except InputError as error:  # of this claim; the others are sharpened
                if len(entries) == 1:
                    raise
                say(f"rankcheck: {one_line(str(error))}", sys.stderr)
                codes.append(Exit.USAGE)
                continue
            codes.append(_code(data))
            if data is not None:
                found.append(data)
    result.write({"schema": SCHEMA, "versions": versions(), "sharpenings": found})
    if found and args.html is not None:
        from rankcheck.faces.report.sharpening import sharpening_page

        files.write_text(args.html, sharpening_page(found[0]))
        say(f"page: {args.html}", result.stream)
    return exits.worst(codes)


def _code(data: dict[str, Any] | None) -> Exit:
    if data is None or not data["certified"]:
        return Exit.UNDECIDED
    return Exit.REFUTED if data["refuted"] else Exit.EXPECTED


def _sharpened(
    alone: Alone,
    index: int,
    entry: Entry,
    args: argparse.Namespace,
    seconds: float | None,
    result: JsonFile,
) -> dict[str, Any] | None:
    """Sharpen a claim, and show how it goes on and what comes out; None if it did not end.

    Raises:
        InputError: as `rankcheck.sharpen.run.sharpen`.
    """
    shown = SharpenDisplay(result.stream)
    settings = {
        "dial": args.dial,
        "budget": args.budget,
        "seed": args.seed,
        "workers": args.workers,
    }
    whole = seconds and args.budget + seconds
    shown.say(f"sharpening {entry.id} for {args.budget:g} s, seed {args.seed}: {entry.title}")
    try:
        with shown:
            answer: _Answer = alone.ask((index, settings, args.record), shown.progress, whole)
    except KeyboardInterrupt:
        _tell(shown, entry)
        raise
    except Stopped as stopped:
        shown.say(f"{entry.id}: the search {stopped.how([entry.file])}")
        _tell(shown, entry)
        return None
    if answer.data:
        shown.answer(answer.data)
    for line in answer.kept:
        shown.say(f"  {line}")
    if answer.problem:
        raise InputError(answer.problem)
    return answer.data


def _tell(shown: SharpenDisplay, entry: Entry) -> None:
    """What was found before a search was ended."""
    shown.so_far()
    path = LEFT / "records" / f"{entry.id}.json"
    if path.exists():
        shown.say(f"  the best instances are in {shown_path(path)}; the next run goes on from them")


@dataclass(frozen=True)
class _Answer:
    """A sharpening as plain data, from the process that searches.

    Attributes:
        kept: what was kept beside the claim, in sentences.
        problem: why the claim cannot be sharpened, or nothing be kept.
    """

    data: dict[str, Any] = field(default_factory=dict)
    kept: tuple[str, ...] = ()
    problem: str = ""


def _warm() -> None:
    import rankcheck.sharpen.run  # noqa: F401 -- torch


def _prepare(entries: Sequence[Entry]) -> Callable[[Any, Tell], _Answer]:
    """Import the files; returns what sharpens the claim of a number."""
    claims = load_each(entries)
    from rankcheck.sharpen.keeping import record
    from rankcheck.sharpen.run import sharpen

    def answer(question: tuple[int, dict[str, Any], bool], progress: Tell) -> _Answer:
        index, settings, keep = question
        claim = claims[index]
        if isinstance(claim, BrokenClaim):
            return _Answer(problem=claim.problem)
        result = sharpen(claim, progress=progress, **settings)
        kept, problem = [], ""
        try:
            kept = record(result) if keep else []
        except OSError as error:
            problem = f"{error.filename}: {error.strerror}"
        data = {"refuted": result.refuted, "certified": result.certified, **result.to_json()}
        return _Answer(data, tuple(kept), problem)

    return answer
