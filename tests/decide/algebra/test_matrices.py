"""Linear algebra over rational functions agrees with that of balls at points of every path."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from flint import arb, fmpq

import rankcheck.decide.algebra.matrices  # noqa: F401
from rankcheck import balls, linalg
from rankcheck.balls import BallArray, NoBallForm
from rankcheck.decide.algebra.cell import Linked, Stopped
from rankcheck.decide.algebra.ring import Ring
from tests.decide.algebra.paths import contains, paths, value

VALUES = ("0", "1", "-1", "3/2")
#: Entries of 2 × 2 matrices: singular ones, symmetric ones, multiples of the identity among them.
POINTS = [tuple(map(Fraction, point)) for point in product(VALUES, repeat=4)][::3]


def matrix(entries: Sequence[Any], rows: int = 2) -> BallArray:
    flat = np.empty(len(entries), dtype=object)
    flat[:] = entries
    return BallArray(flat.reshape(rows, -1))


def tall(A: Any) -> Any:
    return torch.cat([A, A[:1] * 2 - A[1:]])


def symmetric(A: Any) -> Any:
    return A + A.mT


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "singular values": linalg.singular_values,
    "of one row": lambda A: linalg.singular_values(A[:1]),
    "of a diagonal matrix": lambda A: linalg.singular_values(torch.diag(A.reshape(-1)[:3])),
    "of rank one": lambda A: linalg.singular_values(A[:, :1] @ A[:1]),
    "of a taller matrix": lambda A: linalg.singular_values(tall(A)),
    "rank": lambda A: linalg.rank(A),
    "rank of a taller matrix": lambda A: linalg.rank(tall(A)),
    "determinant": torch.linalg.det,
    "eigenvalues": lambda A: torch.linalg.eigvalsh(symmetric(A)),
    "pseudo-determinant": linalg.pseudo_determinant,
    "pseudo-inverse": torch.linalg.pinv,
    "the range": linalg.range_projection,
    "a solution": lambda A: torch.linalg.solve(A @ A.mT + linalg.eye(2, like=A), A),
    "cholesky": lambda A: torch.linalg.cholesky(A @ A.mT + linalg.eye(2, like=A)),
    "a Schatten power": lambda A: linalg.schatten_power(A, Fraction(2, 3)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_path_agrees_with_balls_at_its_points(name: str) -> None:
    function = FUNCTIONS[name]
    found = paths(Ring(4), lambda x: function(matrix(x)))
    reached = 0
    for point in POINTS:
        there = [(cell, end) for cell, end in found if contains(cell, point)]
        assert len(there) == 1
        cell, end = there[0]
        if isinstance(end, Linked):
            continue
        assert not isinstance(end, (Stopped, torch.linalg.LinAlgError))
        exact = matrix([fmpq(x.numerator, x.denominator) for x in point])
        expected = balls.balls(function(exact)).elements.ravel().tolist()
        for mine, theirs in zip(balls.balls(end).elements.ravel().tolist(), expected, strict=True):
            distance = arb(value(cell, mine, point) - theirs)
            assert distance.contains(0)
            assert float(distance.abs_upper()) < 1e-12
        reached += 1
    assert reached > len(POINTS) / 8


def test_singular_values_of_rank_three_have_no_form() -> None:
    with pytest.raises(NoBallForm, match="3 × 3 matrix of rank 3"):
        paths(Ring(9), lambda x: linalg.singular_values(matrix(x, 3)))


def test_a_rank_that_needs_a_pivot_splits() -> None:
    found = paths(Ring(4), lambda x: int(linalg.rank(matrix(x))))
    assert {end for _, end in found if not isinstance(end, Linked)} == {2}
    assert any(isinstance(end, Linked) for _, end in found)


def test_a_singular_matrix_is_named() -> None:
    found = paths(Ring(2), lambda x: torch.linalg.solve(matrix([*x, *x]), matrix([*x, *x])))
    assert {str(end) for _, end in found if not isinstance(end, Linked)} == {
        "the matrix is singular"
    }
