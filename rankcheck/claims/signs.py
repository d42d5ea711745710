"""The kinds of relations, and how each is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

RelationKind = Literal["leq", "lt", "eq"]


@dataclass(frozen=True)
class Sign:
    """How a relation between two sides is written.

    Attributes:
        holds: between two sides that satisfy it.
        fails: between two sides that do not.
        latex: `holds` in a formula.
        bound: whether lhs / rhs measures how sharp the relation is. For an identity the difference
            of the sides does.
        strict: whether two equal sides violate it.
    """

    holds: str
    fails: str
    latex: str
    bound: bool = False
    strict: bool = False


#: By the kind of a relation.
SIGNS: dict[str, Sign] = {
    "leq": Sign("≤", ">", r"\le", bound=True),
    "lt": Sign("<", ">=", "<", bound=True, strict=True),
    "eq": Sign("=", "!=", "="),
}
