"""torch's eigenvalue, singular value, QR and Cholesky decompositions, and functions of matrices.

Eigenvalues and singular values never raise. Vectors exist where the values that they belong to are
provably distinct. Their signs are arbitrary, so a claim must not depend on them; here they are
those that torch computes in floats at the midpoint, so that both kinds of number make one choice,
and a proof is repeated with other `choices`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch
from flint import arb_mat

from rankcheck.balls import choices, matrices, numbers, spectra
from rankcheck.balls.array import BallArray, balls, implements, wrap
from rankcheck.balls.complexes import Complex, doubled, halved, has_complex, imag, real
from rankcheck.balls.lazy import LazyBalls
from rankcheck.balls.linalg import RETURNED, each, eigvalsh, require_square, solve, svdvals
from rankcheck.balls.numbers import NoBallForm, Undecided
from rankcheck.balls.shapes import adjoint, tril, triu

# Eigenvalues.


@implements("linalg_eigh")
def eigh(A: Any, UPLO: str = "L") -> Any:
    """The eigenvectors are computed on first use, and raise Undecided at repeated eigenvalues."""
    x = balls(A) if UPLO.upper() == "L" else adjoint(A)
    n = require_square(x)
    triangle = UPLO.upper()
    vectors = LazyBalls(
        x.shape, lambda: each(lambda M: spectra.eigenvectors(M, triangle), x, (n, n))
    )
    return RETURNED.linalg_eigh((eigvalsh(x), vectors))


@implements("linalg_eigvals")
def eigvals(A: Any) -> BallArray:
    """With multiplicities, as complex numbers, in the order that torch gives at the midpoint.

    Eigenvalues so close that floats do not tell them apart become one box that contains them.
    """

    from rankcheck.balls import eigenvalues  # few claims need it

    def of_one(M: np.ndarray) -> list[Complex]:
        values = eigenvalues.in_order_of_floats(M, eigenvalues.spectrum(M))
        return [Complex(real(z), imag(z)) for z in values]

    x = balls(A)
    return wrap(each(of_one, x, (require_square(x),)))


@implements("linalg_eig")
def eig(A: Any) -> Any:
    """The eigenvalues; the eigenvectors raise NoBallForm on first use."""

    def refuse() -> np.ndarray:
        raise NoBallForm(
            "the eigenvectors of torch.linalg.eig",
            "their phases are arbitrary; use torch.linalg.eigvals, rankcheck.linalg.spectral_radius"
            " or, for symmetric matrices, torch.linalg.eigh",
        )

    x = balls(A)
    return RETURNED.linalg_eig((eigvals(x), LazyBalls(x.shape, refuse)))


# What `rankcheck.linalg` dispatches to.


def spectral_radius(A: Any) -> BallArray:
    """max |λ| over the eigenvalues, shape (*B)."""
    from rankcheck.balls import eigenvalues  # few claims need it

    x = balls(A)
    require_square(x)
    return wrap(each(eigenvalues.spectral_radius, x, ()))


def spectral_function(A: Any, f: Callable[[Any], Any]) -> BallArray:
    """f(A) for symmetric or Hermitian matrices, f an elementwise function of eigenvalues."""
    x = balls(A)
    n = require_square(x)

    def of_values(values: np.ndarray) -> np.ndarray:
        return balls(f(BallArray(values))).elements

    return wrap(each(lambda M: spectra.function_of_symmetric(M, of_values), x, (n, n)))


def spectral_projection(A: Any, k: int) -> BallArray:
    """The projection onto the span of the eigenvectors of the k largest eigenvalues.

    Raises Undecided unless the k-th largest is provably larger than the next.
    """
    x = balls(A)
    n = require_square(x)
    return wrap(each(lambda M: spectra.projection_onto_largest(M, k), x, (n, n)))


# Singular vectors.


@implements("linalg_svd")
def svd(A: Any, full_matrices: bool = True, *, driver: Any = None) -> Any:
    """Singular vectors are computed on first use; Undecided unless the values are distinct and > 0.

    With ``full_matrices`` the larger factor of a matrix that is not square has no ball form: its
    last columns are any orthonormal basis of a complement.
    """
    x = balls(A)
    s = svdvals(x)
    m, n = x.shape[-2:]
    small = min(m, n)

    @cache
    def factors() -> tuple[np.ndarray, np.ndarray]:
        both = each(_singular_vectors, x, (m + n, small))
        return both[..., :m, :], np.swapaxes(both[..., m:, :], -2, -1)

    def larger() -> np.ndarray:
        raise NoBallForm(
            "torch.linalg.svd(full_matrices=True) of a matrix that is not square",
            "pass full_matrices=False",
        )

    wide_U, wide_V = full_matrices and m > n, full_matrices and n > m
    batch = x.shape[:-2]
    U = LazyBalls((*batch, m, m if wide_U else small), larger if wide_U else lambda: factors()[0])
    Vh = LazyBalls((*batch, n if wide_V else small, n), larger if wide_V else lambda: factors()[1])
    return RETURNED.linalg_svd((U, s, Vh))


def _singular_vectors(A: np.ndarray) -> np.ndarray:
    """U over V, (m + n, min(m, n)), from the eigenvectors of the smaller Gram matrix."""
    if has_complex(A):
        raise NoBallForm(
            "the singular vectors of a complex matrix",
            "their phases are arbitrary; use torch.linalg.svdvals, or "
            "rankcheck.linalg.spectral_function of A.mH @ A",
        )
    wide = A.shape[0] < A.shape[1]
    try:
        U, _, Vh = torch.linalg.svd(spectra.float_midpoints(A), full_matrices=False)
    except RuntimeError as error:
        raise Undecided("floats have no singular vectors to take the signs from") from error
    A, guide = (A.T, U) if wide else (A, Vh.T)
    columns = []
    for place, cluster in enumerate(reversed(spectra.clusters(A.T @ A))):
        if len(cluster.values) > 1 or not cluster.values[0] > 0:
            raise Undecided(
                "singular vectors are not defined at repeated singular values and for the value "
                "0, and those of this matrix are equal, zero, or too close to tell; use "
                "torch.linalg.svdvals, or rankcheck.linalg.spectral_function of A.mT @ A"
            )
        v = spectra.signed(spectra.unit_vector(cluster.projection), guide[:, place], place)
        u = A @ v / numbers.sqrt(cluster.values[0])
        columns.append(np.concatenate([v, u] if wide else [u, v]))
    return np.stack(columns, -1) if columns else np.empty((sum(A.shape), 0), dtype=object)


@implements("linalg_qr")
def qr(A: Any, mode: str = "reduced") -> Any:
    """Unique up to signs, which are those of floats. Undecided unless the first columns (as many as
    there are rows, at most) are provably independent.
    """
    x = balls(A)
    m, n = x.shape[-2:]
    if mode == "complete" and m > n:
        raise NoBallForm(
            "torch.linalg.qr(mode='complete') of a matrix with more rows than columns",
            "the last columns of Q are any basis; pass mode='reduced'",
        )
    k = min(m, n)
    both = each(_qr, x, (m + n, k))
    R = wrap(np.swapaxes(both[..., m:, :], -2, -1))
    Q = wrap(np.empty(0, dtype=object)) if mode == "r" else wrap(both[..., :m, :])
    return RETURNED.linalg_qr((Q, R))


def _qr(A: np.ndarray) -> np.ndarray:
    """Q over Rᵀ, (m + n, min(m, n)), by the Cholesky factor of the first columns' Gram matrix."""
    if has_complex(A):
        raise NoBallForm("the QR decomposition of a complex matrix", "use torch.linalg.cholesky")
    k = min(A.shape)
    first = A[:, :k]
    undefined = Undecided(
        "the QR decomposition is not unique where the first columns are linearly dependent, and "
        "those of this matrix are, or may be; draw matrices of full rank, such as "
        "positive_definite_matrices()"
    )
    try:
        L, minor = matrices.cholesky_to(first.T @ first)
    except Undecided as error:
        raise undefined from error
    signs = torch.linalg.qr(spectra.float_midpoints(A)).R.diagonal().sign()
    if minor or not signs.all():
        raise undefined
    flips = np.array(
        [numbers.exact(int(s) * choices.sign(k)) for k, s in enumerate(signs.tolist())],
        dtype=object,
    )
    Q = matrices.solve(L, first.T).T * flips if k else first
    return np.concatenate([Q, np.concatenate([L * flips, (Q.T @ A[:, k:]).T])])


# Forms that report failures by a code.


@implements("linalg_inv_ex")
def inv_ex(A: Any, *, check_errors: bool = False) -> Any:
    """Nothing is known of the inverse of a singular matrix. ``info`` is 0, or the least k such that
    the first k columns are linearly dependent; whether there is one may be Undecided.
    """
    x = balls(A)
    require_square(x)
    result = solve_ex(x, matrices.identity_like(x.elements), check_errors=check_errors)
    return RETURNED.linalg_inv_ex((result[0], result[1]))


@implements("linalg_solve_ex")
def solve_ex(A: Any, B: Any, *, left: bool = True, check_errors: bool = False) -> Any:
    """`torch.linalg.solve`; nothing is known of the solution at a singular A. ``info`` as above."""
    x, y = balls(A), balls(B)
    n = require_square(x)
    if check_errors:
        none = torch.zeros(x.shape[:-2], dtype=torch.int32)
        return RETURNED.linalg_solve_ex((solve(x, y, left=left), none))
    info = each(_first_dependent_column, x, (), np.int32)
    bad = np.broadcast_to((info != 0)[..., None, None], x.shape)
    regular = np.where(bad, np.broadcast_to(matrices.identity(n), x.shape), x.elements)
    result = solve(wrap(regular), y, left=left)
    failed = np.asarray(info != 0)
    vector = y.ndim == 1 or (x.ndim - 1 == y.ndim and y.shape == x.shape[:-1])
    failed = failed[..., None] if vector else failed[..., None, None]
    unknown = np.where(failed, numbers.unknown(), result.elements)
    return RETURNED.linalg_solve_ex((wrap(unknown), torch.from_numpy(np.asarray(info))))


def _first_dependent_column(A: np.ndarray) -> int:
    n = len(A)
    full = doubled(A) if has_complex(A) else A
    if matrices.rational_matrix(full) is None:
        matrices.solve(A, matrices.identity(n))  # raises Undecided
        return 0
    return next((k for k in range(1, n + 1) if matrices.rank(A[:, :k]) < k), 0)


@implements("linalg_cholesky_ex")
def cholesky_ex(A: Any, *, upper: bool = False, check_errors: bool = False) -> Any:
    """``info`` is 0, or the order of the first leading minor that is not positive; nothing is known
    of the factor then. Undecided where balls do not tell.
    """
    x = balls(A)
    n = require_square(x)
    if upper:
        x = adjoint(x)
    if check_errors:
        each(matrices.cholesky, x, (n, n))
    info = each(lambda M: matrices.cholesky_to(M)[1], x, (), np.int32)

    def factor(M: np.ndarray) -> np.ndarray:
        L, minor = matrices.cholesky_to(M)
        return np.full((n, n), numbers.unknown(), dtype=object) if minor else L

    L = wrap(each(factor, x, (n, n)))
    L = adjoint(L) if upper else L
    return RETURNED.linalg_cholesky_ex((L, torch.from_numpy(np.asarray(info))))


@implements("linalg_solve_triangular")
def solve_triangular(
    A: Any, B: Any, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> BallArray:
    x = triu(A) if upper else tril(A)
    if unitriangular:
        diagonal = np.eye(x.shape[-1], dtype=bool)
        x = wrap(np.where(diagonal, matrices.identity_like(x.elements), x.elements))
    return solve(x, B, left=left)


@implements("cholesky_solve")
def cholesky_solve(B: Any, L: Any, upper: bool = False) -> BallArray:
    factor = balls(L)
    factor = adjoint(triu(factor)) if upper else tril(factor)
    return solve(adjoint(factor), solve(factor, B))


# Functions of general matrices.


@implements("linalg_matrix_exp", "matrix_exp")
def matrix_exp(A: Any) -> BallArray:
    x = balls(A)
    n = require_square(x)
    return wrap(each(_exponential, x, (n, n)))


def _exponential(A: np.ndarray) -> np.ndarray:
    if has_complex(A):
        return halved(_exponential(doubled(A)))
    return matrices.array(arb_mat(matrices.ball_matrix(A)).exp())
