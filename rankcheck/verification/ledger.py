"""The ledger: what has been found of each claim, as rows and as JSON (schema version 1)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from rankcheck.versions import versions

SCHEMA = 1
Verdict = Literal["holds", "refuted", "guarded", "failed", "undecided", "cited"]
#: Verdicts with which a run ends well.
EXPECTED: frozenset[Verdict] = frozenset({"holds", "refuted", "guarded", "cited"})


@dataclass(frozen=True)
class Mutants:
    """How many statements made false on purpose were caught; `survivors` were not."""

    killed: int = 0
    total: int = 0
    survivors: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """What has been found of one claim.

    Attributes:
        drawn, swept: instances inside the hypotheses, from Hypothesis and in batches.
        rejected: instances outside the hypotheses, which do not count.
        rounding: violations in floats that ball arithmetic showed to be rounding.
        best_ratio: the largest lhs / rhs of a bound, None for an identity.
        tight: the tight family and how closely it reaches the bound; or how closely an
            identity holds.
        needs: the hypotheses whose control broke the claim, as it must.
        certificate: the file of the counterexample.
        messages: what a person needs to know of a verdict that is not expected.
    """

    id: str
    title: str
    kind: str
    verdict: Verdict
    reference: Mapping[str, str] | None = None
    drawn: int = 0
    swept: int = 0
    rejected: int = 0
    rounding: int = 0
    best_ratio: float | None = None
    tight: str | None = None
    loose: str | None = None
    needs: tuple[str, ...] = ()
    mutants: Mutants = field(default_factory=Mutants)
    corrected_by: str | None = None
    certificate: str | None = None
    seconds: float = 0.0
    file: str = ""
    messages: tuple[str, ...] = ()

    @property
    def expected(self) -> bool:
        """Whether the run may end well with this row."""
        return self.verdict in EXPECTED

    def to_json(self) -> dict[str, Any]:
        """The row as plain JSON."""
        return json.loads(json.dumps(asdict(self)))

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Row:
        """Read what `to_json` wrote."""
        values = dict(data)
        mutants = dict(values.pop("mutants"))
        mutants["survivors"] = tuple(mutants["survivors"])
        for name in ("needs", "messages"):
            values[name] = tuple(values[name])
        return cls(mutants=Mutants(**mutants), **values)


def ledger(rows: Iterable[Row], *, profile: str, seed: int, seconds: float) -> dict[str, Any]:
    """The whole ledger as plain JSON, its rows sorted by id."""
    return {
        "schema": SCHEMA,
        "versions": versions(),
        "profile": profile,
        "seed": seed,
        "seconds": round(seconds, 3),
        "claims": [row.to_json() for row in sorted(rows, key=lambda row: row.id)],
    }
