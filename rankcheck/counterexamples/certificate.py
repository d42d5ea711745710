"""Certificates: a counterexample as a JSON file of exact numbers, which proves itself again.

A certificate holds the record of an instance (integers and rationals), the id and the hash of the
claim that it refutes, and both sides as balls; of the instance made small, and of the one with the
largest violation. `replay` trusts nothing in the file: it finds the claim, runs the generator and
the body on the recorded numbers in ball arithmetic, and what it finds must be what the file says.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from flint import arb

from rankcheck import balls
from rankcheck.balls import BallArray
from rankcheck.catalogue.collect import project, project_folder
from rankcheck.catalogue.entry import Entry
from rankcheck.catalogue.loader import load
from rankcheck.catalogue.reading import read_file
from rankcheck.claims.claim import Claim
from rankcheck.counterexamples.describe import describe_instance
from rankcheck.counterexamples.judge import PRECISIONS, Judgement, judge
from rankcheck.counterexamples.violation import Violation
from rankcheck.errors import InputError
from rankcheck.files import write_json
from rankcheck.instances.record import Entries, Integer, Record
from rankcheck.instances.source import Instances, ReplayError, ReplaySource
from rankcheck.text import ball_text
from rankcheck.versions import versions

SCHEMA = 1
#: A certificate is a small file.
LARGEST = 1 << 24
#: So many folders above a certificate are searched for the file of its claim.
ABOVE = 3

_HEAD = {
    "schema": int,
    "claim": str,
    "file": str,
    "path": str,
    "statement": str,
    "statement_sha256": str,
    "smallest": dict,
    "worst": dict | None,
    "versions": dict,
    "sha256": str,
}
_INSTANCE = {
    "family": str,
    "instance": str,
    "record": list,
    "relation": int,
    "kind": str,
    "label": str,
    "lhs": str,
    "rhs": str,
    "excess": str,
    "bits": int,
}


class CertificateError(InputError):
    """A certificate that is missing, malformed, tampered with, or proves nothing."""


@dataclass(frozen=True, eq=False)
class Replayed:
    """What a certificate says of the claim as it stands.

    Attributes:
        changed: whether the claim has another text now than when the certificate was written.
        judgement: that of the smallest instance on the claim as it stands. It is `refuted` unless
            the claim has changed.
        instance: the smallest instance, as a person reads it.
    """

    claim: Claim
    record: Record
    judgement: Judgement
    changed: bool
    instance: str
    data: Mapping[str, Any]

    @property
    def refuted(self) -> bool:
        """Whether the instance refutes the claim as it stands."""
        return self.judgement.finding == "refuted"


def stored_path(claim: Claim) -> Path:
    """Where the certificate of a refuted claim is kept: beside its file, under version control."""
    return claim.file.parent / "certificates" / f"{claim.id}.json"


def write(folder: Path, claim: Claim, violation: Violation, worst: Violation | None = None) -> Path:
    """Write the certificate of a proved violation to `folder/ID.json`.

    Args:
        worst: the same in its worst form, where that is another instance.

    Raises:
        ValueError: if a violation is not proved.
        OSError: if it cannot be written.
    """
    own = claim.file.resolve().is_relative_to(project_folder())
    # What is kept under version control, beside its claim, is free of the paths of a machine.
    kept = own or folder.resolve() == stored_path(claim).parent.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    data = {
        "schema": SCHEMA,
        "claim": claim.id,
        # From the certificate's folder, so that both can move; and for a certificate that moves
        # alone. rankcheck's own claims are found by their id.
        "file": Path(os.path.relpath(claim.file.resolve(), folder.resolve())).as_posix(),
        "path": "" if kept else str(claim.file.resolve()),
        "statement": claim.statement,
        "statement_sha256": claim.statement_hash,
        "smallest": _section(claim, violation),
        "worst": None if worst is None else _section(claim, worst),
        "versions": versions(),
    }
    path = folder / f"{claim.id}.json"
    write_json(path, {**data, "sha256": digest(data)})
    return path


def _section(claim: Claim, violation: Violation) -> dict[str, Any]:
    judgement = violation.judgement
    if judgement.finding != "refuted" or judgement.lhs is None or judgement.rhs is None:
        raise ValueError(f"a certificate attests a proved violation; received {judgement.finding}")
    source = ReplaySource(violation.record, BallArray.exact)
    with balls.precision(judgement.bits):
        instance = violation.family(source)
    # The ranges are those of the generator, whatever the record says of them.
    pairs = zip(violation.record.choices, source.record.choices, strict=True)
    record = Record(tuple(_ranged(recorded, asked) for recorded, asked in pairs))
    return {
        "family": violation.family.name,
        "instance": describe_instance(claim, instance),
        "record": record.to_json(),
        "relation": judgement.relation,
        "kind": judgement.kind,
        "label": judgement.label,
        "lhs": ball_text(judgement.lhs, judgement.bits),
        "rhs": ball_text(judgement.rhs, judgement.bits),
        "excess": rounded_down(judgement.excess),
        "bits": judgement.bits,
    }


def _ranged(recorded: Integer | Entries, asked: Integer | Entries) -> Integer | Entries:
    if isinstance(recorded, Integer):
        return Integer(recorded.value, int(asked.low), int(asked.high))
    return Entries(recorded.values, recorded.shape, asked.low, asked.high)


def read(path: Path) -> Mapping[str, Any]:
    """The fields of a certificate, of the right types and as they were written.

    Raises:
        CertificateError: with the rule that the file breaks.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise CertificateError(f"a certificate has at most {LARGEST} bytes; {path} has more")
        data = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_once)
    except OSError as error:
        raise CertificateError(f"no certificate can be read at {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise CertificateError(f"a certificate is a JSON file; {path} is not: {error}") from error
    _check_fields(path, data, _HEAD, "a certificate")
    if data["schema"] != SCHEMA:
        raise CertificateError(
            f"this version reads certificates of schema {SCHEMA}; {path} has {data['schema']}"
        )
    if digest({name: value for name, value in data.items() if name != "sha256"}) != data["sha256"]:
        raise CertificateError(
            f"{path} has been changed since it was written: its checksum differs"
        )
    for part in ("smallest", "worst"):
        if data[part] is None:
            continue
        _check_fields(path, data[part], _INSTANCE, f"the {part} instance of a certificate")
        if data[part]["bits"] not in PRECISIONS:
            raise CertificateError(
                f"a certificate is decided with {', '.join(map(str, PRECISIONS))} bits; "
                f"{path} has {data[part]['bits']}"
            )
    return data


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a field occurs twice")
    return dict(pairs)


def _check_fields(path: Path, data: Any, rule: Mapping[str, Any], what: str) -> None:
    if not isinstance(data, dict) or set(data) != set(rule):
        received = ", ".join(sorted(data)) if isinstance(data, dict) else type(data).__name__
        raise CertificateError(
            f"{what} has the fields {', '.join(sorted(rule))}; {path} has {received:.400}"
        )
    for name, kind in rule.items():
        if not isinstance(data[name], kind) or isinstance(data[name], bool):
            rule_ = getattr(kind, "__name__", str(kind))
            raise CertificateError(
                f"the field {name!r} of {what} is {rule_}; {path} has {type(data[name]).__name__}"
            )


def replay(path: Path, *, claim: Claim | None = None) -> Replayed:
    """Prove the counterexample of a certificate again, from its numbers alone.

    Where the claim has not changed since, both instances of the certificate have to prove exactly
    what the file says. Where it has, `changed` is true and `judgement` tells what the smallest
    instance is to the claim as it stands.

    Args:
        claim: that of the certificate; without it, `find` looks for it.

    Raises:
        CertificateError: if the file is not a certificate of this claim, or does not prove what it
            says.
    """
    data = read(path)
    if claim is None:
        [claim] = load([find(path, data)])
    if data["claim"] != claim.id:
        raise CertificateError(f"{path} is a certificate of {data['claim']}, not of {claim.id}")
    changed = data["statement_sha256"] != claim.statement_hash
    if not changed:
        if data["statement"] != claim.statement:
            raise CertificateError(f"{path} states something else than {claim.id}")
        if data["worst"] is not None:
            _proved(path, claim, data["worst"], data["versions"])
        record, judgement, text = _proved(path, claim, data["smallest"], data["versions"])
        return Replayed(claim, record, judgement, changed, text, data)
    smallest = data["smallest"]
    record = _record(path, smallest)
    try:
        judgement = _judged(path, claim, smallest, record, PRECISIONS)
    except CertificateError as error:
        judgement = Judgement("outside", 0, str(error))
    return Replayed(claim, record, judgement, changed, smallest["instance"], data)


def _proved(
    path: Path, claim: Claim, section: Mapping[str, Any], made_with: Mapping[str, Any]
) -> tuple[Record, Judgement, str]:
    """The violation of one section, proved and held against what the section says of it."""
    record = _record(path, section)
    judgement = _judged(path, claim, section, record, PRECISIONS)
    if judgement.finding != "refuted":
        raise CertificateError(
            f"{path} does not refute {claim.id}: {judgement.finding} {judgement.reason}".rstrip()
        )
    found = _section(claim, Violation(record, _family(path, claim, section), judgement))
    same_engine = all(made_with.get(name) == versions()[name] for name in ENGINE)
    for name, value in found.items():
        if section[name] != value and (same_engine or not _agree(name, section[name], value)):
            raise CertificateError(
                f"{path} says {name} {_short(section[name])}, but its numbers give "
                f"{_short(value)}: the file, or what {claim.id} is made of, is not what it was"
            )
    return record, judgement, found["instance"]


#: With other versions of these, balls may be rounded and instances be written differently.
ENGINE = ("rankcheck", "python-flint")


def _agree(name: str, said: Any, found: Any) -> bool:
    """Whether two versions may differ so: balls that overlap, another text of the same record."""
    if name in ("lhs", "rhs"):
        return overlap(said, found)
    return name in ("instance", "excess", "bits")


def _record(path: Path, section: Mapping[str, Any]) -> Record:
    try:
        return Record.from_json(section["record"])
    except ValueError as error:
        raise CertificateError(f"{path} is malformed: {error}") from error


def _family(path: Path, claim: Claim, section: Mapping[str, Any]) -> Instances:
    families = {
        family.name: family for family in (claim.tight, claim.instances) if family is not None
    }
    if section["family"] not in families:
        raise CertificateError(
            f"{path} has an instance of {section['family']}; {claim.id} has {', '.join(families)}"
        )
    return families[section["family"]]


def _judged(
    path: Path,
    claim: Claim,
    section: Mapping[str, Any],
    record: Record,
    precisions: tuple[int, ...],
) -> Judgement:
    family = _family(path, claim, section)
    try:
        return judge(claim, record, family=family, precisions=precisions)
    except ReplayError as error:
        raise CertificateError(
            f"{path} does not fit the generator of {claim.id}: {error}"
        ) from error


def find(path: Path, data: Mapping[str, Any], candidates: Iterable[Entry] | None = None) -> Entry:
    """The claim of a certificate: one of rankcheck's own, or in the file that it names.

    That file is looked for where the certificate says, and by its name in the certificate's folder,
    in those above it, and in the working directory. It is imported only if its text declares a
    claim of that id.

    Args:
        candidates: where to look instead.

    Raises:
        CertificateError: if it is not there.
        CatalogueError: if a file cannot be read.
    """
    for entry in _candidates(path, data) if candidates is None else candidates:
        if entry.id == data["claim"]:
            return entry
    raise CertificateError(
        f"{path} refutes {data['claim']} of {Path(data['file']).name}, which is not near it; "
        "say where it is: rankcheck replay --claims FILE CERTIFICATE"
    )


def _candidates(path: Path, data: Mapping[str, Any]) -> Iterator[Entry]:
    yield from project()
    folder = path.resolve().parent
    name = Path(data["file"]).name
    places = [folder / data["file"], Path(data["path"])]
    places += [near / name for near in (folder, *list(folder.parents)[:ABOVE], Path.cwd())]
    for place in dict.fromkeys(places):
        if place.suffix == ".py" and place.is_file():
            yield from read_file(place)


def overlap(said: str, found: str) -> bool:
    """Whether two texts of balls, or of rationals, can mean the same number.

    A ball that is far wider than the one found says nothing, and does not count.
    """
    if not (_BALL.fullmatch(said) and _BALL.fullmatch(found)):
        return said == found
    first, second = arb(said), arb(found)
    return bool(first.overlaps(second) and first.rad() <= second.rad() * 2**64)


#: `[1.25 +/- 3.1e-38]`; a rational is never anything but itself.
_BALL = re.compile(r"\[-?\d+(\.\d+)?(e[-+]?\d{1,6})? \+/- \d+(\.\d+)?(e[-+]?\d{1,6})?\]")


def rounded_down(value: Fraction) -> str:
    """A decimal number of 17 digits that is at most `value`."""
    context = Context(prec=17, rounding=ROUND_FLOOR)
    below = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return str(below.normalize(context))


def digest(data: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON of the fields."""
    text = json.dumps(data, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 120 else f"{text[:120]} …"
