"""Records are proved again: each instance is judged anew, and nothing in the file is trusted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from rankcheck.claims.claim import Claim
from rankcheck.engine.counterexamples.describe import selector
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.counterexamples.replay import ENGINE, nearly
from rankcheck.engine.records.file import Held, RecordError, Records, RelationRecord
from rankcheck.engine.records.given import instance_of
from rankcheck.engine.records.ratio import Attained, NotCertifiedError, attained
from rankcheck.engine.records.renewal import Candidate, held, renewed
from rankcheck.files import shown_path
from rankcheck.stored import shown
from rankcheck.versions import versions


def prove_again(path: Path | str, claim: Claim) -> Iterator[tuple[RelationRecord, Attained]]:
    """Prove every instance of a file of records; by relation, what the best one attains.

    Raises:
        RecordError: if the file is not one of this claim, or an instance does not prove what it
            says.
        MemoryError: if memory was short; that says nothing about the file.
    """
    path = Path(path)
    records = Records.read(path).belonging(claim, path)
    for relation in records.relations:
        best: Attained | None = None
        for one in relation.held:
            try:
                instance = instance_of(claim, one)
                proved = check(one, instance, _of(relation, attained(instance)), records.versions)
            except (RecordError, NotCertifiedError) as error:
                raise RecordError(stale(claim, path, relation.name, str(error))) from error
            best = best or proved
        assert best is not None
        yield relation, best


def _of(relation: RelationRecord, proved: tuple[Attained, ...]) -> Attained | None:
    """What was proved of the relation of a record."""
    return next((each for each in proved if each.name == relation.name), None)


def check(
    stated: Held, instance: Instance, now: Attained | None, made_with: Mapping[str, str]
) -> Attained:
    """Compare what a record says of an instance with what balls prove of it now, which is returned.

    Args:
        made_with: the versions that wrote the record.

    Raises:
        RecordError: if they differ: other versions of the engine may round differently.
    """
    if now is None:
        raise RecordError("its instance proves no ratio of such a bound any more")
    if now.refutes:
        raise RecordError(
            f"its instance has lhs / rhs {now.text()}, which refutes the bound; `rankcheck "
            "certify` keeps a counterexample"
        )
    if not nearly(stated.ratio, now.written):
        raise RecordError(
            f"it says that lhs / rhs is {stated.short}, and its instance gives {now.text()}"
        )
    if all(made_with.get(name) == versions()[name] for name in ENGINE):
        fields = asdict(held(instance, now))
        for name, before in asdict(stated).items():
            if before != fields[name]:
                raise RecordError(
                    f"it says {name} {shown(before)}, and its instance gives {shown(fields[name])}"
                )
    return now


def stale(claim: Claim, path: Path, name: str, why: str) -> str:
    """That a record does not stand, and the command that renews it."""
    return (
        f"the record of {name} ({shown_path(path)}) does not stand: {why}; `rankcheck record "
        f"{selector(claim) or 'CLAIM'} --again` keeps what its instances prove now"
    )


@dataclass(frozen=True)
class Dropped:
    """An instance that holds a record no more: of which relation, and why."""

    name: str
    ratio: str
    why: str


def judged_again(claim: Claim, records: Records) -> tuple[Records, list[Dropped]]:
    """The records with what their instances prove of the claim as it now stands.

    An instance that proves nothing any more is dropped.

    Raises:
        RecordError: if an instance refutes the claim.
    """
    now, dropped = Records.none(claim), []
    for relation in records.relations:
        keys = [None, *(group.key for group in relation.groups)]
        for one, key in zip(relation.held, keys, strict=True):
            try:
                instance = instance_of(claim, one)
                proved = attained(instance)
            except (RecordError, NotCertifiedError) as error:
                dropped.append(Dropped(relation.name, one.short, str(error)))
                continue
            candidates = [Candidate(instance, None, proved)]
            found = _of(relation, proved)
            if found is None:
                why = "it proves no ratio of such a bound any more"
                dropped.append(Dropped(relation.name, one.short, why))
            elif found.refutes:
                raise RecordError(
                    f"{relation.name} has lhs / rhs {found.text()} on {one.description}, which "
                    f"refutes {claim.id}; `rankcheck certify` keeps a counterexample"
                )
            elif key is not None:
                candidates.append(Candidate(instance, key, (found,)))
            now = renewed(claim, now, candidates, relation.by).records
    return now, dropped
