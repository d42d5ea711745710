"""Write the certificate of a false claim: from a search, a given instance, or a certificate.

The certificate of a claim that is declared as refuted is stored as certificates/ID.json beside its
file, where `verify` replays it; that of another claim is left in .rankcheck. Without an option, the
claim is searched for a counterexample.

--instance takes what the generator of the claim draws, in order, as JSON: integers, and tensors as
nested lists of numbers ("-3/4" is a number too). It also takes a file with that, or a certificate,
of which it uses the smallest instance.

--again certifies the instances of a certificate again, without a search: the stored one, or the one
that a run left in .rankcheck, as for a conjecture that is now declared as @refuted. Without CLAIM,
it certifies all refuted claims of rankcheck again.

A certificate of the same text of the claim that holds a smaller counterexample is not replaced.

  rankcheck certify rank.cross-example-as-printed --instance '[[1, "1/4"], [1, "-1/4"]]'
  rankcheck certify mine.py::test_mine --again

Exit codes: 0 certified; 1 no counterexample is proved, and nothing is written; 2 wrong input; 3
floats and balls disagree about the instance, or a claim did not end within --limit, or its process
died.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rankcheck.claims.catalogue.entry import Entry
from rankcheck.claims.catalogue.loader import load
from rankcheck.claims.catalogue.selection import select
from rankcheck.engine.parallel import Tell
from rankcheck.engine.parallel.alone import Alone, Stopped
from rankcheck.engine.verification.profiles import Settings
from rankcheck.errors import InputError
from rankcheck.faces.commands.arguments import (
    add_limit,
    add_selectors,
    add_settings,
    limit,
    settings,
)
from rankcheck.faces.terminal import exits
from rankcheck.faces.terminal.exits import Exit
from rankcheck.faces.terminal.plain import say
from rankcheck.files import check_place, shown_path

if TYPE_CHECKING:
    from rankcheck.claims.claim import Claim
    from rankcheck.engine.counterexamples.instance import Instance

HELP = "write the certificate of a false claim"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `rankcheck certify`."""
    add_selectors(parser, "claims", "CLAIM", text="one, or with --again any number")
    parser.add_argument(
        "--instance", metavar="JSON|FILE", help="the counterexample; by default it is searched for"
    )
    parser.add_argument(
        "--again", action="store_true", help="certify the instances of a certificate again"
    )
    add_settings(parser)
    add_limit(
        parser,
        "for each claim. 0: no limit; it is then certified in this process, as a debugger needs it "
        "(default by profile: 120, 600, 7200)",
    )


def run(args: argparse.Namespace) -> int:
    """Write the certificates and print what they hold; 1 if one is not proved."""
    chosen = settings(args)
    if args.again and args.instance is not None:
        raise InputError("--again takes the instances of a certificate; leave out --instance")
    seconds = limit(args, chosen.profile.name)
    entries = select(args.claims) if args.claims or args.again else []
    if args.again:
        entries = _refuted(entries)
    elif len(entries) != 1:
        names = f"{', '.join(args.claims)!r} selects {', '.join(entry.id for entry in entries)}"
        raise InputError(f"{names if entries else 'no CLAIM is given'}; one is certified at a time")
    how = _How(chosen, args.instance, args.again)
    codes = []
    with closing(Alone(partial(_prepare, entries, how), seconds, entries, warm=_warm)) as alone:
        for index, entry in enumerate(entries):
            try:
                code, text = alone.ask(index)
            except Stopped as stopped:
                codes.append(Exit.UNDECIDED)
                say(f"not certified: {entry.id}: its certification {stopped.how([entry.file])}")
            else:
                codes.append(code)
                say(text)
    return exits.worst(codes)


@dataclass(frozen=True)
class _How:
    """Where the counterexample comes from."""

    settings: Settings
    instance: str | None
    again: bool


def _warm() -> None:
    import rankcheck.engine.verification.stages  # noqa: F401 -- torch


def _prepare(entries: Sequence[Entry], how: _How) -> Callable[[int, Tell], tuple[Exit, str]]:
    """Import the files; returns what certifies the claim of a number."""
    claims = load(entries)

    def certify(index: int, tell: Tell) -> tuple[Exit, str]:
        claim = claims[index]
        return _again(claim) if how.again else _new(claim, how)

    return certify


def _new(claim: Claim, how: _How) -> tuple[Exit, str]:
    """Write a certificate; as expected if the claim is proved false, and the text about it."""
    from rankcheck.engine.counterexamples.certificate import folder_of
    from rankcheck.engine.counterexamples.given import NotRefutedError
    from rankcheck.engine.counterexamples.instance import DisagreementError

    folder = folder_of(claim)
    check_place(folder / f"{claim.id}.json")
    try:
        if how.instance is not None:
            return _write_given(claim, folder, how.instance)
        from rankcheck.engine.verification.stages import from_search

        violation = from_search(claim, how.settings)
        return _write(folder, violation, budget=how.settings.shrink)
    except NotRefutedError as error:
        return Exit.REFUTED, f"not certified: {error}"
    except DisagreementError as error:
        return Exit.UNDECIDED, f"not certified: {error}"


def _write_given(claim: Claim, folder: Path, text: str) -> tuple[Exit, str]:
    from rankcheck.engine.counterexamples.given import from_choices, read_instance
    from rankcheck.engine.counterexamples.replay import family_of

    given = read_instance(text)
    family = family_of(claim, given.family) if given.family else None
    return _write(folder, from_choices(claim, given.choices, family=family), budget=None)


def _write(folder: Path, violation: Instance, *, budget: float | None) -> tuple[Exit, str]:
    """Make a violation small and write its certificate; the exit code, and the text about it."""
    from rankcheck.engine.counterexamples.reporting import report_violation

    report = report_violation(violation, folder, budget=budget)
    return Exit.EXPECTED if report.certificate else Exit.USAGE, report.message


def _refuted(entries: list[Entry]) -> list[Entry]:
    """The claims with a certificate: those declared as refuted, or a single one of any kind."""
    from rankcheck.claims.kinds import FALSE

    refuted = [entry for entry in entries if entry.kind in FALSE]
    if refuted or len(entries) == 1:
        return refuted or entries
    raise InputError("none of these claims is declared as refuted; --again certifies such claims")


def _again(claim: Claim) -> tuple[Exit, str]:
    """Certify one claim again; as expected if its instances still refute it, and the text."""
    from rankcheck.claims.catalogue.certificates import CertificateError
    from rankcheck.engine.counterexamples.given import NotRefutedError, recertify
    from rankcheck.engine.counterexamples.instance import DisagreementError
    from rankcheck.engine.counterexamples.refutation import explained
    from rankcheck.theory.instances.choices import ChoicesError

    try:
        again = recertify(claim)
    except (CertificateError, ChoicesError, NotRefutedError) as error:
        return Exit.REFUTED, f"not certified: {claim.id}: {error}"
    except DisagreementError as error:
        return Exit.UNDECIDED, f"not certified: {error}"
    origin = "" if again.origin == again.path else f", from {shown_path(again.origin)}"
    state = "written" if again.changed else "up to date"
    lines = explained(again.violation).lines(f"{claim.id} is false", "certified again")
    certificate = f"  certificate: {shown_path(again.path)} ({state}{origin})"
    return Exit.EXPECTED, "\n".join([*lines, certificate])
