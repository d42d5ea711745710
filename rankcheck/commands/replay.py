"""Replay certificates: prove each counterexample again, from the numbers in its file.

The claim that a certificate refutes is one of rankcheck's own, or it stands in the file that the
certificate names, beside the certificate, in a folder above it, or in the working directory;
--claims says where else to look. Exit code 1: a certificate does not prove what it says.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rankcheck.claims.catalogue import project
from rankcheck.claims.entry import Entry
from rankcheck.claims.loader import load
from rankcheck.claims.reading import read_file
from rankcheck.claims.selection import select
from rankcheck.errors import InputError

HELP = "prove a counterexample again, from its file"
#: So many folders above a certificate are searched for the file of its claim.
ABOVE = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `rankcheck replay`."""
    parser.add_argument("certificates", metavar="FILE", nargs="+", type=Path)
    parser.add_argument(
        "--claims", metavar="SELECTOR", help="where the claim is, if it is not near"
    )


def run(args: argparse.Namespace) -> int:
    """Replay them all; 1 if one fails."""
    from rankcheck.claims.certificates import CertificateError, read

    try:
        certificates = {path: read(path) for path in args.certificates}
    except CertificateError as error:
        raise InputError(str(error)) from error
    entries = {path: _entry(path, data, args.claims) for path, data in certificates.items()}
    proved = [_replay(path, entry) for path, entry in entries.items()]
    return 0 if all(proved) else 1


def _replay(path: Path, entry: Entry) -> bool:
    from rankcheck.claims.certificates import CertificateError, replay
    from rankcheck.claims.report import sides

    [claim] = load([entry])
    try:
        replayed = replay(path, claim=claim)
    except CertificateError as error:
        print(f"not proved: {error}")
        return False
    judgement = replayed.judgement
    print(f"{claim.id} is false: {sides(judgement)} (proved again, {judgement.bits}-bit balls)")
    print(f"  {replayed.data['instance']}")
    if replayed.changed:
        print(f"  but the claim has another text now than when {path} was written: {entry.place}")
    return not replayed.changed


def _entry(path: Path, data: Mapping[str, Any], selector: str | None) -> Entry:
    for entry in _candidates(path, data["file"], selector):
        if entry.id == data["claim"]:
            return entry
    raise InputError(
        f"{path} refutes {data['claim']} of {data['file']}, which is not near it; "
        "say where it is: rankcheck replay --claims FILE CERTIFICATE"
    )


def _candidates(path: Path, name: str, selector: str | None) -> Iterator[Entry]:
    if selector is not None:
        yield from select([selector])
        return
    yield from project()
    for folder in (*path.resolve().parents[: ABOVE + 1], Path.cwd()):
        near = folder / Path(name).name
        if near.is_file():
            yield from read_file(near)
