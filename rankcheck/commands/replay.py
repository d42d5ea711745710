"""Replay certificates: prove each counterexample again, from the numbers in its file.

The claim of a certificate is one of rankcheck's own, or it is in the file that the certificate
names: at that place, beside the certificate, in a folder above it, or in the working directory.
That file is Python that is run, so it has to lie below the working directory; --claims names
another one.

Exit codes: 0 all are proved again; 1 a certificate does not prove what it says; 2 wrong input.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rankcheck.catalogue.collect import project_folder
from rankcheck.catalogue.entry import Entry, shown_path
from rankcheck.catalogue.loader import load
from rankcheck.catalogue.selection import select
from rankcheck.terminal.plain import say

HELP = "prove a counterexample again, from its file"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `rankcheck replay`."""
    parser.add_argument("certificates", metavar="FILE", nargs="+", type=Path)
    parser.add_argument(
        "--claims", metavar="SELECTOR", help="where the claim is, if it is not near the certificate"
    )


def run(args: argparse.Namespace) -> int:
    """Replay all of them; 1 if one does not refute the claim for which it was written."""
    from rankcheck.counterexamples.certificate import read
    from rankcheck.counterexamples.replay import find

    certificates = {path: read(path) for path in args.certificates}
    elsewhere = None if args.claims is None else select([args.claims])
    entries = {path: find(path, data, elsewhere) for path, data in certificates.items()}
    proved = [_replay(path, entry) for path, entry in entries.items()]
    return 0 if all(proved) else 1


def _replay(path: Path, entry: Entry) -> bool:
    from rankcheck.counterexamples.certificate import CertificateError
    from rankcheck.counterexamples.message import sides
    from rankcheck.counterexamples.replay import replay

    if not entry.file.is_relative_to(project_folder()):
        say(f"running {shown_path(entry.file)}")
    [claim] = load([entry])
    try:
        replayed = replay(path, claim=claim)
    except CertificateError as error:
        say(f"not proved: {error}")
        return False
    judgement = replayed.judgement
    if not replayed.refuted:
        say(
            f"not proved: the text of {claim.id} ({entry.place}) has changed since {path} was "
            f"written, and the instance does not refute the new text: {judgement.finding} "
            f"{judgement.reason}".rstrip()
        )
        return False
    say(f"{claim.id} is false: {sides(judgement)} (proved again, {judgement.bits}-bit balls)")
    say(f"  {replayed.description}")
    if replayed.changed:
        say(
            f"  but the text of the claim ({entry.place}) has changed since {path} was written; "
            "rankcheck certify CLAIM --again writes it anew"
        )
    return not replayed.changed
