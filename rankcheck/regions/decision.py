r"""The classes of a classifier f: R^n → R^m over a box, and how many of them meet in a point.

Class i is where f_i is the largest output. With the differences f_i − f_j as a further hidden
layer, the linear regions (:mod:`rankcheck.regions`) become cells on which the order of the outputs
is constant, so each cell has one class (the last of those that are equal on all of it). The cells
form a complex: a point inside a face lies in exactly the cells that have this face, and every
vertex of the face lies in these cells as well. So no point meets more classes than some vertex, and
the largest number of classes that meet in a point is a maximum over the vertices, without rounding.

Used by rank.no-tripoints.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import torch

from rankcheck.networks.network import Network
from rankcheck.regions.box import Corner, regions
from rankcheck.regions.cells import Regions

__all__ = ["Decision", "decision"]


@dataclass(frozen=True, eq=False)
class Decision:
    """The cells of a classifier in a box.

    Attributes:
        cells: its cells; their Jacobians and offsets are those of the differences f_i − f_j, i < j.
        classes: the class of each cell, shape (R,).
        meeting: which classes meet in each vertex, bools (V, m). Row v belongs to the vertex
            ``cells.cells.points[v]``; vertices of no cell have no class.
    """

    cells: Regions
    classes: np.ndarray
    meeting: np.ndarray

    @property
    def most(self) -> int:
        """The largest number of classes that meet in a point of the box."""
        return int(self.meeting.sum(axis=1).max())


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
    members, starts = cells.cells.members, cells.cells.starts
    meeting = np.zeros((len(cells.cells.points), m), dtype=bool)
    meeting[members, np.repeat(classes, np.diff(starts))] = True
    return Decision(cells, classes, meeting)
