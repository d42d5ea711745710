"""Which squares may stand in a sum: blocks of monomials, kept small by what the polynomials show.

Where a goal is ``Σ σ_i · g_i`` with sums of squares σ_i and known g_i, σ_i is ``bᵀ G b`` with a
Gram matrix G that is positive semidefinite, and the coefficients are linear in G. The monomials in
b follow from degrees, Newton polytopes, gradings (substitutions ``x → t^w x`` under which all
polynomials are homogeneous) and changes of signs under which they do not change. Nothing here has
to be right for a proof to be right: a monomial too few and there is no proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpz_mat

from rankcheck.decide.prove.proof import Polynomial
from rankcheck.decide.prove.sums.ring import Exponents, Ring

#: Directions in which a monomial is held against the Newton polytope, besides the axes.
_DIRECTIONS = 300
#: More monomials than this are not gone through.
_MOST = 5_000
#: Nor are more pairs of monomials of a target and a multiplier.
_EXCHANGES = 2_000
#: Where roots are put back, or multiples added, a polytope has so many points, and then no more.
_POINTS = 2_500


@dataclass
class Block:
    """One Gram matrix: ``basisᵀ G basis · by``; `by` is the product of the known polynomials."""

    by: Any
    known: tuple[Polynomial, ...]
    basis: list[Any]


class Shape:
    """What the polynomials of one attempt show: degrees, gradings, changes of signs, a polytope.

    Args:
        target: the polynomial that is to be a sum.
        multipliers: what squares may be multiplied with.
        zeros: the polynomials that are zero, besides the relations of the roots.
        loose: let monomials be outside of the target's Newton polytope, up to its degree and two.
    """

    def __init__(
        self,
        ring: Ring,
        target: Any,
        multipliers: Sequence[Any],
        zeros: Sequence[Any],
        *,
        loose: bool,
    ) -> None:
        self.ring = ring
        self.loose = loose
        relations = list(ring.relations.values())
        self.weights = _gradings([target, *multipliers, *zeros, *relations], len(ring.names))
        self.parities = _parities(
            [*_support(target), *(one for by in multipliers for one in _support(by))],
            [*zeros, *relations],
        )
        self.degree = _root_degrees(ring)
        points = _exchanged(_with_roots(ring, _support(target)), multipliers)
        self.points = np.array(points, dtype=np.int64).reshape(len(points), -1)
        random = np.random.default_rng(0)
        n = len(ring.names)
        drawn = random.integers(-4, 5, size=(_DIRECTIONS, n))
        self.directions = np.concatenate(
            [np.eye(n, dtype=np.int64), -np.eye(n, dtype=np.int64), drawn]
        )
        self.reach = (self.points @ self.directions.T).max(axis=0)
        self.most = max(float(point @ self.degree) for point in self.points) + 2 * loose
        self.graded = self.weights @ self.points[0]

    def monomials(self, by: Any, times: int) -> list[Exponents]:
        """Those of which the power `times` (1 or 2), times the polynomial `by`, fits."""
        support = np.array(_support(by), dtype=np.int64)
        weight = self.graded - self.weights @ support[0]
        room = self.most - max(float(one @ self.degree) for one in support)
        below = np.array([self.ring.degrees.get(name, 1 << 30) - 1 for name in self.ring.names])
        if not self.loose:
            below = np.minimum(below, self.points.max(axis=0) // times)
        found = np.array(list(_up_to(self.degree, room / times, below)), dtype=np.int64)
        found = found.reshape(-1, len(self.ring.names))
        keep = ((times * found) @ self.weights.T == weight).all(axis=1)
        if not self.loose:
            reach = self.reach - (support @ self.directions.T).max(axis=0)
            keep &= ((times * found) @ self.directions.T <= reach).all(axis=1)
        return [tuple(map(int, one)) for one in found[keep]]

    def classes(self, monomials: Iterable[Exponents]) -> list[list[Exponents]]:
        """Monomials of one kind: the product of two of different kinds changes sign somewhere."""
        kinds: dict[int, list[Exponents]] = {}
        for one in monomials:
            kinds.setdefault(_remainder(_bits(one), self.parities), []).append(one)
        return list(kinds.values())


def blocks(shape: Shape, by: Any, known: tuple[Polynomial, ...]) -> list[Block]:
    """The Gram matrices of the squares that are multiplied with one product."""
    return [
        Block(by, known, [shape.ring.monomial(one) for one in kind])
        for kind in shape.classes(shape.monomials(by, 2))
    ]


def cofactors(shape: Shape, zero: Any) -> list[Any]:
    """What a polynomial that is zero may be multiplied with: monomials."""
    return [
        shape.ring.monomial(one)
        for one in shape.monomials(zero, 1)
        if not _remainder(_bits(one) ^ _bits(_support(zero)[0]), shape.parities)
    ]


def _support(polynomial: Any) -> list[Exponents]:
    return [tuple(map(int, one)) for one in polynomial.to_dict()]


def _up_to(degree: np.ndarray, room: float, below: np.ndarray) -> Iterator[Exponents]:
    """All exponents of at most this degree, each at most `below`; the first so many."""
    count = 0
    stack: list[tuple[Exponents, float]] = [((), room)]
    while stack:
        head, left = stack.pop()
        if len(head) == len(degree):
            yield head
            count += 1
            if count >= _MOST:
                return
            continue
        place = len(head)
        for power in range(int(below[place]) + 1):
            if power * degree[place] > left + 1e-9:
                break
            stack.append(((*head, power), left - power * float(degree[place])))


def _root_degrees(ring: Ring) -> np.ndarray:
    """The degree of each variable: of a root, that of its polynomial over that of the root."""
    degree = dict.fromkeys(ring.names, 1.0)
    for name, relation in reversed(ring.relations.items()):
        place, k = ring.names.index(name), ring.degrees[name]
        degree[name] = (
            max(
                (
                    sum(e * degree[other] for e, other in zip(one, ring.names, strict=True))
                    for one in _support(relation)
                    if one[place] < k
                ),
                default=0.0,
            )
            / k
        )
    return np.array([degree[name] for name in ring.names])


def _with_roots(ring: Ring, support: list[Exponents]) -> list[Exponents]:
    """And the monomials with powers of roots that reduce to them, in part."""
    points = dict.fromkeys(support)
    for name, relation in reversed(ring.relations.items()):
        place, k = ring.names.index(name), ring.degrees[name]
        under = [one for one in _support(relation) if one[place] < k]
        for point in list(points):
            for one in under:
                rest = [a - b for a, b in zip(point, one, strict=True)]
                if min(rest) >= 0:
                    rest[place] += k
                    points.setdefault(tuple(rest))
            if len(points) > _POINTS:
                return list(points)
    return list(points)


def _exchanged(support: list[Exponents], multipliers: Sequence[Any]) -> list[Exponents]:
    """And the monomials that cancel out where a multiplier is added several times."""
    points = dict.fromkeys(support)
    for multiplier in multipliers:
        own = _support(multiplier)
        if len(own) == 1 or len(support) * len(own) > _EXCHANGES:
            continue
        for point in support:
            for one in own:
                rest = [a - b for a, b in zip(point, one, strict=True)]
                if min(rest) >= 0:
                    for other in own:
                        points.setdefault(tuple(a + b for a, b in zip(rest, other, strict=True)))
            if len(points) > _POINTS:
                return list(points)
    return list(points)


def homogeneous(ring: Ring, target: Any, polynomials: Sequence[Any]) -> list[bool]:
    """Which polynomials have one weight under all gradings of the target."""
    weights = _gradings([target, *ring.relations.values()], len(ring.names))
    found = []
    for polynomial in polynomials:
        values = np.array(_support(polynomial), dtype=np.int64) @ weights.T
        found.append(bool((values == values[0]).all()))
    return found


def _gradings(polynomials: Sequence[Any], n: int) -> np.ndarray:
    """Weights of the variables, row by row, for which each polynomial has one weight."""
    rows = []
    for polynomial in polynomials:
        first, *others = _support(polynomial) or [(0,) * n]
        rows += [[a - b for a, b in zip(other, first, strict=True)] for other in others]
    if not rows:
        return np.eye(n, dtype=np.int64)
    found, nullity = fmpz_mat(rows).nullspace()
    columns = [[int(found[i, j]) for i in range(n)] for j in range(nullity)]
    kept = [[value // max(1, int(np.gcd.reduce(column))) for value in column] for column in columns]
    return np.array(kept, dtype=np.int64).reshape(-1, n)


def _bits(exponents: Exponents) -> int:
    return sum((power & 1) << place for place, power in enumerate(exponents))


def _parities(even: Iterable[Exponents], alike: Iterable[Any]) -> dict[int, int]:
    """An echelon basis, over two elements, of the exponents that no change of signs may notice."""
    basis: dict[int, int] = {}
    vectors = [_bits(one) for one in even]
    for polynomial in alike:
        first, *others = map(_bits, _support(polynomial) or [()])
        vectors += [first ^ other for other in others]
    for vector in vectors:
        left = _remainder(vector, basis)
        if left:
            basis[left.bit_length()] = left
    return basis


def _remainder(vector: int, basis: dict[int, int]) -> int:
    """A vector modulo the basis, whose members are by their highest bit.

    A lower bit may be cleared after a higher one only, so bits are gone through downwards.
    """
    for bit in range(vector.bit_length(), 0, -1):
        if vector >> (bit - 1) & 1 and bit in basis:
            vector ^= basis[bit]
    return vector
