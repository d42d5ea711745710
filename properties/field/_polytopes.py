"""What the claims on two hidden layers share: integer polytopes, bases, and classes side by side."""

from collections.abc import Sequence
from functools import cache
from itertools import combinations
from itertools import product as words
from math import gcd, lcm

import torch
from flint import fmpq, fmpq_mat, fmpz_mat, nmod_mat

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


def product(source: Source, m: int, more: int = 1) -> list[Vector]:
    """P + Q with P and Q in complementary subspaces of dimensions at least one."""
    first, e = source.integer(1, m - 1), basis(source, m)
    P, Q = polytope(source, first, more), polytope(source, m - first, more)
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


#: The dimension that the pyramids of a window span, by m and size: in the plane its lines less two.
DIMENSIONS = {(2, 1): 4 - 2, (2, 2): 8 - 2, (2, 3): 16 - 2, (3, 1): 12}


@cache
def bases(m: int, size: int) -> list[tuple[Vector, ...]]:
    """The bases of integers from −size to size of which all sums are parallel to such a vector.

    One of all orders, and of e and −e.
    """
    vectors = [v for v in words(range(-size, size + 1), repeat=m) if any(v)]
    found = []
    for e in combinations(vectors, m):
        sums = [(0,) * m]
        for v in e:
            sums += minkowski(sums, [v])
        small = all(max(map(abs, v)) <= size * gcd(*v) and any(v) for v in sums[1:])
        if small and sums[-1] > sums[0] and fmpz_mat([[*v] for v in e]).det():
            found.append(e)
    return found


def rank(classes: Sequence[Class], p: int | None = None) -> int:
    """The dimension of their span; modulo p, if it is given, where no denominator may have it."""
    keys = list(dict.fromkeys(key for one in classes for key in one))
    rows = [[fmpq(one.get(key, 0)) for key in keys] for one in classes]
    if p is None:
        return fmpq_mat(rows).numer_denom()[0].rank()
    return nmod_mat([[int(c.p) * pow(int(c.q), -1, p) for c in row] for row in rows], p).rank()
