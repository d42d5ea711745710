"""`Entry`, a claim as the text of its file declares it; and how paths are shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from rankcheck.claims.erratum import Erratum
from rankcheck.claims.reference import Reference
from rankcheck.errors import InputError


class CatalogueError(InputError):
    """A file of claims cannot be read: the place, what is wrong, and the rule."""


@dataclass(frozen=True)
class Entry:
    """What the text of a file declares of a claim; the fields are those of `Claim`.

    Attributes:
        name: the name of the function.
        instances, tight, reach: the functions as they are written.
        needs, mutants: by name, the control as it is written.
        witness: its name, with that of the module it is imported from.
        problem: why the claim cannot be read, with the place; None if it can.
    """

    id: str
    kind: str
    title: str
    statement: str
    reference: Reference | None
    file: Path
    line: int
    name: str
    instances: str | None = None
    tight: str | None = None
    needs: Mapping[str, str] = field(default_factory=dict)
    mutants: Mapping[str, str] = field(default_factory=dict)
    loose: str | Mapping[str, str] | None = None
    witness: str | None = None
    reason: str | None = None
    no_batch: str | None = None
    no_ball: str | None = None
    effort: float = 1.0
    corrected_by: str | None = None
    errata: tuple[Erratum, ...] = ()
    readings: Mapping[str, str] = field(default_factory=dict)
    result: str | None = None
    reach: str | None = None
    problem: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; the file as `shown_path` gives it."""
        reference = None
        if self.reference is not None:
            reference = {"key": self.reference.key, "where": self.reference.where}
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        return values | {
            "reference": reference,
            "errata": [asdict(erratum) for erratum in self.errata],
            "file": shown_path(self.file),
        }

    @property
    def place(self) -> str:
        """The file and the line, as an editor opens them."""
        return f"{shown_path(self.file)}:{self.line}"


def shown_path(path: Path) -> str:
    """A path relative to the working directory where it lies below it, else as it is."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
