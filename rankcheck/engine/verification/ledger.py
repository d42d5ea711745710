"""The ledger: what was found about each claim, as rows and as JSON (docs/ledger.md)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from rankcheck import files
from rankcheck.claims.counterexample import Counterexample
from rankcheck.claims.facts import Facts
from rankcheck.claims.kinds import KINDS
from rankcheck.claims.labels import relation_name
from rankcheck.claims.proved import Proved
from rankcheck.claims.signs import RelationKind
from rankcheck.claims.verdicts import Verdict
from rankcheck.engine.records.file import check_ratio, short
from rankcheck.engine.verification.counts import Counts
from rankcheck.errors import InputError
from rankcheck.files import shown_path
from rankcheck.notebook import InNotebooks
from rankcheck.stored import StoredError, build, read_json, shown
from rankcheck.versions import versions

SCHEMA = 3
#: Written for readers of the file; a row computes them from its fields.
_DERIVED = ("expected", "best_ratio", "tight_ratio", "deviation")


@dataclass(frozen=True)
class Mutants:
    """How many statements made false on purpose were caught; `survivors` names the others."""

    killed: int = 0
    total: int = 0
    survivors: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scope:
    """What was enumerated of a claim: every instance with few entries.

    Attributes:
        entries: the largest number of entries of an instance.
        shapes: how many discrete shapes have at most so many entries.
        instances: how many instances these have, with entries from {-1, 0, 1}.
        complete: whether nothing with so many entries was left out.
        counts: the instances that were evaluated, up to the first violation.
        text: what was enumerated, for people.
    """

    entries: int = 0
    shapes: int = 0
    instances: int = 0
    complete: bool = False
    counts: Counts = field(default_factory=Counts)
    text: str = ""


@dataclass(frozen=True)
class RelationFacts:
    """What was seen of one relation of a claim.

    Attributes:
        label: which of several relations this is.
        kind: `leq`, `lt` or `eq`.
        asserted: the share of the instances of the sweep and the draws, those that break a
            hypothesis included, on which it was asserted.
        ratio: the largest lhs / rhs of a bound outside the tight family; None without one.
        tight_ratio: the largest lhs / rhs on the tight family; None without one.
        deviation: of an identity, the largest |lhs - rhs| in the sweep, relative to its sides where
            they exceed 1; None without one.
        sharpest: the instance on which a bound came closest to equality, as a text.
        hollow: sentences on a side that never varies, and on sides that are one computation.
        record: the largest lhs / rhs of a bound that is on record, a decimal number that is not
            larger; None without one.
        beaten: a sentence, if this run has found a clearly larger one.

    Raises:
        ValueError: if what is on record is no number.
    """

    label: str = ""
    kind: RelationKind = "leq"
    asserted: float = 0.0
    ratio: float | None = None
    tight_ratio: float | None = None
    deviation: float | None = None
    sharpest: str | None = None
    hollow: tuple[str, ...] = ()
    record: str | None = None
    beaten: str | None = None

    def __post_init__(self) -> None:
        if self.record is not None:
            check_ratio(self.record)


@dataclass(frozen=True, kw_only=True, repr=False)
class Row(InNotebooks, Facts):
    """What was found about one claim, beside what is declared of it.

    Attributes:
        drawn: instances that Hypothesis drew.
        swept: instances that were swept in batches.
        shapes: discrete shapes that these have.
        tight_swept: instances of the tight family that were swept.
        scope: what was enumerated, None if nothing was.
        tight: the tight family, None if the claim has none.
        relations: what was seen of each relation.
        reached: by name (the depth of a network, the rank of its Jacobian, ...), how many instances
            of the sweep had which value.
        proved: what the proofs prove that are kept beside the claim, None without any.
        needs: the hypotheses whose control broke the claim, as it must.
        broken_by: by control (a mutant, or a hypothesis that was dropped), the instance that broke
            the claim, as a text.
        unbroken: the hypotheses whose control did not.
        vacuous: the relations that were asserted on hardly any instance, by label or number.
        certificate: the file of the counterexample.
        counterexample: what that file proves.
        singly: on how many instances, and why, the claim ran one at a time, as a sentence; empty
            where all were mapped.
        arithmetic: where numbers are not what they stand for, as sentences: integers that wrap,
            floats that differ where balls decide.
        messages: for a person, why the verdict is not the expected one.
    """

    verdict: Verdict
    drawn: Counts = field(default_factory=Counts)
    swept: Counts = field(default_factory=Counts)
    shapes: int = 0
    tight_swept: Counts = field(default_factory=Counts)
    scope: Scope | None = None
    tight: str | None = None
    relations: tuple[RelationFacts, ...] = ()
    reached: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    proved: Proved | None = None
    needs: tuple[str, ...] = ()
    broken_by: Mapping[str, str] = field(default_factory=dict)
    unbroken: tuple[str, ...] = ()
    vacuous: tuple[str, ...] = ()
    mutants: Mutants = field(default_factory=Mutants)
    certificate: str | None = None
    counterexample: Counterexample | None = None
    seconds: float = 0.0
    file: str = ""
    singly: str = ""
    arithmetic: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()

    @classmethod
    def of(cls, claim: Any, verdict: Verdict, **values: Any) -> Row:
        """The row of a `Claim` or of an `Entry` of the catalogue; `values` are what was found."""
        return cls(verdict=verdict, file=shown_path(claim.file), **claim.declared, **values)

    @property
    def remarks(self) -> dict[str, str]:
        """The facts that have a label, by their labels, with what is on record."""
        names = enumerate(self.relations)
        records = {relation_name(each.label, n): each.record for n, each in names}
        return self.remarked({name: short(r) for name, r in records.items() if r is not None})

    @property
    def beaten(self) -> bool:
        """Whether the run has found a clearly larger ratio than one on record."""
        return any(each.beaten is not None for each in self.relations)

    @property
    def expected(self) -> bool:
        """Whether the verdict is the one that the kind of the claim expects."""
        return self.verdict == KINDS[self.kind].expects

    def _largest(self, *names: str) -> float | None:
        """The largest of some figures of all relations, None without one."""
        figures = [getattr(facts, name) for facts in self.relations for name in names]
        return max((figure for figure in figures if figure is not None), default=None)

    @property
    def best_ratio(self) -> float | None:
        """The largest lhs / rhs of a bound, that of the counterexample if there is one; or None."""
        if self.counterexample is not None:
            return self.counterexample.ratio
        return self._largest("ratio", "tight_ratio")

    @property
    def tight_ratio(self) -> float | None:
        """The largest lhs / rhs on the tight family, None without a bound."""
        return self._largest("tight_ratio")

    @property
    def deviation(self) -> float | None:
        """The largest deviation of an identity, None without an identity."""
        return self._largest("deviation")

    @property
    def best(self) -> str:
        """`best_ratio`, or the largest deviation of an identity, as a text."""
        if self.best_ratio is not None:
            return f"{self.best_ratio:{'.4f' if self.best_ratio < 1e4 else '.3g'}}"
        if self.deviation is None:
            return ""
        return "exact" if self.deviation == 0 else f"{self.deviation:.1e}"

    @property
    def asserted(self) -> float | None:
        """The smallest share of instances on which a relation was asserted; None without one."""
        return min((facts.asserted for facts in self.relations), default=None)

    def seldom_asserted(self, share: float) -> list[str]:
        """The relations that were asserted on less than a share of the instances, as sentences."""
        return [
            f"{relation_name(facts.label, number)} is asserted on {facts.asserted:.1%} of the "
            f"instances; it should be on at least {share:.0%}"
            for number, facts in enumerate(self.relations)
            if facts.asserted < share
        ]

    @property
    def weakness(self) -> str:
        """Why nothing says how strong the guard of a conjecture is; empty if something does.

        A guard of known strength has a tight family or a best ratio, and a control that was caught.
        """
        if self.verdict != "guarded":
            return ""
        if not (self.mutants.killed or self.needs):
            number = self.mutants.total + len(self.unbroken)
            return "none of its controls was caught" if number else "it has no control"
        measured = self.tight is not None or self.best_ratio is not None
        return "" if measured else "it has no ratio and no tight family"

    @property
    def counts(self) -> Counts:
        """All instances of the row: drawn, swept, and swept from the tight family."""
        return self.drawn + self.swept + self.tight_swept

    def to_json(self) -> dict[str, Any]:
        """The row as plain JSON."""
        derived = {name: getattr(self, name) for name in _DERIVED}
        row: dict[str, Any] = json.loads(json.dumps(asdict(self) | derived))
        return row

    @classmethod
    def from_json(cls, data: Any) -> Row:
        """Read what `to_json` wrote; fields that are not known here are ignored.

        Raises:
            StoredError: if a field is missing or of the wrong type, or the verdict is unknown.
        """
        for item in fields(cls):
            if isinstance(data, dict) and item.name not in data:
                raise StoredError(f"{item.name} is missing")
        row = build(cls, data, foreign=True)
        if any(count < 1 for counts in row.reached.values() for count in counts.values()):
            raise StoredError("reached has a value that no instance had")
        return row


@dataclass(frozen=True, repr=False)
class Ledger(InNotebooks):
    """The rows of a run, sorted by id, with what they depend on."""

    rows: tuple[Row, ...]
    profile: str
    seed: int
    seconds: float
    versions: Mapping[str, str]

    @classmethod
    def of(cls, rows: Iterable[Row], *, profile: str, seed: int, seconds: float) -> Ledger:
        """The ledger of a run that has just ended, with the installed versions."""
        ordered = tuple(sorted(rows, key=lambda row: row.id))
        return cls(ordered, profile, seed, round(seconds, 3), versions())

    def rows_of(self, ids: Iterable[str]) -> tuple[Row, ...]:
        """The rows of some claims, in their order.

        Raises:
            InputError: if one has no row.
        """
        rows = {row.id: row for row in self.rows}
        try:
            return tuple(rows[id_] for id_ in ids)
        except KeyError as error:
            missing = error.args[0]
            raise InputError(f"the ledger has no row of {missing}") from None

    def to_json(self) -> dict[str, Any]:
        """The ledger as plain JSON."""
        return {
            "schema": SCHEMA,
            "versions": dict(self.versions),
            "profile": self.profile,
            "seed": self.seed,
            "seconds": self.seconds,
            "claims": [row.to_json() for row in self.rows],
        }

    def write(self, path: Path) -> None:
        """Write the ledger to a file, whole or not at all.

        Raises:
            OSError: if it cannot be written.
        """
        files.write_json(path, self.to_json())


def read_ledger(path: Path) -> Ledger:
    """Read the ledger that a run wrote; fields that are not known here are ignored.

    Raises:
        InputError: if the file cannot be read, is not JSON, is no ledger, or is one of another
            schema.
    """
    try:
        data = read_json(path)
    except OSError as error:
        raise InputError(f"no ledger can be read from {path}: {error.strerror}") from error
    except StoredError as error:
        raise InputError(f"{path} is not JSON, or was cut off ({error})") from error
    if not isinstance(data, dict) or not {"schema", "claims"} <= set(data):
        raise InputError(
            f"{path} is JSON, but no ledger: it has no schema and claims; a ledger is what "
            "`rankcheck verify --json FILE` writes"
        )
    if type(data["schema"]) is not int or data["schema"] != SCHEMA:
        raise InputError(
            f"{path} is a ledger of schema {shown(data['schema'])}, and this version of rankcheck "
            f"reads schema {SCHEMA}; write it again with `rankcheck verify --json {path}`"
        )
    try:
        if not isinstance(data["claims"], list):
            raise StoredError(f"claims is {shown(data['claims'])}; it is a list")
        rows = tuple(_row(number, row) for number, row in enumerate(data["claims"]))
        head = build(Ledger, data | {"rows": []}, foreign=True)
    except StoredError as error:
        raise InputError(f"{path} is not a whole ledger of schema {SCHEMA}: {error}") from error
    return replace(head, rows=rows)


def _row(number: int, data: Any) -> Row:
    try:
        return Row.from_json(data)
    except StoredError as error:
        raise StoredError(f"claims[{number}]: {error}") from error
