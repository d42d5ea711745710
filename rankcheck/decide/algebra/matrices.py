"""Linear algebra of matrices of rational functions; where it depends on a pivot, the path splits.

Singular values have a closed form where a matrix falls apart into blocks of rank at most two, after
its rows and columns are ordered by where it is not zero.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import torch
from flint import fmpq

from rankcheck.balls import numbers, orders
from rankcheck.balls.formal import NoBallForm
from rankcheck.balls.numbers import ONE, ZERO
from rankcheck.decide.algebra.quotient import Quotient

#: Minors of matrices with more rows or columns than this are not taken.
LARGEST = 6


def rank(A: np.ndarray) -> int:
    """The rank, by elimination; every pivot is known not to be zero."""
    return len(_echelon(A)[1])


def _echelon(A: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """The reduced row echelon form, and the columns of its pivots."""
    rows = A.copy()
    pivots: list[int] = []
    for column in range(A.shape[1]):
        top = len(pivots)
        if top == A.shape[0]:
            break
        found = _pivot(rows[top:, column])
        if found is None:
            continue
        rows[[top, top + found]] = rows[[top + found, top]]
        rows[top] = rows[top] / rows[top, column]
        for i in range(A.shape[0]):
            if i != top:
                rows[i] = rows[i] - rows[top] * rows[i, column]
        pivots.append(column)
    return rows, pivots


def _pivot(column: np.ndarray) -> int | None:
    """The place of a number that is not zero: one that is known not to be, else the first."""
    for place, x in enumerate(column.tolist()):
        if isinstance(x, fmpq) and x != 0:
            return place
    for place, x in enumerate(column.tolist()):
        if x != 0:
            return place
    return None


def determinant(A: np.ndarray) -> Any:
    """The determinant, by minors of growing order, without divisions."""
    n = len(A)
    if n > LARGEST:
        raise NoBallForm(f"the determinant of order {n} of rational functions")
    minors: dict[tuple[int, ...], Any] = {(): ONE}
    for row in range(n):
        grown: dict[tuple[int, ...], Any] = {}
        for columns in combinations(range(n), row + 1):
            total: Any = ZERO
            for place, column in enumerate(columns):
                x = A[row, column]
                if isinstance(x, fmpq) and x == 0:
                    continue
                below = minors[columns[:place] + columns[place + 1 :]]
                term = x * below
                total = total + term if (row + place) % 2 == 0 else total - term
            grown[columns] = total
        minors = grown
    return minors[tuple(range(n))]


def solve(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The X with AX = B. Raises LinAlgError if A is singular."""
    n = len(A)
    echelon, pivots = _echelon(np.concatenate([A, B], 1))
    if pivots[:n] != list(range(n)):
        raise torch.linalg.LinAlgError("the matrix is singular")
    return echelon[:n, n:]


def pseudo_inverse(A: np.ndarray) -> np.ndarray:
    """Moore and Penrose's inverse, from the full-rank factorisation by the echelon form."""
    echelon, pivots = _echelon(A)
    if not pivots:
        return np.full(A.shape[::-1], ZERO, dtype=object)
    F, C = echelon[: len(pivots)], A[:, pivots]
    return F.T @ solve(F @ F.T, solve(C.T @ C, C.T))


def _minors_squared(A: np.ndarray, order: int) -> Any:
    """The sum of the squares of all minors of that order: the sum of products of as many squared
    singular values.
    """
    if max(A.shape) > LARGEST:
        raise NoBallForm(f"minors of a matrix of order {max(A.shape)} of rational functions")
    total: Any = ZERO
    for rows in combinations(range(A.shape[0]), order):
        for columns in combinations(range(A.shape[1]), order):
            minor = determinant(A[np.ix_(rows, columns)])
            total = total + minor * minor
    return total


def log_pseudo_determinant(A: np.ndarray) -> Any:
    """log of the product of the nonzero singular values: half that of the squared minors."""
    order = rank(A)
    if order == 0:
        return ZERO
    return numbers.log(_minors_squared(A, order)) / 2


def _blocks(A: np.ndarray) -> list[np.ndarray]:
    """The blocks into which the rows and columns fall that are not zero."""
    m, n = A.shape
    group = list(range(m + n))

    def head(i: int) -> int:
        while group[i] != i:
            i = group[i]
        return i

    occupied = np.array([[not (isinstance(x, fmpq) and x == 0) for x in row] for row in A])
    for i, j in np.argwhere(occupied.reshape(m, n)).tolist():
        group[head(i)] = head(m + j)
    blocks = []
    for which in sorted({head(i) for i in range(m)}):
        rows = [i for i in range(m) if head(i) == which]
        columns = [j for j in range(n) if head(m + j) == which]
        if columns:
            blocks.append(A[np.ix_(rows, columns)])
    return blocks


def singular_values(A: np.ndarray) -> list[Any]:
    """The min(m, n) singular values, in descending order."""
    values: list[Any] = []
    for block in _blocks(A):
        values += _of_block(block)
    small = min(A.shape)
    values = orders.sorted_numbers(values, descending=True) if len(values) > 1 else values
    return (values + [ZERO] * small)[:small]


def _of_block(A: np.ndarray) -> list[Any]:
    if min(A.shape) == 1:
        return [numbers.sqrt(sum((x * x for x in A.ravel().tolist()), start=ZERO))]
    if A.shape == (2, 2):
        return _two_by_two(A)
    squares = sum((x * x for x in A.ravel().tolist()), start=ZERO)
    if min(A.shape) > 2 and not _vanish(A, 3):
        raise NoBallForm(f"the singular values of a {A.shape[0]} × {A.shape[1]} matrix of rank 3")
    if _vanish(A, 2):
        return [numbers.sqrt(squares)]
    both = numbers.sqrt(_minors_squared(A, 2))  # s₁ s₂
    total = numbers.sqrt(squares + both * 2)
    difference = numbers.sqrt(numbers.nonnegative(squares - both * 2))
    return [(total + difference) / 2, (total - difference) / 2]


def _vanish(A: np.ndarray, order: int) -> bool:
    """Whether all minors of that order are the zero polynomial; the path does not split."""
    for rows in combinations(range(A.shape[0]), order):
        for columns in combinations(range(A.shape[1]), order):
            minor = determinant(A[np.ix_(rows, columns)])
            if isinstance(minor, Quotient) or minor != 0:
                return False
    return True


def _two_by_two(A: np.ndarray) -> list[Any]:
    """For [[a, b], [c, d]]: s₁ ± s₂ = |(a ± d, c ∓ b)|, where ad − bc is not negative."""
    (a, b), (c, d) = A.tolist()
    minor = a * d - b * c
    if not minor >= 0:
        a, b, minor = -a, -b, -minor
    total = numbers.sqrt((a + d) * (a + d) + (c - b) * (c - b))
    if minor == 0 if isinstance(minor, fmpq) else False:
        return [total]
    difference = numbers.sqrt((a - d) * (a - d) + (c + b) * (c + b))
    return [(total + difference) / 2, (total - difference) / 2]


def eigenvalues(A: np.ndarray) -> list[Any]:
    """The eigenvalues of a symmetric matrix, ascending."""
    values: list[Any] = []
    for block in _diagonal_blocks(A):
        if len(block) == 1:
            values.append(block[0, 0])
        elif len(block) == 2:
            middle = (block[0, 0] + block[1, 1]) / 2
            half = (block[0, 0] - block[1, 1]) / 2
            reach = numbers.sqrt(half * half + block[1, 0] * block[1, 0])
            values += [middle - reach, middle + reach]
        else:
            raise NoBallForm(f"the eigenvalues of a matrix of order {len(block)}")
    return orders.sorted_numbers(values) if len(values) > 1 else values


def _diagonal_blocks(A: np.ndarray) -> list[np.ndarray]:
    n = len(A)
    left, blocks = set(range(n)), []
    while left:
        block, fresh = set(), {min(left)}
        while fresh:
            block |= fresh
            fresh = {
                j
                for i in fresh
                for j in left - block
                if not (isinstance(A[i, j], fmpq) and A[i, j] == 0)
            }
        left -= block
        places = sorted(block)
        blocks.append(A[np.ix_(places, places)])
    return blocks


_FUNCTIONS: tuple[Callable[..., Any], ...] = (
    determinant,
    eigenvalues,
    log_pseudo_determinant,
    pseudo_inverse,
    rank,
    singular_values,
    solve,
)
Quotient.linear_algebra = {function.__name__: function for function in _FUNCTIONS}
