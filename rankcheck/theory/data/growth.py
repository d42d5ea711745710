r"""Growth of the shortest path through N random points: bounds for large N, and fitted exponents.

For points of a law with a density on a bounded set of R^k, TSP grows like $N^{1 - 1/k}$ (Beardwood,
Halton & Hammersley 1959). It lies between two lengths that take N log N operations:

* half the sum of the distances of the points to their nearest neighbours, as each point is the end
  of an edge and each edge has two ends;
* the length of one path, which visits the cells of a grid in serpentines.

Coinciding points count once, as they do for TSP. Used by rank.travelling-salesman-growth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankcheck.theory.data.tours import Floats

IN_A_CELL = 3
"""Average number of points in a cell of the grid."""


def nearest_neighbours(points: Floats) -> float:
    """Half the sum of the distances to the nearest neighbours, a lower bound of TSP for any N.

    ``points`` is (N, k).
    """
    points = np.unique(points, axis=0)
    if len(points) < 2:
        return 0.0
    from scipy.spatial import cKDTree  # 0.1 s, for few claims

    distance, _ = cKDTree(points).query(points, k=2)
    return float(distance[:, 1].sum() / 2)


def serpentine(points: Floats) -> float:
    """The length of :func:`serpentine_path`, an upper bound of TSP, for points (N, k)."""
    path = serpentine_path(points)
    return float(np.sqrt(((path[1:] - path[:-1]) ** 2).sum(axis=1)).sum())


def serpentine_path(points: Floats) -> Floats:
    """A short path through points (N, k) of the unit cube: the distinct points in its order.

    All coordinates but the last are cut into m parts, m^k ≈ N/3. The path visits the resulting
    columns so that each is next to the one before; in the columns the last coordinate ascends and
    descends in turn, at first up. In one dimension the path is the shortest one.

    Raises:
        ValueError: a point lies outside the unit cube.
    """
    if points.ndim != 2 or points.size == 0 or points.min() < 0 or points.max() > 1:
        raise ValueError(
            f"received points of shape {points.shape}; points are the rows of a matrix with "
            "entries in [0, 1]"
        )
    points = np.unique(points, axis=0)
    n, k = points.shape
    parts = max(1, round((n / IN_A_CELL) ** (1 / k)))
    column = np.zeros(n, dtype=np.intp)
    for cell in np.minimum((points[:, :-1] * parts).astype(np.intp), parts - 1).T:
        # This axis changes direction from each column of the preceding axes to the next.
        column = column * parts + np.where(column % 2 == 0, cell, parts - 1 - cell)
    along = np.where(column % 2 == 0, points[:, -1], 1 - points[:, -1])
    return points[np.lexsort((along, column))]


@dataclass(frozen=True)
class Exponent:
    """The slope of log(length) against log(N), with its standard error and degrees of freedom."""

    value: float
    error: float
    freedom: int

    def reach(self, level: float) -> float:
        """Half the width of the confidence interval that an exact power law leaves at this level.

        By the law of Student; each side is left with probability level / 2.
        """
        from scipy.special import stdtrit  # scipy.stats would take half a second to import

        return -float(stdtrit(self.freedom, level / 2)) * self.error


def fitted_exponent(sizes: Sequence[int], lengths: Sequence[float]) -> Exponent:
    """The exponent of a power law, by least squares in logarithms.

    Raises:
        ValueError: there are fewer than three samples or two sizes, or a size or a length is not
            positive.

    >>> round(fitted_exponent([1, 2, 4], [3.0, 6.0, 12.0]).value, 12)
    1.0
    """
    enough = len(sizes) == len(lengths) and len(sizes) >= 3 and len(set(sizes)) >= 2
    if not (enough and min(sizes) > 0 and min(lengths) > 0):
        raise ValueError(
            f"received sizes {list(sizes)} and lengths {list(lengths)}; an exponent is fitted to "
            "at least three positive lengths of at least two positive sizes"
        )
    x, y = np.log(np.asarray(sizes, dtype=float)), np.log(np.asarray(lengths, dtype=float))
    x, y = x - x.mean(), y - y.mean()
    slope = float(x @ y / (x @ x))
    freedom = len(x) - 2
    variance = float(((y - slope * x) ** 2).sum()) / freedom / float(x @ x)
    return Exponent(slope, math.sqrt(variance), freedom)
