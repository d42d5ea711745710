"""What certificates and ledgers say of a proved counterexample."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, InvalidOperation
from typing import Any

from rankcheck.claims.labels import at_entry
from rankcheck.claims.signs import SIGNS, RelationKind
from rankcheck.notebook import Readable
from rankcheck.stored import build

__all__ = ["Counterexample", "Sides", "Step", "plain"]


#: Numbers are rounded to so many digits, or to as many as it takes to tell them apart.
LEAST, MOST = 6, 60
_WIDE = Context(prec=2 * MOST, Emax=MAX_EMAX, Emin=MIN_EMIN)


@dataclass(frozen=True)
class Sides:
    """Both sides of a relation that fails, as text.

    Attributes:
        label: which of several relations fails.
        lhs, rhs: both sides: a rational exactly, or a ball as `[midpoint +/- radius]`.
        excess: how much it fails by, rounded down.
        texts: of both sides, as the body writes them; see `rankcheck.claims.sides`. They are not in
            certificates, and neither is the entry.
        entry, entries: the index of the entry that fails, counted from 0, and how many there are.
    """

    label: str
    kind: RelationKind
    lhs: str
    rhs: str
    excess: str
    texts: tuple[str, ...] = ()
    entry: tuple[int, ...] = ()
    entries: int = 1

    @property
    def entry_text(self) -> str:
        """Which entry of the sides fails, in words; empty if they have one."""
        return at_entry(self.entry, self.entries)

    @property
    def ratio(self) -> float | None:
        """lhs / rhs of a bound with positive sides; None without one, or beyond floats."""
        lhs, rhs = _value(self.lhs), _value(self.rhs)
        if self.kind == "eq" or isinstance(lhs, str) or isinstance(rhs, str):
            return None
        if not (lhs.is_finite() and rhs.is_finite() and lhs > 0 and rhs > 0):
            return None
        ratio = float(_WIDE.divide(lhs, rhs))
        return ratio if ratio < math.inf else None

    @property
    def sentence(self) -> str:
        """`lhs 1 > rhs 0.9 by 0.1`, rounded so that the sides differ.

        >>> Sides("", "leq", "2/3", "[0.5000000 +/- 1e-30]", "0.16666666666666666").sentence
        'lhs 0.666667 > rhs 0.5 by 0.166667'
        """
        lhs, rhs = _value(self.lhs), _value(self.rhs)
        digits = LEAST
        while digits < MOST and lhs != rhs and _rounded(lhs, digits) == _rounded(rhs, digits):
            digits += 1
        text = f"{self.label}: " if self.label else ""
        text += f"lhs {_rounded(lhs, digits)} {SIGNS[self.kind].fails} rhs {_rounded(rhs, digits)}"
        text += "" if self.excess == "0" else f" by {_rounded(_value(self.excess), LEAST)}"
        return text + self.entry_text


def _value(text: str) -> Decimal | str:
    """The number that a side is, or the middle of its ball; the text if it is neither."""
    above, _, below = text.removeprefix("[").partition(" +/- ")[0].partition("/")
    try:
        return _WIDE.divide(Decimal(above), Decimal(below or 1))
    except InvalidOperation:
        return text


def _rounded(value: Decimal | str, digits: int) -> str:
    if isinstance(value, str):
        return value
    shortest = value.normalize(Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN))
    return f"{shortest:f}" if 0 <= shortest.adjusted() < digits else f"{shortest:g}"


@dataclass(frozen=True)
class Step:
    """A local variable of a body with its value at an instance, as text.

    Attributes:
        name: the variable.
        code: the expression that is assigned to it; empty if it is long, or the text is not known.
        value: a number, an array or a network; `≈` stands before what is rounded.
    """

    name: str
    code: str
    value: str


@dataclass(frozen=True, kw_only=True, repr=False)
class Counterexample(Readable, Sides):
    """A proved counterexample.

    Attributes:
        description: the instance, as the body receives it.
        family: the generator, with its options.
        bits: the precision of the balls.
        steps: what leads from the instance to the two sides; not in certificates.
    """

    description: str
    family: str
    bits: int
    steps: tuple[Step, ...] = ()

    @classmethod
    def of(cls, section: Mapping[str, Any]) -> Counterexample:
        """From the section of a certificate."""
        return build(cls, section, foreign=True)


def plain(texts: Mapping[str, Any]) -> Counterexample:
    """The counterexample with these fields, by name; who unpickles one need not import torch."""
    return Counterexample(**texts)
