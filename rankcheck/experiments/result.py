"""What an experiment found: runs with their measurements and audits, as plain numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from rankcheck.stored import StoredError, build

__all__ = ["SCHEMA", "AuditFacts", "Result", "Run", "check_finite", "rounded"]

SCHEMA = 1
#: Numbers are kept to so many significant digits.
DIGITS = 6


@dataclass(frozen=True)
class AuditFacts:
    """What the audit of a trained network found, in short.

    Attributes:
        cost: ‖θ‖².
        per_layer: ‖θ‖²/L.
        rank: of Jf at most points of the data.
        near_one: of each affine map, the number of singular values within 0.25 of 1.
        saved: the share of ‖θ‖² that rescaling single neurons would save: 0 at a local minimum of
            the objective, so it shows how far training has converged. Linear layers are multiplied
            out first, which training balances no more.
        findings: how many theorems hold, are not applicable, ...
        failing: the ids of theorems that fail, which shows a bug.
    """

    cost: float
    per_layer: float
    rank: int
    near_one: tuple[int, ...]
    saved: float
    findings: Mapping[str, int]
    failing: tuple[str, ...]


@dataclass(frozen=True)
class Run:
    """One trained network.

    Attributes:
        part: the name of its part.
        seed: of its data and its first weights.
        settings: what was trained (depth, width, ridge, ...).
        measured: by name, numbers, texts, and lists of them; `error` and `steps` among them.
        audit: None if the network is none that the audit reads.
        drawn: what the figures need and no claim does; often only the first runs have it.
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

    def where(self, **settings: Any) -> tuple[Run, ...]:
        """The runs with these settings."""
        wanted = settings.items()
        return tuple(
            run for run in self.runs if all(run.settings.get(key) == value for key, value in wanted)
        )

    def to_json(self) -> dict[str, Any]:
        """The result as plain JSON; its numbers are rounded to `DIGITS` significant digits.

        Raises:
            ValueError: if a number is not finite.
        """
        return {"schema": SCHEMA} | dict(rounded(asdict(self)))

    @classmethod
    def of_json(cls, data: Any) -> Result:
        """A result that was written with `to_json`.

        Raises:
            StoredError: saying where it is not one.
        """
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            raise StoredError(f"it is no result of an experiment with the schema {SCHEMA}")
        check_finite(data)
        return build(cls, {key: value for key, value in data.items() if key != "schema"})


def check_finite(data: Any) -> None:
    """Refuse JSON with numbers that are not finite, which Python reads and JSON does not have.

    Raises:
        StoredError: saying where.
    """
    try:
        rounded(data)
    except (ValueError, TypeError) as error:
        raise StoredError(str(error)) from error


def rounded(value: Any, place: str = "") -> Any:
    """Plain JSON with floats of `DIGITS` significant digits.

    Args:
        place: where the value stands, for the message.

    Raises:
        ValueError: if a number is not finite.
        TypeError: if a value is no JSON.

    >>> rounded({"a": (1 / 3, 2), "b": "text"})
    {'a': [0.333333, 2], 'b': 'text'}
    """
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{place or 'it'} is {value}; a result has finite numbers")
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
