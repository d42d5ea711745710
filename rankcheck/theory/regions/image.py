"""The dimension of the image of a box under a network.

The image of a region is a polytope, and the image of the box the union of these finitely many. Its
dimension is the largest one of them, here from the exact values of f at the vertices, without any
Jacobian.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import fmpq_mat

from rankcheck.theory.regions.cells import Regions
from rankcheck.theory.regions.exact import RationalVertices, rational


def image_dimension(cells: Regions, *, corners: int | None = None) -> int:
    """dim f(Ω) for the box Ω of the regions: the largest dimension of the image of a region.

    Args:
        corners: take only so many vertices of each region.
    """
    weights, biases = [W[None] for W in cells.weights], [b[None] for b in cells.biases]
    f = RationalVertices(weights, biases, [cells.slope], cells.low[None], np.array([0]))
    last = len(cells.weights) - 1
    return max(
        _dimension([_value(f, x, last) for x in cells.exact_vertices(region)[:corners]])
        for region in range(len(cells))
    )


def _value(f: RationalVertices, point: list[Fraction], layer: int) -> list[Fraction]:
    return f.evaluate([rational(x) for x in point], layer)


def _dimension(points: list[list[Fraction]]) -> int:
    """The dimension of the affine hull of some points."""
    first, *others = points
    rows = [[x - y for x, y in zip(other, first, strict=True)] for other in others]
    return int(fmpq_mat(rows).rank()) if rows else 0
