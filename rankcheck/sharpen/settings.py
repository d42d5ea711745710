"""The settings of a sharpening, checked before it begins."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from rankcheck.engine.hunt.settings import check_ends
from rankcheck.errors import InputError
from rankcheck.files import LEFT


@dataclass(frozen=True)
class Settings:
    """What a sharpening does, and for how long.

    Attributes:
        budget: seconds for the search; to make the extremal instance small comes on top. None for
            no limit, with `tasks`.
        workers: processes on this machine.
        tasks: the largest number of tasks, with a dial for each value. The result of a number of
            tasks in one process depends on the claim and the seed alone.
        shrink: seconds for making an extremal instance small, for each relation.
        folder: where the certificate and the records of a run are left.

    Raises:
        InputError: if one of them is out of range.
    """

    budget: float | None = 10.0
    seed: int = 0
    workers: int = 1
    tasks: int | None = None
    shrink: float = 2.0
    folder: Path = LEFT

    def __post_init__(self) -> None:
        check_ends("a search", self.budget, "tasks", self.tasks, self.workers)
        if not 0 <= self.shrink < math.inf:
            raise InputError(
                f"shrink is {self.shrink}; it is a finite number of seconds, 0 or more"
            )
