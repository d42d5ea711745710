"""What certificates and ledgers say of a proved counterexample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rankcheck.claims.signs import RelationKind
from rankcheck.stored import build

__all__ = ["Counterexample", "Sides"]


@dataclass(frozen=True)
class Sides:
    """Both sides of a relation that fails, as text.

    Attributes:
        label: which of several relations fails.
        lhs, rhs: both sides: a rational exactly, or a ball as `[midpoint +/- radius]`.
        excess: how much it fails by, rounded down.
    """

    label: str
    kind: RelationKind
    lhs: str
    rhs: str
    excess: str


@dataclass(frozen=True, kw_only=True)
class Counterexample(Sides):
    """A proved counterexample.

    Attributes:
        description: the instance, as the body receives it.
        family: the generator, with its options.
        bits: the precision of the balls.
        also: of a disjunction, the other parts; each of them fails.
    """

    description: str
    family: str
    bits: int
    also: tuple[Sides, ...] = ()

    @classmethod
    def of(cls, section: Mapping[str, Any]) -> Counterexample:
        """From the section of a certificate."""
        return build(cls, section, foreign=True)
