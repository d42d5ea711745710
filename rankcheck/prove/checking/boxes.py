"""Boxes again: every box of a subdivision is enclosed in whole numbers, without rounding.

The ends of a box are whole numbers over one denominator D, and a polynomial of degree d is
evaluated times ``D^d``, so that all that is rounded is a root, outwards. Nothing is shared with
what found the subdivision, and the enclosures need not be the same: a box that is not proved at
once is halved a few times more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TypeAlias

from flint import fmpz

from rankcheck.prove.checking.errors import UnsoundError
from rankcheck.prove.checking.polynomials import Ring, rational
from rankcheck.prove.proof import Boxes, Definition, Fact

__all__ = ["check_boxes"]

Range: TypeAlias = tuple[Fraction, Fraction]
#: Ends, as whole numbers; None: nothing is known.
Ends: TypeAlias = tuple[int, int]
Box: TypeAlias = tuple[Range, ...]

#: A box is halved so often more before it is given up; roots have so many bits, at least.
MORE, BITS = 10, 96
_MOST_HALVINGS = 10_000


def check_boxes(
    goal: str,
    facts: Sequence[Fact],
    definitions: Sequence[Definition],
    box: Mapping[str, Range],
    certificate: Boxes,
    *,
    strict: bool = False,
) -> None:
    """Check that a polynomial is not negative, or positive, in a box where the facts hold.

    Args:
        box: the range of each entry that occurs.

    Raises:
        UnsoundError: if the certificate does not show it.
    """
    problem = _Problem(goal, facts, definitions, box, strict=strict)
    count = 0
    for letter, place, around in _leaves(certificate.subdivision, problem):
        count += 1
        if letter == "s":
            problem.check_copy(place, around)
        elif letter == "x":
            problem.check_off(place)
        else:
            problem.check(place)
    if count != certificate.boxes:
        raise UnsoundError(
            f"a subdivision has {count} boxes, and is said to have that many: {certificate.boxes}"
        )


def _leaves(text: str, problem: _Problem) -> Iterator[tuple[str, Box, list[Box]]]:
    """The boxes of a subdivision that are not halved, with what they are and the boxes around."""
    words = iter(text.split())
    waiting: list[tuple[Box, int]] = [(problem.box, 0)]
    around: list[Box] = []
    while waiting:
        place, depth = waiting.pop()
        del around[depth:]
        word = next(words, None)
        if word is None:
            raise UnsoundError("a subdivision ends before its last box; each half is one or two")
        if word in (".", "x", "s"):
            yield word, place, around
            continue
        if not re.fullmatch(r"0|[1-9][0-9]{0,8}", word) or f"x{word}" not in problem.place:
            raise UnsoundError(f"{word!r:.20} is neither a box nor a variable with a range")
        if depth >= _MOST_HALVINGS:
            raise UnsoundError(f"a box is halved more than {_MOST_HALVINGS} times")
        around.append(place)
        first, second = _halves(place, problem.place[f"x{word}"])
        waiting += [(second, depth + 1), (first, depth + 1)]
    if next(words, None) is not None:
        raise UnsoundError("a subdivision goes on after its last box")


def _halves(place: Box, i: int) -> tuple[Box, Box]:
    low, high = place[i]
    middle = (low + high) / 2
    return (
        (*place[:i], (low, middle), *place[i + 1 :]),
        (*place[:i], (middle, high), *place[i + 1 :]),
    )


@dataclass(frozen=True)
class _Form:
    """A polynomial times a positive whole number: coefficients, powers of variables, degrees."""

    terms: tuple[tuple[int, tuple[tuple[int, int], ...], int], ...]
    degree: int
    scale: int

    @classmethod
    def of(cls, terms: Mapping[tuple[int, ...], int | Fraction]) -> _Form:
        scale = lcm(*(Fraction(c).denominator for c in terms.values()))
        made = tuple(
            (int(c * scale), tuple((i, e) for i, e in enumerate(powers) if e), sum(powers))
            for powers, c in terms.items()
        )
        return cls(made, max((degree for _, _, degree in made), default=0), scale)

    def by(self, i: int) -> _Form:
        """The derivative; its degree counts as one less, whatever it is."""
        made = []
        for c, powers, degree in self.terms:
            exponent = dict(powers).get(i, 0)
            if exponent:
                left = tuple((j, e - (j == i)) for j, e in powers)
                made.append((c * exponent, tuple((j, e) for j, e in left if e), degree - 1))
        return _Form(tuple(made), self.degree - 1, self.scale)

    @property
    def used(self) -> set[int]:
        return {i for _, powers, _ in self.terms for i, _ in powers}

    def weight(self, weights: Sequence[Fraction]) -> Fraction | None:
        """That of all monomials, if it is one."""
        found = {
            sum((weights[i] * e for i, e in powers), Fraction(0)) for _, powers, _ in self.terms
        }
        return found.pop() if len(found) == 1 else None


class _Problem:
    """A goal, what holds, and the whole box."""

    def __init__(
        self,
        goal: str,
        facts: Sequence[Fact],
        definitions: Sequence[Definition],
        box: Mapping[str, Range],
        *,
        strict: bool,
    ) -> None:
        self.strict = strict
        names = list(box)
        self.place = {name: i for i, name in enumerate(names)}
        self.entries = len(names)
        self.defined = list(definitions)
        self.ring = Ring([*names, *(made.name for made in definitions)])
        self.under = [
            _Form.of(self.ring.poly(made.of).terms) if made.kind == "root" else None
            for made in definitions
        ]
        self.balls = [
            (rational(made.low), rational(made.high)) if made.kind == "ball" else None
            for made in definitions
        ]
        self.goal = _Form.of(self.ring.poly(goal).terms)
        self.needed = self._needed(self.goal.used)
        for i in self.needed:
            if i >= self.entries and self.defined[i - self.entries].kind not in ("root", "ball"):
                raise UnsoundError(f"nothing bounds {self.ring.names[i]} in a box")
        self.slopes = {i: self.goal.by(i) for i in sorted(self.goal.used)}
        self.facts: list[tuple[_Form, str]] = []
        self.box: Box = tuple((Fraction(low), Fraction(high)) for low, high in box.values())
        known = set(self.ring.names)
        for fact in facts:
            if not set(re.findall(r"[A-Za-z_]\w*", fact.of)) <= known:
                continue
            form = _Form.of(self.ring.poly(fact.of).terms)
            if self._needed(form.used) <= self.needed:
                self.facts.append((form, fact.signs))
            self._cut(form, fact.signs)

    def _needed(self, used: set[int]) -> set[int]:
        found, waiting = set(used), list(used)
        while waiting:
            i = waiting.pop()
            form = self.under[i - self.entries] if i >= self.entries else None
            more = form.used - found if form else set()
            found |= more
            waiting += more
        return found

    def _cut(self, form: _Form, signs: str) -> None:
        """Cut the box off where ``a·x + b`` has another sign."""
        if form.degree != 1 or len(form.used) != 1 or min(form.used) >= self.entries:
            return
        [i] = form.used
        [a] = [c for c, powers, _ in form.terms if powers]
        end = Fraction(-sum(c for c, powers, _ in form.terms if not powers), a)
        low, high = self.box[i]
        below, above = ("-", "+") if a > 0 else ("+", "-")
        if below not in signs:
            low = max(low, end)
        if above not in signs:
            high = min(high, end)
        self.box = (*self.box[:i], (low, high), *self.box[i + 1 :])

    def check_off(self, place: Box, more: int = MORE) -> None:
        """Check that a fact fails everywhere in a box."""
        if any(low > high for low, high in place):
            return
        at = _At(self, place)
        for form, signs in self.facts:
            low, high = at.ends(form)
            possible = {"-": low < 0, "0": low <= 0 <= high, "+": high > 0}
            if not any(possible[sign] for sign in signs):
                return
        if not more:
            raise UnsoundError(f"no fact is seen to fail in the box {_shown(self, place)}")
        i = max(range(self.entries), key=lambda j: place[j][1] - place[j][0])
        for half in _halves(place, i):
            self.check_off(half, more - 1)

    def check(self, place: Box, more: int = MORE) -> None:
        """Check that the goal has its sign in a box."""
        at = _At(self, place)
        if at.proved():
            return
        if not more:
            sign = "positive" if self.strict else "not negative"
            raise UnsoundError(f"a goal is not seen to be {sign} in the box {_shown(self, place)}")
        for half in _halves(place, at.along()):
            self.check(half, more - 1)

    def check_copy(self, place: Box, around: Sequence[Box]) -> None:
        """Check that a box is a smaller copy of one around it, by a scaling that changes no sign.

        A point of it where the goal is negative, scaled up, leaves it inside the other one, where
        the goal is negative, too. This doubles some entry, and can so be done finitely often.
        """
        if not self.strict:
            for other in reversed(around):
                weights = self._weights(place, other)
                if weights is not None and self._one_sign(weights):
                    return
        raise UnsoundError(
            f"the box {_shown(self, place)} is no smaller copy of one around it; a scaling to it "
            "changes no sign of the goal and the facts, and the goal is not strict"
        )

    def _weights(self, place: Box, other: Box) -> list[Fraction] | None:
        """Weights of the entries: how often each was halved towards 0."""
        weights = []
        for (low, high), (least, most) in zip(place, other, strict=True):
            if (low, high) == (least, most):
                weights.append(Fraction(0))
                continue
            if not ((low == least == 0 < most) or (high == most == 0 > least)):
                return None
            ratio = (most - least) / (high - low)
            weights.append(Fraction(ratio.numerator.bit_length() - 1))
            if ratio != 1 << (ratio.numerator.bit_length() - 1):
                return None
        return weights

    def _one_sign(self, weights: list[Fraction]) -> bool:
        """Whether the goal and the facts, scaled, change by positive factors only."""
        for made, form in zip(self.defined, self.under, strict=True):
            number = len(weights)
            weight = form.weight(weights) if form else Fraction(0)
            if weight is None and number in self.needed:
                return False
            weights.append((weight or Fraction(0)) / max(1, made.degree))
        goal = self.goal.weight(weights)
        return (
            goal is not None
            and goal > 0
            and all(form.weight(weights) is not None for form, _ in self.facts if form.terms)
        )


class _At:
    """A problem on one box."""

    def __init__(self, problem: _Problem, place: Box) -> None:
        self.problem = problem
        ranges: list[Range | None] = [*place, *problem.balls]
        whole = lcm(*(end.denominator for one in ranges if one for end in one))
        self.unit = whole << max(MORE, BITS - whole.bit_length())
        self.variables: list[Ends] = []
        for i, one in enumerate(ranges):
            if one is not None:
                self.variables.append((int(one[0] * self.unit), int(one[1] * self.unit)))
            elif i in problem.needed:
                self.variables.append(self._root(i - problem.entries))
            else:
                self.variables.append((0, 0))
        self._slopes: list[Ends | None] | None = None

    def ends(self, form: _Form, variables: Sequence[Ends] | None = None) -> Ends:
        """Between what a polynomial lies, times its scale and a power of the unit."""
        variables = self.variables if variables is None else variables
        powers = [self.unit**k for k in range(form.degree + 1)]
        known: dict[tuple[int, int], Ends] = {}
        low = high = 0
        for c, factors, degree in form.terms:
            first = last = c * powers[form.degree - degree]
            for factor in factors:
                if factor not in known:
                    known[factor] = _power(variables[factor[0]], factor[1])
                first, last = _product((first, last), known[factor])
            low += first
            high += last
        return low, high

    def _root(self, number: int) -> Ends:
        """The root, times the unit; of what is negative there is none, and 0 says no more."""
        form, k = self.problem.under[number], self.problem.defined[number].degree
        assert form is not None
        low, high = self.ends(form)
        below = form.scale * self.unit**form.degree
        first = max(0, low) * self.unit**k // below
        last = -(-max(0, high) * self.unit**k // below)
        over = int(fmpz(last).root(k))
        return int(fmpz(first).root(k)), over + (over**k < last)

    def slopes(self) -> list[Ends | None]:
        """The derivatives of the goal by the entries, through the roots too."""
        if self._slopes is not None:
            return self._slopes
        problem, unit = self.problem, self.unit
        by: list[Ends | None] = [(0, 0)] * len(self.variables)
        for i, form in problem.slopes.items():
            by[i] = self.ends(form)
        for i in reversed(range(problem.entries, len(self.variables))):
            of, mine = problem.under[i - problem.entries], by[i]
            if of is None or mine == (0, 0):
                continue
            k, root = problem.defined[i - problem.entries].degree, self.variables[i]
            # r^(k − 1) k, times unit^(k − 1).
            low, high = k * root[0] ** (k - 1), k * root[1] ** (k - 1)
            for j in sorted(of.used):
                before = by[j]
                if low <= 0 or mine is None or before is None:
                    by[j] = None
                    continue
                first, last = self.ends(of.by(j))
                # Times unit: first · unit^(k − 1) · unit / (scale · unit^(d − 1) · low).
                below = of.scale * unit ** (of.degree - 1)
                up = unit**k
                slope = (
                    first * up // (below * (high if first > 0 else low)),
                    -(-last * up // (below * (low if last > 0 else high))),
                )
                product = _product(mine, slope)
                by[j] = before[0] + product[0] // unit, before[1] - (-product[1] // unit)
        self._slopes = by[: problem.entries]
        return self._slopes

    def proved(self) -> bool:
        """Whether the goal is seen to have its sign."""
        least = 1 if self.problem.strict else 0
        if self.ends(self.problem.goal)[0] >= least:
            return True
        slopes, n = self.slopes(), self.problem.entries
        low_end = [
            (a, a) if s and s[0] >= 0 else (b, b) if s and s[1] <= 0 else (a, b)
            for (a, b), s in zip(self.variables[:n], slopes, strict=True)
        ]
        if self._at(low_end)[0] >= least:
            return True
        centre, off = [], 0
        for (a, b), s in zip(low_end, slopes, strict=True):
            if a == b:
                centre.append((a, a))
                continue
            if s is None:
                return False
            middle = (s[1] * a - s[0] * b) // (s[1] - s[0])
            centre.append((middle, middle))
            off += min(s[0] * (b - middle), s[1] * (a - middle))
        return self._at(centre)[0] + off >= least

    def _at(self, entries: list[Ends]) -> Ends:
        """The goal on another box with the same unit."""
        other = object.__new__(_At)
        other.problem, other.unit = self.problem, self.unit
        other.variables = list(entries)
        for i in range(len(entries), len(self.variables)):
            form = self.problem.under[i - len(entries)]
            free = form is None or i not in self.problem.needed
            other.variables.append(self.variables[i] if free else other._root(i - len(entries)))
        return other.ends(self.problem.goal)

    def along(self) -> int:
        """The entry along which the goal may change most."""
        changes = []
        for (a, b), s in zip(self.variables, self.slopes(), strict=False):
            most = max(map(abs, s)) if s else None
            changes.append((most is None and b > a, (b - a) * (1 if most is None else most)))
        return max(range(len(changes)), key=changes.__getitem__)


def _product(one: Ends, two: Ends) -> Ends:
    corners = one[0] * two[0], one[0] * two[1], one[1] * two[0], one[1] * two[1]
    return min(corners), max(corners)


def _power(ends: Ends, exponent: int) -> Ends:
    low, high = ends[0] ** exponent, ends[1] ** exponent
    if exponent % 2:
        return low, high
    return (0 if ends[0] < 0 < ends[1] else min(low, high)), max(low, high)


def _shown(problem: _Problem, place: Box) -> str:
    ends = zip(problem.ring.names, place, strict=False)
    return " × ".join(
        f"{name} in [{float(low):.6g}, {float(high):.6g}]" for name, (low, high) in ends
    )
