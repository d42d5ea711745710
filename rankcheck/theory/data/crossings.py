"""Paths in the plane: which of them cross, decided exactly, and at which angles.

A path is a polyline through points of the plane. Two segments *cross* if the ends of each lie
strictly on both sides of the other; segments that touch, share an end or lie on one line do not.

Used by bottleneck.figure-2.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np

from rankcheck.theory.data.tours import UNIT, Floats

#: The rounding error of the determinant of `_side`, as a share of the sum of the absolute values of
#: its two products: the constant of the first filter of Shewchuk's test of orientation (1997).
_DOUBT = (3 + 16 * UNIT) * UNIT
#: What products lose by underflow.
_TINY = 2.0**-1000


def crossing_angles(paths: Floats) -> dict[tuple[int, int], float]:
    """By pair i < j of paths that cross, the largest angle at which they do, in degrees.

    Whether two segments cross is decided by the exact determinants of the floats. The angle is that
    between the directions of the segments, 180° where they run against each other; it is computed
    in floats.

    Args:
        paths: (P, K, 2), of K points each.

    Raises:
        ValueError: for another shape, or numbers that are not finite.

    >>> crossing_angles(np.array([[[0, 0], [2, 2]], [[0, 2], [2, 0]], [[3, 0], [3, 2]]]))
    {(0, 1): 90.0}
    """
    paths = np.asarray(paths, dtype=float)
    if paths.ndim != 3 or paths.shape[-1] != 2:
        raise ValueError(
            f"received paths of shape {paths.shape}; P paths of K points in the plane have the "
            "shape (P, K, 2)"
        )
    if not np.isfinite(paths).all():
        raise ValueError("received a point that is not finite; paths have finite points")
    largest = {}
    for i, j in combinations(range(len(paths)), 2):
        angles = _angles(paths[i], paths[j])
        if angles.size:
            largest[i, j] = float(angles.max())
    return largest


def _angles(p: Floats, q: Floats) -> Floats:
    """The angles of all crossings of two paths."""
    low, high = (np.array([f(s[:-1], s[1:]) for s in (p, q)]) for f in (np.minimum, np.maximum))
    overlap = (low[0][:, None] <= high[1]) & (low[1] <= high[0][:, None])
    at, to = np.nonzero(overlap.all(-1))
    for turn in (False, True):
        a, b, c, d = p[at], p[at + 1], q[to], q[to + 1]
        if turn:
            a, b, c, d = c, d, a, b
        across = _side(a, b, c) * _side(a, b, d) < 0
        at, to = at[across], to[across]
    u, v = p[at + 1] - p[at], q[to + 1] - q[to]
    sine = np.abs(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])
    return np.degrees(np.arctan2(sine, (u * v).sum(-1)))


def _side(a: Floats, b: Floats, c: Floats) -> Floats:
    """On which side of the line from a to b the point c lies: the sign of det(a − c, b − c).

    Args:
        a, b, c: (M, 2).
    """
    x, y = a - c, b - c
    left, right = x[:, 0] * y[:, 1], x[:, 1] * y[:, 0]
    sign = np.sign(left - right)
    # A difference is 0 only if its terms are equal, so here the determinant is exactly 0.
    zero = ((x[:, 0] == 0) | (y[:, 1] == 0)) & ((x[:, 1] == 0) | (y[:, 0] == 0))
    doubt = np.abs(left - right) <= _DOUBT * (np.abs(left) + np.abs(right)) + _TINY
    for k in np.nonzero(doubt & ~zero)[0]:
        sign[k] = _exact_side(a[k], b[k], c[k])
    return sign


def _exact_side(a: Floats, b: Floats, c: Floats) -> int:
    (ax, ay), (bx, by), (cx, cy) = ([Fraction(float(x)) for x in point] for point in (a, b, c))
    value = (ax - cx) * (by - cy) - (ay - cy) * (bx - cx)
    return (value > 0) - (value < 0)
