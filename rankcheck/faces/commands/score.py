"""Print what ball arithmetic proves of the ratio of a bound at an instance, and nothing else.

For search programs of any kind: the number is a decimal that is not larger than lhs / rhs, or than
the deviation |lhs - rhs| / max(|lhs|, |rhs|) of an identity; above 1, or above 0 of an identity, it
refutes the claim.

--instance takes what the generator of the claim draws, in order, as a JSON list, or an object with
this as "choices" and the name of the generator as "family"; or a file with one of these. With
`--instance -` each line of the standard input is an instance, and is answered with a line, so that
a program pays for the start once. A line that cannot be scored is answered with "error: " and the
reason, in JSON with {"error": ...}, and the next one is read.

--json prints an object on one line. By the name of each relation it has "low" and "high", decimals
between which the ratio lies, "kind", and "bits", the precision.

  rankcheck score mine.py::test_mine --instance '[2, [1, "1/2"]]'
  search-program | rankcheck score mine.py::test_mine --instance - --json

Exit codes: 0 scored, or the standard input has ended; 2 wrong input, or an instance outside of the
hypotheses; 3 nothing is certified there, or the claim did not end within --limit, or its process
died.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from rankcheck.claims.catalogue.entry import Entry
from rankcheck.claims.catalogue.loader import load
from rankcheck.engine.parallel import Tell
from rankcheck.engine.parallel.alone import Alone, Stopped
from rankcheck.errors import InputError
from rankcheck.faces.commands.arguments import (
    add_instance,
    add_limit,
    add_selectors,
    limit,
    one_claim,
)
from rankcheck.faces.terminal.exits import Exit
from rankcheck.faces.terminal.plain import one_line, say
from rankcheck.stored import LARGEST

if TYPE_CHECKING:
    from rankcheck.claims.claim import Claim
    from rankcheck.engine.records.ratio import Attained

#: Why a relation has no score at an instance.
_NONE = "it is not asserted there, or its right side is not proved positive"

HELP = "print the certified ratio of a bound at an instance"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `rankcheck score`."""
    add_selectors(parser, "claim", "CLAIM", None, text=None)
    add_instance(parser, "JSON|FILE|-", required=True)
    parser.add_argument("--json", action="store_true", help="print an object with all relations")
    add_limit(
        parser,
        "seconds for each instance. 0: no limit; the claim then runs in this process, as a "
        "debugger needs it (default 120)",
    )


def run(args: argparse.Namespace) -> int:
    """Print the score of an instance, or of each line of the standard input."""
    entry = one_claim(args.claim)
    seconds = limit(args, "score")
    with closing(Alone(partial(_prepare, entry, args.json), seconds, [entry], warm=_warm)) as alone:
        if args.instance != "-":
            scored = _ask(alone, entry, args.instance)
            if scored.code is Exit.USAGE:
                raise InputError(scored.text)
            say(scored.text, sys.stdout if scored.code is Exit.EXPECTED else sys.stderr)
            return int(scored.code)
        for line in iter(lambda: sys.stdin.buffer.readline(LARGEST + 1), b""):
            scored = _ask(alone, entry, line)
            say(scored.text if scored.code is Exit.EXPECTED else scored.error(as_json=args.json))
    return Exit.EXPECTED


@dataclass(frozen=True)
class _Scored:
    """What is printed of an instance; unless it was scored, why it was not."""

    code: Exit
    text: str

    def error(self, *, as_json: bool) -> str:
        """The reason on one line."""
        reason = one_line(self.text)
        return json.dumps({"error": reason}) if as_json else f"error: {reason}"


def _ask(alone: Alone, entry: Entry, given: str | bytes) -> _Scored:
    try:
        scored: _Scored = alone.ask(given)
    except Stopped as stopped:
        return _Scored(Exit.UNDECIDED, f"the score of {entry.id} {stopped.how([entry.file])}")
    return scored


def _warm() -> None:
    import rankcheck.engine.records.given  # noqa: F401 -- torch


def _prepare(entry: Entry, as_json: bool) -> Callable[[str | bytes, Tell], _Scored]:
    """Import the file of the claim; returns what scores an argument (text) or a line (bytes)."""
    [claim] = load([entry])

    def answer(given: str | bytes, tell: Tell) -> _Scored:
        from rankcheck.engine.records.ratio import NotCertifiedError, OutsideError

        try:
            return _scored(claim, given, as_json=as_json)
        except OutsideError as error:
            return _Scored(Exit.USAGE, str(error))
        except NotCertifiedError as error:
            return _Scored(Exit.UNDECIDED, str(error))
        except InputError as error:
            return _Scored(Exit.USAGE, str(error))

    return answer


def _scored(claim: Claim, text: str | bytes, *, as_json: bool) -> _Scored:
    """The score of an instance.

    Raises:
        InputError: if the text is no instance of the claim, or several relations have no number
            of their own without `as_json`.
        NotCertifiedError: if balls prove nothing of it.
    """
    from rankcheck.claims.labels import relation_name
    from rankcheck.engine.records.file import Records
    from rankcheck.engine.records.given import judged_on, parsed, read
    from rankcheck.engine.records.ratio import attained

    given = parsed(text) if isinstance(text, bytes) else read(text)
    if isinstance(given, Records):
        raise InputError(f"{text!r} is a file of records; one instance is scored at a time")
    instance = judged_on(claim, given)
    proved = {one.name: one for one in attained(instance)}
    returned = instance.in_balls.relations or ()
    kinds = {relation_name(each.label, n): each.kind for n, each in enumerate(returned)}
    found = [proved[name] for name in kinds if name in proved]
    if not found:
        return _Scored(Exit.UNDECIDED, f"{', '.join(kinds)}: {_NONE}")
    if as_json:
        figures = {
            name: _figures(proved[name]) if name in proved else {"kind": kind, "reason": _NONE}
            for name, kind in kinds.items()
        }
        return _Scored(Exit.EXPECTED, json.dumps(figures))
    if len(kinds) > 1:
        names = ", ".join(map(repr, kinds))
        raise InputError(f"{claim.id} has the relations {names}; --json prints the ratio of each")
    return _Scored(Exit.EXPECTED, found[0].written)


def _figures(one: Attained) -> dict[str, Any]:
    return {"kind": one.kind, "low": one.written, "high": one.written_high, "bits": one.bits}
