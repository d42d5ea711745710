"""What is known of the signs of polynomials.

A set of signs is a number of three bits: `MINUS`, `NONE` (zero) and `PLUS`. What is known of a
polynomial comes from facts about its irreducible factors, and from its monomials: a sum of
monomials of one sign has that sign.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from flint import fmpq, fmpz_mpoly

from rankcheck.decide.algebra.ring import Ring

MINUS, NONE, PLUS = 1, 2, 4
ANY = MINUS | NONE | PLUS


def flipped(signs: int) -> int:
    """The signs of −x."""
    return (signs & NONE) | (PLUS if signs & MINUS else 0) | (MINUS if signs & PLUS else 0)


def _products() -> list[list[int]]:
    value = {MINUS: -1, NONE: 0, PLUS: 1}
    sign = {-1: MINUS, 0: NONE, 1: PLUS}
    return [
        [
            sum({sign[value[a] * value[b]] for a in value if a & s for b in value if b & t})
            for t in range(8)
        ]
        for s in range(8)
    ]


_PRODUCTS = _products()


def product(a: int, b: int) -> int:
    """The signs that products of numbers with these signs have."""
    return _PRODUCTS[a][b]


def raised(signs: int, power: int) -> int:
    """The signs of a power, whose exponent is positive."""
    if power % 2:
        return signs
    return (signs & NONE) | (PLUS if signs & (MINUS | PLUS) else 0)


def signs_text(signs: int) -> str:
    """As proofs write them.

    >>> signs_text(NONE | PLUS)
    '0+'
    """
    return "".join(text for text, bit in (("-", MINUS), ("0", NONE), ("+", PLUS)) if signs & bit)


class Known:
    """Facts about polynomials, and what follows from them.

    Attributes:
        facts: by the text of a polynomial with positive leading coefficient, its possible signs.
        ranges: of entries, by their index, where they are hypotheses.
    """

    def __init__(
        self,
        ring: Ring,
        facts: dict[str, int] | None = None,
        ranges: Mapping[int, tuple[fmpq, fmpq]] | None = None,
    ) -> None:
        self.ring = ring
        self.ranges = ranges or {}
        self.facts: dict[str, int] = dict(facts or {})
        self._learnt: dict[str, fmpz_mpoly] = {}
        self._variables: dict[int, int] = {}

    def everywhere(self, f: fmpz_mpoly) -> int:
        """The signs that an irreducible polynomial has at all points; any, if nothing is known."""
        return self.ring.lemmas.get(str(f), ANY)

    def learn(self, p: fmpz_mpoly, signs: int) -> int:
        """Note that p has one of these signs; returns what is known of it now."""
        key = str(p)
        self.facts[key] = self.facts.get(key, ANY) & signs
        self._learnt[key] = p
        self._variables.clear()
        return self.facts[key]

    def of(self, p: fmpz_mpoly) -> int:
        """The possible signs of a polynomial."""
        if p.is_constant():
            return _of_number(p.leading_coefficient()) if p else NONE
        scale, factors = self.ring.factor(p)
        signs = _of_number(scale)
        for f, power in factors:
            signs = product(signs, raised(self.of_factor(f), power))
        return signs

    def contradiction(self) -> fmpz_mpoly | None:
        """A polynomial whose monomials say another sign than what was learnt of it."""
        for key, f in self._learnt.items():
            if not self.facts[key] & self.by_monomials(f):
                return f
        return None

    def of_factor(self, f: fmpz_mpoly) -> int:
        """The possible signs of an irreducible polynomial."""
        known = self.facts.get(str(f), ANY) & self.everywhere(f)
        if known in (0, MINUS, NONE, PLUS):
            return known
        return known & self.by_monomials(f)

    def by_monomials(self, f: fmpz_mpoly) -> int:
        """What follows from the signs of its monomials, or of its constants."""
        total = NONE
        for exponents, coefficient in f.to_dict().items():
            signs = _of_number(coefficient)
            for index, power in enumerate(exponents):
                if power:
                    signs = product(signs, raised(self.of_variable(index), int(power)))
            total = _sum(total, signs)
            if total == ANY:
                break
        if total == ANY:
            enclosed = self.ring.enclosure(f)
            if enclosed is not None:
                return PLUS if enclosed > 0 else MINUS if enclosed < 0 else ANY
            return self._by_ranges(f)
        return total

    def _by_ranges(self, f: fmpz_mpoly) -> int:
        """What follows from the ranges of its variables, if all of them have one."""
        if not self.ranges or any(i not in self.ranges for i in self.ring.occurring(f)):
            return ANY
        low = high = fmpq(0)
        for exponents, coefficient in f.to_dict().items():
            ends = fmpq(coefficient), fmpq(coefficient)
            for index, power in enumerate(exponents):
                for _ in range(int(power)):
                    products = [a * b for a in ends for b in self.ranges[index]]
                    ends = min(products), max(products)
            low, high = low + ends[0], high + ends[1]
        return MINUS * (low < 0) | NONE * (low <= 0 <= high) | PLUS * (high > 0)

    def of_variable(self, index: int) -> int:
        """The possible signs of an entry, or of a root."""
        known = self._variables.get(index)
        if known is not None:
            return known
        signs = self.facts.get(self.ring.names[index], ANY)
        generator = self.ring.generator(index)
        if generator is not None and generator.kind == "root":
            of = self.of(cast(fmpz_mpoly, generator.of)) & (NONE | PLUS)
            signs &= of or (NONE | PLUS)
        elif generator is not None and generator.kind == "exp":
            signs &= PLUS
        elif generator is not None and generator.ball is not None:
            if generator.ball > 0:
                signs &= PLUS
            elif generator.ball < 0:
                signs &= MINUS
        self._variables[index] = signs
        return signs


def _of_number(x: object) -> int:
    return PLUS if x > 0 else MINUS if x < 0 else NONE  # type: ignore[operator]


def _sum(a: int, b: int) -> int:
    """The signs of sums of numbers with these signs."""
    if a == NONE:
        return b
    if b == NONE:
        return a
    if not (a | b) & MINUS:
        return PLUS if a == PLUS or b == PLUS else NONE | PLUS
    if not (a | b) & PLUS:
        return MINUS if a == MINUS or b == MINUS else NONE | MINUS
    return ANY
