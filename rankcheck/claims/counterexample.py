"""What certificates and ledgers say of a proved counterexample."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, InvalidOperation
from typing import Any

from rankcheck.claims.labels import at_entry, readable
from rankcheck.claims.signs import SIGNS, RelationKind
from rankcheck.notebook import Readable
from rankcheck.stored import build

#: Numbers are rounded to so many digits, or as many as tell them apart: 2048 bits are 617 digits.
LEAST, MOST = 6, 640
#: Sides are cut off after so many characters.
SIDE = 80
_WIDE = Context(prec=2 * MOST, Emax=MAX_EMAX, Emin=MIN_EMIN)


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
class Counterexample(Readable):
    """A proved counterexample: the relation that fails, and the instance, as text.

    Attributes:
        description: the instance, as the body receives it.
        family: the generator, with its options.
        label: which of several relations fails.
        lhs, rhs: both sides: a rational exactly, or a ball as `[midpoint +/- radius]`.
        excess: how much it fails by, rounded down.
        bits: the precision of the balls.
        texts: of both sides, as the body writes them; see `rankcheck.claims.sides`. They are not in
            certificates, and neither is what follows.
        entry, entries: the index of the entry that fails, counted from 0, and how many there are.
        steps: the names in the body with their values.
    """

    description: str
    family: str
    label: str
    kind: RelationKind
    lhs: str
    rhs: str
    excess: str
    bits: int
    texts: tuple[str, ...] = ()
    entry: tuple[int, ...] = ()
    entries: int = 1
    steps: tuple[Step, ...] = ()

    @classmethod
    def of(cls, section: Mapping[str, Any]) -> Counterexample:
        """From the section of a certificate."""
        return build(cls, section, foreign=True)

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
        """`lhs 1 > rhs 0.9 by 0.1`, rounded so that the sides differ; the entry."""
        lhs, rhs = rounded(self.lhs, self.rhs)
        text = f"{self.label}: " if self.label else ""
        text += f"lhs {lhs} {SIGNS[self.kind].fails} rhs {rhs}"
        text += "" if self.excess == "0" else f" by {_rounded(_value(self.excess), LEAST)}"
        return text + self.entry_text

    def lines(self, head: str, how: str) -> list[str]:
        """What a person is told of it, a line each; it is the same wherever one is told.

        Args:
            head: what it is about, as `rank.sum-cost is false`.
            how: what is known of it, as `certified`.
        """
        sides = zip(("lhs", "rhs"), self.texts, strict=False)
        names = "; ".join(f"{one.name} = {one.value}" for one in self.steps if one.name != "_")
        return [
            f"{head}: {self.sentence} ({how}, {self.bits}-bit balls)",
            *(f"  {name} is {text}" for name, text in sides if text),
            f"  {readable(self.description)}",
            *([f"  in the body: {readable(names)}"] if names else []),
            f"  exactly: lhs = {readable(self.lhs, SIDE)}, rhs = {readable(self.rhs, SIDE)}",
        ]


def rounded(lhs: str, rhs: str) -> tuple[str, str]:
    """Both sides with as many digits as it takes to tell them apart, at least 6.

    >>> rounded("2/3", "[0.5000000 +/- 1e-30]"), rounded("10000001/10000000", "1")
    (('0.666667', '0.5'), ('1.0000001', '1'))
    """
    first, second = _value(lhs), _value(rhs)
    digits = LEAST
    while digits < MOST and first != second:
        if _rounded(first, digits) != _rounded(second, digits):
            break
        digits += 1
    return _rounded(first, digits), _rounded(second, digits)


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


def plain(texts: Mapping[str, Any]) -> Counterexample:
    """The counterexample with these fields, by name; who unpickles one need not import torch."""
    return Counterexample(**texts)
