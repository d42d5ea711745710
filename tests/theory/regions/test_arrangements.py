"""Counts of faces against linear programmes and against arrangements whose counts are known."""

from __future__ import annotations

from itertools import combinations, product
from math import comb, factorial

import numpy as np
import pytest
import torch
from scipy.optimize import linprog

from rankcheck.balls import BallArray
from rankcheck.networks import Network
from rankcheck.regions import (
    Arrangement,
    most_bounded_regions,
    most_faces,
    most_regions,
    region_arrays,
)


def arrangement(rows, offsets):
    return Arrangement(
        torch.tensor(rows, dtype=torch.float64), torch.tensor(offsets, dtype=torch.float64)
    )


def differences(n, offsets):
    """x_i − x_j = c for i < j and each c."""
    eye = np.eye(n)
    pairs = [(eye[i] - eye[j], -c) for i, j in combinations(range(n), 2) for c in offsets]
    return arrangement(np.array([row for row, _ in pairs]), [c for _, c in pairs])


def signs_by_linear_programmes(rows, offsets):
    """Of every face the signs of the hyperplanes on it."""
    found = []
    for signs in product((-1, 0, 1), repeat=len(rows)):
        zero = [i for i, s in enumerate(signs) if s == 0]
        other = [i for i, s in enumerate(signs) if s != 0]
        # s_i (a_i·x + b_i) ≥ margin, for the largest margin up to 1.
        A = [[*(-signs[i] * rows[i]), 1] for i in other]
        answer = linprog(
            [0] * rows.shape[1] + [-1],
            A or None,
            [signs[i] * offsets[i] for i in other] or None,
            [[*rows[i], 0] for i in zero] or None,
            [-offsets[i] for i in zero] or None,
            bounds=[(None, None)] * rows.shape[1] + [(0, 1)],
        )
        if answer.status == 0 and -answer.fun > 1e-9:
            found.append(signs)
    return found


def is_bounded(rows, signs):
    """Whether only 0 satisfies s_i a_i·v ≥ 0 for all i, in a box."""
    d = rows.shape[1]
    A = -np.array(signs)[:, None] * rows
    return all(
        abs(linprog(c, A, np.zeros(len(A)), bounds=[(-1, 1)] * d).fun) < 1e-9
        for c in (*np.eye(d), *-np.eye(d))
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "d", "seed"), [(3, 2, 0), (4, 2, 1), (4, 2, 2), (4, 3, 3), (3, 3, 4)]
)
def test_faces_are_those_of_linear_programmes(n, d, seed):
    """Small integers: parallel and equal hyperplanes, and many through one point."""
    g = np.random.default_rng(seed)
    rows, offsets = g.integers(-1, 2, (n, d)), g.integers(-1, 2, n)
    rows[~rows.any(axis=1), 0] = 1
    faces = signs_by_linear_programmes(rows, offsets)
    found = arrangement(rows, offsets)
    chambers = [signs for signs in faces if 0 not in signs]
    assert found.regions == len(chambers)
    assert found.bounded == sum(is_bounded(rows, signs) for signs in chambers)
    dimensions = [
        d - np.linalg.matrix_rank(rows[[i for i, s in enumerate(signs) if s == 0]])
        if 0 in signs
        else d
        for signs in faces
    ]
    assert found.faces.tolist() == np.bincount(dimensions, minlength=d + 1).tolist()


@pytest.mark.parametrize("n", [2, 3, 4])
def test_regions_of_well_known_arrangements(n):
    """The braid, Shi and Catalan arrangements (Stanley, *Hyperplane arrangements*, 2007)."""
    assert differences(n, [0]).regions == factorial(n)
    if n < 4:
        assert differences(n, [0, 1]).regions == (n + 1) ** (n - 1)
        assert differences(n, [-1, 0, 1]).regions == factorial(n) * comb(2 * n, n) // (n + 1)
    coordinates = arrangement(np.eye(n), np.zeros(n))
    assert coordinates.regions == 2**n
    assert coordinates.bounded == 0
    assert coordinates.faces.tolist() == [comb(n, k) * 2**k for k in range(n + 1)]


def test_bounded_regions_need_normals_that_span_the_space():
    """Between two of three parallel lines there is no bounded region; of points there are two."""
    assert arrangement([[1, 0]] * 3, [0, 1, 2]).bounded == 0
    assert arrangement([[1]] * 3, [0, 1, 2]).bounded == 2
    assert arrangement([[1]] * 3, [0, 1, 2]).faces.tolist() == [3, 4]


def test_equal_hyperplanes_count_once_and_zero_rows_not_at_all():
    lines = arrangement([[1, 0], [-2, 0], [0, 1], [0, 0], [0, 0]], [1, -2, 0, 0, 1])
    assert (lines.regions, lines.bounded, lines.rank) == (4, 0, 2)
    assert lines.faces.tolist() == [1, 4, 4]
    assert arrangement([[0, 0]], [0]).faces.tolist() == [0, 0, 1]


@pytest.mark.parametrize(("n", "d"), [(1, 1), (2, 3), (4, 1), (5, 2), (6, 3)])
@pytest.mark.oracle("rankcheck.regions.most_regions", "Vandermonde normals, in general position")
@pytest.mark.oracle("rankcheck.regions.most_faces", "Vandermonde normals, in general position")
@pytest.mark.oracle(
    "rankcheck.regions.most_bounded_regions", "Vandermonde normals, in general position"
)
def test_the_bounds_are_attained_in_general_position(n, d):
    """Any d + 1 of the rows (a, b) = (1, t, ..., t^d) are independent, and any d of the a."""
    rows = torch.tensor([[t**k for k in range(d + 1)] for t in range(1, n + 1)])
    exact = Arrangement(BallArray.exact(rows[:, :d]), BallArray.exact(rows[:, d]))
    assert exact.regions == most_regions(n, d)
    assert exact.bounded == most_bounded_regions(n, d)
    assert exact.faces.tolist() == [most_faces(n, d, k) for k in range(d + 1)]


def test_a_batch_has_the_counts_of_each_and_those_of_networks():
    g = torch.Generator().manual_seed(0)
    rows = torch.randint(-1, 2, (20, 4, 2), generator=g).double()
    offsets = torch.randint(-1, 2, (20, 4), generator=g).double()
    lines = Arrangement(rows, offsets)
    for i in range(20):
        alone = Arrangement(BallArray.exact(rows[i]), BallArray.exact(offsets[i]))
        assert (lines.faces[i] == alone.faces).all()
        assert (lines.regions[i], lines.bounded[i]) == (alone.regions, alone.bounded)
    assert (lines.faces[:, 2] == lines.regions).all()
    assert (lines.faces * torch.tensor([1, -1, 1])).sum(-1).eq(1).all()  # Euler
    net = Network((rows, rows.mT), (offsets, rows[:, 0]))
    assert (region_arrays(net, -9, 9).count == lines.regions).all()  # where all lines meet inside


@pytest.mark.parametrize("seed", range(4))
def test_general_position_is_that_of_ranks_of_all_subsets(seed):
    """Small integers, so that both answers occur; by numpy's ranks, set by set."""
    g = np.random.default_rng(seed)
    answers = set()
    for n, d in [(1, 1), (2, 1), (3, 2), (4, 2), (4, 3), (2, 3)]:
        rows = g.integers(-3, 4, (20, n, d + 1)).astype(float)
        found = Arrangement(torch.from_numpy(rows[..., :d]), torch.from_numpy(rows[..., d]))
        for i, each in enumerate(rows):
            few = [list(s) for k in range(1, d + 1) for s in combinations(range(n), k)]
            many = [list(s) for s in combinations(range(n), d + 1)]
            truth = all(np.linalg.matrix_rank(each[s, :d]) == len(s) for s in few)
            truth = truth and all(np.linalg.matrix_rank(each[s]) == d + 1 for s in many)
            exact = Arrangement(BallArray.exact(each[:, :d]), BallArray.exact(each[:, d]))
            assert bool(found.is_general[i]) == bool(exact.is_general) == truth
            answers.add(truth)
    assert answers == {True, False}


def test_errors_say_the_rule():
    with pytest.raises(ValueError, match=r"expected \(\*B, n, d\) and \(\*B, n\)"):
        Arrangement(torch.zeros(3, 2), torch.zeros(2))
    with pytest.raises(ValueError, match="10 at most"):
        Arrangement(torch.zeros(11, 2), torch.zeros(11))
