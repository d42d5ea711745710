"""Certificates: a counterexample as a JSON file of exact numbers, which proves itself again.

A certificate holds the record of an instance (integers and rationals), the id and the hash of the
claim that it refutes, and both sides as balls. `replay` trusts nothing in the file: it runs the
generator and the body on the recorded numbers in ball arithmetic, and what it finds must be what
the file says.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankcheck import balls
from rankcheck.balls import BallArray
from rankcheck.claims.claim import Claim
from rankcheck.claims.describe import describe_instance
from rankcheck.claims.judge import Judgement, exact_instance, judge
from rankcheck.claims.ledger import versions, write_json
from rankcheck.claims.search import Violation
from rankcheck.instances.record import Record
from rankcheck.instances.source import ReplayError

SCHEMA = 1
_FIELDS = {
    "schema": int,
    "claim": str,
    "file": str,
    "family": str,
    "statement": str,
    "statement_sha256": str,
    "instance": str,
    "record": list,
    "relation": int,
    "label": str,
    "lhs": str,
    "rhs": str,
    "excess": str,
    "bits": int,
    "versions": dict,
    "sha256": str,
}


class CertificateError(ValueError):
    """A certificate that is missing, malformed, tampered with, or proves nothing."""


@dataclass(frozen=True, eq=False)
class Replayed:
    """A certificate that has proved its counterexample again.

    Attributes:
        changed: whether the claim has another text now than when the certificate was written.
    """

    claim: Claim
    record: Record
    judgement: Judgement
    changed: bool
    data: Mapping[str, Any]


def stored_path(claim: Claim) -> Path:
    """Where the certificate of a refuted claim is kept: beside its file, under version control."""
    return claim.file.parent / "certificates" / f"{claim.id}.json"


def write(folder: Path, claim: Claim, violation: Violation) -> Path:
    """Write the certificate of a proved violation to `folder/ID.json`.

    Raises:
        ValueError: if the violation is not proved.
        OSError: if it cannot be written.
    """
    judgement = violation.judgement
    if judgement.finding != "genuine" or judgement.lhs is None or judgement.rhs is None:
        raise ValueError(f"a certificate attests a proved violation; received {judgement.finding}")
    with balls.precision(judgement.bits):
        instance = exact_instance(violation.family, violation.record)
    data = {
        "schema": SCHEMA,
        "claim": claim.id,
        "file": claim.file.name,
        "family": violation.family.name,
        "statement": claim.statement,
        "statement_sha256": claim.statement_hash,
        "instance": describe_instance(claim, instance),
        "record": violation.record.to_json(),
        "relation": judgement.relation,
        "label": judgement.label,
        "lhs": ball_text(judgement.lhs),
        "rhs": ball_text(judgement.rhs),
        "excess": str(judgement.excess),
        "bits": judgement.bits,
        "versions": versions(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{claim.id}.json"
    write_json(path, {**data, "sha256": digest(data)})
    return path


def read(path: Path) -> Mapping[str, Any]:
    """The fields of a certificate, of the right types and as they were written.

    Raises:
        CertificateError: with the rule that the file breaks.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CertificateError(f"no certificate can be read at {path}: {error.strerror}") from error
    except ValueError as error:
        raise CertificateError(f"a certificate is a JSON file; {path} is not: {error}") from error
    if not isinstance(data, dict) or set(data) != set(_FIELDS):
        received = sorted(data) if isinstance(data, dict) else type(data).__name__
        raise CertificateError(
            f"a certificate has the fields {', '.join(sorted(_FIELDS))}; {path} has {received}"
        )
    for name, kind in _FIELDS.items():
        if type(data[name]) is not kind:
            raise CertificateError(
                f"the field {name!r} of a certificate is {kind.__name__}; "
                f"{path} has {type(data[name]).__name__}"
            )
    if data["schema"] != SCHEMA:
        raise CertificateError(
            f"this version reads certificates of schema {SCHEMA}; {path} has {data['schema']}"
        )
    if digest({name: value for name, value in data.items() if name != "sha256"}) != data["sha256"]:
        raise CertificateError(
            f"{path} has been changed since it was written: its checksum differs"
        )
    return data


def replay(path: Path, *, claim: Claim) -> Replayed:
    """Prove the counterexample of a certificate again, from its numbers alone.

    Raises:
        CertificateError: if the file is not a certificate of this claim, or does not prove what it
            says.
    """
    data = read(path)
    if data["claim"] != claim.id:
        raise CertificateError(f"{path} is a certificate of {data['claim']}, not of {claim.id}")
    families = {
        family.name: family for family in (claim.tight, claim.instances) if family is not None
    }
    if data["family"] not in families:
        raise CertificateError(
            f"{path} has an instance of {data['family']}; {claim.id} has {', '.join(families)}"
        )
    try:
        record = Record.from_json(data["record"])
        judgement = judge(
            claim, record, family=families[data["family"]], precisions=(data["bits"],)
        )
    except ReplayError as error:
        raise CertificateError(
            f"{path} does not fit the generator of {claim.id}: {error}"
        ) from error
    except ValueError as error:
        raise CertificateError(f"{path} is malformed: {error}") from error
    if judgement.finding != "genuine":
        raise CertificateError(
            f"{path} does not refute {claim.id}: {judgement.finding} {judgement.reason}".rstrip()
        )
    assert judgement.lhs is not None
    assert judgement.rhs is not None
    found = (judgement.relation, ball_text(judgement.lhs), ball_text(judgement.rhs))
    said = (data["relation"], data["lhs"], data["rhs"])
    changed = data["statement_sha256"] != claim.statement_hash
    if found != said and not changed:
        raise CertificateError(f"{path} says {said}, but its instance gives {found}")
    return Replayed(claim, record, judgement, changed, data)


def ball_text(ball: BallArray) -> str:
    """A ball with enough digits to compare it by: the exact rational, or midpoint ± radius."""
    return ball.describe()


def digest(data: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON of the fields."""
    text = json.dumps(data, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
