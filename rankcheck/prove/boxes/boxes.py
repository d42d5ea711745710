"""Boxes: polynomials that are not negative on a path, by intervals on smaller and smaller boxes.

On each box a goal is enclosed in three ways: as it is written; at the ends of variables in which it
is monotone; and by the mean value theorem, about the centre for which that says most (Baumann,
*Optimal centered forms*, 1988). A box in which a fact certainly fails does not meet the path. All
others are halved, along the variable that the goal may change most with. Thousands are enclosed at
once, in floats rounded outwards (`intervals`).

Where a goal has equality this does not end, but at 0: if a scaling of variables changes no sign,
a box with a corner at 0 is proved but for a smaller copy of itself (`scalings`). There is no other
proof before a bound has some slack.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from rankcheck.algebra.polynomials import parse
from rankcheck.prove.boxes.enclosing import Enclosures, Unbounded
from rankcheck.prove.proof import Boxes, Definition, Fact, Polynomial

__all__ = ["Box", "Covering", "boxes", "clipped"]

Box: TypeAlias = Mapping[str, tuple[Fraction, Fraction]]

#: Boxes that are enclosed at once.
_BATCH = 2048
#: A variable is halved so often at most: its ends are floats, exactly, in units of its range.
_DEEPEST = 50
_PROVED, _OFF, _COPY = -1, -2, -3
_LETTERS = {_PROVED: ".", _OFF: "x", _COPY: "s"}


@dataclass(frozen=True)
class Covering:
    """How far a subdivision came.

    Attributes:
        certificate: None if some box is left.
        boxes: how many boxes there are, those that are left included.
        reason: why there is no certificate, in a sentence; empty if there is one.
    """

    certificate: Boxes | None
    boxes: int
    reason: str


def boxes(
    goal: Polynomial,
    facts: Sequence[Fact],
    definitions: Sequence[Definition],
    box: Box,
    *,
    strict: bool,
    seconds: float | None = None,
    most: int = 100_000,
) -> Covering:
    """Cover a box by boxes in which a polynomial is not negative, where the facts hold.

    Args:
        box: the range of each entry that occurs. It is cut off where a fact about one variable
            ends it; what is halved is the rest.
        strict: whether the goal is to be positive.
        seconds: how long to try; None: until there are `most` boxes.
        most: boxes at which it gives up.
    """
    rest, others = clipped(box, facts)
    if any(low > high for low, high in rest.values()):
        return Covering(Boxes(subdivision="x", boxes=1), 1, "")
    try:
        enclosures = Enclosures(goal, others, definitions, rest)
    except Unbounded as error:
        return Covering(None, 0, str(error))
    deadline = None if seconds is None else time.monotonic() + seconds
    with np.errstate(all="ignore"):
        return _Subdivision(enclosures, strict=strict).run(deadline, most)


def clipped(
    box: Box, facts: Sequence[Fact]
) -> tuple[dict[str, tuple[Fraction, Fraction]], list[Fact]]:
    """The part of a box where the facts hold that are about one variable, of the first degree.

    Strict facts count as if they had equality. The facts that are left say more than this.
    """
    rest, left = dict(box), []
    for fact in facts:
        polynomial = parse(fact.of)
        [name, *others] = {name for one in polynomial for name, _ in one} or {""}
        slope = polynomial.get(((name, 1),), Fraction(0))
        if (
            others
            or name not in rest
            or set(polynomial) - {(), ((name, 1),)}
            or set(fact.signs) >= {"-", "+"}
        ):
            left.append(fact)
            continue
        low, high = rest[name]
        end = -polynomial.get((), Fraction(0)) / slope
        signs = fact.signs if slope > 0 else fact.signs.translate({43: "-", 45: "+"})
        if "-" not in signs:
            low = max(low, end)
        if "+" not in signs:
            high = min(high, end)
        rest[name] = low, high
    return rest, left


@dataclass
class _Left:
    """Boxes that are not proved yet, a column each.

    Attributes:
        nodes: where they are in the tree.
        low, high: their ends, in units of the whole box.
        scaling: the number of a scaling, if all entries with weights have an end at 0; or −1.
        base: how often each entry was halved in the box around it that it may become a copy of.
    """

    nodes: np.ndarray
    low: np.ndarray
    high: np.ndarray
    scaling: np.ndarray
    base: np.ndarray

    def of(self, which: np.ndarray | slice) -> _Left:
        return _Left(
            self.nodes[which],
            self.low[:, which],
            self.high[:, which],
            self.scaling[which],
            self.base[:, which],
        )

    def and_(self, other: _Left) -> _Left:
        return _Left(
            np.concatenate([self.nodes, other.nodes]),
            np.hstack([self.low, other.low]),
            np.hstack([self.high, other.high]),
            np.concatenate([self.scaling, other.scaling]),
            np.hstack([self.base, other.base]),
        )

    @property
    def halvings(self) -> np.ndarray:
        return np.rint(-np.log2(self.high - self.low)).astype(np.int64)

    @property
    def volume(self) -> float:
        return float((self.high - self.low).prod(axis=0).sum())


class _Subdivision:
    """The tree of boxes: `kinds` has the number of a variable, or what became of a leaf."""

    def __init__(self, enclosures: Enclosures, *, strict: bool) -> None:
        self._enclosures = enclosures
        self._strict = strict
        # A strict goal is not positive at 0, where a scaling leaves it.
        self._weights = enclosures.weights[: 0 if strict else None]
        self._zero = enclosures.zero[:, None]
        self._kinds = [_PROVED]
        self._halves = [0]
        self._leaves = 1
        self._done = 0.0
        n = len(enclosures.names)
        whole = _Left(
            np.zeros(1, dtype=np.int64),
            np.zeros((n, 1)),
            np.ones((n, 1)),
            np.full(1, -1),
            np.zeros((n, 1), dtype=np.int64),
        )
        self._left = self._cornered(whole, np.zeros(1, dtype=bool))

    def run(self, deadline: float | None, most: int) -> Covering:
        while len(self._left.nodes):
            if self._leaves > most:
                return self._open(f"{most} boxes are allowed")
            if deadline is not None and time.monotonic() > deadline:
                return self._open("the time was over")
            sentence = self._step()
            if sentence:
                return Covering(None, self._leaves, sentence)
        return Covering(Boxes(subdivision=self._text(), boxes=self._leaves), self._leaves, "")

    def _open(self, why: str) -> Covering:
        share = f"{100 * self._done:.4g} %"
        return Covering(
            None, self._leaves, f"{share} of the box is proved after {self._leaves} boxes; {why}"
        )

    def _step(self) -> str:
        """Enclose the boxes that came last, and halve those that stay open."""
        some = self._left.of(slice(-_BATCH, None))
        self._left = self._left.of(slice(None, -_BATCH))
        bounds = self._enclosures.bounds(some.low, some.high)
        proved = bounds.lower > 0 if self._strict else bounds.lower >= 0
        left = np.flatnonzero(~proved)
        off, false = self._enclosures.met(bounds, left, strict=self._strict)
        if false:
            return false
        for number in some.nodes[left[off]].tolist():
            self._kinds[number] = _OFF
        left = left[~off]
        self._done += some.volume - some.of(left).volume
        if not len(left):
            return ""
        if not len(self._enclosures.names):
            return "it has no entries to be halved along, and its sign is not known"
        some = some.of(left)
        smear = self._enclosures.smear(bounds, left, some.high - some.low)
        return self._halve(some, self._along(some, smear))

    def _along(self, some: _Left, smear: np.ndarray) -> np.ndarray:
        """The entries that boxes are halved along."""
        width = some.high - some.low
        smear = np.where(width > 2.0**-_DEEPEST, smear, -1.0)
        along = np.where(smear.max(axis=0) > 0, smear.argmax(axis=0), width.argmax(axis=0))
        if len(self._weights):
            weights = self._weights[some.scaling].T
            turns = (some.halvings - some.base) / np.maximum(weights, 1)
            turn = np.where(weights > 0, turns, np.inf).argmin(axis=0)
            along = np.where(some.scaling >= 0, turn, along)
        return along

    def _halve(self, some: _Left, along: np.ndarray) -> str:
        each = np.arange(len(along))
        low, high = some.low[along, each], some.high[along, each]
        if (high - low <= 2.0**-_DEEPEST).any():
            return f"a box is halved {_DEEPEST} times along a variable, and stays open"
        middle = (low + high) / 2
        first, second = some.high.copy(), some.low.copy()
        first[along, each] = middle
        second[along, each] = middle
        new = len(self._kinds) + 2 * each
        for number, variable, half in zip(
            some.nodes.tolist(), along.tolist(), new.tolist(), strict=True
        ):
            self._kinds[number] = variable
            self._halves[number] = half
        self._kinds += [_PROVED, _PROVED] * len(new)
        self._halves += [0, 0] * len(new)
        self._leaves += len(new)
        upper = replace(some, nodes=new + 1, low=second)
        lower = replace(some, nodes=new, high=first)
        both = self._cornered(upper.and_(lower), np.tile(some.scaling >= 0, 2))
        copies = np.zeros(len(both.nodes), dtype=bool)
        if len(self._weights):
            same = both.halvings - both.base == self._weights[both.scaling].T
            copies = (both.scaling >= 0) & same.all(axis=0)
            for number in both.nodes[copies].tolist():
                self._kinds[number] = _COPY
            self._done += both.of(copies).volume
        self._left = self._left.and_(both.of(~copies))
        return ""

    def _cornered(self, some: _Left, had: np.ndarray) -> _Left:
        """The boxes with their scalings; those that had one keep it as long as it is one."""
        if not len(self._weights):
            return some
        ends = (some.low == self._zero) | (some.high == self._zero)
        fits = np.array([ends[row > 0].all(axis=0) for row in self._weights])
        each = np.arange(len(some.nodes))
        kept = had & fits[some.scaling, each]
        first = np.where(fits.any(axis=0), fits.argmax(axis=0), -1)
        return replace(
            some,
            scaling=np.where(kept, some.scaling, first),
            base=np.where(kept, some.base, some.halvings),
        )

    def _text(self) -> str:
        words, waiting = [], [0]
        while waiting:
            number = waiting.pop()
            kind = self._kinds[number]
            if kind >= 0:
                words.append(self._enclosures.names[kind].lstrip("x"))
                waiting += [self._halves[number] + 1, self._halves[number]]
            else:
                words.append(_LETTERS[kind])
        return " ".join(words)
