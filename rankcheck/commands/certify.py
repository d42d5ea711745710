"""Write the certificate of a false claim: from a search, or from an instance given by hand.

A claim that is declared as refuted replays its certificate, certificates/ID.json beside its file;
this is the command that writes it. --choices takes what the generator of the claim draws, in order:
integers, and tensors as lists of numbers ("-3/4" is a number, too), as JSON or the name of a file.

  rankcheck certify rank.relu-from-leaky-as-printed --choices '[0.5, 1]'
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from rankcheck.catalogue.entry import shown_path
from rankcheck.catalogue.loader import load
from rankcheck.catalogue.selection import select
from rankcheck.commands.verify import add_settings, settings
from rankcheck.errors import InputError

HELP = "write the certificate of a false claim"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `rankcheck certify`."""
    parser.add_argument("claim", metavar="CLAIM")
    parser.add_argument("--choices", metavar="JSON|FILE", help="the instance; searched for if not")
    parser.add_argument(
        "--folder", metavar="DIR", type=Path, help="where to write, if not where it belongs"
    )
    add_settings(parser)


def run(args: argparse.Namespace) -> int:
    """Write the certificate and say what it holds."""
    from rankcheck.counterexamples import certificate as certificates
    from rankcheck.counterexamples import message as report
    from rankcheck.verification import certify

    chosen = settings(args)
    entries = select([args.claim])
    if len(entries) != 1:
        names = ", ".join(entry.id for entry in entries)
        raise InputError(f"one claim is certified at a time; {args.claim!r} selects {names}")
    [claim] = load(entries)
    folder = args.folder or certify.folder_of(claim)
    if args.choices is None:
        violation = certify.from_search(claim, chosen.profile, chosen.seed)
        found = report.report_violation(claim, violation, folder)
        if found.certificate is None:
            raise InputError(f"a certificate cannot be written to {folder}")
        print(found.message)
        return 0
    violation = certify.from_choices(claim, _choices(args.choices))
    try:
        path = certificates.write(folder, claim, violation)
    except OSError as error:
        raise InputError(f"a certificate cannot be written to {folder}: {error}") from error
    print(report.refuted_message(claim, violation, violation, f"certificate: {shown_path(path)}"))
    return 0


def _choices(text: str) -> list[Any]:
    try:
        if not text.lstrip().startswith("["):
            text = Path(text).read_text(encoding="utf-8")
        choices = json.loads(text)
    except (OSError, ValueError) as error:
        raise InputError(f"choices are a JSON list, or a file with one; {error}") from error
    if not isinstance(choices, list):
        raise InputError(f"choices are a JSON list; received {text!r:.80}")
    return choices
