"""The connection of a proof with the body: at points, both say the same."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from flint import arb, fmpq

from rankcheck import balls
from rankcheck.decide.prove.checking.bodies import Body, Said, Sides, Unknown
from rankcheck.decide.prove.checking.errors import UnsoundError, at
from rankcheck.decide.prove.checking.points import BITS, Point, Values, Walker
from rankcheck.decide.prove.checking.polynomials import rational
from rankcheck.decide.prove.checking.trees import End, Trees
from rankcheck.decide.prove.proof import Entry, Goal, Leaf, Proof, Ratio

#: So many points of one leaf are compared with the body.
EACH = 3
#: Searches for points of leaves that no random point is in.
SEARCHES = 96
#: Sides that are balls are compared if they are known up to this, relative to their size.
NARROW = arb(2) ** -32
#: Where in their ranges the entries are by which a generator shows what it draws.
SHARES, APART = tuple(Fraction(n, 7) for n in (3, 0, 6, 5, 1)), Fraction(1000, 1618)
#: The signs that the goal of a relation may need.
NEEDED = {"leq": ("0+", "+", "0"), "lt": ("+",), "eq": ("0",)}


class Connection:
    """Compares a proof with the body of its claim at points.

    Attributes:
        points: how many points were compared.
        undecided: how many were not, as a sign or a side is not decided there.
        reached: the ends that were reached by points that were compared, as (face, node).
        scope: instances of the scope: how many were compared, and how many there are.
    """

    def __init__(self, body: Body, proof: Proof, trees: Trees, seed: int) -> None:
        self._body = body
        self._trees = trees
        self._seed = seed
        self._check_entries(proof.entries)
        bounds = trees.variables.of
        ranges = [
            (
                low if one.low is None else max(low, one.low),
                high if one.high is None else min(high, one.high),
            )
            for (low, high), one in zip(body.ranges, bounds, strict=False)
        ]
        self._walker = Walker(trees, ranges, seed)
        self._kinds: dict[int, str] = {}
        self._points = 0
        self._unknown: Counter[str] = Counter()
        self.reached: set[tuple[int, int]] = set()
        self.scope = (0, 0)

    @property
    def points(self) -> int:
        return self._points

    @property
    def undecided(self) -> int:
        return self._walker.undecided + sum(self._unknown.values())

    def _check_entries(self, entries: Sequence[Entry]) -> None:
        """Check that the generator draws the entries of the proof, from their ranges."""
        for share in SHARES:
            point = []
            for place, one in enumerate(entries):
                low, high = rational(one.low), rational(one.high)
                x = low + (high - low) * ((share + place * APART) % 1)
                point.append(fmpq(x.numerator, x.denominator))
            if self._body.shape is None:
                self._body.at(point)
        if self._body.shape is None:
            raise UnsoundError("the generator draws nothing at the shape of the proof")
        drawn = self._body.ranges
        if len(drawn) != len(entries):
            raise UnsoundError(
                f"the generator draws {len(drawn)} entries, and the proof has {len(entries)}"
            )
        for one, (first, last) in zip(entries, drawn, strict=True):
            if not rational(one.low) <= first <= last <= rational(one.high):
                raise UnsoundError(
                    f"{one.name} is in [{one.low}, {one.high}], and the generator draws it from "
                    f"[{first}, {last}]; the proof has all of that"
                )

    def compare(self, points: int) -> None:
        """Compare at random points of each face, and at some of each leaf that can be found.

        Raises:
            UnsoundError: if they say different things at one.
        """
        chosen: dict[tuple[int, int], list[tuple[Point, End]]] = {}

        def take(point: Point | None, face: int) -> None:
            walk = None if point is None else self._walker.walk(point, face)
            if walk is not None and point is not None:
                found = chosen.setdefault((walk.end.face, walk.end.node), [])
                if len(found) < EACH and point not in (one for one, _ in found):
                    found.append((point, walk.end))

        for face in range(len(self._trees.faces)):
            for _ in range(points):
                take(self._walker.random(face), face)
        for _, end in zip(range(SEARCHES), self._unseen(chosen), strict=False):
            take(self._walker.towards(end), end.face)
        self._compare([one for found in chosen.values() for one in found])

    def _unseen(self, chosen: dict[tuple[int, int], Any]) -> Iterable[End]:
        """Leaves that no point is in; what a point leads to may take some from the list."""
        for end in self._trees.ends:
            known = isinstance(end.what, Leaf) and end.what.outcome != "empty"
            if known and (end.face, end.node) not in chosen:
                yield end

    def compare_scope(self, most: int) -> None:
        """Compare at the instances with entries −1, 0 and 1, or at so many of them.

        Raises:
            UnsoundError: if they say different things at one.
        """
        shape = self._body.shape
        assert shape is not None
        grids = [values for dims, values in shape.grids for _ in range(math.prod(dims))]
        of_all = shape.instances
        if of_all <= most:
            chosen: Iterable[Sequence[float]] = itertools.product(*grids)
        else:
            draw = random.Random(self._seed)
            chosen = ([draw.choice(values) for values in grids] for _ in range(most))
        before = self._points
        ends = []
        for entries in chosen:
            point = tuple(fmpq(*one.as_integer_ratio()) for one in entries)
            if self._inside(point) and (walk := self._walker.walk(point)) is not None:
                ends.append((point, walk.end))
        self._compare(ends)
        self.scope = self._points - before, of_all

    def _inside(self, point: Point) -> bool:
        known = self._trees.faces[0].known
        values = Values(self._trees.variables, point)
        return all(values.sign(poly) in signs for poly, signs in known.facts)

    def _compare(self, ends: list[tuple[Point, End]]) -> None:
        with balls.precision(BITS):
            for point, end in ends:
                one = self._body.at(point)
                if isinstance(one, Unknown):
                    self._unknown[one.why] += 1
                    continue
                with at(end.face, end.node):
                    if self._agrees(point, end, one):
                        self._points += 1
                        self.reached.add((end.face, end.node))
                    else:
                        self._unknown["a side is known up to a wide ball only"] += 1

    def _agrees(self, point: Point, end: End, said: Said) -> bool:
        """Compare one point; False if the balls do not tell.

        Raises:
            UnsoundError: if the proof and the body say different things.
        """
        if not isinstance(end.what, Leaf):
            return True  # nothing is said there
        outcome = end.what.outcome
        if outcome == "empty":
            raise UnsoundError(f"no instance is said to be there, and {_text(point)} is one")
        if said.outside != (outcome == "outside"):
            what = "rejects" if said.outside else "accepts"
            raise UnsoundError(f"the path is {outcome}, and the generator {what} {_text(point)}")
        goals: dict[tuple[int, int], list[Goal]] = {}
        for goal in end.what.goals:
            goals.setdefault((goal.relation, goal.entry), []).append(goal)
        values = Values(self._trees.variables, point)
        decided = True
        for sides in said.sides:
            decided &= self._stands(point, sides, goals.get((sides.relation, sides.entry), []),
                                    values)  # fmt: skip
        return decided

    def _stands(self, point: Point, sides: Sides, goals: list[Goal], values: Values) -> bool:
        """Whether what is asserted in one entry is what a goal proves; False if it is undecided."""
        where = f"entry {sides.entry} of relation {sides.relation}"
        part = sides.part
        if part.fails:
            raise UnsoundError(f"{where} fails at {_text(point)}, where it is said to be proved")
        if part.integers:
            return True
        if not goals:
            raise UnsoundError(
                f"{where} is asserted at {_text(point)}, and no goal proves it; each relation that "
                "the body asserts has a goal in each entry"
            )
        decided = True
        for goal in goals:
            if part.integers is not None:
                raise UnsoundError(f"{where} is between integers, and a goal has its polynomials")
            if goal.signs not in NEEDED[part.kind]:
                raise UnsoundError(
                    f"{where} is a {part.kind}, and its goal proves the signs {goal.signs}"
                )
            self._kinds[goal.relation] = part.kind
            for name, side, formula in (("lhs", part.lhs, goal.lhs), ("rhs", part.rhs, goal.rhs)):
                assert formula is not None
                decided &= self._same(f"the {name} of {where}", point, side, formula, values)
        return decided

    def _same(self, what: str, point: Point, side: Any, formula: Ratio, values: Values) -> bool:
        ring = self._trees.variables.ring
        above, below = (values.of(ring.poly(text)) for text in (formula.num, formula.den))
        if values.known_sign(below) in (0, None):
            return False
        value = above / below
        if not isinstance(side, fmpq | arb):
            raise UnsoundError(f"{what} is complex; what is proved is about real numbers")
        if isinstance(value, fmpq) and isinstance(side, fmpq):
            same, known = value == side, True
        else:
            a, b = arb(value), arb(side)
            same, known = bool(a.overlaps(b)), _narrow(a) and _narrow(b)
        if not same:
            raise UnsoundError(
                f"{what} is {_number(side)} at {_text(point)}, and the formula of the leaf gives "
                f"{_number(value)}"
            )
        return known

    def check_kinds(self) -> None:
        """Check the goals of all leaves against what the body compares where points were.

        Raises:
            UnsoundError: if a goal has the signs of another kind of relation.
        """
        for end in self._trees.ends:
            leaf = end.what
            if not isinstance(leaf, Leaf) or leaf.outcome != "asserted":
                continue  # that a path is empty is about no relation
            for goal in leaf.goals:
                kind = self._kinds.get(goal.relation)
                if kind is not None and goal.signs not in NEEDED[kind]:
                    raise UnsoundError(
                        f"relation {goal.relation} is a {kind}, and a goal of it proves the signs "
                        f"{goal.signs}",
                        end.face,
                        end.node,
                    )

    def check_exceptions(self) -> None:
        """Check that the polynomials that are excepted are not zero everywhere.

        Raises:
            UnsoundError: if one is zero at every point, as one with roots may be.
        """
        for poly in self._trees.exceptions:
            for _ in range(SEARCHES):
                point = self._walker.random(0)
                if point is not None and self._walker.nonzero(poly, point):
                    break
            else:
                raise UnsoundError(
                    f"{self._trees.variables.ring.text(poly)} is an exception, and is zero at "
                    "every point; then nothing is proved"
                )

    def require_some(self) -> None:
        """Check that the proof was compared with the body at all.

        Raises:
            UnsoundError: if no point was decided; naming what the body did most often.
        """
        leaves = [end for end in self._trees.ends if isinstance(end.what, Leaf)]
        if self.reached or not leaves:
            return
        why = self._unknown.most_common(1)
        raise UnsoundError(
            "at no point could the proof be compared with the body"
            + (f": {why[0][0]:.300}" if why else "; every sign on the way was undecided")
        )


def _narrow(ball: arb) -> bool:
    return bool(ball.is_finite()) and bool(ball.rad() <= NARROW * (1 + abs(ball)))


def _number(number: Any) -> str:
    return str(number) if isinstance(number, fmpq) else number.str(12)


def _text(point: Point) -> str:
    return f"({', '.join(map(_number, point))})"
