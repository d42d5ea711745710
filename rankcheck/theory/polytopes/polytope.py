"""Polytopes with rational vertices, exactly.

A polytope is a collection of points, and means their convex hull: points that are no vertices do
no harm. Subsets of the points are gone through, so this is for dimension four at most, and a few
dozen points; but the facets of the pyramids of a fan are read off their inequalities.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product
from math import gcd, lcm
from typing import TypeAlias

from flint import fmpq, fmpq_mat, fmpz_mat

Number: TypeAlias = int | fmpq
Vector: TypeAlias = tuple[Number, ...]
Points: TypeAlias = Iterable[Vector]
#: An outer form, and the points of the polytope where it is largest.
Facet: TypeAlias = tuple[Vector, frozenset[Vector]]


def dot(f: Sequence[Number], x: Sequence[Number]) -> Number:
    """The value of a form at a point."""
    return sum((a * b for a, b in zip(f, x, strict=True)), start=0)


def facets(P: Points) -> list[Facet]:
    """The facets with their outer forms in lowest terms; none if P is empty or flat."""
    P = list(P)
    scale = fmpq(lcm(*(int(fmpq(c).q) for p in P for c in p)))
    whole = {tuple(int((scale * c).p) for c in p): p for p in P}
    found: dict[Vector, frozenset[Vector]] = {}
    for corners in combinations(whole, len(P[0]) if P else 1):
        kernel, nullity = fmpz_mat([[*x, 1] for x in corners]).nullspace()
        if nullity > 1:  # the corners lie in more than one hyperplane
            continue
        *form, level = (int(row[0]) for row in kernel.tolist())
        values = [dot(form, x) + level for x in whole]
        sign = (min(values) < 0) - (max(values) > 0)
        if not any(values):
            return []
        if sign:
            divisor = sign * gcd(*form)
            on = (p for p, value in zip(whole.values(), values, strict=True) if not value)
            found[tuple(c // divisor for c in form)] = frozenset(on)
    return list(found.items())


def facets_within(F: frozenset[Vector], facets: Sequence[Facet]) -> list[Facet]:
    """Where the other facets of a polytope meet its facet F in facets of F, with their forms."""
    meets = [(form, F & G) for form, G in facets if G != F]
    return [(form, R) for form, R in meets if not any(R < S for _, S in meets)]


def triangulation(P: Points) -> list[tuple[Vector, ...]]:
    """Simplices that tile P, none if P is flat: each face is coned from its least point."""
    P = frozenset(P)
    found = facets(P)
    return _coned(P, found) if found else []


def _coned(face: frozenset[Vector], facets: Sequence[Facet]) -> list[tuple[Vector, ...]]:
    if len(face) == 1:
        return [tuple(face)]
    apex = min(face)
    opposite = [F for _, F in facets if apex not in F]
    return [(apex, *s) for F in opposite for s in _coned(F, facets_within(F, facets))]


def moment(P: Points, form: Sequence[Number], k: int) -> fmpq:
    """(m + k)!/k! times the integral of form^k over P: a whole number if the vertices and form are.

    Over a simplex it is |det| times the sum of all monomials of degree k in the values at vertices.
    """
    total = fmpq(0)
    for simplex in triangulation(P):
        edges = [[fmpq(a - b) for a, b in zip(v, simplex[0], strict=True)] for v in simplex[1:]]
        sums: list[Number] = [1, *[0] * k]
        for v in simplex:
            for degree in range(k):
                sums[degree + 1] += sums[degree] * dot(form, v)
        total += abs(fmpq_mat(edges).det()) * sums[k]
    return total


def cut(P: Points, form: Sequence[Number], level: Number) -> tuple[list[Vector], list[Vector]]:
    """The parts of P where form ≤ level and where form ≥ level."""
    heights = {p: dot(form, p) - level for p in P}
    below, above = ([p for p, h in heights.items() if sign * h >= 0] for sign in (-1, 1))
    shared = [F for _, F in facets(heights)]
    common = len(form) - 1 if shared else 0  # facets through an edge; a flat P tells of none
    for p, h in heights.items():
        for q, k in heights.items():
            if h < 0 < k and sum(p in F and q in F for F in shared) >= common:
                share = fmpq(1) * h / (h - k)
                crossing = tuple(a + share * (b - a) for a, b in zip(p, q, strict=True))
                below.append(crossing)
                above.append(crossing)
    return below, above


def minkowski(P: Points, Q: Points) -> list[Vector]:
    """All p + q."""
    Q = list(Q)
    return [tuple(a + b for a, b in zip(p, q, strict=True)) for p in P for q in Q]


def image(matrix: Sequence[Sequence[Number]], P: Points) -> list[Vector]:
    """The image of P under a matrix, given by its rows."""
    return [tuple(dot(row, p) for row in matrix) for p in P]


def support(P: Points, x: Sequence[Number]) -> Number:
    """The largest value of x on P."""
    return max(dot(x, p) for p in P)


def dual(basis: Sequence[Vector]) -> list[Vector]:
    """The forms that are 1 on one vector of a basis each, and 0 on the others."""
    inverse = fmpq_mat([[fmpq(c) for c in e] for e in basis]).inv()
    return [tuple(column) for column in inverse.transpose().tolist()]


def fan(basis: Sequence[Vector]) -> Iterator[tuple[Vector, list[Vector], list[Facet]]]:
    """The pyramids {0 ≤ x_j ≤ x_i ≤ 1} of which Σ [0, 1]e_i is the union: x_i, points, facets."""
    m, x = len(basis), dual(basis)
    for i, f in enumerate(x):
        corners = (c for c in product((0, 1), repeat=m) if c[i] or not any(c))
        P = image(list(zip(*basis, strict=True)), corners)
        forms = [f, *(tuple(-c for c in g) for g in x)]
        forms += [tuple(a - b for a, b in zip(g, f, strict=True)) for g in x if g != f]
        tops = [(g, support(P, g)) for g in forms]
        faces = [(g, frozenset(p for p in P if dot(g, p) == top)) for g, top in tops]
        yield f, P, [(g, F) for g, F in faces if len(F) >= m]


def wedge(Q: Points, h: Sequence[Number]) -> tuple[list[Vector], list[Vector]]:
    """What lies between Q and the graph of the form h over it: above Q, and below Q."""
    below, above = cut(Q, h, 0)
    up, down = ([s for q in part for s in ((*q, 0), (*q, dot(h, q)))] for part in (above, below))
    return up, down
