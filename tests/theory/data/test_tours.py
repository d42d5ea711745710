"""Shortest open paths against all permutations."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist

from rankcheck.theory.data.tours import (
    _bound_and_slope,
    _minimum_spanning_tree,
    distances,
    path_lower_bound,
    shortest_path,
)


@pytest.mark.parametrize(("n", "k"), [(0, 2), (1, 3), (7, 1), (9, 4)])
@pytest.mark.oracle("rankcheck.data.distances", "scipy.spatial.distance.cdist")
def test_distances_against_scipy(n, k):
    points = np.random.default_rng(n).normal(size=(n, k)) * 10
    np.testing.assert_allclose(distances(points), cdist(points, points), rtol=1e-14, atol=0)


def path_length(D, order):
    return D[order[:-1], order[1:]].sum()


def by_permutations(D):
    return min(path_length(D, list(order)) for order in permutations(range(len(D))))


POINTS = st.integers(1, 6).flatmap(
    lambda n: st.integers(1, 3).flatmap(
        lambda k: arrays(float, (n, k), elements=st.integers(-3, 3).map(float))
    )
)


@settings(max_examples=150, deadline=None, database=None, derandomize=True)
@given(POINTS)
@pytest.mark.oracle("rankcheck.data.shortest_path", "all permutations")
def test_exact_and_bound_against_all_permutations(points):
    """Few integer coordinates, so that points coincide and distances tie."""
    D = distances(points)
    length, order = shortest_path(D)
    assert length == pytest.approx(by_permutations(D), rel=1e-12, abs=1e-12)
    assert sorted(order) == list(range(len(D)))
    assert path_length(D, order) == pytest.approx(length, rel=1e-12, abs=1e-12)
    for rounds in (0, 3, 60):
        assert path_lower_bound(D, rounds=rounds) <= length


@pytest.mark.parametrize(("n", "k"), [(3, 1), (6, 2), (7, 3)])
@pytest.mark.oracle(
    "rankcheck.data.path_lower_bound",
    "scipy.sparse.csgraph.minimum_spanning_tree and all permutations",
)
def test_the_bound_starts_at_the_spanning_tree_and_ends_near_the_path(n, k):
    for seed in range(3):
        points = np.random.default_rng(seed).normal(size=(n, k))
        D = cdist(points, points)
        D = np.maximum(D, D.T)
        tree, best = minimum_spanning_tree(D).sum(), by_permutations(D)
        assert path_lower_bound(D, rounds=0) == pytest.approx(tree, rel=1e-12)
        assert max(tree * (1 - 1e-12), 0.95 * best) <= path_lower_bound(D) <= best


@pytest.mark.parametrize("seed", range(8))
def test_distances_without_triangle_inequality(seed):
    g = np.random.default_rng(seed)
    D = g.exponential(size=(7, 7)) * (g.random((7, 7)) < 0.7)
    D = np.triu(D, 1) + np.triu(D, 1).T
    best = by_permutations(D)
    assert shortest_path(D)[0] == pytest.approx(best, rel=1e-12)
    assert path_lower_bound(D) <= best


def test_points_on_a_line_are_visited_in_order():
    """The spanning tree is the path: both have length max - min, up to rounding."""
    x = np.random.default_rng(0).permutation(np.arange(300.0))
    assert 299 - 1e-8 < path_lower_bound(distances(x[:, None])) <= 299
    length, order = shortest_path(distances(x[:14, None]))
    assert length == x[:14].max() - x[:14].min()
    assert x[order].tolist() in (sorted(x[:14]), sorted(x[:14], reverse=True))


def test_coinciding_points_add_nothing():
    """A distance of zero is not a missing edge."""
    points = np.array([[0.0], [0.0], [0.0], [2.0], [2.0], [5.0]])
    assert shortest_path(distances(points))[0] == 5
    assert path_lower_bound(distances(points)) == pytest.approx(5, rel=1e-12)
    assert path_lower_bound(np.zeros((20, 20))) == 0
    assert shortest_path(np.zeros((5, 5)))[0] == 0


def test_sixteen_points_are_the_most():
    D = distances(np.random.default_rng(1).uniform(size=(17, 2)))
    length, order = shortest_path(D[:16, :16])
    assert len(order) == 16
    assert path_lower_bound(D[:16, :16]) <= length
    with pytest.raises(ValueError, match="received 17 points"):
        shortest_path(D)


def test_few_points():
    assert shortest_path(np.zeros((0, 0))) == (0.0, [])
    assert shortest_path(np.zeros((1, 1))) == (0.0, [0])
    two = np.array([[0.0, 3.0], [3.0, 0.0]])
    assert shortest_path(two)[0] == path_lower_bound(two) == 3


@pytest.mark.parametrize(
    "D",
    [
        [[0.0, 1.0], [2.0, 0.0]],
        [[0.0, -1.0], [-1.0, 0.0]],
        [[1.0, 1.0], [1.0, 0.0]],
        [[0.0, np.inf], [np.inf, 0.0]],
    ],
)
def test_what_are_no_distances(D):
    with pytest.raises(ValueError, match="finite, symmetric, non-negative and zero"):
        shortest_path(D)


def test_errors_say_the_rule():
    with pytest.raises(ValueError, match="square matrix"):
        path_lower_bound(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="rounds"):
        path_lower_bound(np.zeros((3, 3)), rounds=-1)
    with pytest.raises(ValueError, match="rows of a matrix"):
        distances(np.zeros(3))


def tree_by_scipy(weights):
    rows, columns = minimum_spanning_tree(weights + 1000.0).nonzero()  # scipy takes 0 for no edge
    ends = np.concatenate((rows, columns))
    return weights[rows, columns].sum(), np.bincount(ends, minlength=len(weights)).tolist()


@pytest.mark.parametrize("n", [2, 3, 6, 8])
@pytest.mark.oracle("rankcheck.data.path_lower_bound", "scipy.sparse.csgraph.minimum_spanning_tree")
def test_the_bound_for_any_weights_of_the_points(n):
    """Also for weights whose sum is not 0, which the ascent does not reach: its steps sum to 0."""
    g = np.random.default_rng(n)
    for _ in range(20):
        D, pi = distances(g.normal(size=(n, 2))), 2 * g.normal(size=n)
        weights = D + pi[:, None] + pi
        length, degrees = tree_by_scipy(weights - np.diag(np.diag(weights)))
        found, ours = _minimum_spanning_tree(weights)
        assert found == pytest.approx(length, rel=1e-12, abs=1e-12)
        assert ours.tolist() == degrees
        bound, slope = _bound_and_slope(D, pi)
        least = sorted(range(n), key=pi.__getitem__)[:2]
        assert bound == pytest.approx(length + sum(pi[least]) - 2 * sum(pi), rel=1e-12, abs=1e-12)
        assert slope.tolist() == [degrees[i] + (i in least) - 2 for i in range(n)]
        other = pi + g.normal(size=n)
        # A supergradient of a concave function.
        assert _bound_and_slope(D, other)[0] <= bound + slope @ (other - pi) + 1e-12
        plain = tree_by_scipy(D)[0]
        assert path_lower_bound(D, rounds=0) == pytest.approx(plain, rel=1e-12) or n == 2


@pytest.mark.parametrize("n", [3, 6, 30])
def test_the_allowance_for_rounding(n):
    """Less than the exact value by no less than n + 3 roundings of all terms, and by little more.

    A term is rounded n + 3 times at most: twice in the weight of an edge, n - 2 times in the sum
    of the tree (or as often in the sum of the potentials), and three times in what is left.
    """
    g = np.random.default_rng(n)
    for scale in (0.0, 0.01, 2.0):
        D, pi = distances(g.normal(size=(n, 2))), scale * g.normal(size=n)
        rows, columns = minimum_spanning_tree(
            D + pi[:, None] + pi + 1000 * (1 - np.eye(n))
        ).nonzero()
        least = np.sort(pi)[:2]
        edges = [D[rows, columns], pi[rows], pi[columns], least, -pi, -pi]
        terms = [Fraction(x) for part in edges for x in part.tolist()]
        gap = sum(terms) - Fraction(float(_bound_and_slope(D, pi)[0]))
        assert gap >= (n + 3) * Fraction(2) ** -53 * sum(map(abs, terms))
        most = (n + 8) * n * (D.max() + 6 * abs(pi).max())
        assert gap <= (n + 8 + 0.5) / (n + 8) * 2.0**-53 * most
