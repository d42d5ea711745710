"""Records are renewed by instances with a larger certified ratio, and proved again.

Whoever finds an instance, a search or a person, hands it in as a `Candidate`. Balls judge it
(`attained`), and a record is replaced by a larger ratio only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from rankcheck.claims.claim import Claim
from rankcheck.claims.signs import SIGNS
from rankcheck.engine.counterexamples.describe import describe_exact
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.records.file import (
    FORM,
    Group,
    Held,
    Records,
    RelationRecord,
    ordered,
)
from rankcheck.engine.records.given import instance_of
from rankcheck.engine.records.ratio import Attained, attained
from rankcheck.theory.instances.choices import write_choices
from rankcheck.versions import versions


@dataclass(frozen=True, eq=False)
class Candidate:
    """An instance that may hold a record.

    Attributes:
        key: the sizes of the group that it belongs to, or None.
        proved: what `attained` gives of it, if that is known.
    """

    instance: Instance
    key: tuple[int, ...] | None = None
    proved: tuple[Attained, ...] | None = None


@dataclass(frozen=True)
class Better:
    """A record that was renewed.

    Attributes:
        name: of the relation.
        key: of the group; None for the best instance of all.
        old: the ratio of the record before, None without one.
        new: what holds it now.
    """

    name: str
    key: tuple[int, ...] | None
    old: str | None
    new: Held


@dataclass(frozen=True)
class Renewed:
    """The records after some candidates, and what got better."""

    records: Records
    better: tuple[Better, ...]


def renewed(
    claim: Claim,
    records: Records,
    candidates: Iterable[Candidate],
    by: Sequence[str] = (),
) -> Renewed:
    """Renew records by candidates; those that refute a bound, or prove no ratio, are passed over.

    Args:
        by: the names of the sizes that the keys of the candidates have. Groups by other sizes make
            way for the new ones; the best instance of all stays.

    Raises:
        NotCertifiedError: if a candidate breaks a hypothesis, or has no sides in balls.
    """
    names = tuple(by)
    kept = {each.name: each for each in records.relations}
    found: dict[tuple[str, tuple[int, ...] | None], Better] = {}
    for candidate in candidates:
        proved = attained(candidate.instance) if candidate.proved is None else candidate.proved
        for one in proved:
            if not SIGNS[one.kind].bound or one.refutes:
                continue
            before, held_now = kept.get(one.name), None
            keys = [None] if candidate.key is None or not names else [None, candidate.key]
            for key in keys:
                old = _best(before, key, names)
                if old is not None and Decimal(one.written) <= old.value:
                    continue
                held_now = held_now or held(candidate.instance, one)
                kept[one.name] = before = _with(before, one, key, held_now, names)
                first = found.get((one.name, key))
                was = first.old if first else None if old is None else old.ratio
                found[one.name, key] = Better(one.name, key, was, held_now)
    relations = tuple(replace(each, groups=ordered(each.groups)) for each in kept.values())
    return Renewed(replace(records, relations=relations), tuple(found.values()))


def _best(record: RelationRecord | None, key: tuple[int, ...] | None, names: Any) -> Held | None:
    """The best instance of a record, in all or of a group."""
    if record is None or key is None:
        return None if record is None else record.best
    groups = record.groups if record.by == names else ()
    return next((group.best for group in groups if group.key == key), None)


def _with(
    record: RelationRecord | None,
    proved: Attained,
    key: tuple[int, ...] | None,
    best: Held,
    names: tuple[str, ...],
) -> RelationRecord:
    """A record with another best instance, in all or of a group."""
    if record is None:
        record = RelationRecord(
            name=proved.name, label=proved.label, kind=proved.kind, best=best, by=names
        )
    if key is None:
        return replace(record, best=best)
    others = [g for g in record.groups if g.key != key] if record.by == names else []
    return replace(record, by=names, groups=(*others, Group(key=key, best=best)))


def held(instance: Instance, proved: Attained) -> Held:
    """What a record says of an instance."""
    return Held(
        ratio=proved.written,
        family=instance.family.name,
        choices=write_choices(instance.record),
        description=describe_exact(instance),
        lhs=proved.sides[0],
        rhs=proved.sides[1],
        bits=proved.bits,
    )


def candidates(claim: Claim, records: Records, by: Sequence[str] = ()) -> list[Candidate]:
    """The instances of records, with the keys of their groups where these are by the same sizes.

    Raises:
        RecordError: if one does not fit the generators of the claim.
    """
    found = []
    for relation in records.relations:
        found.append(Candidate(instance_of(claim, relation.best)))
        for group in relation.groups:
            key = group.key if relation.by == tuple(by) else None
            found.append(Candidate(instance_of(claim, group.best), key))
    return found


def keep(claim: Claim, records: Records, path: Path | None = None) -> Path:
    """Write the records of a claim, by default beside it; the path.

    Raises:
        OSError: if the file cannot be written.
    """
    path = path or FORM.path(claim)
    file, absolute = FORM.whereabouts(path.parent, claim)
    now = replace(
        records,
        file=file,
        path=absolute,
        statement_sha256=claim.statement_hash,
        versions=versions(),
    )
    data = asdict(now)
    del data["sha256"]
    FORM.write(path, data)
    return path
