"""The file of a counterexample: what stands in a certificate. Nothing here imports torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankcheck.claims.catalogue.entry import Entry
from rankcheck.claims.catalogue.kept import Form
from rankcheck.claims.counterexample import Counterexample
from rankcheck.claims.facts import check_id
from rankcheck.claims.kinds import FALSE
from rankcheck.errors import InputError
from rankcheck.files import LEFT

#: Precisions of balls in bits, tried in this order until they decide.
PRECISIONS = (128, 256, 512, 1024, 2048)
SCHEMA = 2


class CertificateError(InputError):
    """A certificate is missing, malformed or changed, or does not prove what it says."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Section(Counterexample):
    """What a certificate says of one instance.

    Attributes:
        instance: what its generator draws; see `rankcheck.theory.instances.choices`.
        relation: which of the relations fails, counted from 0.
    """

    instance: list[Any]
    relation: int

    def __post_init__(self) -> None:
        if self.bits not in PRECISIONS:
            raise ValueError(
                f"it has {self.bits} bits; a certificate is decided at one of "
                f"{', '.join(map(str, PRECISIONS))}"
            )


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """The fields of the file."""

    schema: int
    claim: str
    file: str
    path: str
    statement: str
    statement_sha256: str
    smallest: Section
    worst: Section | None
    versions: Mapping[str, str]
    sha256: str

    def __post_init__(self) -> None:
        check_id(self.claim)


FORM = Form(
    "certificate", "certificates", SCHEMA, Certificate, "rankcheck certify", CertificateError
)


def read(path: Path) -> Mapping[str, Any]:
    """The fields of a certificate, checked for their types and against the checksum.

    Raises:
        CertificateError: if the file is not a certificate of this schema, or has been changed.
    """
    return FORM.read(path)


def path_of(claim: Entry) -> Path | None:
    """The certificate of a claim: stored beside its file, or left by a run; None without one."""
    left = LEFT / f"{claim.id}.json"
    places = [FORM.path(claim), left] if claim.kind in FALSE else [left]
    return next((path for path in places if path.is_file()), None)
