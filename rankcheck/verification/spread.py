"""How the ratios of a bound, or the deviations of an identity, are distributed over instances."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

from rankcheck.claims.signs import SIGNS
from rankcheck.verification.ledger import DECADES, PARTS

__all__ = ["Spread"]


@dataclass
class Spread:
    """A histogram.

    Attributes:
        kind: of the relation: of the ratios of a bound, or of the deviations of an identity.
        counts: the number of instances in each part, or decade.

    >>> spread = Spread("leq")
    >>> spread.add(torch.tensor([0.0, 0.51, 1.0, 1.0]))
    >>> {part: count for part, count in enumerate(spread.counts) if count}
    {0: 1, 20: 1, 39: 2}
    >>> spread = Spread("eq")
    >>> spread.add(torch.tensor([0.0, 2e-16, 1e-3]))
    >>> {decade: count for decade, count in enumerate(spread.counts) if count}
    {0: 1, 4: 1, 17: 1}
    """

    kind: str
    counts: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.counts = self.counts or [0] * (PARTS if SIGNS[self.kind].bound else DECADES)

    def add(self, values: torch.Tensor) -> None:
        """Count values; those beyond an end count in the last part there."""
        values, bins = values.double(), len(self.counts)
        place = values * bins if SIGNS[self.kind].bound else values.log10() + bins
        place = place.nan_to_num(0.0, float(bins), 0.0).floor().clamp(0, bins - 1).long()
        counts = torch.bincount(place.reshape(-1), minlength=bins).tolist()
        self.counts = [old + new for old, new in zip(self.counts, counts, strict=True)]

    def __add__(self, other: Spread) -> Spread:
        pairs = zip(self.counts, other.counts, strict=True)
        return Spread(self.kind, [one + two for one, two in pairs])
