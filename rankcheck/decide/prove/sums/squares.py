"""Sums of squares: polynomials that are not negative on a path because they are seen not to be.

A goal is proved by ``multiplier · goal = Σ weight · square² · ∏ known + constant + Σ cofactor ·
zero`` (the certificates of Putinar and Schmüdgen). What is tried, in this order: squares alone;
squares times a root or what a fact says is not negative; times products of up to four of these.
The multiplier is 1, or one that a fact says is positive, or 1 plus the squares of the variables.
Gram matrices that follow from the equations alone need no solver; all others need the
extra `prove`. A certificate is expanded again in fractions, by other code, before it is returned.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from flint import fmpq

from rankcheck.decide.algebra.polynomials import Coefficients, in_order, parse, text
from rankcheck.decide.prove.proof import Definition, Fact, Multiple, Polynomial, Squares, Term
from rankcheck.decide.prove.sums.gram import Block, Shape, blocks, cofactors, homogeneous
from rankcheck.decide.prove.sums.ring import Ring, Sign, closed, known_signs, relevant, variables
from rankcheck.decide.prove.sums.semidefinite import Solution, System, available, solved, squares_of

#: The most unknowns of one attempt: entries of Gram matrices and of cofactors.
SIZE = 2500
#: So many of the polynomials that facts say are positive are tried as multipliers.
_MULTIPLIERS = 4
#: The polynomials that are multiplied out for a block have so many terms, by the unknowns.
_TERMS = 4
#: Products of up to four are tried of so many facts.
_FEW = 9


def missing() -> str:
    """What is said where a goal stays open because there is no solver; empty if there is one."""
    return "" if available() else "sums of squares need the extra prove"


def squares(
    goal: Polynomial,
    facts: Sequence[Fact],
    definitions: Sequence[Definition],
    *,
    strict: bool,
    seconds: float | None = None,
    size: int = SIZE,
) -> Squares | None:
    """A certificate that a polynomial is not negative, or positive, where the facts hold.

    Args:
        strict: whether the goal is to be positive. The certificate has a positive constant then,
            which no goal has that is homogeneous.
        seconds: how long to try; None: until nothing is left to be tried.
        size: attempts with more unknowns than this are left out.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    if not variables(goal):
        value = parse(goal).get((), Fraction(0))
        return Squares(constant=str(value)) if value > 0 or (value == 0 and not strict) else None
    for attempt in _attempts(goal, known_signs(facts), definitions):
        if deadline is not None and time.monotonic() > deadline:
            return None
        found = attempt.run(definitions, deadline, strict=strict, size=size)
        if found is not None and _expands(goal, found, strict=strict):
            return found
    return None


@dataclass(frozen=True)
class _Attempt:
    """What may stand in a certificate."""

    goal: Polynomial
    multiplier: Polynomial
    products: tuple[tuple[Polynomial, ...], ...]
    zeros: tuple[Polynomial, ...]
    loose: bool

    def run(
        self, definitions: Sequence[Definition], deadline: float | None, *, strict: bool, size: int
    ) -> Squares | None:
        """The certificate, if there is one of this form."""
        used = {self.goal, self.multiplier, *self.zeros, *(p for one in self.products for p in one)}
        ring = Ring(closed(variables(*sorted(used)), definitions), definitions)
        target = ring.reduce(ring.read(self.goal) * ring.read(self.multiplier))[0]
        if target == 0 or len(target) > size:  # each term takes an unknown
            return None
        by = {known: _product(ring, known) for known in self.products}
        zeros = {zero: ring.read(zero) for zero in self.zeros}
        shape = Shape(ring, target, list(by.values()), list(zeros.values()), loose=self.loose)
        made: list[Block] = []
        for known in self.products:
            if deadline is not None and time.monotonic() > deadline:
                return None
            more = blocks(shape, by[known], known)
            work = _unknowns(more) * len(by[known])
            if _unknowns([*made, *more]) <= size and work <= _TERMS * size:
                made += more
        if strict:
            made.append(Block(ring.one, (), [ring.one]))
        times = [(zero, one) for zero, of in zeros.items() for one in cofactors(shape, of)]
        times = times[: max(0, size - _unknowns(made))]
        free = [one * zeros[zero] for zero, one in times]
        system = System(ring, target, made, free, strict=strict)
        found = solved(system, deadline)
        return None if found is None else self._written(system, found, times, strict=strict)

    def _written(
        self,
        system: System,
        found: Solution,
        times: Sequence[tuple[Polynomial, Any]],
        *,
        strict: bool,
    ) -> Squares | None:
        """The certificate of a solution; the cofactors of the roots are what is left over."""
        ring, (matrices, factors) = system.ring, found
        left = ring.read(self.goal) * ring.read(self.multiplier)
        constant = fmpq(0)
        if strict:
            *matrices, last = matrices
            constant = last[0][0]
            left -= ring.one * constant
        terms = []
        for block, matrix in zip(system.blocks, matrices, strict=False):
            for weight, row in squares_of(matrix) or ():
                square = sum((v * b for v, b in zip(row, block.basis, strict=True)), 0 * ring.one)
                terms.append(Term(weight=str(weight), square=ring.write(square), known=block.known))
                left -= weight * square * square * block.by
        cofactor = dict.fromkeys(self.zeros, 0 * ring.one)
        for (zero, one), factor in zip(times, factors, strict=True):
            cofactor[zero] += factor * one
            left -= factor * one * ring.read(zero)
        zeros = [Multiple(cofactor=ring.write(v), zero=z) for z, v in cofactor.items() if v != 0]
        for name, quotient in ring.reduce(left)[1].items():
            relation = ring.write(ring.relations[name])
            zeros.append(Multiple(cofactor=ring.write(quotient), zero=relation))
        return Squares(
            terms=tuple(terms),
            multiplier=self.multiplier,
            constant=str(constant),
            zeros=tuple(zeros),
        )


def _product(ring: Ring, known: Sequence[Polynomial]) -> Any:
    product = ring.one
    for one in known:
        product *= ring.read(one)
    return product


def _unknowns(made: Sequence[Block]) -> int:
    return sum(len(block.basis) * (len(block.basis) + 1) // 2 for block in made)


def _attempts(
    goal: Polynomial, signs: Sequence[Sign], definitions: Sequence[Definition]
) -> Iterator[_Attempt]:
    """What is tried, the small and likely first."""
    names = closed(variables(goal), definitions)
    near = relevant(goal, signs, definitions)
    own = [sign for sign in near if variables(sign[1]) <= names]
    squared = text(parse(" + ".join(["1", *(f"{name}^2" for name in names)])))
    positive = [of for sign, of in own if sign == ">"]
    ring = Ring(names, definitions)
    target = ring.reduce(ring.read(goal))[0]
    alike = homogeneous(ring, target, [ring.read(of) for _, of in own]) if target != 0 else []
    kept = [sign for sign, one in zip(own, alike, strict=False) if one]
    tried = set()
    for among, most, multipliers, loose in (
        (own, 0, ["1"], False),
        (kept, 1, ["1"], False),
        (kept, 2, ["1"], False),
        (own, 1, ["1"], False),
        (own, 2, ["1"], False),
        (own, 0, [*positive[:_MULTIPLIERS], squared], False),
        (own, 1, [*positive[:_MULTIPLIERS], squared], False),
        (near, 1, ["1"], False),
        (kept, 1, ["1"], True),
        (kept, 4 if len(kept) <= _FEW else 2, ["1"], False),
        (own, 1, ["1"], True),
        (near, 2, ["1"], True),
    ):
        of = closed(variables(goal, *(one for _, one in among)), definitions)
        single = [made.name for made in definitions if made.kind == "root" and made.name in of]
        single += sorted((one for sign, one in among if sign != "0"), key=_cost)
        products = [known for count in range(most + 1) for known in combinations(single, count)]
        zeros = tuple(one for sign, one in among if sign == "0")
        for multiplier in multipliers:
            attempt = _Attempt(goal, multiplier, tuple(products), zeros, loose)
            if attempt not in tried:
                tried.add(attempt)
                yield attempt


def _cost(written: Polynomial) -> tuple[int, int]:
    """Low degrees first."""
    polynomial = parse(written)
    return max(sum(e for _, e in one) for one in polynomial), len(polynomial)


def _expands(goal: Polynomial, found: Squares, *, strict: bool) -> bool:
    """Whether both sides of a certificate are one polynomial, in fractions."""
    left = _times(parse(found.multiplier), parse(goal))
    for term in found.terms:
        product: Coefficients = {(): Fraction(term.weight)}
        for factor in (term.square, term.square, *term.known):
            product = _times(product, parse(factor))
        _subtract(left, product)
    for multiple in found.zeros:
        _subtract(left, _times(parse(multiple.cofactor), parse(multiple.zero)))
    constant = Fraction(found.constant)
    left[()] = left.get((), Fraction(0)) - constant
    signs = all(Fraction(term.weight) >= 0 for term in found.terms)
    return signs and (constant > 0 or (constant == 0 and not strict)) and not any(left.values())


def _times(left: Coefficients, right: Coefficients) -> Coefficients:
    product: Coefficients = {}
    for one, value in left.items():
        for other, factor in right.items():
            powers = dict(one)
            for name, power in other:
                powers[name] = powers.get(name, 0) + power
            monomial = tuple(sorted(powers.items(), key=lambda power: in_order(power[0])))
            product[monomial] = product.get(monomial, Fraction(0)) + value * factor
    return product


def _subtract(left: Coefficients, right: Coefficients) -> None:
    for monomial, value in right.items():
        left[monomial] = left.get(monomial, Fraction(0)) - value
