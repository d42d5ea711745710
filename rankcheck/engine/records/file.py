"""The file of records of a claim: of each bound, the largest certified ratio and its instance.

It is `records/ID.json` beside the file of the claim; what a run finds lies below `.rankcheck`,
until somebody keeps it. A bound has one best instance in all, and one of each group of shapes,
where those who searched have grouped them (by depth, say). An identity has none: a deviation that
is proved refutes it. Nothing is imported here that computes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, Context, Decimal
from pathlib import Path
from typing import Any

from rankcheck.claims.catalogue.kept import Form, Named
from rankcheck.claims.facts import check_id
from rankcheck.claims.labels import relation_name
from rankcheck.claims.signs import SIGNS, RelationKind
from rankcheck.errors import InputError
from rankcheck.files import LEFT
from rankcheck.stored import shown

SCHEMA = 1
#: A record has the best instances of at most so many groups, those with the smallest sizes.
GROUPS = 16
#: As `rounded_down` writes a ratio.
_DECIMAL = re.compile(r"-?\d{1,40}(\.\d{1,40})?(E[-+]?\d{1,6})?")


class RecordError(InputError):
    """A file of records is missing, malformed or changed, or does not prove what it says."""


@dataclass(frozen=True, kw_only=True)
class Held:
    """An instance that holds a record.

    Attributes:
        ratio: what balls prove of lhs / rhs there: a decimal number that is not larger.
        family: its generator.
        choices: what that draws; see `rankcheck.theory.instances.choices`.
        description: the instance, as the body receives it.
        lhs, rhs: both sides, rounded.
        bits: the precision of the balls.
    """

    ratio: str
    family: str
    choices: list[Any]
    description: str
    lhs: str
    rhs: str
    bits: int

    def __post_init__(self) -> None:
        check_ratio(self.ratio)
        if self.value > 1:
            raise ValueError(
                f"its ratio is {shown(self.ratio)}; one above 1 refutes a bound, and is kept in a "
                "certificate"
            )

    @property
    def value(self) -> Decimal:
        """The ratio, to be compared."""
        return Decimal(self.ratio)

    @property
    def short(self) -> str:
        """The ratio as people read it."""
        return short(self.ratio)

    @property
    def sharp(self) -> bool:
        """Whether the bound is attained there, as far as a tight family has to attain it."""
        from rankcheck.claims.tolerances import TIGHT  # torch

        return self.value >= 1 - Decimal(TIGHT)


@dataclass(frozen=True, kw_only=True)
class Group:
    """The best instance of the shapes with the same sizes."""

    key: tuple[int, ...]
    best: Held


@dataclass(frozen=True, kw_only=True)
class RelationRecord:
    """The record of one bound.

    Attributes:
        name: what the relation is called; its place and its label say the same.
        by: the names of the sizes that group shapes.
        groups: sorted by size; a key has a number for each name.
    """

    name: str
    label: str
    kind: RelationKind
    best: Held
    by: tuple[str, ...] = ()
    groups: tuple[Group, ...] = ()

    def __post_init__(self) -> None:
        if not SIGNS[self.kind].bound:
            raise ValueError(f"{shown(self.name)} is of kind {self.kind}; bounds have records")
        if any(len(group.key) != len(self.by) for group in self.groups):
            raise ValueError(f"the groups of {shown(self.name)} are not by {', '.join(self.by)}")

    @property
    def held(self) -> tuple[Held, ...]:
        """All instances, the best one first."""
        return (self.best, *(group.best for group in self.groups))


@dataclass(frozen=True, kw_only=True)
class Records:
    """The fields of the file.

    Attributes:
        file, path: where the claim is declared; see `Form.whereabouts` of the catalogue.
        statement_sha256: the text of the claim for which it was written, for information: whatever
            the claim says now, its records are proved again.
    """

    schema: int
    claim: str
    file: str
    path: str
    statement_sha256: str
    relations: tuple[RelationRecord, ...]
    versions: Mapping[str, str]
    sha256: str

    def __post_init__(self) -> None:
        check_id(self.claim)
        names = [relation.name for relation in self.relations]
        if len(set(names)) < len(names):
            raise ValueError("a relation has two records; it has one")

    @classmethod
    def none(cls, claim: Named) -> Records:
        """The records of a claim that has none; `keep` fills in what stands beside them."""
        return cls(
            schema=SCHEMA,
            claim=claim.id,
            file="",
            path="",
            statement_sha256="",
            relations=(),
            versions={},
            sha256="",
        )

    @classmethod
    def read(cls, path: Path) -> Records:
        """The records in a file, checked for their types and against the checksum.

        Raises:
            RecordError: if it is no such file of this schema, or has been changed.
        """
        records: Records = FORM.build(path)
        return records

    @classmethod
    def of(cls, claim: Named, path: Path | None = None) -> Records:
        """The records of a claim: those in a file, by default those beside the claim, or none.

        Raises:
            RecordError: if the file is of another claim, or cannot be read.
        """
        path = path or FORM.path(claim)
        return cls.read(path).belonging(claim, path) if path.exists() else cls.none(claim)

    def belonging(self, claim: Named, path: Path) -> Records:
        """The records themselves, if they are those of a claim.

        Raises:
            RecordError: if they are not.
        """
        if self.claim != claim.id:
            raise RecordError(f"{path} has the records of {self.claim}, not of {claim.id}")
        return self

    def relation(self, name: str) -> RelationRecord | None:
        """The record of the relation of that name (`relation_name`), or None."""
        return next((each for each in self.relations if each.name == name), None)

    def best(self, name: str) -> Held | None:
        """The best instance of the relation of that name, or None."""
        relation = self.relation(name)
        return None if relation is None else relation.best

    @property
    def shown(self) -> dict[str, str]:
        """The best ratio of each bound by its name, as people read it."""
        return {relation.name: relation.best.short for relation in self.relations}

    def of_relation(self, label: str, number: int) -> Held | None:
        """The best instance of a relation, by its label or its place."""
        return self.best(relation_name(label, number))


FORM = Form("file of records", "records", SCHEMA, Records, "rankcheck sharpen", RecordError)


def left_path(claim: Named, folder: Path = LEFT) -> Path:
    """Where a run leaves the records that it finds, unless it is told to keep them."""
    return folder / FORM.folder / f"{claim.id}.json"


def check_ratio(text: str) -> None:
    """Check that a text from a file is a ratio.

    Raises:
        ValueError: if it is not.
    """
    if not _DECIMAL.fullmatch(text):
        raise ValueError(f"its ratio is {shown(text)}; that is a decimal number")


def short(ratio: str) -> str:
    """A ratio with five digits, and an ellipsis for those that are cut off.

    >>> [short(text) for text in ("0.60653065971263342", "0.5", "1E-9", "0.99999999999")]
    ['0.60653…', '0.5', '1E-9', '0.99999…']
    """
    value = Decimal(ratio)
    cut = Context(prec=5, rounding=ROUND_DOWN).plus(value)
    return f"{cut}…" if cut != value else str(cut)


def ordered(groups: Sequence[Group]) -> tuple[Group, ...]:
    """The groups that a record keeps, sorted by their sizes."""
    smallest = sorted(groups, key=lambda group: (sum(group.key), group.key))[:GROUPS]
    return tuple(sorted(smallest, key=lambda group: group.key))
