"""Polytopes whose constraints are numbered in any way, doubled, and in more than one word."""

from __future__ import annotations

import numpy as np
import pytest

from rankcheck.theory.regions.triangulation import triangulate

#: The sides of a square and how often each occurs, by the numbers of the constraints.
NUMBERS = [
    [[0], [1], [2], [3]],
    [[64], [65], [66], [67]],
    [[0], [63], [64], [127]],
    [[3, 64], [2, 65], [1, 66], [0, 67]],  # doubled in the second word
    [[64, 70], [65, 71], [66, 127], [67, 100]],  # doubled within the second word
    [[64, 128], [65, 190], [66, 129], [1, 191]],  # in the third
    [[5, 6, 64, 130], [7, 191], [66, 67], [128, 129]],
]


@pytest.mark.parametrize("numbers", NUMBERS, ids=str)
@pytest.mark.parametrize("further", [None, 10, 69, 190])
def test_a_square_is_two_triangles_however_its_sides_are_numbered(numbers, further):
    """A further constraint is tight at one corner alone: it is no side."""
    corners = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    sides = [corners[:, 0] == 0, corners[:, 0] == 1, corners[:, 1] == 0, corners[:, 1] == 1]
    tight = np.zeros((3, 4), dtype=np.uint64)
    lists = [*zip(numbers, sides, strict=True)]
    lists += [([further], corners.sum(axis=1) == 2)] if further is not None else []
    for bits, where in lists:
        for bit in bits:
            tight[bit // 64] |= where.astype(np.uint64) << np.uint64(bit % 64)
    square, triangles = triangulate(np.arange(4), np.array([0, 4]), tight, 2)
    edges = corners[triangles[:, 1:]] - corners[triangles[:, :1]]
    assert square.tolist() == [0, 0]
    assert abs(np.linalg.det(edges)).tolist() == [1, 1]
