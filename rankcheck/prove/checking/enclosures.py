"""A problem of boxes, and what it may be on one box, in whole numbers.

The ends of a box are whole numbers over one denominator, the unit, and a polynomial of degree d is
evaluated times ``unit^d``, so that all that is rounded is a root, outwards.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TypeAlias

from flint import fmpz

from rankcheck.prove.checking.errors import UnsoundError
from rankcheck.prove.checking.polynomials import Ring, rational
from rankcheck.prove.proof import Definition, Fact

__all__ = ["At", "Box", "Form", "Problem", "Range"]

Range: TypeAlias = tuple[Fraction, Fraction]
Box: TypeAlias = tuple[Range, ...]
#: Ends, as whole numbers.
Ends: TypeAlias = tuple[int, int]

#: The unit has so many bits, at least.
BITS = 96


@dataclass(frozen=True)
class Form:
    """A polynomial times a positive whole number: coefficients, powers of variables, degrees."""

    terms: tuple[tuple[int, tuple[tuple[int, int], ...], int], ...]
    degree: int
    scale: int

    @classmethod
    def of(cls, terms: Mapping[tuple[int, ...], int | Fraction]) -> Form:
        scale = lcm(*(Fraction(c).denominator for c in terms.values()))
        made = tuple(
            (int(c * scale), tuple((i, e) for i, e in enumerate(powers) if e), sum(powers))
            for powers, c in terms.items()
        )
        return cls(made, max((degree for _, _, degree in made), default=0), scale)

    def by(self, i: int) -> Form:
        """The derivative; its degree counts as one less, whatever it is."""
        made = []
        for c, powers, degree in self.terms:
            exponent = dict(powers).get(i, 0)
            if exponent:
                left = tuple((j, e - (j == i)) for j, e in powers)
                made.append((c * exponent, tuple((j, e) for j, e in left if e), degree - 1))
        return Form(tuple(made), self.degree - 1, self.scale)

    @property
    def used(self) -> set[int]:
        return {i for _, powers, _ in self.terms for i, _ in powers}

    def weight(self, weights: Sequence[Fraction]) -> Fraction | None:
        """That of all monomials, if it is one."""
        found = {
            sum((weights[i] * e for i, e in powers), Fraction(0)) for _, powers, _ in self.terms
        }
        return found.pop() if len(found) == 1 else None


class Problem:
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
            Form.of(self.ring.poly(made.of).terms) if made.kind == "root" else None
            for made in definitions
        ]
        self.balls = [
            (rational(made.low), rational(made.high)) if made.kind == "ball" else None
            for made in definitions
        ]
        self.goal = Form.of(self.ring.poly(goal).terms)
        self.needed = self._needed(self.goal.used)
        for i in self.needed:
            if i >= self.entries and self.defined[i - self.entries].kind not in ("root", "ball"):
                raise UnsoundError(f"nothing bounds {self.ring.names[i]} in a box")
        self.slopes = {i: self.goal.by(i) for i in sorted(self.goal.used)}
        self.facts: list[tuple[Form, str]] = []
        self.box: Box = tuple((Fraction(low), Fraction(high)) for low, high in box.values())
        known = set(self.ring.names)
        for fact in facts:
            if not set(re.findall(r"[A-Za-z_]\w*", fact.of)) <= known:
                continue
            form = Form.of(self.ring.poly(fact.of).terms)
            if not self._cut(form, fact.signs) and self._needed(form.used) <= self.needed:
                self.facts.append((form, fact.signs))

    def _needed(self, used: set[int]) -> set[int]:
        found, waiting = set(used), list(used)
        while waiting:
            i = waiting.pop()
            form = self.under[i - self.entries] if i >= self.entries else None
            more = form.used - found if form else set()
            found |= more
            waiting += more
        return found

    def _cut(self, form: Form, signs: str) -> bool:
        """Cut the box off where ``a·x + b`` has another sign; whether the fact is of this form.

        What is proved then holds where the sign is 0, too, and no box is off by such a fact.
        """
        if form.degree != 1 or len(form.used) != 1 or min(form.used) >= self.entries:
            return False
        if "-" in signs and "+" in signs:
            return False
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
        return True


class At:
    """A problem on one box."""

    def __init__(self, problem: Problem, place: Box) -> None:
        self.problem = problem
        ranges: list[Range | None] = [*place, *problem.balls]
        whole = lcm(*(end.denominator for one in ranges if one for end in one))
        self.unit = whole << max(0, BITS - whole.bit_length())
        self.variables: list[Ends] = []
        for i, one in enumerate(ranges):
            if one is not None:
                self.variables.append((int(one[0] * self.unit), int(one[1] * self.unit)))
            elif i in problem.needed:
                self.variables.append(self._root(i - problem.entries))
            else:
                self.variables.append((0, 0))
        self._slopes: list[Ends | None] | None = None

    def ends(self, form: Form, variables: Sequence[Ends] | None = None) -> Ends:
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
        other = object.__new__(At)
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
