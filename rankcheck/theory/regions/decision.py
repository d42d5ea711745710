r"""The classes of a classifier f: R^n → R^m over a box, and how many of them meet in a point.

Class i is where f_i is the largest output. With the differences f_i − f_j as a further hidden
layer, the linear regions (:mod:`rankcheck.regions`) become cells on which the order of the outputs
is constant, so each cell has one class (the last of those that are equal on all of it). The cells
form a complex: a point inside a face lies in exactly the cells that have this face, and every
vertex of the face lies in these cells as well. So no point meets more classes than some vertex, and
the largest number of classes that meet in a point is a maximum over the vertices, without rounding.

`Decision.junctions` lists the points where three or more classes meet, of a box in the plane.

A cell on which the largest output is not strictly larger than all others belongs to no class if a
class is where one output is *strictly* larger: `most_strictly` leaves these cells out.

Used by rank.no-tripoints and rank.figure-2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import torch

from rankcheck.theory.networks.network import Network
from rankcheck.theory.regions.box import Corner, regions
from rankcheck.theory.regions.cells import Regions
from rankcheck.theory.regions.splitting import Complex

#: Vertices that are closer than this share of the box are one point: where four classes or more
#: would meet in one, rounding of the weights leaves several points where three do.
SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Decision:
    """The cells of a classifier in a box.

    Attributes:
        cells: its cells; their Jacobians and offsets are those of σ_a(f_i − f_j), i < j.
        classes: the class of each cell, shape (R,).
        strict: whether the output of the class is strictly larger than all others inside the cell,
            bools (R,). Decided on the affine maps of the differences, which are exact for networks
            of small integers.
        meeting: which classes meet in each vertex, bools (V, m). Row v belongs to the vertex
            ``cells.cells.points[v]``; vertices of no cell have no class.
    """

    cells: Regions
    classes: np.ndarray
    strict: np.ndarray
    meeting: np.ndarray

    @property
    def most(self) -> int:
        """The largest number of classes that meet in a point of the box."""
        return int(self.meeting.sum(axis=1).max())

    @property
    def most_strictly(self) -> int:
        """The same for classes on which one output is strictly larger than all others."""
        cells, m = self.cells.cells, self.meeting.shape[1]
        return int(_meeting(cells, self.classes, self.strict, m).sum(axis=1).max())

    def junctions(self, classes: int = 3) -> np.ndarray:
        """The points of a box in the plane where so many classes or more meet, shape (K, 2).

        Vertices within `SAME` of one another, relative to the box, are one point, their mean.
        """
        # Imported here: they take 0.1 s and more, and few claims need them.
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components
        from scipy.spatial import KDTree

        cells = self.cells
        points = cells.cells.points[self.meeting.sum(axis=1) >= classes]
        if not len(points):
            return points
        pairs = KDTree(points / (cells.high - cells.low)).query_pairs(SAME, output_type="ndarray")
        near = coo_array((np.ones(len(pairs)), pairs.T), shape=(len(points),) * 2)
        count, which = connected_components(near, directed=False)
        sums = np.zeros((count, points.shape[1]))
        np.add.at(sums, which, points)
        return sums / np.bincount(which)[:, None]


def decision(net: Network, low: Corner, high: Corner) -> Decision:
    """The classes of a network of m ≥ 2 outputs in the box [low, high].

    Raises:
        ValueError: if it has one output, or as :func:`rankcheck.regions.regions` does.
    """
    m = net.widths[-1]
    if m < 2:
        raise ValueError(f"decision received a network with {m} output; it takes two or more")
    pairs = list(combinations(range(m), 2))
    rows = torch.zeros(len(pairs), m, dtype=torch.float64)
    for row, (i, j) in enumerate(pairs):
        rows[row, i], rows[row, j] = 1.0, -1.0
    differences = Network((rows,), (rows[:, 0] * 0,), net.slope).merged_after(net)
    read = torch.eye(len(pairs), dtype=torch.float64)
    ordered = Network((*differences.weights, read), (*differences.biases, read[0] * 0), net.slope)
    cells = regions(ordered, low, high)
    larger = cells.patterns[:, -len(pairs) :]
    wins = np.zeros((len(cells), m), dtype=np.intp)
    for row, (i, j) in enumerate(pairs):
        wins[:, i] += larger[:, row]
        wins[:, j] += ~larger[:, row]
    classes = wins.argmax(axis=1)
    affine = replace(cells, weights=cells.weights[:-1], biases=cells.biases[:-1])
    equal = ~(affine.jacobians.any(axis=-1) | (affine.offsets != 0))
    strict = np.ones(len(cells), dtype=bool)
    for row, pair in enumerate(pairs):
        strict &= ~(equal[:, row] & np.isin(classes, pair))
    everywhere = np.ones(len(cells), dtype=bool)
    return Decision(cells, classes, strict, _meeting(cells.cells, classes, everywhere, m))


def _meeting(cells: Complex, classes: np.ndarray, counted: np.ndarray, m: int) -> np.ndarray:
    """Which classes meet in each vertex, bools (V, m), of the cells that are counted."""
    meeting = np.zeros((len(cells.points), m), dtype=bool)
    sizes = np.diff(cells.starts)
    members = cells.members[np.repeat(counted, sizes)]
    meeting[members, np.repeat(classes[counted], sizes[counted])] = True
    return meeting
