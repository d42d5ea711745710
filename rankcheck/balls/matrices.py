"""Exact linear algebra of one matrix, a 2-d object array of rationals and balls.

A rational matrix A = N/d, N of integers, has the exact Gram matrix G = NNᵀ or NᵀN, whichever is
smaller, and the exact characteristic polynomial of G. The number of zero singular values is the
power of x in that polynomial, and the other multiplicities are those of its factors, so both are
exact; only the isolated roots are rounded. A matrix with balls is a rational midpoint M plus an
error E with |E_ij| ≤ r_ij, and |s_i(M + E) − s_i(M)| ≤ ‖E‖_F ≤ ‖r‖_F (Weyl, Mirsky). The same
holds for eigenvalues of symmetric matrices. A complex matrix X + iY is treated as the real matrix
[[X, −Y], [Y, X]], which has each of its singular values twice.
"""

from __future__ import annotations

import numpy as np
import torch
from flint import acb_mat, arb, arb_mat, fmpq, fmpq_mat, fmpz_mat

from rankcheck.balls import numbers, orders, roots
from rankcheck.balls.complexes import (
    Complex,
    conjugate,
    conjugated,
    doubled,
    from_acb,
    halved,
    has_complex,
    imag,
    real,
)
from rankcheck.balls.formal import of_matrices
from rankcheck.balls.numbers import ONE, ZERO, Number, Undecided, rational

WORK = 1 << 28
"""The most n³ · bits of an integer matrix that is eliminated exactly: a few seconds.

A characteristic polynomial of 10 × 10 with 10⁵ bits, or 30 × 30 with 6000, took 2 s in flint 3.3.
Inverses have n² fractions, and count n/8 times as much."""


def bounded(N: fmpz_mat, *, inverse: bool = False) -> fmpz_mat:
    """The matrix. Raises Undecided if exact elimination is too much work; see `WORK`."""
    n, m = sorted((N.nrows(), N.ncols()))
    bits = max((x.bit_length() for x in N.entries()), default=0)
    if n * n * m * bits * (max(1, n // 8) if inverse else 1) > WORK:
        raise Undecided(f"algebra with {n} × {m} integers of {bits} bits is too much work")
    return N


def rational_matrix(A: np.ndarray) -> fmpq_mat | None:
    """A as rationals, or None if it is not known exactly."""
    entries = A.ravel().tolist()
    if not all(type(x) is fmpq for x in entries):
        if not all(numbers.is_rational(x) for x in entries):
            return None
        entries = [rational(x) for x in entries]
    return fmpq_mat(*A.shape, entries)


def ball_matrix(A: np.ndarray) -> arb_mat:
    of_matrices("ball_matrix", A)
    return arb_mat(*A.shape, A.ravel().tolist())


def array(M: fmpq_mat | arb_mat) -> np.ndarray:
    flat = np.empty(M.nrows() * M.ncols(), dtype=object)
    flat[:] = M.entries()
    return flat.reshape(M.nrows(), M.ncols())


def midpoint_and_error(A: np.ndarray) -> tuple[fmpq_mat, arb] | None:
    """M rational and ε with ‖A − M‖_F ≤ ε for every matrix in A; None if A is unbounded."""
    entries = [numbers.midpoint_and_error(x) for x in A.ravel().tolist()]
    bounded = [entry for entry in entries if entry is not None]
    if len(bounded) < len(entries):
        return None
    squares = sum((error**2 for _, error in bounded), start=arb(0))
    return fmpq_mat(*A.shape, [middle for middle, _ in bounded]), numbers.sqrt(squares).upper()


# Spectra.


def singular_values(A: np.ndarray) -> list[Number]:
    """The min(m, n) singular values, in descending order."""
    formal = of_matrices("singular_values", A)
    if formal is not None:
        return formal(A)
    if has_complex(A):
        return singular_values(doubled(A))[::2]
    M = rational_matrix(A)
    if M is not None:
        return _rational_singular_values(M)
    split = midpoint_and_error(A)
    if split is None:
        return [numbers.unknown() for _ in range(min(A.shape))]
    values = _rational_singular_values(split[0])
    return [numbers.nonnegative(s + arb(0, split[1])) for s in values]


def eigenvalues(A: np.ndarray) -> list[Number]:
    """The eigenvalues of a symmetric or Hermitian matrix, ascending; its lower triangle is read."""
    A = from_lower_triangle(A)
    formal = of_matrices("eigenvalues", A)
    if formal is not None:
        return formal(A)
    if has_complex(A):
        return eigenvalues(doubled(A))[::2]
    M = rational_matrix(A)
    if M is not None:
        return _rational_eigenvalues(M)
    split = midpoint_and_error(A)
    if split is None:
        return [numbers.unknown() for _ in range(len(A))]
    return [x + arb(0, split[1]) for x in _rational_eigenvalues(split[0])]


def from_lower_triangle(A: np.ndarray) -> np.ndarray:
    """The symmetric or Hermitian matrix with that lower triangle and a real diagonal."""
    places = np.arange(len(A))
    if not has_complex(A):
        return np.where(places <= places[:, None], A, A.T)
    H = np.where(places <= places[:, None], A, conjugated(A.T))
    for i in range(len(A)):
        if isinstance(H[i, i], Complex):
            H[i, i] = H[i, i].real
    return H


def _rational_singular_values(M: fmpq_mat) -> list[Number]:
    N, d = M.numer_denom()
    squares = roots.distinct_real_roots(bounded(_gram(N)).charpoly())
    values = [numbers.sqrt(numbers.nonnegative(x)) / d for x, k in squares for _ in range(k)]
    return orders.sorted_numbers(values, descending=True)


def _rational_eigenvalues(M: fmpq_mat) -> list[Number]:
    N, d = M.numer_denom()
    values = roots.distinct_real_roots(bounded(N).charpoly())
    return orders.sorted_numbers([x / d for x, k in values for _ in range(k)])


def _gram(N: fmpz_mat) -> fmpz_mat:
    return N * N.transpose() if N.nrows() <= N.ncols() else N.transpose() * N


# Rank and determinants.


def rank(A: np.ndarray) -> int:
    """The rank. Raises Undecided for a matrix with balls that is not provably of full rank."""
    formal = of_matrices("rank", A)
    if formal is not None:
        return formal(A)
    if has_complex(A):
        return rank(doubled(A)) // 2
    M = rational_matrix(A)
    if M is not None:
        return bounded(M.numer_denom()[0]).rank()
    if _gram_determinant(A) > 0:
        return min(A.shape)
    raise Undecided(f"the rank of a {A.shape[0]} × {A.shape[1]} matrix of balls is not decidable")


def log_pseudo_determinant(A: np.ndarray) -> Number:
    """log of the product of the nonzero singular values: ½ log |c|, c the lowest coefficient of
    the Gram matrix's characteristic polynomial. Zero for the zero matrix.
    """
    formal = of_matrices("log_pseudo_determinant", A)
    if formal is not None:
        return formal(A)
    if has_complex(A):
        return log_pseudo_determinant(doubled(A)) / 2
    M = rational_matrix(A)
    if M is not None:
        N, d = M.numer_denom()
        p = bounded(_gram(N)).charpoly()
        k = roots.order_at_zero(p)
        return numbers.log(fmpq(abs(p[k]), d ** (2 * (p.degree() - k)))) / 2
    determinant = _gram_determinant(A)
    if determinant > 0:
        return determinant.log() / 2
    raise Undecided(
        "the pseudo-determinant is not decidable, because the rank of these balls is not"
    )


def _gram_determinant(A: np.ndarray) -> arb:
    M = ball_matrix(A)
    if M.nrows() == M.ncols():
        return M.det() ** 2
    return (M * M.transpose() if M.nrows() < M.ncols() else M.transpose() * M).det()


def determinant(A: np.ndarray) -> Number | Complex:
    formal = of_matrices("determinant", A)
    if formal is not None:
        return formal(A)
    if has_complex(A):
        return _complex_determinant(A)
    M = rational_matrix(A)
    if M is None:
        return ball_matrix(A).det()
    N, d = M.numer_denom()
    return fmpq(bounded(N).det(), d ** len(A))


def _complex_determinant(A: np.ndarray) -> Complex:
    """By elimination where the entries are rational, which is exact, and by flint elsewhere."""
    M = rational_matrix(doubled(A))
    if M is None:
        return from_acb(complex_ball_matrix(A).det())
    bounded(M.numer_denom()[0])
    # Rationals, and no balls of radius zero: a division would make their zeros undecidable.
    rows = [[Complex(rational(real(x)), rational(imag(x))) for x in row] for row in A.tolist()]
    result = Complex(ONE)
    for k in range(len(rows)):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k] != 0), None)
        if pivot is None:
            return Complex(ZERO)
        if pivot != k:
            rows[k], rows[pivot], result = rows[pivot], rows[k], -result
        result = result * rows[k][k]
        for i in range(k + 1, len(rows)):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k], strict=True)]
    return result


def complex_ball_matrix(A: np.ndarray) -> acb_mat:
    entries = [x.acb() if isinstance(x, Complex) else x for x in A.ravel().tolist()]
    return acb_mat(*A.shape, entries)


# Inverses.


def solve(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The X with AX = B. Raises LinAlgError if A is singular, Undecided if it may be."""
    formal = of_matrices("solve", A, B)
    if formal is not None:
        return formal(A, B)
    if has_complex(A) or has_complex(B):
        return halved(solve(doubled(A), doubled(B)))
    M, R = rational_matrix(A), rational_matrix(B)
    if M is not None and bounded(M.numer_denom()[0], inverse=True).rank() < M.nrows():
        raise torch.linalg.LinAlgError("the matrix is singular")
    if M is not None and R is not None:
        return array(M.solve(R))
    try:
        return array(ball_matrix(A).solve(ball_matrix(B)))
    except ZeroDivisionError as error:
        raise Undecided("whether a matrix of balls is invertible is not decidable") from error


def pseudo_inverse(A: np.ndarray) -> np.ndarray:
    """Moore and Penrose's inverse, rational for a rational A.

    From the full-rank factorisation A = CF (C the pivot columns, F the reduced row echelon form
    without its zero rows), A⁺ = Fᵀ(FFᵀ)⁻¹(CᵀC)⁻¹Cᵀ. A matrix with balls must have provably full
    rank.
    """
    formal = of_matrices("pseudo_inverse", A)
    if formal is not None:
        return formal(A)
    if has_complex(A):
        return halved(pseudo_inverse(doubled(A)))
    M = rational_matrix(A)
    if M is None:
        rank(A)
        wide = A.shape[0] <= A.shape[1]
        B = A if wide else A.T
        right = solve(B @ B.T, B).T
        return right if wide else right.T
    bounded(M.numer_denom()[0], inverse=True)
    echelon, r = M.rref()
    if r == 0:
        return array(M.transpose())
    F = array(echelon)[:r]
    pivots = [int(np.flatnonzero(row != 0)[0]) for row in F]
    C = A[:, pivots] if isinstance(A[0, 0], fmpq) else array(M)[:, pivots]
    return F.T @ solve(F @ F.T, solve(C.T @ C, C.T))


def cholesky(A: np.ndarray) -> np.ndarray:
    """The lower triangular L with LLᴴ = A. Raises LinAlgError or Undecided unless A > 0."""
    L, minor = cholesky_to(A)
    if minor:
        raise torch.linalg.LinAlgError("the matrix is not positive definite")
    return L


def cholesky_to(A: np.ndarray) -> tuple[np.ndarray, int]:
    """L as above, and 0; or the order of the first leading minor that is not positive.

    The lower triangle of A is read, and the real part of its diagonal.
    """
    n = len(A)
    L = np.full((n, n), ZERO, dtype=object)
    for j in range(n):
        diagonal = A[j, j].real if isinstance(A[j, j], Complex) else A[j, j]
        squares = (
            z.square_of_absolute() if isinstance(z, Complex) else numbers.integer_power(z, 2)
            for z in L[j, :j].tolist()
        )
        pivot = diagonal - sum(squares, start=ZERO)
        if not pivot > 0:
            if pivot <= 0:
                return L, j + 1
            raise Undecided("whether a matrix of balls is positive definite is not decidable")
        L[j, j] = numbers.sqrt(pivot)
        for i in range(j + 1, n):
            products = (L[i, k] * conjugate(L[j, k]) for k in range(j))
            L[i, j] = (A[i, j] - sum(products, start=ZERO)) / L[j, j]
    return L, 0


def identity(n: int) -> np.ndarray:
    result = np.full((n, n), ZERO, dtype=object)
    np.fill_diagonal(result, ONE)
    return result
