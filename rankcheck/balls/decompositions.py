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
from rankcheck.balls.formal import NoBallForm
from rankcheck.balls.lazy import LazyBalls
from rankcheck.balls.linalg import RETURNED, each, eigvalsh, require_square, svdvals
from rankcheck.balls.numbers import Undecided
from rankcheck.balls.shapes import adjoint

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
