"""The file of proofs of a claim: those that say most in full, and how many others there are.

It is `proofs/ID.json` beside the file of the claim; what a run proves lies below `.rankcheck`,
until somebody keeps it. Nothing is imported here that computes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from rankcheck.claims.catalogue.kept import Form, Named
from rankcheck.claims.facts import check_id
from rankcheck.claims.proved import METHODS, Proved
from rankcheck.decide.prove.proof import Proof
from rankcheck.decide.prove.result import Outcome, Result, weight
from rankcheck.decide.prove.sentences import controls, open_mutants, sentence, shape_alone
from rankcheck.decide.prove.target import Target
from rankcheck.errors import InputError
from rankcheck.files import LEFT
from rankcheck.stored import StoredError, build, shown
from rankcheck.versions import versions

SCHEMA = 1
#: Of a claim so many proofs are kept in full, at most, and so many bytes of them.
MOST, BYTES = 2, 16_000
#: What a run leaves below `.rankcheck` may be larger.
LEFT_MOST, LEFT_BYTES = 1_000, 4_000_000
#: Fields that say what an object is.
_KINDS = ("node", "by")


class ProofError(InputError):
    """A file of proofs is missing, malformed or changed, or does not prove what it says."""


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A proof in full.

    Attributes:
        text: its shape in words.
        entries: how many entries an instance has there.
        whole: of a range, whether it has all instances.
        checked: the seconds that the second checker took.
    """

    proof: Proof
    text: str
    entries: int
    whole: bool = False
    checked: float = 0.0

    @property
    def sentence(self) -> str:
        """What is proved there, and how much the mutants say of that."""
        said = sentence(self.proof, shape_alone(self.text), whole=self.whole)
        return f"{said}. {controls(self.proof)}"


@dataclass(frozen=True, kw_only=True)
class Largest:
    """The largest shape at which a claim was proved, in words, and its number of entries."""

    text: str
    entries: int


@dataclass(frozen=True, kw_only=True)
class Proofs:
    """The fields of the file.

    Attributes:
        file, path: where the claim is declared; see `Form.whereabouts` of the catalogue.
        statement_sha256: the text of the claim that was proved.
        shapes: by method, at how many shapes it was proved.
        proofs: those that say most, in this order.
    """

    schema: int
    claim: str
    file: str
    path: str
    statement_sha256: str
    shapes: Mapping[str, int]
    largest: Largest
    proofs: tuple[Kept, ...]
    versions: Mapping[str, str] = field(default_factory=dict)
    sha256: str = ""

    def __post_init__(self) -> None:
        check_id(self.claim)
        if not self.proofs:
            raise ValueError("it has no proof; a file of proofs has at least one")
        if unknown := self.shapes.keys() - METHODS.keys():
            raise ValueError(f"{shown(min(unknown))} is no way to prove")
        if sum(self.shapes.values()) < len(self.proofs) or min(self.shapes.values()) < 1:
            raise ValueError("it has more proofs than shapes")

    @classmethod
    def read(cls, path: Path) -> Proofs:
        """The proofs in a file, checked for their types and against the checksum.

        Raises:
            ProofError: if it is no such file of this schema, or has been changed.
        """
        proofs: Proofs = FORM.build(path)
        return proofs

    @classmethod
    def of(cls, claim: Named) -> Proofs | None:
        """The proofs that are kept beside a claim; None if there are none.

        Raises:
            ProofError: if the file is of another claim, or cannot be read.
        """
        path = FORM.path(claim)
        return cls.read(path).belonging(claim, path) if path.exists() else None

    @classmethod
    def summary(cls, claim: Named) -> Proved | None:
        """The `facts` of the proofs that are kept beside a claim, without their trees.

        That is quick; a checksum is not compared, and nothing is known of what is stale.

        Raises:
            ProofError: if the file is no such file of this schema.
        """
        path = FORM.path(claim)
        if not path.exists():
            return None
        data = FORM.load(path)
        try:
            for one in data["proofs"]:
                for name in ("faces", "lemmas"):
                    one["proof"].pop(name, None)
            return build(cls, data).belonging(claim, path).facts()
        except (StoredError, TypeError, KeyError, AttributeError) as error:
            raise ProofError(f"{path} is not a {FORM.what}: {error}") from error

    def belonging(self, claim: Named, path: Path) -> Proofs:
        """The proofs themselves, if they are those of a claim.

        Raises:
            ProofError: if they are not.
        """
        if self.claim != claim.id:
            raise ProofError(f"{path} has the proofs of {self.claim}, not of {claim.id}")
        return self

    def facts(self, *, stale: bool = False) -> Proved:
        """What ledgers and pages say of them."""
        best = self.proofs[0]
        return Proved(
            method=best.proof.method,
            shapes=dict(self.shapes),
            at=shape_alone(best.text),
            entries=best.entries,
            paths=best.proof.paths,
            largest=shape_alone(self.largest.text),
            open=open_mutants(best.proof),
            mutants=len(best.proof.controls),
            sentence=best.sentence,
            stale=stale,
        )


FORM = Form("file of proofs", "proofs", SCHEMA, Proofs, "rankcheck prove", ProofError, dense=True)


def leave(claim: Named, result: Result) -> Path | None:
    """Leave the proofs of a run below `.rankcheck`; the path, or None without a proof.

    Raises:
        OSError: if the file cannot be written.
    """
    if not result.proved:
        return None
    path = LEFT / FORM.folder / f"{claim.id}.json"
    if path.resolve() == FORM.path(claim).resolve():
        return None  # what a person keeps is not for a run to change
    return _written(_proofs(claim, result, LEFT_MOST, LEFT_BYTES, path.parent), path)


def keep(claim: Named, result: Result) -> Path | None:
    """Keep the proofs of a run beside the claim, where `verify` reads them; None without one.

    None is of a part of some sizes. Those of the same text stay among the candidates.

    Raises:
        OSError: if the file cannot be written.
    """
    path = FORM.path(claim)
    whole = tuple(one for one in result.proved if not one.target.twin)
    if not whole:
        return None
    new = _proofs(claim, replace(result, outcomes=whole), MOST, BYTES, path.parent)
    try:
        before = Proofs.of(claim)
    except ProofError:  # it is written anew
        before = None
    if before is not None and before.statement_sha256 == new.statement_sha256:
        new = _joined(before, new)
    return _written(new, path)


def _joined(before: Proofs, new: Proofs) -> Proofs:
    """New proofs and those before. Of the shapes without a full proof none counts twice."""
    known = {one.proof.integers for one in new.proofs}
    others = [one for one in before.proofs if one.proof.integers not in known]
    union = [*new.proofs, *others]
    full: Mapping[str, int] = Counter(one.proof.method for one in union)
    most = max([before.shapes, new.shapes, full], key=_total)
    return replace(
        new,
        proofs=_chosen(union, MOST, BYTES),
        shapes=dict(most),
        largest=max(before.largest, new.largest, key=lambda one: one.entries),
    )


def _total(shapes: Mapping[str, int]) -> int:
    return sum(shapes.values())


def _proofs(claim: Named, result: Result, most: int, size: int, folder: Path) -> Proofs:
    """The proofs of a result."""
    found = result.proved
    largest = max(found, key=lambda one: one.target.entries)
    kept = [
        Kept(
            proof=one.proof,
            text=one.text,
            entries=one.target.entries,
            whole=one.whole,
            checked=round(one.checked, 4),
        )
        for one in found
        if one.proof is not None
    ]
    file, path = FORM.whereabouts(folder, claim)
    return Proofs(
        schema=SCHEMA,
        claim=claim.id,
        file=file,
        path=path,
        statement_sha256=result.plan.statement_sha256,
        shapes=dict(Counter(proof.method for proof in result.proofs)),
        largest=Largest(text=largest.text, entries=largest.target.entries),
        proofs=_chosen(kept, most, size),
    )


def _chosen(kept: Sequence[Kept], most: int, size: int) -> tuple[Kept, ...]:
    """The proofs that say most and fit; the smallest of them at least."""
    chosen: list[Kept] = []
    for one in sorted(kept, key=_weight, reverse=True):
        if len(chosen) < most and _bytes([*chosen, one]) <= size:
            chosen.append(one)
    return tuple(chosen) or (min(kept, key=lambda one: _bytes([one])),)


def _weight(one: Kept) -> tuple[Any, ...]:
    target = Target(integers=one.proof.integers, entries=one.entries)
    return weight(Outcome(target=target, proof=one.proof))


def _bytes(kept: Iterable[Kept]) -> int:
    return len(json.dumps(_plain(list(kept)), ensure_ascii=False))


def _plain(value: Any) -> Any:
    """Dataclasses as JSON, without the fields that have their defaults."""
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if not is_dataclass(value):
        return value
    return {
        item.name: _plain(getattr(value, item.name))
        for item in fields(value)
        if item.name in _KINDS or getattr(value, item.name) != item.default
    }


def _written(proofs: Proofs, path: Path) -> Path:
    data = _plain(replace(proofs, versions=versions(), sha256=""))
    FORM.write(path, data)
    return path
