"""The settings of a proof, checked before it begins; and what is known where there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rankcheck.errors import InputError


@dataclass(frozen=True)
class Settings:
    """What the proof at one shape may take.

    Attributes:
        seconds: how long it may take; the proof at this shape then ends, and nothing is proved.
        paths: it ends, too, where the body has more paths than this.
        seed: of whatever is drawn; no proof rests on it.

    Raises:
        InputError: if one of them is out of range.
    """

    seconds: float = 5.0
    paths: int = 4096
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.seconds < math.inf:
            raise InputError(
                f"seconds is {self.seconds}; a proof has a positive, finite number of seconds"
            )
        if self.paths < 1:
            raise InputError(f"paths is {self.paths}; a proof has at least one path")


@dataclass(frozen=True)
class Unproved:
    """A claim is not proved at a shape. That says nothing against it.

    Attributes:
        reason: why, in words.
        paths: how many paths were gone through to their end.
        place: where in the code of the claim it ended, as file:line; empty if nowhere.
    """

    reason: str
    paths: int = 0
    place: str = ""
