"""What a goal and facts may be on boxes: enclosures with derivatives, roots and constants included.

Everything is in floats rounded outwards, on tables with a column for each box (`intervals`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from rankcheck.algebra.polynomials import Coefficients, in_order, parse
from rankcheck.prove.boxes.intervals import (
    SMALL,
    Interval,
    Polynomials,
    enclosed,
    floored,
    magnitude,
    plus,
    power,
    quotient,
    root,
    times,
)
from rankcheck.prove.boxes.scalings import scalings
from rankcheck.prove.proof import Definition, Fact, Polynomial
from rankcheck.prove.sums.ring import closed, variables

__all__ = ["Bounds", "Enclosures", "Unbounded"]

#: Ends of ranges are at most this, and whole coefficients at most that.
_LARGEST, _HIGHEST = 2.0**40, 1 << 200
#: No monomial is below 2^−800 where no variable is below this, or 2^(−800 / degree).
_LEAST_EXPONENT = 100


class Unbounded(ValueError):
    """Nothing bounds a goal on a box; the message says what."""


@dataclass
class Bounds:
    """What is known of a goal on boxes, a column each.

    Attributes:
        lower: of the goal.
        slopes: its derivatives by the entries.
        change: how much it may change from the centre along each entry.
        centre: points of the boxes, and `at_centre` the goal there.
        whole: the variables.
    """

    lower: np.ndarray
    slopes: Interval
    change: Interval
    centre: np.ndarray
    at_centre: Interval
    whole: Interval


class Enclosures:
    """A goal and facts on the boxes of a range.

    Args:
        facts: those with other variables than the goal's are left out.
        box: the range of each entry.

    Attributes:
        names: the entries that occur.
        weights: rows of weights of the entries, for scalings that change no sign (`scalings`).
        zero: where the entry is 0, in units of its range, if a float says it; else no number.

    Raises:
        Unbounded: if a variable has no range, or is a logarithm, or a number is too large.
    """

    def __init__(
        self,
        goal: Polynomial,
        facts: Sequence[Fact],
        definitions: Sequence[Definition],
        box: Mapping[str, tuple[Fraction, Fraction]],
    ) -> None:
        used = closed(variables(goal), definitions)
        inner = [made for made in definitions if made.name in used]
        self.names = sorted(used - {made.name for made in inner}, key=in_order)
        for name in self.names:
            if name not in box:
                raise Unbounded(f"{name} has no range; boxes need one of every entry")
        for made in inner:
            if made.kind in ("log", "exp"):
                what = "a logarithm" if made.kind == "log" else "an exponential"
                raise Unbounded(f"{made.name} is {what}, and nothing bounds it")
        rows = {name: i for i, name in enumerate([*self.names, *(made.name for made in inner)])}
        self._count = len(rows)
        own = [fact for fact in facts if closed(variables(fact.of), definitions) <= used]
        self._all_facts = len(own) == len(facts)
        self._signs = [fact.signs for fact in own]
        ranges = [box[name] for name in self.names]
        self._start = _ends([(low, low) for low, _ in ranges])
        self._span = _ends([(high - low, high - low) for low, high in ranges])
        self._balls = {
            rows[made.name]: _ends([(Fraction(made.low), Fraction(made.high))])
            for made in inner
            if made.kind == "ball"
        }
        of, *known = (_whole(parse(one))[0] for one in (goal, *(fact.of for fact in own)))
        roots = [made for made in inner if made.kind == "root"]
        degree = max(
            sum(power for _, power in monomial)
            for polynomial in [of, *known, *(parse(made.of) for made in roots)]
            for monomial in [(), *polynomial]
        )
        self._floor = 2.0 ** -min(_LEAST_EXPONENT, 800 // max(1, degree))
        self._roots = [_Root(made, rows) for made in roots]
        self._goal = Polynomials([of], rows)
        wanted = list(rows)
        self._slopes = Polynomials([of, *(_derivative(of, name) for name in wanted)], rows)
        self._facts = Polynomials(known, rows)
        relations = [_relation(made) for made in roots]
        constant = [
            {((made.name, 1),): Fraction(1), (): Fraction(1)}
            for made in inner
            if made.kind == "ball"
        ]
        self.zero = np.array([_zero(*range_) for range_ in ranges])
        others = [*known, *relations, *constant]
        self.weights = scalings(of, others, list(rows), np.isfinite(self.zero).tolist())
        self._fact_slopes = Polynomials(
            [_derivative(one, name) for one in known for name in self.names], rows
        )

    def bounds(self, low: np.ndarray, high: np.ndarray) -> Bounds:
        """Enclose the goal on boxes whose ends are in units of the whole range."""
        low = plus(self._start, times((low, low), self._span))[0]
        high = plus(self._start, times((high, high), self._span))[1]
        whole = self._table(low, high)
        values = self._slopes.at(*whole)
        slopes = self._total((values[0][1:], values[1][1:]), whole)
        up, down = slopes[0] >= 0, slopes[1] <= 0
        low, high = np.where(down, high, low), np.where(up & ~down, low, high)
        centre = _centre(low, high, slopes)
        both = self._table(np.hstack([low, centre]), np.hstack([high, centre]))
        found = self._goal.at(*both)
        boxes = low.shape[1]
        least, at_centre = found[0][0, :boxes], (found[0][0, boxes:], found[1][0, boxes:])
        off = times(slopes, floored(plus((low, high), (-centre, -centre)), self._floor))
        lower = at_centre[0]
        for one in np.where(low < high, off[0], 0.0):
            lower = plus((lower, lower), (one, one))[0]
        lower = np.fmax(np.fmax(values[0][0], least), lower)
        return Bounds(lower, slopes, off, centre, at_centre, whole)

    def _table(self, low: np.ndarray, high: np.ndarray) -> Interval:
        """The variables: entries with these ends, constants, and roots of what there is."""
        n = len(self.names)
        lows = np.zeros((self._count, low.shape[1]))
        highs = np.zeros_like(lows)
        lows[:n], highs[:n] = low, high
        for row, (least, most) in self._balls.items():
            lows[row], highs[row] = least[0], most[0]
        lows, highs = floored((lows, highs), self._floor)
        for one in self._roots:
            lows[one.row], highs[one.row] = floored(one.at((lows, highs)), self._floor)
        return lows, highs

    def _total(self, slopes: Interval, whole: Interval) -> Interval:
        """Derivatives by the entries, from those by all variables: roots depend on entries."""
        n = len(self.names)
        left = [(slopes[0][i], slopes[1][i]) for i in range(self._count)]
        for one in reversed(self._roots):
            by = floored(left[one.row], SMALL)
            if not (by[0].any() or by[1].any()):
                continue
            for row, slope in one.slopes(whole).items():
                left[row] = plus(left[row], floored(times(by, slope), SMALL))
        shape = n, whole[0].shape[1]
        low = np.array([one for one, _ in left[:n]]).reshape(shape)
        high = np.array([one for _, one in left[:n]]).reshape(shape)
        return floored((low, high), SMALL)

    def met(self, bounds: Bounds, open_: np.ndarray, *, strict: bool) -> tuple[np.ndarray, str]:
        """Which of some boxes do not meet the path; and, if a point refutes the goal, which one."""
        columns = bounds.whole[0][:, open_], bounds.whole[1][:, open_]
        facts = self._facts.at(*columns)
        off = np.zeros(len(open_), dtype=bool)
        for signs, low, high in zip(self._signs, *facts, strict=True):
            off |= ~_possible(signs, low, high)
        high = bounds.at_centre[1]
        false = np.flatnonzero(high <= 0 if strict else high < 0)
        if len(false) and self._all_facts:
            points = bounds.centre[:, false]
            facts = self._facts.at(*self._table(points, points))
            on = np.ones(len(false), dtype=bool)
            for signs, low, high in zip(self._signs, *facts, strict=True):
                on &= ~_possible("".join(sorted(set("-0+") - set(signs))), low, high)
            for point in points.T[on][:1].tolist():
                said = ", ".join(
                    f"{name} = {value:.6g}" for name, value in zip(self.names, point, strict=True)
                )
                return off, f"it is {'not positive' if strict else 'negative'} at {said}"
        return off, ""

    def smear(self, bounds: Bounds, columns: np.ndarray, width: np.ndarray) -> np.ndarray:
        """How much the goal, and the facts that are not decided, may change along each variable.

        Args:
            width: that of the boxes, in units of the whole range.
        """
        width = width * self._span[1]
        whole = bounds.whole[0][:, columns], bounds.whole[1][:, columns]
        slopes = bounds.slopes[0][:, columns], bounds.slopes[1][:, columns]
        total = _shares(magnitude(slopes), width)
        low, high = self._facts.at(*whole)
        by = magnitude(self._fact_slopes.at(*whole)).reshape(len(low), *width.shape)
        for signs, least, most, slope in zip(self._signs, low, high, by, strict=True):
            others = "".join(sorted(set("-0+") - set(signs)))
            undecided = _possible(others, least, most)
            total += np.where(undecided, _shares(slope, width), 0.0)
        return total


class _Root:
    """A root, and its derivatives by what it is the root of."""

    def __init__(self, made: Definition, rows: Mapping[str, int]) -> None:
        of, scale = _whole(parse(made.of))
        names = sorted({name for one in of for name, _ in one}, key=in_order)
        self.row = rows[made.name]
        self._degree = made.degree
        self._by = [rows[name] for name in names]
        self._scale = _ends([(1 / scale, 1 / scale)])
        self._of = Polynomials([of, *(_derivative(of, name) for name in names)], rows)

    def at(self, table: Interval) -> Interval:
        low, high = self._of.at(*table)
        return root(floored(times((low[0], high[0]), self._one), SMALL), self._degree)

    @property
    def _one(self) -> Interval:
        return self._scale[0][0], self._scale[1][0]

    def slopes(self, table: Interval) -> dict[int, Interval]:
        """``∂r/∂v = ∂f/∂v / (k r^(k − 1))`` by the row of v; unbounded where r may be 0.

        A path need not be convex, so that what lies between two of its points may have no root.
        There r counts as 0, as in `root`, and so does its slope.
        """
        low, high = self._of.at(*table)
        none = low[0] < 0
        low, high = floored(times((low, high), self._scale), SMALL)
        under = power((table[0][self.row], table[1][self.row]), self._degree - 1)
        k = np.full(under[0].shape, float(self._degree))
        below = times(under, (k, k))
        below = np.maximum(below[0], 0.0), below[1]
        found = {}
        for i, row in enumerate(self._by, 1):
            least, most = quotient((low[i], high[i]), below)
            found[row] = (
                np.where(none, np.minimum(least, 0.0), least),
                np.where(none, np.maximum(most, 0.0), most),
            )
        return found


def _ends(ranges: Sequence[tuple[Fraction, Fraction]]) -> Interval:
    """Columns of floats around ranges."""
    low = np.array([enclosed(low)[0] for low, _ in ranges]).reshape(-1, 1)
    high = np.array([enclosed(high)[1] for _, high in ranges]).reshape(-1, 1)
    if max(np.abs(low).max(initial=0), np.abs(high).max(initial=0)) > _LARGEST:
        raise Unbounded("a range goes beyond 2^40; boxes are made of smaller ones")
    return low, high


def _whole(polynomial: Coefficients) -> tuple[Coefficients, Fraction]:
    """A multiple with whole coefficients, and what it was multiplied by."""
    scale = lcm(*(value.denominator for value in polynomial.values()))
    if max((abs(value) * scale for value in polynomial.values()), default=0) > _HIGHEST:
        raise Unbounded("a coefficient has more than 200 bits; boxes are made of smaller ones")
    return {one: value * scale for one, value in polynomial.items()}, Fraction(scale)


def _relation(made: Definition) -> Coefficients:
    """``r^k − f``, which has a weight where f has one; of a constant f, r has the weight 0."""
    return {((made.name, made.degree),): Fraction(1)} | {
        one: -value for one, value in parse(made.of).items()
    }


def _zero(low: Fraction, high: Fraction) -> float:
    if not low <= 0 <= high or low == high:
        return np.nan
    place = -low / (high - low)
    return float(place) if Fraction(float(place)) == place else np.nan


def _derivative(polynomial: Coefficients, name: str) -> Coefficients:
    found: Coefficients = {}
    for monomial, value in polynomial.items():
        powers = dict(monomial)
        exponent = powers.get(name, 0)
        if exponent:
            rest = ((n, e - (n == name)) for n, e in monomial)
            found[tuple((n, e) for n, e in rest if e)] = value * exponent
    return found


def _centre(low: np.ndarray, high: np.ndarray, slopes: Interval) -> np.ndarray:
    """The points about which the mean value theorem gives the largest lower bounds."""
    a, b = np.minimum(slopes[0], 0.0), np.maximum(slopes[1], 0.0)
    point = (b * low - a * high) / (b - a)
    point = np.where(np.isfinite(point), point, (low + high) / 2)
    return np.clip(point, low, high)


def _possible(signs: str, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Where a number between the ends may have one of these signs."""
    found = np.zeros(low.shape, dtype=bool)
    if "-" in signs:
        found |= low < 0
    if "0" in signs:
        found |= (low <= 0) & (high >= 0)
    if "+" in signs:
        found |= high > 0
    return found


def _shares(slopes: np.ndarray, width: np.ndarray) -> np.ndarray:
    """Changes along each variable, as parts of the largest one."""
    changes = np.where(np.isfinite(slopes), slopes, 1e300) * width
    most = changes.max(axis=0, initial=0.0)
    return np.divide(changes, most, out=np.zeros_like(changes), where=most > 0)
