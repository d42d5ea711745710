"""The module of polytopes modulo cuts, translations and products, in coordinates.

The class [P] of a polytope P of dimension m is additive: [P] = [P₁] + [P₂] if a hyperplane cuts P
into P₁ and P₂. Translates have one class. A product, which is a sum of polytopes in complementary
subspaces, has the class 0, as has a polytope of lower dimension.

Let π forget the last coordinate. A facet F with the outer form f, f_m ≠ 0, is parallel to the graph
of h_F = −(f_1, …, f_{m−1})/f_m. The map [P] ↦ Σ_F sign(f_m) [h_F] ⊗ [πF] respects these relations,
and it is injective (docs/proofs/two-hidden-layers.md, Lemma 2). Repeated down to segments and their
lengths it gives the coordinates of a class, one for each sequence of h.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from flint import fmpq

from rankcheck.theory.polytopes.polytope import (
    Facet,
    Number,
    Points,
    Vector,
    facets,
    facets_within,
    fan,
)

#: Coordinates that are not zero.
Class: TypeAlias = dict[Any, Number]


def combined(*terms: tuple[Number, Class]) -> Class:
    """The combination of classes, or of polynomials, with these coefficients."""
    total: Class = {}
    for coefficient, vector in terms:
        for key, value in vector.items():
            total[key] = total.get(key, 0) + coefficient * value
    return {key: value for key, value in total.items() if value}


def graphs(facets: Iterable[Facet]) -> Iterator[tuple[int, Vector, frozenset[Vector]]]:
    """sign(f_m), h_F and the points of each facet F that has them."""
    for (*rest, last), F in facets:
        if last:
            yield (1 if last > 0 else -1), tuple(-fmpq(c) / last for c in rest), F


def on_graph(form: Sequence[Number], h: Sequence[Number]) -> Vector:
    """The form on the graph of h, in the first coordinates."""
    return tuple(a + form[-1] * b for a, b in zip(form[:-1], h, strict=True))


def flag_class(P: Points) -> Class:
    """The class of P; {} for a product, or if P is flat."""
    return facet_class(facets(P))


def facet_class(facets: Sequence[Facet]) -> Class:
    """The class of the polytope with these facets."""
    terms: list[tuple[Number, Class]] = []
    for sign, h, F in graphs(facets):
        if h:
            below = facet_class([(on_graph(g, h), R) for g, R in facets_within(F, facets)])
            terms.append((sign, {(h, *flag): c for flag, c in below.items()}))
        else:  # an end of a segment, seen in the first coordinate
            terms.append((sign, {(): min(F)[0]}))
    return combined(*terms)


def power(form: Sequence[Number], k: int) -> Class:
    """The k-th power of a form, as a polynomial: the coefficient of each monomial.

    A monomial is the sorted tuple of the k indices of its variables.
    """
    result: Class = {(): 1}
    for _ in range(k):
        result = combined(
            *(
                (c, {tuple(sorted((*monomial, i))): value for monomial, value in result.items()})
                for i, c in enumerate(form)
            )
        )
    return result


def twisted(polynomial: Class, vector: Class) -> Class:
    """The tensor product of a polynomial and a class."""
    return {(a, b): x * y for a, x in polynomial.items() for b, y in vector.items()}


def fan_class(basis: Sequence[Vector], k: int) -> Class:
    """θ_k = Σ x_i^k ⊗ [{0 ≤ x_j ≤ x_i ≤ 1}], x the coordinates of a basis."""
    return combined(*((1, twisted(power(f, k), facet_class(F))) for f, _, F in fan(basis)))
