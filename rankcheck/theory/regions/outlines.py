"""The outlines of unions of cells in the plane, such as those of the cells of one class.

The cells of a box form a complex: two cells that have a common side have it with both of its ends.
So the outline of a union of cells consists of the sides that belong to one of its cells only. With
every cell passed round counterclockwise, a side of two cells is passed in both directions, and what
is left after these have cancelled are closed lines, whatever the rounding of coordinates.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from rankcheck.theory.regions.cells import Regions
from rankcheck.theory.regions.exact import Floats


def outlines(cells: Regions, labels: np.ndarray) -> dict[int, list[Floats]]:
    """The closed lines around the cells of each label, for a box in the plane.

    Args:
        labels: a whole number for each cell, shape (R,).

    Returns:
        By label, rings of points (n, 2), the first of which is not repeated. The union of the cells
        lies to the left of each ring, so that holes have the other sense of rotation.

    Raises:
        ValueError: if the box is not one of the plane, or the labels are not one for each cell.
    """
    labels = np.asarray(labels)
    if len(cells.low) != 2 or labels.shape != (len(cells),):
        raise ValueError(
            f"outlines received {len(cells)} cells in {len(cells.low)} dimensions and labels of "
            f"shape {labels.shape}; the cells are those of a box in the plane, with a label each"
        )
    start, end, owner = _sides(cells)
    return {
        int(label): [cells.cells.points[ring] for ring in _rings(start[mine], end[mine])]
        for label in np.unique(labels)
        for mine in [labels[owner] == label]
    }


def simplified(ring: Floats, tolerance: float) -> Floats:
    """The ring without points that are within the tolerance of the line through the others.

    This is the method of Douglas and Peucker (1973), from a point and the one farthest from it. A
    ring that is nowhere wider than the tolerance keeps two points or fewer.
    """
    far = int(np.abs(ring - ring[0]).max(axis=1).argmax())
    closed = np.concatenate((ring, ring[:1]))
    kept = np.zeros(len(closed), dtype=bool)
    kept[[0, far]] = True
    waiting = [(0, far), (far, len(ring))]
    while waiting:
        begin, end = waiting.pop()
        if end - begin < 2:
            continue
        distances = _from_segment(closed[begin + 1 : end], closed[begin], closed[end])
        middle = begin + 1 + int(distances.argmax())
        if distances.max() > tolerance:
            kept[middle] = True
            waiting += [(begin, middle), (middle, end)]
    return ring[kept[:-1]]


def _sides(cells: Regions) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The sides of all cells, counterclockwise: the vertices at both ends, and the cell."""
    complex_ = cells.cells
    sizes = np.diff(complex_.starts)
    owner = np.repeat(np.arange(len(cells)), sizes)
    x, y = (complex_.points[complex_.members] - cells.interior[owner]).T
    order = np.lexsort((np.arctan2(y, x), owner))
    start = complex_.members[order]
    following = np.arange(len(start)) + 1
    following[complex_.starts[1:] - 1] = complex_.starts[:-1]
    return start, start[following], owner


def _rings(start: np.ndarray, end: np.ndarray) -> list[np.ndarray]:
    """The closed lines that the sides form once those in opposite directions have cancelled."""
    pairs = np.stack((np.minimum(start, end), np.maximum(start, end)), axis=1)
    ends, which = np.unique(pairs, axis=0, return_inverse=True)
    surplus = np.zeros(len(ends), dtype=int)
    np.add.at(surplus, which.reshape(-1), np.where(start < end, 1, -1))
    onwards: dict[int, list[int]] = defaultdict(list)
    left = np.flatnonzero(surplus)
    for (low, high), times in zip(ends[left].tolist(), surplus[left].tolist(), strict=True):
        u, v = (low, high) if times > 0 else (high, low)
        onwards[u] += [v] * abs(times)
    rings = []
    for first in list(onwards):
        while onwards[first]:
            ring, at = [first], onwards[first].pop()
            while at != first:
                ring.append(at)
                at = onwards[at].pop()
            rings.append(np.array(ring))
    return rings


def _from_segment(points: Floats, a: Floats, b: Floats) -> Floats:
    """How far points are from the segment between a and b."""
    along = b - a
    length = float(along @ along)
    share = np.clip((points - a) @ along / length, 0, 1) if length else np.zeros(len(points))
    return np.linalg.norm(points - a - share[:, None] * along, axis=1)
