"""Points of the cells: instances of a face, where they lead, and a search for one in each cell."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb, fmpq

from rankcheck import balls
from rankcheck.decide.prove.checking.errors import UnsoundError, at
from rankcheck.decide.prove.checking.polynomials import Poly
from rankcheck.decide.prove.checking.signs import Signs, text_of
from rankcheck.decide.prove.checking.trees import End, Trees
from rankcheck.decide.prove.proof import Link

#: The precision of signs at points.
BITS = 512
#: A search for a point of one cell takes so many steps, and begins anew after some of them.
STEPS, ANEW = 48, 16
#: How far beside the zero of a polynomial a step goes.
BESIDE = (Fraction(1), Fraction(1, 2), Fraction(2), Fraction(1, 7), Fraction(5))

Point = tuple[Any, ...]


class NotKnown(ArithmeticError):
    """A sign that balls do not decide, or a root that is not defined at a point."""


@dataclass(frozen=True)
class Walk:
    """Where a point leads: the ends of the faces that it went through, the last one first."""

    end: End
    through: tuple[int, ...]


class Walker:
    """Walks the trees of a proof from points.

    Args:
        ranges: those of the entries.
        seed: of the points.
    """

    def __init__(
        self, trees: Trees, ranges: Sequence[tuple[Fraction, Fraction]], seed: int
    ) -> None:
        self.trees = trees
        self._variables = trees.variables
        self._ranges = ranges
        self._random = random.Random(seed)
        self._ends = {(end.face, end.node): end for end in trees.ends}
        self.undecided = 0

    def walk(self, entries: Point, face: int = 0) -> Walk | None:
        """Where an instance of a face ends; None if a sign on the way is not decided.

        Raises:
            UnsoundError: if it follows a link to a face that it is no instance of.
        """
        try:
            with balls.precision(BITS):
                return self._walk(entries, face)
        except NotKnown:
            self.undecided += 1
            return None

    def _walk(self, entries: Point, face: int) -> Walk:
        values = Values(self._variables, entries)
        through = [face]
        while True:
            node = 0
            while (split := self.trees.splits.get((face, node))) is not None:
                poly, branches = split
                sign = values.sign(poly)
                node = next(to for signs, to in branches if sign in signs)
            end = self._ends[face, node]
            if not isinstance(end.what, Link):
                return Walk(end, tuple(through))
            face = end.what.face
            through.append(face)
            with at(end.face, end.node):
                self._require_inside(values, face)

    def _require_inside(self, values: Values, number: int) -> None:
        """Check that a point is an instance of a face that it was linked to."""
        face, ring = self.trees.faces[number], self._variables.ring
        for i, (num, den) in face.substitutions.items():
            off = values.of(ring.variable(i) * den - num)
            if values.known_sign(off) not in (0, None):
                raise UnsoundError(
                    f"a point on the path is no instance of face {number}: {ring.names[i]} is not "
                    f"({ring.text(num)}) / ({ring.text(den)})"
                )
        for poly, signs in face.facts:
            if values.known_sign(values.of(poly)) not in (*signs, None):
                raise UnsoundError(
                    f"a point on the path is no instance of face {number}: the sign of "
                    f"{ring.text(poly)} is not {text_of(signs)}"
                )

    def nonzero(self, poly: Poly, point: Point) -> bool:
        """Whether a polynomial is known not to be zero at a point."""
        try:
            with balls.precision(BITS):
                return Values(self._variables, point).sign(poly) != 0
        except NotKnown:
            return False

    # Points

    def random(self, face: int) -> Point | None:
        """An instance of a face; None if what was drawn is none."""
        kind = self._random.randrange(5)
        free = [self._number(i, kind) for i in range(self._variables.entries)]
        return self._completed(face, free)

    def _completed(self, face: int, free: Sequence[fmpq]) -> Point | None:
        """A point with these free entries, if the face has one."""
        found = self.trees.faces[face]
        values = list(free)
        try:
            with balls.precision(BITS):
                for i in found.substitutions:
                    values[i] = fmpq(0)
                there = Values(self._variables, tuple(values))
                for i, (num, den) in found.substitutions.items():
                    below = there.of(den)
                    if there.known_sign(below) in (0, None):
                        return None
                    values[i] = there.of(num) / below
                done = Values(self._variables, tuple(values))
                for poly, signs in (*found.facts, *found.known.facts):
                    if done.sign(poly) not in signs:
                        return None
        except NotKnown:
            return None
        return tuple(values)

    def _number(self, i: int, kind: int) -> fmpq:
        """A rational for an entry, inside its range."""
        draw, (low, high) = self._random, self._ranges[i]
        kind = draw.randrange(5) if kind == 4 else kind
        number = (
            Fraction(draw.choice((-1, 0, 1, 1)))
            if kind == 0
            else Fraction(draw.randint(-4, 4))
            if kind == 1
            else Fraction(draw.randint(-40, 40), 2 ** draw.randint(1, 4))
            if kind == 2
            else Fraction(draw.randint(-30, 30), draw.randint(1, 12))
        )
        if not low <= number <= high:
            number = low + (high - low) * Fraction(draw.randint(0, 24), 24)
        return fmpq(number.numerator, number.denominator)

    def towards(self, end: End) -> Point | None:
        """A point of the cell of an end, by steps that make its facts true one by one."""
        face = self.trees.faces[end.face]
        free = [i for i in range(self._variables.entries) if i not in face.substitutions]
        facts = [*face.facts, *end.path]
        point: list[fmpq] | None = None
        for step in range(STEPS):
            if point is None or step % ANEW == ANEW - 1:
                kind = self._random.randrange(5)
                point = [self._number(i, kind) for i in range(self._variables.entries)]
            whole = self._completed(end.face, point)
            if whole is None:
                point = None
                continue
            try:
                with balls.precision(BITS):
                    values = Values(self._variables, whole)
                    wrong = [fact for fact in facts if values.sign(fact[0]) not in fact[1]]
                    if not wrong:
                        return whole
                    poly, signs = self._random.choice(wrong)
                    self._step(point, values, poly, signs, free)
            except NotKnown:
                point = None
        return None

    def _step(
        self, point: list[fmpq], values: Values, poly: Poly, signs: Signs, free: list[int]
    ) -> None:
        """Move one entry so that a polynomial gets one of these signs, if it is linear in it."""
        there = [i for i in free if i in self._variables.entries_in(poly)]
        if not there:
            return
        i = self._random.choice(there)
        parts = poly.by_powers(i)
        inside = any(j >= self._variables.entries and i in self._variables.of[j].entries
                     for j in poly.used)  # fmt: skip
        slope = values.of(parts[1]) if 1 in parts else fmpq(0)
        if inside or max(parts) != 1 or not isinstance(slope, fmpq) or slope == 0:
            point[i] = self._number(i, self._random.randrange(5))
            return
        rest = values.of(parts[0]) if 0 in parts else fmpq(0)
        if not isinstance(rest, fmpq):
            rest = fmpq(0)
        target = self._random.choice(sorted(signs))
        beside = target * self._random.choice(BESIDE) * (1 if slope > 0 else -1)
        point[i] = -rest / slope + fmpq(beside.numerator, beside.denominator)


class Values:
    """The values of the variables at a point. Roots and logarithms are computed when needed."""

    def __init__(self, variables: Any, entries: Point) -> None:
        self._variables = variables
        self._values: list[Any] = [*entries, *[None] * (len(variables.of) - len(entries))]

    def of(self, poly: Poly) -> Any:
        """The value of a polynomial, a rational or a ball.

        Raises:
            NotKnown: if a root in it is not defined, or not known to be.
        """
        for i in sorted(poly.used):
            if self._values[i] is None:
                self._values[i] = self._defined(i)
        return poly.at(self._values)

    def _defined(self, i: int) -> Any:
        variable = self._variables.of[i]
        if variable.kind == "ball":
            low, high = (
                arb(fmpq(end.numerator, end.denominator)) for end in (variable.low, variable.high)
            )
            if variable.low == variable.high:
                return fmpq(variable.low.numerator, variable.low.denominator)
            return low.union(high)
        of = self.of(variable.of)
        if variable.kind == "exp":
            return balls.numbers.apply("exp", of / fmpq(variable.degree))
        sign = self.sign(variable.of)
        if variable.kind == "log":
            if sign <= 0:
                raise NotKnown("a logarithm of what is not positive")
            return balls.numbers.log(of)
        if sign < 0:
            raise NotKnown("a root of what is negative")
        if sign == 0:
            return fmpq(0)
        return balls.numbers.power(of, fmpq(1, variable.degree))

    def sign(self, poly: Poly) -> int:
        """The sign of a polynomial.

        Raises:
            NotKnown: if it is not decided.
        """
        sign = self.known_sign(self.of(poly))
        if sign is None:
            raise NotKnown("a sign is not decided")
        return sign

    @staticmethod
    def known_sign(value: Any) -> int | None:
        """The sign of a number; None if balls do not decide it."""
        return 1 if value > 0 else -1 if value < 0 else 0 if value == 0 else None
