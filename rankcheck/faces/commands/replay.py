"""Replay certificates, files of records and of proofs: prove each again, from what is in its file.

KEPT is such a file, or a SELECTOR of `rankcheck verify`, such as an id: then it is all that is kept
beside the files of the claims, and the certificates that runs have left in .rankcheck.
A certificate proves that its claim is false, a file of records how sharp its bounds are, and a file
of proofs that it is true at some shapes, which the second checker finds again. The claim is one of
rankcheck's own, or it is in the file that is named there: at that place, beside the certificate, in
a folder above it, or in the working directory. That file is Python that is run, so it has to lie
below the working directory; --claims names another one.

Exit codes: 0 all are proved again; 1 a file does not prove what it says; 2 wrong input; 3
floats and balls disagree about an instance, or a claim did not end within --limit, or its process
died.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankcheck.claims.catalogue.entry import Entry
from rankcheck.claims.catalogue.kept import Form
from rankcheck.claims.catalogue.loader import load
from rankcheck.claims.catalogue.selection import select
from rankcheck.engine.parallel import Tell
from rankcheck.engine.parallel.alone import Alone, Stopped
from rankcheck.errors import InputError
from rankcheck.faces.commands.arguments import add_limit, add_selectors, limit
from rankcheck.faces.commands.kept import kept_of
from rankcheck.faces.terminal import exits
from rankcheck.faces.terminal.exits import Exit
from rankcheck.faces.terminal.plain import say
from rankcheck.files import project_folder, shown_path

HELP = "prove a counterexample, records or proofs again, from their file"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `rankcheck replay`."""
    add_selectors(parser, "kept", "KEPT", "+", "a file, or the id of a claim")
    parser.add_argument(
        "--claims", metavar="SELECTOR", help="where the claim is, if it is not near the file"
    )
    add_limit(
        parser,
        "for each file. 0: no limit; it is then proved in this process, as a debugger needs "
        "it (default 120)",
    )


def run(args: argparse.Namespace) -> int:
    """Replay all of them; 1 if one does not refute the claim for which it was written."""
    elsewhere = None if args.claims is None else select([args.claims])
    codes = []
    with closing(Alone(_prepare, limit(args, "replay"), warm=_warm)) as alone:
        every = kept_of(args.kept, others=True)
        paths = [kept.path for kept in every]
        named = [kept.entry if elsewhere is None else None for kept in every]
        try:
            entries = alone.ask(_Find(paths, named, elsewhere))
        except Stopped as stopped:
            raise InputError(f"the reading of the files {stopped.how()}") from stopped
        for path, entry in zip(paths, entries, strict=True):
            codes.append(_replay(alone, path, entry))
    return exits.worst(codes)


def _replay(alone: Alone, path: Path, entry: Entry) -> Exit:
    """Replay one file, and say what it proves."""
    if not entry.file.is_relative_to(project_folder()):
        say(f"running {shown_path(entry.file)}")
    try:
        code, text = alone.ask(_Prove(path, entry))
    except Stopped as stopped:
        say(f"{entry.id} is undecided: the replay of {path} {stopped.how([entry.file])}")
        return Exit.UNDECIDED
    say(text)
    return code


@dataclass(frozen=True)
class _Find:
    """Read files, and find the claims that were not named; nothing is imported."""

    paths: Sequence[Path]
    named: Sequence[Entry | None]
    elsewhere: Sequence[Entry] | None


@dataclass(frozen=True)
class _Prove:
    """Import the file of a claim, and replay what is kept for it."""

    path: Path
    entry: Entry


@dataclass(frozen=True)
class _Kept:
    """A kind of files: its form, the function of Python that proves one again, and that here."""

    form: Form
    function: str
    prove: Callable[[Path, Entry], tuple[Exit, str]]


def _warm() -> None:
    import rankcheck.engine.counterexamples.replay  # noqa: F401 -- torch


def _prepare() -> Callable[[_Find | _Prove, Tell], Any]:
    """What finds claims, and replays files: the exit code, and the text."""
    from rankcheck.claims.catalogue.certificates import FORM
    from rankcheck.claims.catalogue.finding import find
    from rankcheck.decide.prove import file as proofs
    from rankcheck.engine.records import file as records

    of_records = _Kept(records.FORM, "rankcheck.engine.records.again.prove_again", _attained)
    of_proofs = _Kept(proofs.FORM, "rankcheck.decide.prove.again.prove_again", _proved)
    other = _Kept(FORM, "rankcheck.engine.counterexamples.replay", _refuted)

    def kept(path: Path) -> _Kept:
        data = FORM.load(path)
        fields = data if isinstance(data, dict) else {}
        return of_records if "relations" in fields else of_proofs if "proofs" in fields else other

    def answer(question: _Find | _Prove, tell: Tell) -> Any:
        if isinstance(question, _Prove):
            return kept(question.path).prove(question.path, question.entry)
        known = {path: kept(path) for path in question.paths}
        read_all = {path: one.form.read(path) for path, one in known.items()}
        return [
            entry or find(path, read_all[path], question.elsewhere, prove=known[path].function)
            for path, entry in zip(question.paths, question.named, strict=True)
        ]

    return answer


def _attained(path: Path, entry: Entry) -> tuple[Exit, str]:
    """As expected if all records of a file prove what they say, and the text about them."""
    from rankcheck.engine.records.again import prove_again
    from rankcheck.engine.records.file import RecordError, Records

    [claim] = load([entry])
    lines = []
    try:
        for relation, proved in prove_again(path, claim):
            by = f", and {len(relation.groups)} by {', '.join(relation.by)}"
            lines.append(
                f"{claim.id}: {relation.name} has lhs / rhs {proved.text()} (proved again"
                f"{by if relation.groups else ''}, {proved.bits}-bit balls)\n"
                f"  {relation.best.description}"
            )
    except RecordError as error:
        return Exit.REFUTED, f"not proved: {error}"
    if Records.read(path).statement_sha256 != claim.statement_hash:
        lines.append(
            f"  the text of the claim ({entry.place}) has changed since {path} was written; "
            "rankcheck record CLAIM --again writes it anew"
        )
    return Exit.EXPECTED, "\n".join(lines) or f"{claim.id} has no record in {path}"


def _proved(path: Path, entry: Entry) -> tuple[Exit, str]:
    """As expected if the second checker accepts all proofs of a file, and the text about them."""
    from rankcheck.decide.prove.again import prove_again
    from rankcheck.decide.prove.checking import UnsoundError
    from rankcheck.decide.prove.file import ProofError, Proofs

    [claim] = load([entry])
    lines = []
    try:
        for kept, checked in prove_again(path, claim):
            lines.append(f"{claim.id}: {kept.sentence} (checked again)\n  {checked}")
    except (ProofError, UnsoundError) as error:
        return Exit.REFUTED, "\n".join([*lines, f"not proved: {error}"])
    if Proofs.read(path).statement_sha256 != claim.statement_hash:
        lines.append(
            f"  the text of the claim ({entry.place}) has changed since {path} was written; "
            "rankcheck prove CLAIM --keep writes it anew"
        )
    return Exit.EXPECTED, "\n".join(lines)


def _refuted(path: Path, entry: Entry) -> tuple[Exit, str]:
    """As expected if a certificate proves what it says, and the text about it."""
    from rankcheck.claims.catalogue.certificates import CertificateError
    from rankcheck.engine.counterexamples.instance import DisagreementError
    from rankcheck.engine.counterexamples.refutation import explained
    from rankcheck.engine.counterexamples.replay import replay

    [claim] = load([entry])
    try:
        replayed = replay(path, claim=claim)
    except CertificateError as error:
        return Exit.REFUTED, f"not proved: {error}"
    except DisagreementError as error:
        return Exit.UNDECIDED, f"not proved: {error}"
    claim, judgement = replayed.claim, replayed.judgement
    if not replayed.refuted:
        return Exit.REFUTED, (
            f"not proved: the text of {claim.id} ({entry.place}) has changed since {path} was "
            f"written, and the instance does not refute the new text: {judgement.finding} "
            f"{judgement.reason}"
        ).rstrip()
    assert replayed.instance is not None
    found = explained(replayed.instance, replayed.path)
    text = "\n".join(found.lines(f"{claim.id} is false", "proved again"))
    if replayed.changed:
        text += (
            f"\n  but the text of the claim ({entry.place}) has changed since {path} was written; "
            "rankcheck certify CLAIM --again writes it anew"
        )
    return Exit.REFUTED if replayed.changed else Exit.EXPECTED, text
