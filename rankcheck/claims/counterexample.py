"""What certificates and ledgers say of a proved counterexample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rankcheck.claims.sides import Side
from rankcheck.claims.signs import RelationKind
from rankcheck.notebook import Readable
from rankcheck.stored import build

__all__ = ["Counterexample", "Sides", "Step"]


@dataclass(frozen=True)
class Sides:
    """Both sides of a relation that fails, as text.

    Attributes:
        label: which of several relations fails.
        lhs, rhs: both sides: a rational exactly, or a ball as `[midpoint +/- radius]`.
        excess: how much it fails by, rounded down.
        named: what both sides are called, the left one first; empty if that is not known. It is
            not in certificates.
    """

    label: str
    kind: RelationKind
    lhs: str
    rhs: str
    excess: str
    named: tuple[Side, ...] = ()


@dataclass(frozen=True)
class Step:
    """A value on the way from an instance to the two sides of a relation, as text.

    Attributes:
        name: what the value is assigned to; empty if it is not.
        code: the expression, as the body writes it; empty for a part of one of several parts.
        value: a number, an array or a network; `≈` stands before what is rounded.
        meaning: what the called function is, by its docstring; or what this is a part of.
        within: the function that the body calls and whose step it is; empty for the body.
    """

    name: str
    code: str
    value: str
    meaning: str = ""
    within: str = ""


@dataclass(frozen=True, kw_only=True, repr=False)
class Counterexample(Readable, Sides):
    """A proved counterexample.

    Attributes:
        description: the instance, as the body receives it.
        family: the generator, with its options.
        bits: the precision of the balls.
        also: of a disjunction, the other parts; each of them fails.
        steps: what leads from the instance to the two sides; not in certificates.
    """

    description: str
    family: str
    bits: int
    also: tuple[Sides, ...] = ()
    steps: tuple[Step, ...] = ()

    @classmethod
    def of(cls, section: Mapping[str, Any]) -> Counterexample:
        """From the section of a certificate."""
        return build(cls, section, foreign=True)
