"""What a sharpening begins with, and what it leaves: files of records."""

from __future__ import annotations

from pathlib import Path

from rankcheck.claims.claim import Claim
from rankcheck.engine.hunt.arena import Family, Shape
from rankcheck.engine.records.file import RecordError, Records
from rankcheck.engine.records.renewal import Candidate, candidates, keep, renewed
from rankcheck.files import shown_path
from rankcheck.sharpen.result import Sharpened
from rankcheck.sharpen.search import Search
from rankcheck.theory.instances.record import Record


def known(claim: Claim, left: Path) -> tuple[tuple[tuple[Shape, Record], ...], dict[str, str]]:
    """The instances on record, with their shapes; and by relation the ratio on record.

    Args:
        left: the file of what earlier runs have left.

    Raises:
        RecordError: if a file of records cannot be read.
    """
    beside = Records.of(claim)
    files = [beside]
    if left.exists():
        files.append(Records.of(claim, left))
    begin: list[tuple[Shape, Record]] = []
    for records in files:
        try:
            given = [one.instance for one in candidates(claim, records)]
        except RecordError:  # of an older text of the claim: what fits no more is no start
            continue
        for one in given:
            family: Family = "instances" if one.family is claim.instances else "tight"
            begin.append((Shape(family, one.record.integers), one.record))
    return tuple(begin), {one.name: one.best.ratio for one in beside.relations}


def leave(search: Search, path: Path) -> str | None:
    """Leave the instances in a file; None if there are none, or it cannot be written.

    Those of a relation that is proved to fail are left out: it has a certificate.
    """
    claim = search.claim
    false = {name for name, one in search.best.items() if one.attained.refutes}
    found = [
        Candidate(one.instance(claim), one.key, (one.attained,))
        for one in search.groups.values()
        if one.name not in false
    ]
    before = Records.none(claim)
    if path.exists():
        try:
            before = Records.of(claim, path)
        except RecordError:  # it is written anew
            before = Records.none(claim)
    new = renewed(claim, before, found, search.by)
    if not new.better and (not found or not path.exists()):
        return None
    try:
        return str(keep(claim, new.records, path))
    except OSError as error:
        search.troubles[f"{path} cannot be written ({error.strerror})"] += 1
        return None


def record(result: Sharpened) -> list[str]:
    """Keep the instances of a sharpening that beat the records beside the claim, and say which.

    A relation that is proved to fail has a certificate in place of records.

    Raises:
        RecordError: if the records beside the claim cannot be read.
        OSError: if they cannot be written.
    """
    claim = result.claim
    found = [
        Candidate(one.instance, one.key, (one.attained,))
        for relation in result.relations
        if not relation.refuted
        for one in (relation.best, *relation.groups)
        if one is not None
    ]
    new = renewed(claim, Records.of(claim), found, result.by)
    if not new.better:
        return ["no instance beats a record"]
    path = keep(claim, new.records)
    lines = [
        f"{one.name}: the record is {one.new.ratio}" + (f", was {one.old}" if one.old else "")
        for one in new.better
        if one.key is None
    ]
    return [*lines, f"kept in {shown_path(path)}"]
