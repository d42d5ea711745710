"""What the claims on two hidden layers share: integer polytopes, bases, and classes side by side."""

from collections.abc import Sequence
from math import lcm

import torch
from flint import fmpq

from rankcheck.instances.source import Source
from rankcheck.polytopes.flags import Class
from rankcheck.polytopes.polytope import Vector, dot, image, minkowski


def vector(source: Source, m: int, size: int = 2) -> Vector:
    """Entries from −size to size."""
    return tuple(source.integer(-size, size) for _ in range(m))


def polytope(source: Source, m: int, more: int = 2) -> list[Vector]:
    """Up to m + 1 + more points, 0 among them; it is flat now and then."""
    return [(0,) * m, *(vector(source, m) for _ in range(m + source.integer(0, more)))]


def basis(source: Source, m: int) -> list[Vector]:
    """A basis of Z^m: a unit lower triangular matrix times a unit upper one."""
    below, above = (
        [[source.integer(-1, 1) if i > j else int(i == j) for j in range(m)] for i in range(m)]
        for _ in range(2)
    )
    return image(below, zip(*above, strict=True))


def product(source: Source, m: int) -> list[Vector]:
    """P + Q with P and Q in complementary subspaces of dimensions at least one."""
    first, e = source.integer(1, m - 1), basis(source, m)
    P, Q = polytope(source, first, 1), polytope(source, m - first, 1)
    return minkowski(within(e[:first], P), within(e[first:], Q))


def within(vectors: Sequence[Vector], P: list[Vector]) -> list[Vector]:
    """P, of which the points are coordinates for these vectors."""
    return image(list(zip(*vectors, strict=True)), P)


def hyperplane(source: Source, P: list[Vector]) -> tuple[Vector, fmpq]:
    """A form that is not zero, and its level at the middle of two points of P, or at a point."""
    form = vector(source, len(P[0]))
    form = form if any(form) else (1, *form[1:])
    p, q = source.choice(P), source.choice(P)
    return form, fmpq(dot(form, p) + dot(form, q), 2)


def side_by_side(*classes: Class) -> list[torch.Tensor]:
    """Their coordinates, in one order and times one denominator, as integers."""
    keys = list(dict.fromkeys(key for one in classes for key in one))
    values = [[fmpq(one.get(key, 0)) for key in keys] for one in classes]
    whole = lcm(*(int(c.q) for row in values for c in row))
    return [torch.tensor([int((c * whole).p) for c in [*row, fmpq(0)]]) for row in values]
