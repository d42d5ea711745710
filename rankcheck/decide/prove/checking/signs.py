"""What is known of signs on a path, and what follows from it.

The sign of a polynomial is a set of -1, 0 and 1: those that it may have. What follows is little:
the sign of a monomial from those of its variables, the sum of monomials of one sign, bounds from
the ranges of variables, and the sign of a product from those of its factors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from flint import arb, ctx, fmpq

from rankcheck.decide.prove.checking.errors import UnsoundError
from rankcheck.decide.prove.checking.polynomials import Poly, Ring, rational
from rankcheck.decide.prove.proof import Definition, Proof

Signs: TypeAlias = frozenset[int]

ANY, NOT_ZERO = frozenset((-1, 0, 1)), frozenset((-1, 1))
NOT_NEGATIVE, POSITIVE, ZERO = frozenset((0, 1)), frozenset((1,)), frozenset((0,))
_OF = {"-": -1, "0": 0, "+": 1}
#: How deep products are taken apart; the precision of roots and logarithms of constants.
DEPTH, BITS = 3, 256


def signs_of(text: str) -> Signs:
    """The set that a text such as ``0+`` is.

    Raises:
        UnsoundError: if it is none.
    """
    if text not in ("-", "0", "+", "-0", "-+", "0+", "-0+"):
        raise UnsoundError(f"{text!r:.20} are no signs; these are some of -0+, in this order")
    return frozenset(_OF[one] for one in text)


def text_of(signs: Signs) -> str:
    return "".join(text for text, sign in _OF.items() if sign in signs)


def product(one: Signs, two: Signs) -> Signs:
    return frozenset(a * b for a in one for b in two)


def powered(signs: Signs, power: int) -> Signs:
    return frozenset(one**power for one in signs) if power else POSITIVE


Bounds: TypeAlias = tuple[Fraction | None, Fraction | None]


@dataclass(frozen=True)
class Variable:
    """A variable of a proof: an entry, or a definition.

    Attributes:
        low, high: what it lies between on every path.
        kind: `entry`, `root`, `log`, `exp` or `ball`.
        of, degree: of a root, a logarithm or an exponential.
        entries: the numbers of the entries that it depends on.
    """

    low: Fraction | None
    high: Fraction | None
    kind: str
    of: Poly
    degree: int = 0
    entries: frozenset[int] = frozenset()


class Variables:
    """The ring of a proof, with what each of its variables is."""

    def __init__(self, proof: Proof) -> None:
        names = [entry.name for entry in proof.entries]
        self.entries = len(names)
        self.ring = Ring([*names, *(one.name for one in proof.definitions)])
        self.of: list[Variable] = []
        none = self.ring.poly("0")
        for number, entry in enumerate(proof.entries):
            low, high = rational(entry.low), rational(entry.high)
            if not low <= high:
                raise UnsoundError(f"the range of {entry.name} is [{low}, {high}], which is empty")
            ends: Bounds = (low, high) if entry.bounded else (None, None)
            self.of.append(Variable(ends[0], ends[1], "entry", none, 0, frozenset((number,))))
        for one in proof.definitions:
            self.of.append(self._defined(one, none))

    def _defined(self, one: Definition, none: Poly) -> Variable:
        kind, name, number = one.kind, one.name, len(self.of)
        if kind == "ball":
            low, high = rational(one.low), rational(one.high)
            if not low <= high:
                raise UnsoundError(f"{name} is a number in [{low}, {high}], and there is none")
            return Variable(low, high, kind, none)
        if kind not in ("root", "log", "exp"):
            raise UnsoundError(f"{name} is defined as a {kind!r:.20}; that is no definition")
        of = self.ring.poly(one.of)
        if any(i >= number for i in of.used):
            raise UnsoundError(f"{name} is defined by itself, or by what is defined after it")
        entries = frozenset(e for i in of.used for e in self.of[i].entries)
        if kind == "log":
            ends = _of_function(self.bounds(of), lambda ball: ball.log())
            return Variable(*ends, kind, of, entries=entries)
        degree = one.degree
        if kind == "exp":
            if not isinstance(degree, int) or degree < 1:
                raise UnsoundError(
                    f"{name} is exp of a polynomial over {degree!r:.20}; that is 1 up"
                )
            ends = _of_function(self.bounds(of), lambda ball: (ball / degree).exp())
            return Variable(ends[0] or Fraction(0), ends[1], kind, of, degree, entries)
        if not isinstance(degree, int) or degree < 2:
            raise UnsoundError(f"{name} is a root of degree {degree!r:.20}; degrees are 2 or more")
        ends = _of_function(self.bounds(of), lambda ball: ball.root(degree))
        return Variable(ends[0] or Fraction(0), ends[1], kind, of, degree, entries)

    def bounds(self, poly: Poly) -> Bounds:
        """What a polynomial lies between wherever it is defined; None for no bound."""
        low, high = Fraction(0), Fraction(0)
        for exponents, coefficient in poly.terms.items():
            ends = Fraction(coefficient), Fraction(coefficient)
            for i, power in enumerate(exponents):
                if not power:
                    continue
                first, last = self.of[i].low, self.of[i].high
                if first is None or last is None:
                    return None, None
                inner = first**power, last**power
                if power % 2 == 0 and first < 0 < last:
                    inner = Fraction(0), max(inner)
                corners = [a * b for a in ends for b in inner]
                ends = min(corners), max(corners)
            low, high = low + ends[0], high + ends[1]
        return low, high

    def reduced(self, poly: Poly) -> Poly:
        """The same number with ``f`` for ``r^k`` of each root; right where these are defined."""
        for i in range(len(self.of) - 1, self.entries - 1, -1):
            variable = self.of[i]
            if variable.kind != "root" or i not in poly.used:
                continue
            result = self.ring.poly("0")
            root = self.ring.variable(i)
            for power, part in poly.by_powers(i).items():
                times, left = divmod(power, variable.degree)
                result = result + part * variable.of**times * root**left
            poly = result
        return poly

    def entries_in(self, poly: Poly) -> frozenset[int]:
        """The entries that a polynomial depends on, through its roots and logarithms too."""
        return frozenset(e for i in poly.used for e in self.of[i].entries)


def _of_function(ends: Bounds, function: Callable[[arb], arb]) -> Bounds:
    """Bounds of an increasing function between positive bounds; None without these."""
    low, high = ends
    if low is None or high is None or low <= 0:
        return None, None
    before, ctx.prec = ctx.prec, BITS
    try:
        first, last = (function(arb(fmpq(end.numerator, end.denominator))) for end in (low, high))
        low_, high_ = first.lower().fmpq(), last.upper().fmpq()
    finally:
        ctx.prec = before
    return Fraction(int(low_.p), int(low_.q)), Fraction(int(high_.p), int(high_.q))


@dataclass(eq=False)
class Known:
    """Facts on a path: polynomials with the signs that they may have."""

    variables: Variables
    facts: tuple[tuple[Poly, Signs], ...] = ()
    _direct: dict[Poly, Signs] = field(default_factory=dict)
    _cheap: dict[Poly, Signs] = field(default_factory=dict)
    _busy: set[Poly] = field(default_factory=set)

    def __post_init__(self) -> None:
        for poly, signs in self.facts:
            self._note(poly, signs)
        for i, one in enumerate(self.variables.of):
            if one.kind == "exp":  # lies above its tangent at 0
                g = self.variables.ring.variable(i)
                self._note((g - self.variables.ring.number(1)) * one.degree - one.of, NOT_NEGATIVE)

    def _note(self, poly: Poly, signs: Signs) -> None:
        monic, factor = poly.monic
        if factor < 0:
            signs = frozenset(-one for one in signs)
        self._direct[monic] = self._direct.get(monic, ANY) & signs
        if 0 not in signs and len(monic.terms) == 1:
            for i in monic.used:
                variable = self.variables.ring.variable(i)
                self._direct[variable] = self._direct.get(variable, ANY) & NOT_ZERO

    def and_(self, facts: Iterable[tuple[Poly, Signs]]) -> Known:
        """What is known with further facts."""
        return Known(self.variables, (*self.facts, *facts))

    def said(self, poly: Poly) -> Signs:
        """What the facts about a polynomial itself say."""
        monic, factor = poly.monic
        signs = self._direct.get(monic, ANY)
        return frozenset(-one for one in signs) if factor < 0 else signs

    def sign(self, poly: Poly) -> Signs:
        """The signs that a polynomial may have, by its facts, its monomials, and bounds."""
        if poly not in self._cheap:
            signs = self.said(poly) & self._by_monomials(poly)
            if len(signs) > 1:
                signs &= by_ends(self.variables.bounds(poly))
            self._cheap[poly] = signs
        return self._cheap[poly]

    def of_variable(self, i: int) -> Signs:
        """The signs that a variable may have."""
        variable = self.variables.of[i]
        signs = self._direct.get(self.variables.ring.variable(i), ANY)
        signs &= by_ends((variable.low, variable.high))
        if variable.kind == "exp":
            signs &= POSITIVE
        if variable.kind == "root" and len(signs) > 1:
            of = self.deduced(variable.of, DEPTH - 1)
            if of <= POSITIVE or of == ZERO:
                signs &= of
        return signs

    def _by_monomials(self, poly: Poly) -> Signs:
        parts: list[Signs] = []
        for exponents, coefficient in poly.terms.items():
            signs = POSITIVE if coefficient > 0 else frozenset((-1,))
            for i, power in enumerate(exponents):
                if power:
                    signs = product(signs, powered(self.of_variable(i), power))
            parts.append(signs)
        return summed(parts)

    def within(self, poly: Poly, allowed: Signs, depth: int = DEPTH) -> bool:
        """Whether the sign of a polynomial is known to be one of these."""
        return self.sign(poly) <= allowed or self.deduced(poly, depth) <= allowed

    def deduced(self, poly: Poly, depth: int = DEPTH) -> Signs:
        """The signs that it may have, also by the factors that facts are of."""
        signs = self.sign(poly)
        if depth == 0 or len(signs) <= 1 or poly in self._busy:
            return signs
        self._busy.add(poly)
        try:
            for one in self._by_factors(poly, depth):
                signs &= one
                if len(signs) <= 1:
                    break
        finally:
            self._busy.discard(poly)
        return signs

    def impossible(self, poly: Poly) -> bool:
        """Whether a polynomial can have no sign at all, so that no instance is there."""
        signs = self.sign(poly)
        for one in self._by_factors(poly, DEPTH):
            signs &= one
        return not signs

    def _by_factors(self, poly: Poly, depth: int) -> Iterable[Signs]:
        content = Poly({poly.content: 1}, poly.variables)
        if any(poly.content) and len(poly.terms) > 1:
            rest = poly.divided(content)
            assert rest is not None
            yield product(self.deduced(content, depth - 1), self.deduced(rest, depth - 1))
        for fact in list(self._direct):
            signs = self.sign(fact)
            if len(fact.terms) < 2 and len(poly.terms) > 1:
                continue  # its content has been seen to
            if signs == ANY or fact == poly.monic[0] or fact.constant is not None:
                continue
            if fact.used <= poly.used and (rest := poly.divided(fact)) is not None:
                yield product(signs, self.deduced(rest, depth - 1))
            elif poly.used <= fact.used and (rest := fact.divided(poly)) is not None:
                # A product that is not zero has no factor that is.
                other = self.deduced(rest, depth - 1) - (ZERO if 0 not in signs else frozenset())
                if 0 not in other:
                    yield product(signs, other)

    def require_defined(self, *polys: Poly) -> None:
        """Check that the roots and logarithms in polynomials are taken where they are defined.

        Raises:
            UnsoundError: if it is not known that they are.
        """
        for poly in polys:
            for i in poly.used:
                variable = self.variables.of[i]
                if variable.kind not in ("root", "log", "exp"):
                    continue
                self.require_defined(variable.of)
                if variable.kind == "exp":
                    continue
                needed = NOT_NEGATIVE if variable.kind == "root" else POSITIVE
                if not self.within(variable.of, needed):
                    name, ring = self.variables.ring.names[i], self.variables.ring
                    raise UnsoundError(
                        f"{name} stands where the sign of {ring.text(variable.of)} is not known; a "
                        f"{variable.kind} is taken where it is known to be defined"
                    )


def summed(parts: Iterable[Signs]) -> Signs:
    """The signs that a sum may have."""
    present = [signs for signs in parts if signs != ZERO]
    if not present:
        return ZERO
    if any(not signs for signs in present):
        return frozenset()
    for one in (1, -1):
        if all(signs <= {0, one} for signs in present):
            strict = any(0 not in signs for signs in present)
            return frozenset((one,)) if strict else frozenset((0, one))
    return ANY


def by_ends(ends: Bounds) -> Signs:
    low, high = ends
    signs = set(ANY)
    if low is not None:
        signs -= {-1} if low == 0 else {-1, 0} if low > 0 else set()
    if high is not None:
        signs -= {1} if high == 0 else {1, 0} if high < 0 else set()
    return frozenset(signs)
