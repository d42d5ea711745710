"""What an experiment found: runs with their measurements and audits, as plain numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any

from rankcheck.stored import StoredError, build

__all__ = ["SCHEMA", "AuditFacts", "Result", "Run", "packed", "rounded", "unpacked"]

SCHEMA = 2
#: Numbers are kept to so many significant digits: more than two machines agree on.
DIGITS = 6


@dataclass(frozen=True)
class AuditFacts:
    """What the audit of a trained network found, in short.

    Attributes:
        cost: ‖θ‖².
        rank: of Jf at most points of the data.
        near_one: of each affine map, the number of singular values within 0.25 of 1.
        findings: how many theorems hold, are not applicable, ...
        failing: the ids of theorems that fail, which shows a bug.
    """

    cost: float
    rank: int
    near_one: tuple[int, ...]
    findings: Mapping[str, int]
    failing: tuple[str, ...]

    @property
    def per_layer(self) -> float:
        """‖θ‖²/L."""
        return self.cost / len(self.near_one)


@dataclass(frozen=True)
class Run:
    """One trained network.

    Attributes:
        part: the name of its part.
        seed: of its data and its first weights.
        settings: what was trained (depth, width, ridge, ...).
        measured: by name, numbers, texts, and lists of them; `error` among them.
        audit: None if the network is none that the audit reads.
        drawn: what the figures need and no claim does; only the first runs of a part may have it.
    """

    part: str
    seed: int
    settings: Mapping[str, Any]
    measured: Mapping[str, Any]
    audit: AuditFacts | None = None
    drawn: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """All runs of an experiment, and where they come from.

    Attributes:
        experiment: its name.
        scale, seed: as on the command line.
        command: the command line that remakes it.
        device: on which it was trained.
        versions: of Python and the packages.
        seconds: of processor time, over all parts.
        made: the date, as a text YYYY-MM-DD.
        pilot: the seeds of the runs, other ones, on which settings and thresholds were fixed; none
            if this is itself a pilot.
    """

    experiment: str
    scale: str
    seed: int
    command: str
    device: str
    versions: Mapping[str, str]
    seconds: float
    made: str
    runs: tuple[Run, ...]
    pilot: tuple[int, ...] = ()

    def where(self, **settings: Any) -> tuple[Run, ...]:
        """The runs with these settings."""
        wanted = settings.items()
        return tuple(
            run for run in self.runs if all(run.settings.get(key) == value for key, value in wanted)
        )

    @property
    def theorems(self) -> str:
        """What the audits found, in a sentence; empty without any."""
        audits = [run.audit for run in self.runs if run.audit is not None]
        if not audits:
            return ""
        held = sum(audit.findings.get("holds", 0) for audit in audits)
        failing = sorted({name for audit in audits for name in audit.failing})
        fails = f"fail: {', '.join(failing)}" if failing else "none fails"
        return f"Of the theorems about these networks, {held} hold where they apply, and {fails}."

    def to_text(self) -> str:
        """The result as JSON with a line for each part; see `packed`.

        Raises:
            StoredError: if a number is not finite.
        """
        head = {"schema": SCHEMA} | {
            name: value for name, value in vars(self).items() if name != "runs"
        }
        parts = [list(runs) for _, runs in groupby(self.runs, key=lambda run: run.part)]
        lines = ",\n".join(_compact(packed(runs)) for runs in parts)
        return f'{_compact(rounded(head))[:-1]},"parts":[\n{lines}\n]}}\n'

    @classmethod
    def of_json(cls, data: Any) -> Result:
        """A result that was written with `to_text`.

        Raises:
            StoredError: saying where it is not one.
        """
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            raise StoredError(f"it is no result of an experiment with the schema {SCHEMA}")
        head = {name: value for name, value in data.items() if name not in ("schema", "parts")}
        parts = data.get("parts")
        if not isinstance(parts, list):
            raise StoredError("it has no list of parts")
        return build(cls, head | {"runs": [run for part in parts for run in _rows(part)]})


def packed(runs: Sequence[Run]) -> dict[str, Any]:
    """The runs of one part as JSON: its settings once, and a column for each quantity.

    Raises:
        StoredError: if a number is not finite.
        TypeError: if a value is no JSON.
    """
    first = runs[0]
    audits = [run.audit for run in runs if run.audit is not None]
    part: dict[str, Any] = {
        "part": first.part,
        "settings": first.settings,
        "seeds": [run.seed for run in runs],
        "measured": _columns([run.measured for run in runs]),
        "audit": _columns([asdict(each) for each in audits]) if audits else None,
        "drawn": [run.drawn for run in runs if run.drawn],
    }
    return dict(rounded(part))


def unpacked(data: Any) -> tuple[Run, ...]:
    """The runs that were `packed`.

    Raises:
        StoredError: if that is not what they are.
    """
    return build(_Runs, {"runs": _rows(data)}).runs


@dataclass(frozen=True)
class _Runs:
    runs: tuple[Run, ...]


def _rows(part: Any) -> list[dict[str, Any]]:
    try:
        rounded(part)
        common, count = {"part": part["part"], "settings": part["settings"]}, len(part["seeds"])
        drawn = part["drawn"] + [{}] * (count - len(part["drawn"]))
        return [
            common
            | {"seed": seed, "drawn": drawn[at], "measured": _row(part["measured"], at, count)}
            | {"audit": None if part["audit"] is None else _row(part["audit"], at, count)}
            for at, seed in enumerate(part["seeds"])
        ]
    except (LookupError, TypeError, ValueError) as error:
        raise StoredError(f"a part is not as it was written: {error}") from error


def _columns(rows: Iterable[Any]) -> Any:
    """Rows with the same names as columns of values, all the way down; equal ones as one value."""
    rows = list(rows)
    if all(isinstance(row, Mapping) for row in rows) and len({frozenset(row) for row in rows}) == 1:
        return {name: _columns([row[name] for row in rows]) for name in rows[0]}
    return {"each": rows[0]} if all(row == rows[0] for row in rows) else rows


def _row(columns: Any, at: int, count: int) -> Any:
    """One row of columns of this length."""
    if isinstance(columns, dict):
        if columns.keys() == {"each"}:
            return columns["each"]
        return {name: _row(column, at, count) for name, column in columns.items()}
    if len(columns) != count:
        raise ValueError(f"a column has {len(columns)} values for {count} seeds")
    return columns[at]


def _compact(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def rounded(value: Any, place: str = "") -> Any:
    """Plain JSON with floats of `DIGITS` significant digits.

    Args:
        place: where the value stands, for the message.

    Raises:
        StoredError: if a number is not finite.
        TypeError: if a value is no JSON.

    >>> rounded({"a": (1 / 3, 2), "b": "text"})
    {'a': [0.333333, 2], 'b': 'text'}
    """
    if isinstance(value, float):
        if not math.isfinite(value):
            raise StoredError(f"{place or 'it'} is {value}; a result has finite numbers")
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, Mapping):
        return {
            str(key): rounded(each, f"{place}.{key}" if place else str(key))
            for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [rounded(each, f"{place}[{number}]") for number, each in enumerate(value)]
    if value is None or isinstance(value, str | int):
        return value
    raise TypeError(f"{place or 'it'} is a {type(value).__name__}; a result is plain JSON")
