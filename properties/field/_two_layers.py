"""What the claims on docs/proofs/two-hidden-layers.md share: instances, and classes that are equal."""

from collections.abc import Sequence
from math import comb, lcm
from typing import Any

import torch
from flint import fmpq, fmpq_mat, nmod_mat

from rankcheck import Relation, eq, polytopes
from rankcheck.instances import Source


def vector(source: Source, m: int, size: int = 2) -> polytopes.Vector:
    """Entries from −size to size."""
    return tuple(source.integer(-size, size) for _ in range(m))


def units(m: int) -> list[polytopes.Vector]:
    """The unit vectors."""
    return [tuple(int(i == j) for j in range(m)) for i in range(m)]


def basis(source: Source, m: int) -> list[polytopes.Vector]:
    """A basis of Z^m: a unit lower triangular matrix times a unit upper one."""
    below, above = (
        [[source.integer(-1, 1) if i > j else int(i == j) for j in range(m)] for i in range(m)]
        for _ in range(2)
    )
    return polytopes.image(below, zip(*above, strict=True))


def within(
    vectors: Sequence[polytopes.Vector], P: list[polytopes.Vector]
) -> list[polytopes.Vector]:
    """P, of which the points are coordinates for these vectors."""
    return polytopes.image(list(zip(*vectors, strict=True)), P)


def polytope(source: Source, m: int, more: int = 2) -> list[polytopes.Vector]:
    """Up to m + 1 + more points, 0 among them; it is flat now and then."""
    return [(0,) * m, *(vector(source, m) for _ in range(m + source.integer(0, more)))]


def divided(source: Source, m: int) -> tuple[list[polytopes.Vector], polytopes.Vector, fmpq]:
    """P and a hyperplane, through a point or the middle of two; now and then P lies on it."""
    P, form = polytope(source, m), vector(source, m)
    form = form if any(form) else (1, *form[1:])
    p, q = source.choice(P), source.choice(P)
    return P, form, fmpq(polytopes.dot(form, p) + polytopes.dot(form, q), 2)


def product(source: Source, m: int, more: int = 1) -> list[polytopes.Vector]:
    """P + Q with P and Q in complementary subspaces of dimensions at least one; [] if m is 1."""
    if m == 1:
        return []
    first, e = source.integer(1, m - 1), basis(source, m)
    P, Q = polytope(source, first, more), polytope(source, m - first, more)
    return polytopes.minkowski(within(e[:first], P), within(e[first:], Q))


def coordinates(classes: Sequence[polytopes.Class]) -> list[list[fmpq]]:
    """Their coordinates, in one order."""
    keys = list(dict.fromkeys(key for one in classes for key in one))
    return [[fmpq(one.get(key, 0)) for key in keys] for one in classes]


def equal(one: polytopes.Class, other: polytopes.Class, label: str = "") -> Relation:
    """They have the same coordinates: integers, in one order and times one denominator."""
    values = coordinates((one, other))
    whole = lcm(*(int(c.q) for row in values for c in row))
    sides = (torch.tensor([int((c * whole).p) for c in [*row, fmpq(0)]]) for row in values)
    return eq(*sides, terms=0, label=label)


def rank(classes: Sequence[polytopes.Class], p: int | None = None) -> int:
    """The dimension of their span; modulo p, if it is given, where no denominator may have it."""
    rows = coordinates(classes)
    if p is None:
        return fmpq_mat(rows).numer_denom()[0].rank() if rows else 0
    return nmod_mat([[int(c.p) * pow(int(c.q), -1, p) for c in row] for row in rows], p).rank()


def kappa(q: int, a: int, z: Any, mu: Any, h: Any) -> Any:
    """κ_q(λ^a ⊗ [h]) of λ = z η + μ: z^{a−q} (μ + z h)^q without the negative powers of z.

    The form μ and the exponent h are given by their values at a point, or at several.
    """
    return sum(
        comb(q, i) * z ** (a - q + i) * h**i * mu ** (q - i) for i in range(max(0, q - a), q + 1)
    )
