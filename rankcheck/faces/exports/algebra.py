"""Linear algebra of one matrix of traced numbers: closed forms, and elimination with its pivots.

Singular values and eigenvalues have closed forms for one and for two rows or columns. Elimination
compares every candidate for a pivot with zero, so its pivots are branches of the trace.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import torch
from flint import fmpq, fmpq_mat

from rankcheck.balls import numbers
from rankcheck.balls.formal import NoBallForm
from rankcheck.balls.numbers import ONE, ZERO
from rankcheck.faces.exports.trace import RankFact
from rankcheck.faces.exports.traced import Traced, ranked, traced


def _sum(terms: Any) -> Any:
    return sum(terms, start=ZERO)


def _norm(entries: list[Any]) -> Any:
    return numbers.sqrt(_sum(numbers.integer_power(x, 2) for x in entries))


def singular_values(A: np.ndarray) -> list[Any]:
    """For [[a, b], [c, d]]: s_1 ± s_2 = |(a ± d, c ∓ b)|, and s_1 s_2 = |ad − bc|."""
    count = min(A.shape)
    A = _without_zeros(_without_zeros(A).T).T
    return (_singular_values(A) + [ZERO] * count)[:count]


def _without_zeros(A: np.ndarray) -> np.ndarray:
    """The rows that are not zero; each zero is a comparison."""
    known = [all(_is_zero(x) for x in row) and all(x == 0 for x in row) for row in A.tolist()]
    return A[[not zero for zero in known]]


def _is_zero(x: Any) -> bool:
    value = x.value if isinstance(x, Traced) else x
    return isinstance(value, fmpq) and value == 0


def _singular_values(A: np.ndarray) -> list[Any]:
    """Of a matrix without zero rows and columns."""
    m, n = A.shape
    if min(m, n) == 0:
        return []
    if min(m, n) == 1:
        return [_norm(A.ravel().tolist())]
    if min(m, n) > 2:
        raise NoBallForm(
            f"singular values of a {m} × {n} matrix in an export",
            "they have a closed form for at most two rows or columns",
        )
    if m == n:
        (a, b), (c, d) = A.tolist()
        first = (_norm([a + d, c - b]) + _norm([a - d, b + c])) / 2
        product = numbers.absolute(a * d - b * c)
    else:
        largest, smallest = reversed(eigenvalues(A @ A.T if m < n else A.T @ A))
        first, product = numbers.sqrt(largest), numbers.sqrt(largest * smallest)
    return [first, ZERO if first == 0 else product / first]


def eigenvalues(A: np.ndarray) -> list[Any]:
    """Of [[a, b], [b, c]]: half the sum and difference of a + c and the root of (a − c)² + 4b²."""
    if len(A) == 0:
        return []
    if len(A) == 1:
        return [A[0, 0]]
    if len(A) > 2:
        raise NoBallForm(
            f"eigenvalues of a {len(A)} × {len(A)} matrix in an export",
            "they have a closed form for matrices of order at most 2",
        )
    a, b, c = A[0, 0], A[1, 0], A[1, 1]
    gap = _norm([a - c, 2 * b])
    return [(a + c - gap) / 2, (a + c + gap) / 2]


def eliminated(A: np.ndarray) -> tuple[np.ndarray, list[int], Any]:
    """The reduced row echelon form, its pivot columns, and the product of the pivots, signed."""
    M = A.copy()
    pivots: list[int] = []
    product: Any = ONE
    for column in range(M.shape[1]):
        row = len(pivots)
        place = next((i for i in range(row, len(M)) if M[i, column] != 0), None)
        if place is None:
            continue
        if place != row:
            M[[row, place]] = M[[place, row]]
            product = -product
        pivot = M[row, column]
        product = product * pivot
        M[row] = [numbers.divide(x, pivot) for x in M[row]]
        for i in range(len(M)):
            if i != row and not _is_zero(M[i, column]):
                factor = M[i, column]
                M[i] = [x - factor * y for x, y in zip(M[i], M[row], strict=True)]
                M[i, column] = ZERO
        pivots.append(column)
    return M, pivots, product


def determinant(A: np.ndarray) -> Any:
    if len(A) == 0:
        return ONE
    if len(A) == 1:
        return A[0, 0]
    if len(A) == 2:
        return A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]
    _, pivots, product = eliminated(A)
    return product if len(pivots) == len(A) else ZERO


def solve(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    n = len(A)
    echelon, pivots, _ = eliminated(np.concatenate([A, B], axis=1))
    if pivots[:n] != list(range(n)):
        raise torch.linalg.LinAlgError("the matrix is singular")
    return echelon[:, n:]


def pseudo_inverse(A: np.ndarray) -> np.ndarray:
    """Fᵀ(FFᵀ)⁻¹(CᵀC)⁻¹Cᵀ, C the pivot columns and F the rows of the reduced echelon form."""
    echelon, pivots, _ = eliminated(A)
    if not pivots:
        return np.full(A.shape[::-1], ZERO, dtype=object)
    F, C = echelon[: len(pivots)], A[:, pivots]
    return F.T @ solve(F @ F.T, solve(C.T @ C, C.T))


def rank(A: np.ndarray) -> Any:
    """The rank as a traced number, with the factors that prove it."""
    entries = [[traced(x) for x in row] for row in A.tolist()]
    if not all(x.rational for row in entries for x in row):
        raise NoBallForm("the rank of a matrix with irrational entries in an export")
    M = fmpq_mat(*A.shape, [x.value for row in entries for x in row])
    echelon, r = M.rref()
    rows = [[echelon[i, j] for j in range(M.ncols())] for i in range(r)]
    pivots = [next(j for j, x in enumerate(row) if x != 0) for row in rows]
    C = fmpq_mat(M.nrows(), r, [M[i, j] for i in range(M.nrows()) for j in pivots])
    left = (C.transpose() * C).solve(C.transpose()) if r else fmpq_mat(0, M.nrows())
    right = [[ONE if j == pivot else ZERO for pivot in pivots] for j in range(M.ncols())]
    fact = RankFact(_rows(entries), r, _listed(C), _rows(rows), _listed(left), _rows(right))
    return ranked(fact)


def _rows(rows: list[list[Any]]) -> tuple[tuple[Any, ...], ...]:
    return tuple(map(tuple, rows))


def _listed(M: fmpq_mat) -> tuple[tuple[fmpq, ...], ...]:
    return tuple(tuple(M[i, j] for j in range(M.ncols())) for i in range(M.nrows()))


def log_pseudo_determinant(A: np.ndarray) -> Any:
    """½ log of the sum of the principal minors of the Gram matrix whose order is the rank."""
    r = int(rank(A).value)
    if r == 0:
        return ZERO
    G = A @ A.T if A.shape[0] <= A.shape[1] else A.T @ A
    minors = (determinant(G[np.ix_(kept, kept)]) for kept in combinations(range(len(G)), r))
    return numbers.log(_sum(minors)) / 2


TABLE: dict[str, Callable[..., Any]] = {
    "singular_values": singular_values,
    "eigenvalues": eigenvalues,
    "determinant": determinant,
    "solve": solve,
    "pseudo_inverse": pseudo_inverse,
    "rank": rank,
    "log_pseudo_determinant": log_pseudo_determinant,
}
Traced.linear_algebra = TABLE
