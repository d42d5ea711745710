"""The ledger: what has been found of each claim, as rows and as JSON (schema version 1)."""

from __future__ import annotations

import json
import os
import platform
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

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
        cleared: violations in floats that ball arithmetic showed to be rounding.
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
    source: Mapping[str, str] | None = None
    drawn: int = 0
    swept: int = 0
    rejected: int = 0
    cleared: int = 0
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


def versions() -> dict[str, str]:
    """Versions of what the figures depend on."""
    packages = ("rankcheck", "torch", "numpy", "scipy", "hypothesis", "python-flint")
    return {"python": platform.python_version()} | {
        name: metadata.version(name) for name in packages
    }


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


def check_writable(path: Path) -> None:
    """Find out that a file cannot be written before the work, not after.

    Raises:
        ValueError: with the rule and the path.
    """
    folder = path.parent
    if path.is_dir():
        raise ValueError(f"a ledger is written to a file; received the folder {path}")
    if not folder.is_dir():
        raise ValueError(f"a ledger is written into an existing folder; received {path}")
    if not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise ValueError(f"a ledger is written where writing is allowed; received {path}")


def write_json(path: Path, data: object) -> None:
    """Write JSON whole or not at all.

    Raises:
        OSError: if it cannot be written.
    """
    text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    partial = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        partial.chmod(0o644)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
