"""What follows of signs on a path, as steps for Coq: what the second checker finds, with reasons.

`rankcheck.prove.checking.signs` says which signs a polynomial may have; here the same rules are
applied, and each application is a step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor

from rankcheck.prove.checking.polynomials import Poly
from rankcheck.prove.checking.signs import (
    ANY,
    DEPTH,
    NOT_NEGATIVE,
    NOT_ZERO,
    POSITIVE,
    ZERO,
    Signs,
    Variables,
    by_ends,
    text_of,
)
from rankcheck.prove.coq.errors import NotWritten
from rankcheck.prove.coq.steps import (
    Step,
    Texts,
    any_sign,
    both,
    constant,
    literal,
    opposite,
    plus,
    power,
    quotient,
    same,
    times,
)

__all__ = ["Deduced", "Known", "Zero"]

Known = tuple[Poly, Step]
#: Roots of constants lie between multiples of 1/GRID.
GRID = 2**24


@dataclass(frozen=True, eq=False)
class Zero:
    """``cofactor · zero``, of a polynomial that is zero, with the step that says so."""

    cofactor: Poly
    zero: Poly
    step: Step


class Deduced:
    """Steps that follow from the facts of one path.

    Args:
        known: polynomials with what hypotheses say of them; the step is about their text.
    """

    def __init__(self, variables: Variables, texts: Texts, known: Sequence[Known]) -> None:
        self.variables, self.texts = variables, texts
        self.ring = variables.ring
        self.known = tuple(known)
        self._direct: dict[Poly, list[Known]] = {}
        self._cheap: dict[Poly, Step] = {}
        self._deduced: dict[tuple[Poly, int], Step] = {}
        self._busy: set[Poly] = set()
        self._defining: set[int] = set()
        for poly, step in self.known:
            self._direct.setdefault(poly.monic[0], []).append((poly, step))

    # What is known directly.

    def said(self, poly: Poly) -> Step:
        """What the facts about multiples of a polynomial say of it."""
        found = any_sign(self.texts(poly))
        for one, step in self._direct.get(poly.monic[0], ()):
            found = both(found, self._scaled(poly, one, step))
        return found

    def _scaled(self, poly: Poly, one: Poly, step: Step) -> Step:
        """A fact about one polynomial as one about a multiple of it."""
        if poly == one:
            return step
        factor = poly.multiple_of(one)
        assert factor is not None
        return self.same(times(constant(factor), step), poly)

    def same(self, step: Step, poly: Poly, *also: Poly) -> Step:
        """A step about a polynomial, from one about another expression of it.

        Args:
            also: further polynomials in that expression.
        """
        whole = all(Fraction(c).denominator == 1 for p in (poly, *also) for c in p.terms.values())
        return same(step, self.texts(poly), whole=whole and " / " not in step.of)

    def of_variable(self, i: int) -> Step:
        poly = self.ring.variable(i)
        found = self.said(poly)
        for monomial, step in self.known:
            if len(found.signs) > 1 and len(monomial.terms) == 1 and i in monomial.used:
                found = both(found, self._nonzero_in(i, monomial, step))
        variable = self.variables.of[i]
        if variable.kind in ("root", "log", "exp") and len(found.signs) > 1:
            found = both(found, self._of_definition(i))
        return self._within_ends(found, poly)

    def _nonzero_in(self, i: int, monomial: Poly, step: Step) -> Step:
        """A variable is not zero where a monomial with it is not."""
        name = self.texts(self.ring.variable(i))
        if 0 in step.signs or monomial == self.ring.variable(i):
            return any_sign(name)
        rest = monomial.divided(self.ring.variable(i))
        assert rest is not None
        product = self.same_text(step, f"({self.texts(rest)}) * {name}")
        return quotient(product, any_sign(self.texts(rest)), name)

    def same_text(self, step: Step, of: str) -> Step:
        return same(step, of, whole=" / " not in step.of + of)

    def _within_ends(self, found: Step, poly: Poly) -> Step:
        """What the ends between which variables lie say of a polynomial."""
        if len(found.signs) < 2:
            return found
        signs = by_ends(self.variables.bounds(poly))
        if found.signs <= signs:
            return found
        return both(found, self._by_ends(signs, poly))

    def _by_ends(self, signs: Signs, poly: Poly) -> Step:
        of = self.texts(poly)
        lemma = {"+": "above", "-": "negative", "0+": "not_negative", "-0": "not_above"}
        rule = lemma.get(text_of(signs))
        between = [self._between(i) for i in poly.used]
        if rule is None or None in between:
            return any_sign(of)
        facts = "".join(one for one in between if one is not None)
        how = "lra" if max(map(sum, poly.terms)) <= 1 else "nra"
        return Step(signs, of, f"{facts}apply {rule}; {how}", script=True)

    def _between(self, i: int) -> str | None:
        """Tactics that say between which rationals a variable lies; None where there are none."""
        variable, name = self.variables.of[i], self.ring.names[i]
        if variable.kind in ("entry", "ball"):
            return ""
        of = variable.of.constant
        if variable.kind != "root" or of is None or of <= 0:
            return None
        assert variable.low is not None
        assert variable.high is not None
        low = Fraction(floor(variable.low * GRID) - 1, GRID)
        high = Fraction(ceil(variable.high * GRID) + 1, GRID)
        ends = f"({literal(low)}) ({literal(high)})"
        decided = " ".join(["ltac:(lra)"] * 4)
        return f"pose proof (between _ _ _ {ends} is_{name} {decided}); "

    def _of_definition(self, i: int) -> Step:
        """The sign of a root or a logarithm, from that of what it is of; of an exponential."""
        variable, name = self.variables.of[i], self.ring.names[i]
        if variable.kind == "exp":
            return Step(POSITIVE, name, f"sign_of_exponential _ _ is_{name}")
        of = self.defined(i)
        if of is None:
            return any_sign(name)
        if variable.kind == "root":
            why = f"sign_of_root {variable.degree - 1} _ _ _ _ is_{name} {{0}}"
            return Step(of.signs, name, why, (of,))
        less = self.deduce(variable.of - self.ring.number(1))
        less = self.same_text(less, f"{self.texts(variable.of)} - 1")
        why = f"sign_of_logarithm _ _ _ _ _ _ is_{name} {{0}} {{1}}"
        return Step(less.signs, name, why, (of, less))

    def defined(self, i: int) -> Step | None:
        """That a root or a logarithm is taken where it is defined; None if that is not known."""
        variable = self.variables.of[i]
        if i in self._defining:
            return None
        self._defining.add(i)
        try:
            step = self.deduce(variable.of, DEPTH - 1)
        finally:
            self._defining.discard(i)
        needed = NOT_NEGATIVE if variable.kind == "root" else POSITIVE
        return step if step.signs <= needed else None

    def surely_defined(self, i: int) -> Step:
        """As `defined`.

        Raises:
            NotWritten: if it is not known.
        """
        step = self.defined(i)
        if step is None:
            raise NotWritten(f"it does not find the reason why {self.ring.names[i]} is defined")
        return step

    # What follows.

    def sign(self, poly: Poly) -> Step:
        """By its facts, its monomials, and ends."""
        if (value := poly.constant) is not None:
            return constant(value)
        if poly not in self._cheap:
            found = self.said(poly)
            if len(found.signs) > 1:
                found = both(found, self._by_monomials(poly))
            self._cheap[poly] = self._within_ends(found, poly)
        return self._cheap[poly]

    def _by_monomials(self, poly: Poly) -> Step:
        if (value := poly.constant) is not None:
            return constant(value)
        parts = []
        for exponents in sorted(poly.terms, reverse=True):
            value = Fraction(poly.terms[exponents])
            step = self.monomial(exponents, abs(value))
            parts.append(opposite(step) if value < 0 else step)
        total = plus(parts)
        if total.signs == ANY:
            return any_sign(self.texts(poly))
        # Coq reads a - b as a + - b, which the steps are about.
        return replace(total, of=self.texts(poly))

    def monomial(self, exponents: tuple[int, ...], coefficient: Fraction) -> Step:
        factors = [power(self.of_variable(i), e) for i, e in enumerate(exponents) if e]
        if coefficient != 1 or not factors:
            factors.insert(0, constant(coefficient))
        total, *others = factors
        for one in others:
            step = times(total, one)
            total = replace(step, of=f"{total.of} * {one.of}")
        return total

    def deduce(self, poly: Poly, depth: int = DEPTH) -> Step:
        """By factors, too."""
        found = self.sign(poly)
        if depth == 0 or len(found.signs) <= 1 or poly in self._busy:
            return found
        if (poly, depth) in self._deduced:
            return self._deduced[poly, depth]
        self._busy.add(poly)
        try:
            for one in self._by_factors(poly, depth):
                found = both(found, one)
                if len(found.signs) <= 1:
                    break
        finally:
            self._busy.discard(poly)
        if not self._busy:
            self._deduced[poly, depth] = found
        return found

    def impossible(self, poly: Poly) -> Step | None:
        """A step that a polynomial has no sign at all."""
        ends = self._by_ends(by_ends(self.variables.bounds(poly)), poly)
        found = both(both(self.said(poly), self._by_monomials(poly)), ends)
        for one in self._by_factors(poly, DEPTH):
            found = both(found, one)
        return None if found.signs else found

    def _by_factors(self, poly: Poly, depth: int) -> Iterator[Step]:
        content = Poly({poly.content: 1}, poly.variables)
        if any(poly.content) and len(poly.terms) > 1:
            rest = poly.divided(content)
            assert rest is not None
            made = times(self.deduce(content, depth - 1), self.deduce(rest, depth - 1))
            if made.signs != ANY:
                yield self.same(made, poly)
        for fact in self._facts():
            if len(fact.terms) < 2 and len(poly.terms) > 1:
                continue
            step = self.sign(fact)
            if step.signs == ANY or fact == poly.monic[0] or fact.constant is not None:
                continue
            if fact.used <= poly.used and (rest := poly.divided(fact)) is not None:
                made = times(step, self.deduce(rest, depth - 1))
                if made.signs != ANY:
                    yield self.same(made, poly)
            elif poly.used <= fact.used and (rest := fact.divided(poly)) is not None:
                other = self.deduce(rest, depth - 1)
                of = self.texts(poly)
                product = self.same_text(step, f"({self.texts(rest)}) * ({of})")
                made = quotient(product, other, of)
                if made.signs != ANY:
                    yield made

    def _facts(self) -> list[Poly]:
        """The polynomials of facts, and variables that are not zero as their monomials are not."""
        found = dict.fromkeys(self._direct)
        for poly, step in self.known:
            if 0 not in step.signs and len(poly.terms) == 1:
                found |= dict.fromkeys(self.ring.variable(i) for i in poly.used)
        return list(found)

    # What is the same but for what is zero.

    def moved(self, poly: Poly, step: Step, made: Poly, zeros: Sequence[Zero] = ()) -> Step:
        """A step about a polynomial that is another one plus multiples of zeros.

        Args:
            step: about an expression of `made`.
            zeros: those that are named; the relations of roots are found.

        Raises:
            NotWritten: if it is not.
        """
        left = poly - made
        for one in zeros:
            left = left - one.cofactor * one.zero
        found, left = self._relations(left)
        if left:
            raise NotWritten(
                f"{self.ring.text(poly)} and {self.ring.text(made)} are not the same polynomial"
            )
        parts = [step]
        for one in (*zeros, *found):
            if one.cofactor:
                parts.append(times(any_sign(self.texts(one.cofactor)), one.step))
        return self.same(plus(parts), poly, made, *(one.cofactor for one in (*zeros, *found)))

    def _relations(self, left: Poly) -> tuple[list[Zero], Poly]:
        """What a polynomial is, of ``r^k - f`` of roots, and what is left over."""
        found = []
        for i in range(len(self.variables.of) - 1, self.variables.entries - 1, -1):
            variable = self.variables.of[i]
            if variable.kind != "root" or i not in left.used:
                continue
            root, cofactor = self.ring.variable(i), self.ring.number(0)
            while (top := max(parts := left.by_powers(i), default=0)) >= variable.degree:
                quotient_ = parts[top] * root ** (top - variable.degree)
                cofactor = cofactor + quotient_
                left = left - quotient_ * self.relation(i)
            if cofactor:
                found.append(Zero(cofactor, self.relation(i), self.relation_step(i)))
        return found, left

    def relation(self, i: int) -> Poly:
        variable = self.variables.of[i]
        return self.ring.variable(i) ** variable.degree - variable.of

    def relation_step(self, i: int) -> Step:
        """That ``r^k - f`` of a root is zero."""
        variable, name = self.variables.of[i], self.ring.names[i]
        of = f"{name} ^ {variable.degree} - ({self.texts(variable.of)})"
        why = f"root_of _ _ _ _ _ is_{name} {{0}}"
        return Step(ZERO, of, why, (self.surely_defined(i),))

    def require(self, poly: Poly, signs: Signs) -> Step:
        """That the sign of a polynomial is one of these.

        Raises:
            NotWritten: if that does not follow.
        """
        step = self.deduce(poly)
        if not step.signs <= signs:
            raise NotWritten(
                f"it does not find the reason why {self.ring.text(poly)} is "
                f"{_WORDS[text_of(signs)]}"
            )
        return step


_WORDS = {
    text_of(NOT_NEGATIVE): "not negative",
    text_of(POSITIVE): "positive",
    text_of(ZERO): "zero",
    text_of(NOT_ZERO): "not zero",
    "-0": "not positive",
    "-": "negative",
}
