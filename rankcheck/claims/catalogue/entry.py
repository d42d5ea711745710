"""`Entry`, a claim as the text of its file declares it; and how paths are shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rankcheck.claims.facts import Facts
from rankcheck.errors import InputError
from rankcheck.files import shown_path
from rankcheck.notebook import Readable


class CatalogueError(InputError):
    """A file of claims cannot be read: the place, what is wrong, and the rule."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Entry(Readable, Facts):
    """What the text of a file declares of a claim.

    Attributes:
        name: the name of the function.
        instances, tight, reach: the functions as they are written.
        needs, mutants: by name, the control as it is written.
        witness: its name, with that of the module it is imported from.
        problem: why the claim cannot be read, with the place; None if it can.
    """

    file: Path
    line: int
    name: str
    instances: str | None = None
    tight: str | None = None
    needs: Mapping[str, str] = field(default_factory=dict)
    mutants: Mapping[str, str] = field(default_factory=dict)
    witness: str | None = None
    reach: str | None = None
    problem: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; the file as `shown_path` gives it."""
        return asdict(self) | {"file": shown_path(self.file)}

    @property
    def place(self) -> str:
        """The file and the line, as an editor opens them."""
        return f"{shown_path(self.file)}:{self.line}"


def at_prompt(file: Path) -> bool:
    """Whether a claim of that "file" was declared at a prompt or in a notebook: there is none."""
    return str(file).startswith("<") or "ipykernel_" in str(file)
