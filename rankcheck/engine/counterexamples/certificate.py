"""Writes and reads certificates, counterexamples as JSON files of exact numbers.

A certificate names the claim that it refutes, with the hash of its text, and holds two instances:
the smallest one, and the one with the largest violation if that is another. An instance is the list
of what the generator draws (see `rankcheck.theory.instances.choices`); both sides of the violated
relation stand beside it, as balls.
`rankcheck.engine.counterexamples.replay` proves a certificate again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rankcheck.claims.catalogue.certificates import FORM, SCHEMA
from rankcheck.claims.claim import Claim
from rankcheck.claims.kinds import FALSE
from rankcheck.engine.counterexamples.describe import describe_exact, rounded_down
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.files import LEFT
from rankcheck.text import ball_text
from rankcheck.theory.instances.choices import write_choices
from rankcheck.versions import versions


def folder_of(claim: Claim) -> Path:
    """The folder for a certificate: beside the file of a refuted claim, else `.rankcheck`."""
    return FORM.path(claim).parent if claim.kind in FALSE else LEFT


def write(folder: Path, violation: Instance, worst: Instance | None = None) -> Path:
    """Write the certificate of a proved violation to `folder/ID.json`; the path.

    Args:
        worst: the instance with the largest violation, if it is another one.

    Raises:
        ValueError: if a violation is not proved.
        OSError: if the file cannot be written.
    """
    fields = contents(folder, violation, worst)
    path = folder / f"{violation.claim.id}.json"
    FORM.write(path, fields)
    return path


def contents(folder: Path, violation: Instance, worst: Instance | None = None) -> dict[str, Any]:
    """The fields of a certificate in `folder`, without the checksum.

    Raises:
        ValueError: if a violation is not proved.
    """
    claim = violation.claim
    file, path = FORM.whereabouts(folder, claim)
    return {
        "schema": SCHEMA,
        "claim": claim.id,
        "file": file,
        "path": path,
        "statement": claim.statement,
        "statement_sha256": claim.statement_hash,
        "smallest": section(violation),
        "worst": None if worst is None else section(worst),
        "versions": versions(),
    }


def section(violation: Instance) -> dict[str, Any]:
    """What a certificate says of one instance.

    Raises:
        ValueError: if the violation is not proved.
    """
    judgement = violation.in_balls
    if not violation.proved or judgement.lhs is None or judgement.rhs is None:
        raise ValueError(
            f"this instance of {violation.claim.id} is {judgement.finding}; "
            "a certificate attests a proved violation"
        )
    return {
        "family": violation.family.name,
        "instance": write_choices(violation.record),
        "description": describe_exact(violation),
        "relation": judgement.relation,
        "kind": judgement.kind,
        "label": judgement.label,
        "lhs": ball_text(judgement.lhs, judgement.bits),
        "rhs": ball_text(judgement.rhs, judgement.bits),
        "excess": rounded_down(judgement.excess),
        "bits": judgement.bits,
    }
