"""The state of a sharpening as it goes on, for whoever watches it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Progress:
    """The state of a sharpening after a batch.

    Attributes:
        seconds, budget: spent, and to be spent if that is fixed.
        shapes, instances: how many were tried.
        best: by the name of a relation its largest certified ratio, or deviation, as a decimal
            number; None where nothing is certified yet.
        doing: what the seconds are spent on, in words; empty during the search.
    """

    seconds: float
    budget: float | None
    shapes: int
    instances: int
    best: Mapping[str, str | None] = field(default_factory=dict)
    doing: str = ""
