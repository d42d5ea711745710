"""Keep an instance on which a bound is sharper than its record, after balls have judged it.

The records of a claim are stored as records/ID.json beside its file; `verify` begins with them.

--instance takes what the generator of the claim draws, in order, as JSON: integers, and tensors as
nested lists of numbers ("-3/4" is a number too); or an object with this as "choices" and the name
of the generator as "family". It also takes a file with that, a certificate, or a file of records,
such as a run leaves in .rankcheck/records, of which all instances are judged.

--again judges the instances on record again, for the claim as it now stands; those that prove
nothing any more are dropped.

  rankcheck record mine.py::test_mine --instance '[2, [1, "1/2"]]'
  rankcheck record rank.jacobian-bounds-cost --instance .rankcheck/records/mine.json
  rankcheck record mine.py::test_mine --again

Exit codes: 0 kept, or up to date; 1 no record is better, or a bound is refuted, and nothing is
written; 2 wrong input, or an instance outside of the hypotheses; 3 nothing is certified there, or
the claim did not end within --limit, or its process died.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rankcheck.claims.catalogue.entry import Entry
from rankcheck.claims.catalogue.loader import load
from rankcheck.engine.parallel import Tell
from rankcheck.engine.parallel.alone import Alone, Stopped
from rankcheck.engine.records.file import short
from rankcheck.errors import InputError
from rankcheck.faces.commands.arguments import (
    add_instance,
    add_limit,
    add_selectors,
    limit,
    one_claim,
)
from rankcheck.faces.terminal.exits import Exit
from rankcheck.faces.terminal.plain import say
from rankcheck.files import check_place, shown_path

if TYPE_CHECKING:
    from rankcheck.claims.claim import Claim
    from rankcheck.engine.records.ratio import Attained
    from rankcheck.engine.records.renewal import Better, Candidate

HELP = "keep an instance on which a bound is sharper than its record"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `rankcheck record`."""
    add_selectors(parser, "claim", "CLAIM", None, text=None)
    either = parser.add_mutually_exclusive_group(required=True)
    add_instance(either, "JSON|FILE")
    either.add_argument("--again", action="store_true", help="judge the instances on record again")
    add_limit(
        parser,
        "seconds. 0: no limit; the claim then runs in this process, as a debugger needs it "
        "(default 120)",
    )


def run(args: argparse.Namespace) -> int:
    """Judge the instance and write the records; 1 if none is better."""
    entry = one_claim(args.claim)
    with closing(
        Alone(partial(_prepare, entry, args.instance), limit(args, "record"), [entry], warm=_warm)
    ) as alone:
        try:
            code, text = alone.ask(None)
        except Stopped as stopped:
            say(f"nothing is kept: the judgement of {entry.id} {stopped.how([entry.file])}")
            return Exit.UNDECIDED
    say(text)
    return int(code)


def _warm() -> None:
    import rankcheck.engine.records.again  # noqa: F401 -- torch


def _prepare(entry: Entry, given: str | None) -> Callable[[None, Tell], tuple[Exit, str]]:
    """Import the file of the claim; returns what writes its records.

    Args:
        given: the instance, or None to judge those on record again.
    """
    [claim] = load([entry])

    def answer(question: None, tell: Tell) -> tuple[Exit, str]:
        from rankcheck.engine.records.file import FORM
        from rankcheck.engine.records.ratio import NotCertifiedError, OutsideError

        path = FORM.path(claim)
        check_place(path)
        try:
            return _again(claim, path) if given is None else _given(claim, given, path)
        except OutsideError:
            raise
        except NotCertifiedError as error:
            return Exit.UNDECIDED, f"nothing is kept: {error}"

    return answer


def _given(claim: Claim, given: str, path: Path) -> tuple[Exit, str]:
    """Renew the records of a claim by given instances; as expected if one is better."""
    from rankcheck.engine.counterexamples.describe import selector
    from rankcheck.engine.records.file import Records
    from rankcheck.engine.records.renewal import keep, renewed

    records, lines, figures = Records.of(claim, path), [], []
    for by, candidates in _candidates(claim, given):
        proved = [one for candidate in candidates for one in candidate.proved or ()]
        for one in proved:
            if one.refutes:
                command = f"rankcheck certify {selector(claim) or 'CLAIM'} --instance"
                return Exit.REFUTED, (
                    f"nothing is kept: {_figure(one)}, which refutes {claim.id}\n"
                    f"  `{command} {shlex.quote(given)}` keeps a counterexample"
                )
            best = records.best(one.name)
            figures.append(_figure(one) + ("" if best is None else f" ({best.short} on record)"))
        renewal = renewed(claim, records, candidates, by)
        records = renewal.records
        lines += [_said(better, by) for better in renewal.better]
    if not lines:
        why = "; ".join(figures) or "no bound is asserted there with a positive right side"
        return Exit.REFUTED, f"nothing is kept, for nothing is better than what is on record: {why}"
    keep(claim, records, path)
    return Exit.EXPECTED, "\n".join([*lines, f"records: {shown_path(path)}"])


def _candidates(claim: Claim, text: str) -> Iterator[tuple[tuple[str, ...], list[Candidate]]]:
    """The given instances with what balls prove of them, and the sizes by which they are grouped.

    Raises:
        InputError: if the text is no instance of the claim.
        NotCertifiedError: if balls prove nothing of one.
    """
    from rankcheck.engine.records.file import Records
    from rankcheck.engine.records.given import judged_on, read
    from rankcheck.engine.records.ratio import attained
    from rankcheck.engine.records.renewal import Candidate, candidates

    given = read(text)
    if not isinstance(given, Records):
        instance = judged_on(claim, given)
        yield (), [Candidate(instance, None, attained(instance))]
        return
    given.belonging(claim, Path(text))
    for by in dict.fromkeys(relation.by for relation in given.relations):
        alike = tuple(relation for relation in given.relations if relation.by == by)
        found = candidates(claim, replace(given, relations=alike), by)
        yield by, [replace(one, proved=attained(one.instance)) for one in found]


def _again(claim: Claim, path: Path) -> tuple[Exit, str]:
    """Judge the instances on record again; as expected unless one refutes the claim."""
    from rankcheck.engine.records.again import judged_again
    from rankcheck.engine.records.file import RecordError, Records
    from rankcheck.engine.records.renewal import keep

    records = Records.of(claim, path)
    if not records.relations:
        raise InputError(f"no record of {claim.id} at {shown_path(path)}; --again judges these")
    try:
        now, dropped = judged_again(claim, records)
    except RecordError as error:
        return Exit.REFUTED, f"nothing is kept: {error}"
    lines = [f"dropped from {one.name}, {one.ratio}: {one.why}" for one in dropped]
    for relation in now.relations:
        before = records.best(relation.name)
        if before is None or before.ratio != relation.best.ratio:
            was = "" if before is None else f" (was {before.short})"
            lines.append(f"{relation.name}: {relation.best.short}{was}")
    changed = now.relations != records.relations or records.statement_sha256 != claim.statement_hash
    if changed:
        keep(claim, now, path)
    state = "written" if changed else "up to date"
    return Exit.EXPECTED, "\n".join([*lines, f"records: {shown_path(path)} ({state})"])


def _figure(one: Attained) -> str:
    return f"{one.name} has lhs / rhs {one.text()}"


def _said(better: Better, by: Sequence[str]) -> str:
    """A record that got better, in a line."""
    sizes = ", ".join(
        f"{name} {size}" for name, size in zip(by, better.key or (), strict=better.key is not None)
    )
    before = "new" if better.old is None else f"was {short(better.old)}"
    where = f"{better.name}, {sizes}" if sizes else better.name
    return f"{where}: {better.new.short} ({before}), on {better.new.description}"
