"""Shortest open paths through N points: exact for few points, a lower bound for many.

TSP(D) is the length of the shortest path that visits every point once, from any point to any other,
for symmetric, non-negative distances D. The triangle inequality is not used.

Used by rank.travelling-salesman and rank.travelling-salesman-growth.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

Floats: TypeAlias = np.ndarray

UNIT = 2.0**-53
"""The unit roundoff of float64."""

MOST_POINTS = 16
"""The largest N for exact paths: 8 MB and a second. Memory grows like N·2^N, time like N²·2^N."""


def distances(points: Floats) -> Floats:
    """Euclidean distances (N, N) between the rows of ``points`` (N, k)."""
    points = np.asarray(points, dtype=float)
    if points.ndim != 2:
        raise ValueError(
            f"received points of shape {points.shape}; points are the rows of a matrix"
        )
    difference = points[:, None] - points
    return np.sqrt((difference**2).sum(axis=-1))


def shortest_path(D: Floats) -> tuple[float, list[int]]:
    """TSP(D) and an order of the points that attains it, for N ≤ 16.

    By Held & Karp's dynamic programme (1962): ``least[S, j]`` is the length of the shortest path
    that visits the set S and ends in j, computed for all sets of one size together.

    Raises:
        ValueError: D is not a matrix of distances, or N > 16.

    >>> shortest_path(distances(np.array([[0.0], [5.0], [1.0]])))
    (5.0, [0, 2, 1])
    """
    D = _checked(D)
    n = len(D)
    if n > MOST_POINTS:
        raise ValueError(
            f"received {n} points; exact paths take at most {MOST_POINTS}: see path_lower_bound"
        )
    if n <= 1:
        return 0.0, list(range(n))
    sets = np.arange(1 << n)
    everything = len(sets) - 1
    least = np.full((len(sets), n), np.inf)
    least[1 << np.arange(n), np.arange(n)] = 0.0
    sizes = np.bitwise_count(sets)
    for size in range(1, n):
        of_size = sets[sizes == size]
        for j in range(n):
            grown = of_size[of_size >> j & 1 == 0]
            least[grown | 1 << j, j] = (least[grown] + D[:, j]).min(axis=1)
    path = [int(least[everything].argmin())]
    length, visited = float(least[everything, path[0]]), everything
    while len(path) < n:
        last = path[-1]
        visited ^= 1 << last
        path.append(int((least[visited] + D[:, last]).argmin()))
    return length, path


def path_lower_bound(D: Floats, *, rounds: int = 200) -> float:
    r"""A lower bound of TSP(D) for any N, which holds in floating point too.

    An added point at distance zero from all others turns shortest paths into shortest tours. A tour
    consists of a spanning tree (a path) of all points but one, and two edges at that one. So for
    all weights π and every choice v of the point left out (Held & Karp 1970)

    .. math:: \mathrm{TSP} \ge \mathrm{MST}_{-v}(D_{ij} + π_i + π_j)
              + \text{two least of } (D_{vj} + π_v + π_j) - 2\sum_i π_i .

    Here v is the added point. The right side is concave in π, with the degrees less two as a
    supergradient. ``rounds`` steps along it raise the bound from the one at π = 0, the length of
    the minimum spanning tree. A bound on the rounding error is subtracted from each value.

    Raises:
        ValueError: D is not a matrix of distances, or ``rounds`` is negative.
    """
    D = _checked(D)
    if rounds < 0:
        raise ValueError(f"received rounds = {rounds}; rounds is >= 0")
    n = len(D)
    if n <= 2:
        return shortest_path(D)[0]
    potential = np.zeros(n)
    best, step, patience = -np.inf, 0.0, 0
    previous = np.zeros(n)
    for _ in range(rounds + 1):
        bound, slope = _bound_and_slope(D, potential)
        improved = bound > best
        best = max(best, bound)
        if not slope.any():
            break
        if step == 0.0:
            step = bound / (2 * n)
        patience = 0 if improved else patience + 1
        if patience > 4:
            step, patience = step / 2, 0
        # Volgenant & Jonker (1982): a share of the preceding step damps the zigzag.
        potential = potential + step * (0.7 * slope + 0.3 * previous)
        previous = slope
    return float(max(best, 0.0))


def _bound_and_slope(D: Floats, potential: Floats) -> tuple[float, Floats]:
    """The right side of :func:`path_lower_bound` less its rounding error, and a supergradient."""
    tree, degrees = _minimum_spanning_tree(D + potential[:, None] + potential)
    ends = np.argsort(potential)[:2]
    degrees[ends] += 1
    bound = tree + potential[ends].sum() - 2 * potential.sum()
    # The bound sums n - 1 edges of three terms each, two potentials, and n potentials twice.
    n = len(D)
    error = (n + 8) * UNIT * n * (D.max() + 6 * np.abs(potential).max())
    return bound - error, degrees - 2.0


def _minimum_spanning_tree(weights: Floats) -> tuple[float, Floats]:
    """Length and degrees of a minimum spanning tree of the complete graph, by Prim's algorithm.

    scipy's minimum_spanning_tree takes an entry of zero for a missing edge.
    """
    n = len(weights)
    degrees = np.zeros(n)
    outside = np.ones(n, dtype=bool)
    outside[0] = False
    nearest, parent = weights[0].copy(), np.zeros(n, dtype=np.intp)
    total = 0.0
    for _ in range(n - 1):
        new = int(np.where(outside, nearest, np.inf).argmin())
        total += nearest[new]
        degrees[new] += 1
        degrees[parent[new]] += 1
        outside[new] = False
        closer = outside & (weights[new] < nearest)
        nearest[closer], parent[closer] = weights[new, closer], new
    return total, degrees


def _checked(D: Floats) -> Floats:
    D = np.asarray(D, dtype=float)
    if D.ndim != 2 or D.shape[0] != D.shape[1]:
        raise ValueError(f"received distances of shape {D.shape}; distances form a square matrix")
    if not (
        np.isfinite(D).all() and (D >= 0).all() and (D == D.T).all() and not D.diagonal().any()
    ):
        raise ValueError(
            "received a matrix of other numbers than distances; distances are finite, symmetric, "
            "non-negative and zero on the diagonal"
        )
    return D
