"""Bounds of shortest paths through many points, and fitted exponents."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import linregress

from rankcheck.theory.data.growth import (
    fitted_exponent,
    nearest_neighbours,
    serpentine,
    serpentine_path,
)


@pytest.mark.parametrize(("n", "k"), [(2, 1), (40, 2), (25, 3)])
@pytest.mark.oracle("rankcheck.data.nearest_neighbours", "scipy.spatial.distance.cdist")
def test_nearest_neighbours_against_all_pairs(n, k):
    points = np.random.default_rng(n).random((n, k))
    D = cdist(points, points)
    np.fill_diagonal(D, np.inf)
    assert nearest_neighbours(points) == pytest.approx(D.min(axis=1).sum() / 2, rel=1e-12)


def cell_by_cell(points):
    """The path by loops over the cells, as somebody walks them."""
    places = sorted(set(map(tuple, points.tolist())))
    k = len(places[0])
    parts = max(1, round((len(places) / 3) ** (1 / k)))

    def columns(axes):
        """The cells of the first axes, each beside the one before."""
        if not axes:
            return [()]
        return [
            (*before, cell)
            for turn, before in enumerate(columns(axes - 1))
            for cell in (range(parts) if turn % 2 == 0 else reversed(range(parts)))
        ]

    def inside(x, cell):
        return cell == min(math.floor(x * parts), parts - 1)

    path = []
    for turn, column in enumerate(columns(k - 1)):
        members = [p for p in places if all(map(inside, p, column))]
        path += sorted(members, key=lambda p: p[-1], reverse=turn % 2 == 1)
    return path


@pytest.mark.parametrize(("n", "k"), [(1, 1), (2, 3), (30, 1), (90, 2), (200, 3), (300, 4)])
@pytest.mark.oracle("rankcheck.data.serpentine_path", "a walk from cell to cell")
@pytest.mark.oracle("rankcheck.data.serpentine", "math.dist along a walk from cell to cell")
def test_the_serpentine_against_a_walk_from_cell_to_cell(n, k):
    points = np.random.default_rng(n).random((n, k))
    points[-1] = 1.0  # the last cell is closed
    points = np.concatenate((points, points[:2]))
    path = cell_by_cell(points)
    assert [tuple(p) for p in serpentine_path(points).tolist()] == path
    length = sum(math.dist(p, q) for p, q in pairwise(path))
    assert serpentine(points) == pytest.approx(length, rel=1e-12, abs=0)


def test_points_that_coincide_count_once():
    points = np.random.default_rng(2).random((40, 2))
    assert nearest_neighbours(np.tile(points, (2, 1))) == nearest_neighbours(points)


def test_one_point():
    assert nearest_neighbours(np.zeros((5, 2))) == serpentine(np.zeros((5, 2))) == 0


@pytest.mark.parametrize("outside", [1.5, -0.5])
def test_outside_the_cube(outside):
    with pytest.raises(ValueError, match=r"received points of shape \(2, 2\)"):
        serpentine(np.array([[0.0, 0.5], [outside, 0.5]]))


@pytest.mark.oracle("rankcheck.data.fitted_exponent", "scipy.stats.linregress")
def test_fit_against_scipy():
    rng = np.random.default_rng(3)
    sizes = [2**j for j in range(4, 12)] * 2
    lengths = [n**0.5 * np.exp(rng.normal() / 10) for n in sizes]
    fit = fitted_exponent(sizes, lengths)
    oracle = linregress(np.log(sizes), np.log(lengths))
    assert fit.value == pytest.approx(oracle.slope, rel=1e-12)
    assert fit.error == pytest.approx(oracle.stderr, rel=1e-9)
    assert fit.freedom == 14


@pytest.mark.parametrize(
    ("sizes", "lengths"),
    [
        ([2, 4], [1, 1]),
        ([2, 4, 8], [1, 1]),
        ([0, 4, 8], [1, 1, 1]),
        ([2, 2, 2], [1, 1, 1]),
        ([2, 4, 8], [1, 0, 1]),
        ([2, 4, 8], [1, -1, 1]),
        ([2, 4, 8], [1, 1, 1, 1]),
    ],
)
def test_what_cannot_be_fitted(sizes, lengths):
    with pytest.raises(ValueError, match="at least three positive lengths"):
        fitted_exponent(sizes, lengths)
