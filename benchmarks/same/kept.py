"""What is kept beside a claim is proved again: its counterexample, the best ratios, the proofs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from rankcheck.claims.catalogue import certificates
from rankcheck.claims.catalogue.entry import Entry
from rankcheck.claims.catalogue.loader import load
from rankcheck.decide.prove.again import prove_again as proofs_again
from rankcheck.decide.prove.file import FORM as PROOFS
from rankcheck.engine.counterexamples.replay import replay
from rankcheck.engine.records import file as records
from rankcheck.engine.records.again import prove_again as records_again
from rankcheck.engine.records.file import RecordError
from rankcheck.faces.exports import NotExportable, export
from rankcheck.faces.report.networks import drawing
from rankcheck.faces.report.tex import paragraph

LANGUAGES = ("script", "coq")


def replayed(entry: Entry, quick: bool) -> dict[str, Any]:
    """What is proved of a claim; and of a counterexample all that it is written as.

    A quick run leaves out proofs, scripts and Coq files, which take seconds each.
    """
    found: dict[str, Any] = {}
    [claim] = load([entry])
    if (path := certificates.FORM.path(claim)).is_file():
        result = replay(path, claim=claim)
        found["counterexample"] = {
            "finding": result.judgement.finding,
            "instance": result.description,
            "drawing": digest(str(drawing(result.description))),
            "LaTeX": digest(paragraph(certificates.read(path), claim)),
            **{name: _written(path, claim, name) for name in LANGUAGES if not quick},
        }
    if (path := records.FORM.path(claim)).is_file():
        found["records"] = _best(path, claim)
    if not quick and (path := PROOFS.path(claim)).is_file():
        found["proofs"] = [sentence for _, sentence in proofs_again(path, claim)]
    return found


def without_slow(found: Mapping[str, Any]) -> dict[str, Any]:
    """What a quick run asks of the same claim."""
    left = {name: value for name, value in found.items() if name != "proofs"}
    if "counterexample" in left:
        slow = LANGUAGES
        left["counterexample"] = {k: v for k, v in left["counterexample"].items() if k not in slow}
    return left


def _best(path: Any, claim: Any) -> dict[str, str] | str:
    """By relation what its best instance proves, or that the file does not stand."""
    try:
        return {one.name: best.written for one, best in records_again(path, claim)}
    except RecordError:
        return "does not stand"


def _written(path: Any, claim: Any, language: str) -> str:
    try:
        return digest(export(path, claim, language))
    except NotExportable as error:
        return f"not exportable: {error}"


def digest(text: str | bytes) -> str:
    """The first digits of a checksum."""
    found = text.encode() if isinstance(text, str) else text
    return hashlib.sha256(found).hexdigest()[:16]
