"""Spectra, ranks, inverses: against mpmath at 300 digits, exact arithmetic and known spectra."""

import math
import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import torch
from flint import arb, fmpq

from rankcheck.balls import (
    BallArray,
    Undecided,
    log_pseudo_determinant,
    numbers,
    pi,
    precision,
    rank,
    singular_values,
)

from .cases import assert_contains, boxed, exact, fraction, rationals, to_mpmath

DIGITS = 120
SLACK = Fraction(1, 10**50)  # of mpmath's eigenvalues of singular matrices, after a square root


def oracle_singular_values(A):
    """By mpmath's symmetric eigenvalues of the smaller Gram matrix, descending."""
    with mpmath.workdps(DIGITS):
        M = to_mpmath(A)
        values = mpmath.eigsy(M * M.T if M.rows <= M.cols else M.T * M, eigvals_only=True)
        return exact(sorted((fraction(mpmath.sqrt(max(v, 0))) for v in values), reverse=True))


SHAPES = [(1, 1), (1, 4), (2, 3), (4, 4), (5, 3)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.oracle("rankcheck.balls.singular_values", "mpmath.eigsy of the Gram matrix")
def test_singular_values_of_rational_matrices(shape):
    rng = random.Random(str(shape))
    for r in (None, min(shape), 1, 0):
        A = rationals(rng, *shape, r)
        assert_contains(singular_values(A), oracle_singular_values(A), SLACK)
        s = singular_values(A).elements.tolist()
        assert all(numbers.bounds(x)[1] - numbers.bounds(x)[0] <= Fraction(1, 2**110) for x in s)
        # Exactly the zero singular values are the rational 0.
        true_rank = rank(A).item()
        assert true_rank == min(shape) if r is None else true_rank <= r
        assert [isinstance(x, fmpq) and x == 0 for x in s] == [
            i >= true_rank for i in range(min(shape))
        ]


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        ([[2, 0, 0], [0, 2, 0], [0, 0, 1]], [2, 2, 1]),
        ([[0, 3], [3, 0]], [3, 3]),
        ([[1, 2], [2, 4]], [5, 0]),
        ([[0, 0], [0, 0], [0, 0]], [0, 0]),
        ([[Fraction(3, 5), Fraction(-4, 5)], [Fraction(4, 5), Fraction(3, 5)]], [1, 1]),
        ([[Fraction(1, 3)]], [Fraction(1, 3)]),
        (np.diag([5, 4, 3, 2, 1, 0, 0]).tolist(), [5, 4, 3, 2, 1, 0, 0]),
        (np.diag(range(12, 0, -1)).tolist(), list(range(12, 0, -1))),
        (np.ones((9, 16)).tolist(), [12] + [0] * 8),
    ],
)
def test_rational_spectra_are_exact(matrix, expected):
    s = torch.linalg.svdvals(exact(matrix))
    assert s.elements.tolist() == [
        fmpq(Fraction(x).numerator, Fraction(x).denominator) for x in expected
    ]


def test_repeated_irrational_singular_values_are_one_number():
    A = torch.block_diag(*[exact([[1, 1], [0, 1]])] * 3)
    s = torch.linalg.svdvals(A).elements.tolist()
    golden = (1 + math.sqrt(5)) / 2
    assert [float(x) for x in s] == pytest.approx([golden] * 3 + [1 / golden] * 3)
    with precision(256):
        sharper = ((exact(5).sqrt() + 1) / 2).elements[()]
        assert all(x.contains(sharper) for x in s[:3])


def test_symmetric_matrices_have_their_eigenvalues():
    A = exact([[2, 1, 0], [1, 2, 0], [0, 0, -5]])
    assert torch.linalg.eigvalsh(A).elements.tolist() == [-5, 1, 3]
    lower = exact([[2, 77], [1, 2]])
    assert torch.linalg.eigvalsh(lower).elements.tolist() == [1, 3]
    assert torch.linalg.eigvalsh(lower, UPLO="U").elements.tolist() == [-75, 79]
    zero_trace = exact([[1, 1], [1, -1]])
    assert (torch.linalg.eigvalsh(zero_trace) ** 2 - 2).abs().amax() < Fraction(1, 2**100)
    rng = random.Random(3)
    for n in range(1, 5):
        B = rationals(rng, n)
        with mpmath.workdps(DIGITS):
            values = mpmath.eigsy(to_mpmath(B + B.mT), eigvals_only=True)
        assert_contains(
            torch.linalg.eigvalsh(B + B.mT), exact(sorted(map(fraction, values))), SLACK
        )


@pytest.mark.parametrize("radius", [fmpq(1, 2), fmpq(1, 64), fmpq(1, 2**60), fmpq(1, 10**36)])
def test_spectra_of_balls_enclose_those_of_every_matrix_inside(radius):
    rng = random.Random(str(radius))
    for shape in [(1, 1), (2, 4), (3, 3), (5, 4)]:
        for r in (None, max(min(shape) - 1, 1)):
            boxes, inside = boxed(rng, rationals(rng, *shape, r), radius)
            s = torch.linalg.svdvals(boxes)
            assert (s >= 0).all()
            assert_contains(s, oracle_singular_values(inside), SLACK)
            if shape[0] == shape[1]:
                outer = torch.linalg.eigvalsh(boxes + boxes.mT)
                assert_contains(outer, torch.linalg.eigvalsh(inside + inside.mT))


@pytest.mark.parametrize("bits", [4, 20])
def test_low_precision_makes_no_integers_of_irrational_roots(bits):
    # These roots, near 2^48, have balls that contain one integer, which is not the root.
    rng = random.Random(24)
    for _ in range(15):
        A = exact([[rng.randint(-(2**24), 2**24) for _ in range(3)] for _ in range(3)])
        with precision(bits):
            coarse = torch.linalg.eigvalsh(A @ A.mT)
        assert_contains(coarse, torch.linalg.eigvalsh(A @ A.mT))
        assert not any(isinstance(root, fmpq) for root in coarse.elements)


def test_schatten_sums_of_nearly_singular_balls_are_enclosed():
    A = exact([[1, 2], [2, 4]]) * pi() / pi()
    total = (torch.linalg.svdvals(A) ** Fraction(2, 5)).sum(-1)
    low, high = numbers.bounds((total - exact(5) ** Fraction(2, 5)).elements[()])
    assert -Fraction(1, 10**12) < low <= 0 <= high < Fraction(1, 10**12)


@pytest.mark.oracle("rankcheck.balls.rank", "numpy.linalg.matrix_rank")
def test_ranks():
    rng = random.Random(9)
    for m, n in SHAPES:
        for r in range(min(m, n) + 1):
            A = rationals(rng, m, n, r)
            assert rank(A).item() == np.linalg.matrix_rank(A.midpoints().numpy()) <= r
    batch = exact(torch.stack([torch.eye(2), torch.ones(2, 2), torch.zeros(2, 2)]))
    assert rank(batch).tolist() == torch.linalg.matrix_rank(batch).tolist() == [2, 1, 0]
    assert rank(batch).dtype is torch.int64
    assert rank(exact(torch.zeros(3, 0))).item() == 0


def test_a_rank_one_in_floats_two_in_truth():
    u = torch.tensor([0.1, 0.7, 0.3], dtype=torch.float64)
    v = torch.tensor([1.1, 0.9], dtype=torch.float64)
    product = u[:, None] * v
    assert torch.linalg.matrix_rank(product) == 1
    assert rank(exact(product)).item() == 2
    assert rank(exact(u)[:, None] * exact(v)).item() == 1


def test_the_rank_of_balls_is_proved_or_undecided():
    full = exact([[2, 1, 0], [1, 3, 1]]) * pi()
    assert rank(full).item() == rank(full.mT).item() == rank(full[:, :2]).item() == 2
    deficient = exact([[1, 2], [2, 4]]) * pi()
    for function in (rank, log_pseudo_determinant, torch.linalg.inv, torch.linalg.pinv):
        with pytest.raises(Undecided):
            function(deficient)
    exact_balls = BallArray(np.array([[arb(1), arb(2)], [arb(2), fmpq(4)]], dtype=object))
    assert rank(exact_balls).item() == 1
    assert torch.linalg.svdvals(exact_balls).elements.tolist() == [5, 0]


def test_log_pseudo_determinants():
    assert log_pseudo_determinant(exact(torch.zeros(2, 3))).elements[()] == 0
    assert log_pseudo_determinant(exact([[1, 0], [0, 0]])).is_exact()
    batch = exact(torch.tensor([[[2.0, 0], [0, 3]], [[1, 1], [1, 1]]]))
    expected = torch.tensor([6.0, 2.0], dtype=torch.float64).log()
    torch.testing.assert_close(log_pseudo_determinant(batch).midpoints(), expected)
    wide = exact([[1, 2, 0], [0, 1, 3]]) * pi()
    lhs = log_pseudo_determinant(wide) - singular_values(wide).log().sum()
    assert lhs.abs() < Fraction(1, 2**90)


def test_inverses_of_rational_matrices_are_exact():
    rng = random.Random(6)
    for n in range(1, 6):
        A, B = rationals(rng, n), rationals(rng, n, 2)
        eye = torch.eye(n)
        assert (A @ torch.linalg.inv(A) == eye).all()
        assert (A @ torch.linalg.solve(A, B) == B).all()
        assert (torch.linalg.det(A) * A.inverse().det() == 1).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_pseudo_inverses_satisfy_the_four_equations_exactly(shape):
    rng = random.Random(7)
    for r in (None, *range(min(shape) + 1)):
        A = rationals(rng, shape[0], shape[1], r)
        P = torch.linalg.pinv(A)
        assert P.is_exact()
        assert P.shape == A.mT.shape
        assert (A @ P @ A == A).all()
        assert (P @ A @ P == P).all()
        assert ((A @ P).mT == A @ P).all()
        assert ((P @ A).mT == P @ A).all()


def test_inverses_of_balls_enclose():
    rng = random.Random(8)
    for shape in [(1, 1), (3, 3), (2, 4), (4, 2)]:
        boxes, inside = boxed(rng, rationals(rng, *shape), fmpq(1, 2**40))
        names = [torch.linalg.pinv]
        if shape[0] == shape[1]:
            names += [torch.linalg.inv, torch.linalg.det]
        for function in names:
            assert_contains(function(boxes), function(inside))


def test_singular_matrices_have_no_inverse():
    singular = exact([[1, 2], [2, 4]])
    for call in (
        lambda: torch.linalg.inv(singular),
        lambda: torch.linalg.solve(singular, singular),
        lambda: torch.linalg.cholesky(-singular),
    ):
        with pytest.raises(torch.linalg.LinAlgError, match=r"not positive|singular"):
            call()
    assert (torch.linalg.det(singular) == 0).all()


def test_cholesky_factors():
    A = exact([[4, 2, 0], [2, 5, 3], [0, 3, 9]])
    L = torch.linalg.cholesky(A)
    assert L[:2].is_exact()
    assert (L @ L.mT - A).abs().amax() < Fraction(1, 2**110)
    assert (torch.linalg.cholesky(A, upper=True) - L.mT).abs().amax() < Fraction(1, 2**110)
    with pytest.raises(Undecided, match="positive definite"):
        torch.linalg.cholesky(exact([[1, 1], [1, 1]]) * pi())


def test_large_products_go_through_flint_and_agree():
    rng = random.Random(10)
    A, B = rationals(rng, 12, 11), rationals(rng, 11, 13)
    slow = (A[:, :, None] * B).sum(1)
    assert (slow == A @ B).all()
    assert (A @ B).is_exact()
    mixed = (A * pi()) @ B
    gap = mixed - slow * pi()
    assert gap.abs().amax() < Fraction(1, 2**100)
    assert all(x.contains(fmpq(0)) for x in gap.elements.ravel())


def test_a_tensor_stays_on_its_side_of_a_product():
    A, B = torch.tensor([[1.0, 2.0], [3.0, 5.0]]).double(), exact([[0, 1], [2, 4]])
    from_the_left, from_the_right = A @ B, B @ A
    assert (from_the_left == exact([[4, 9], [10, 23]])).all()
    assert (from_the_right == exact([[3, 5], [14, 24]])).all()


def test_nothing_is_known_of_the_spectrum_of_unknown_entries():
    A = exact([[1, 2], [3, 4]]) / torch.tensor([1, 0])
    for s in (torch.linalg.svdvals(A), torch.linalg.eigvalsh(A)):
        assert s.shape == (2,)
        with pytest.raises(Undecided):
            _ = s >= 0
    with pytest.raises(Undecided):
        rank(A)
