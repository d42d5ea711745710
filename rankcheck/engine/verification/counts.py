"""Numbers of instances, counted in the same way wherever a claim is evaluated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankcheck.engine.counterexamples.judge import Judgement


@dataclass(frozen=True)
class Counts:
    """How many instances were evaluated, and how many were not. Counts can be added.

    Attributes:
        evaluated: instances that satisfy the hypotheses.
        rejected: instances that do not; they say nothing about the claim.
        rounding: violations in floats that ball arithmetic showed to be rounding.
        outside: violations in floats of instances that break a hypothesis in exact numbers, and
            satisfy it in floats by rounding.
        reasons: by hypothesis, how many instances violate it. An instance may violate several, and
            a batch that is rejected as a whole counts once.
    """

    evaluated: int = 0
    rejected: int = 0
    rounding: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)
    outside: int = 0

    def __add__(self, other: Counts) -> Counts:
        reasons = dict(Counter(self.reasons) + Counter(other.reasons))
        return Counts(
            self.evaluated + other.evaluated,
            self.rejected + other.rejected,
            self.rounding + other.rounding,
            reasons,
            self.outside + other.outside,
        )

    @classmethod
    def of(cls, judgement: Judgement) -> Counts:
        """What a violation in floats adds, if it does not end the search."""
        return cls(
            rounding=judgement.finding == "satisfied", outside=judgement.finding == "outside"
        )

    @property
    def total(self) -> int:
        """Instances that were drawn, inside the hypotheses or not."""
        return self.evaluated + self.rejected
