"""Linear combinations: a polynomial as a sum of what is known not to be negative.

What is known are the facts of a path, products of two of them, monomials, and squares of sums and
differences of two monomials. A linear program finds the weights in floats; they are then solved for
again in rationals, and the sum is expanded. The same finds that a path is empty: what is positive
there is the negative of such a sum.

Handelman, *Representing polynomials by positive linear functions*, 1988; Ahmadi and Majumdar,
*DSOS and SDSOS optimization*, 2019.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import scipy.optimize
import scipy.sparse
from flint import fmpq, fmpq_mat, fmpz_mpoly

from rankcheck.decide.algebra.cell import Cell
from rankcheck.decide.algebra.ring import Ring
from rankcheck.decide.algebra.signs import MINUS, NONE, PLUS
from rankcheck.decide.prove.proof import Goal, Squares, Term

#: The most unknowns of a linear program, and the most monomials of a square's basis.
MOST, BASIS = 1500, 14
#: Polynomials of more terms are not looked at.
TERMS = 120
#: Weights below this are none.
SMALL = 1e-9


@dataclass(frozen=True)
class _Known:
    """A polynomial that is not negative on a path, as a term of a certificate.

    Attributes:
        positive: whether it is not zero either.
    """

    polynomial: fmpz_mpoly
    square: fmpz_mpoly
    known: tuple[fmpz_mpoly, ...] = ()
    positive: bool = False

    def term(self, weight: fmpq) -> Term:
        return Term(weight=str(weight), square=str(self.square), known=tuple(map(str, self.known)))


def combination(cell: Cell, goal: fmpz_mpoly, *, strict: bool) -> Squares | None:
    """A goal as a sum of terms that are not negative; with a positive constant if it is strict."""
    if len(goal) > TERMS:
        return None
    sums = _sums(cell, goal)
    weights = _weights(cell.ring, goal, sums, strict=strict)
    if weights is None:
        return None
    constant = fmpq(0)
    terms = []
    for weight, one in zip(weights, sums, strict=True):
        if weight and one.polynomial.is_one():
            constant = weight
        elif weight:
            terms.append(one.term(weight))
    return Squares(terms=tuple(terms), constant=str(constant))


def emptiness(cell: Cell) -> Goal | None:
    """Why no instance is on a path: −1 times something positive is a sum that is not negative."""
    known = _facts(cell)
    positive = [one for one in known if one.positive]
    if not positive:
        return None
    degree = min(max(int(one.polynomial.total_degree()) for one in known), 4)
    sums = _products(known, degree)
    one = cell.ring.one
    sums.append(_Known(one, one, positive=True))
    weights = _weights(cell.ring, cell.ring.zero, sums, strict=True)
    if weights is None:
        return None
    chosen = next(
        (n for n, x in enumerate(sums) if x.positive and weights[n] and len(x.known) <= 1), None
    )
    if chosen is None:
        return None
    share = weights[chosen]
    terms = [
        x.term(weight / share)
        for n, (weight, x) in enumerate(zip(weights, sums, strict=True))
        if weight and n != chosen
    ]
    multiplier = sums[chosen].polynomial
    return Goal(
        polynomial="-1",
        signs="0+",
        certificate=Squares(terms=tuple(terms), multiplier=str(multiplier)),
    )


def _facts(cell: Cell) -> list[_Known]:
    """What the path knows not to be negative."""
    one = cell.ring.one
    found: dict[str, _Known] = {}
    for text, signs in cell.facts.items():
        f = cell.ring.read(text)
        if len(f) > TERMS:
            continue
        for sign, wrong in ((1, MINUS), (-1, PLUS)):
            if not signs & wrong:
                positive = not signs & NONE
                found[str(sign * f)] = _Known(sign * f, one, (sign * f,), positive)
    for index in {i for k in found.values() for i in cell.ring.occurring(k.polynomial)}:
        x = cell.ring.variables[index]
        signs = cell.of_variable(index)
        for sign, wrong in ((1, MINUS), (-1, PLUS)):
            if not signs & wrong and str(sign * x) not in found:
                found[str(sign * x)] = _Known(sign * x, one, (sign * x,), not signs & NONE)
    return list(found.values())


def _products(known: list[_Known], degree: int) -> list[_Known]:
    """Those that are known, and their products by two, up to a degree."""
    found = list(known)
    degrees = [int(one.polynomial.total_degree()) for one in known]
    for (i, a), (j, b) in combinations(enumerate(known), 2):
        if degrees[i] + degrees[j] <= degree and len(found) < MOST:
            product = a.polynomial * b.polynomial
            found.append(_Known(product, a.square, (*a.known, *b.known), a.positive and b.positive))
    return found


def _sums(cell: Cell, goal: fmpz_mpoly) -> list[_Known]:
    """The terms that a goal may be a sum of."""
    ring, one = cell.ring, cell.ring.one
    used = set(ring.occurring(goal))
    degree = int(goal.total_degree())
    near = [
        fact
        for fact in _facts(cell)
        if used & set(ring.occurring(fact.polynomial))
        and int(fact.polynomial.total_degree()) <= degree
    ]
    for index in sorted(used - {i for k in near for i in ring.occurring(k.polynomial)}):
        signs = cell.of_variable(index)
        if not signs & MINUS:
            x = ring.variables[index]
            near.append(_Known(x, one, (x,), not signs & NONE))
    found = [_Known(one, one, positive=True), *_products(near, degree)]
    basis = _half_monomials(ring, goal)
    for m in basis:
        found.append(_Known(m * m, m))
        for other in (k for k in near if k.known and 2 * m.total_degree() < degree):
            found.append(_Known(m * m * other.polynomial, m, other.known))
    for a, b in combinations(basis, 2):
        for square in (a + b, a - b):
            found.append(_Known(ring.reduced(square * square), square))
    return found[:MOST]


def _half_monomials(ring: Ring, goal: fmpz_mpoly) -> list[fmpz_mpoly]:
    """Monomials whose squares or products may stand in a goal."""
    halves: dict[str, fmpz_mpoly] = {}
    for exponents in goal.monoms():
        half = ring.one
        for index, power in enumerate(exponents):
            half = half * ring.variables[index] ** (int(power) // 2)
        if not half.is_one():
            halves[str(half)] = half
    for index in ring.occurring(goal):
        halves.setdefault(str(ring.variables[index]), ring.variables[index])
    halves[str(ring.one)] = ring.one
    return list(halves.values())[:BASIS]


def _weights(
    ring: Ring, goal: fmpz_mpoly, sums: list[_Known], *, strict: bool
) -> list[fmpq] | None:
    """Weights >= 0, none of them missing, with which the terms add up to a goal.

    With `strict` those of what is positive add up to something: for the goal zero, to 1; for any
    other, the constant has a weight.
    """
    rows: dict[Any, int] = {}
    columns = []
    for one in [*(x.polynomial for x in sums), goal]:
        entries = one.to_dict()
        for monomial in entries:
            rows.setdefault(monomial, len(rows))
        columns.append(entries)
    count = len(sums)
    places = [(rows[m], n) for n, entries in enumerate(columns[:count]) for m in entries]
    sizes = [max(abs(int(c)) for c in entries.values()) for entries in columns[:count]]
    values = [
        int(c) / size
        for entries, size in zip(columns[:count], sizes, strict=True)
        for c in entries.values()
    ]
    matrix = scipy.sparse.coo_matrix(
        (values, tuple(zip(*places, strict=True))), shape=(len(rows), count)
    ).tocsr()
    target = np.zeros(len(rows))
    largest = max((abs(int(c)) for c in columns[count].values()), default=1)
    for monomial, coefficient in columns[count].items():
        target[rows[monomial]] = int(coefficient) / largest
    cost = np.ones(count)
    if strict and goal.is_zero():
        sum_row = np.array([[1.0 if one.positive else 0.0 for one in sums]])
        matrix = scipy.sparse.vstack([matrix, sum_row]).tocsr()
        target = np.append(target, 1.0)
    elif strict:
        cost = np.array([-1.0 if one.polynomial.is_one() else 0.0 for one in sums])
    found = scipy.optimize.linprog(
        cost, A_eq=matrix, b_eq=target, bounds=(0, None), method="highs-ds"
    )
    if found.x is None or not found.success:
        return None
    support = [n for n, weight in enumerate(found.x) if weight > SMALL]
    return _exactly(rows, columns, support, sums, strict=strict)


def _exactly(
    rows: dict[Any, int],
    columns: list[Any],
    support: list[int],
    sums: list[_Known],
    *,
    strict: bool,
) -> list[fmpq] | None:
    """The weights of the support, solved for in rationals."""
    goal = columns[-1]
    homogeneous = strict and not goal
    met = {monomial for n in support for monomial in columns[n]} | set(goal)
    rows = {monomial: place for place, monomial in enumerate(one for one in rows if one in met)}
    table = [[fmpq(0)] * (len(support) + 1) for _ in range(len(rows) + homogeneous)]
    for place, n in enumerate(support):
        for monomial, coefficient in columns[n].items():
            table[rows[monomial]][place] = fmpq(coefficient)
        if homogeneous and sums[n].positive:
            table[-1][place] = fmpq(1)
    for monomial, coefficient in goal.items():
        table[rows[monomial]][-1] = fmpq(coefficient)
    if homogeneous:
        table[-1][-1] = fmpq(1)
    echelon, rank = fmpq_mat(table).rref()
    weights = [fmpq(0)] * len(sums)
    for row in range(rank):
        pivot = next(j for j in range(len(support) + 1) if echelon[row, j] != 0)
        if pivot == len(support):
            return None  # the floats only came near
        weights[support[pivot]] = echelon[row, len(support)]
    if any(weight < 0 for weight in weights):
        return None
    constants = (w for w, one in zip(weights, sums, strict=True) if one.polynomial.is_one())
    return None if strict and goal and not any(constants) else weights
