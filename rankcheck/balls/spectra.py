"""Eigenspaces and functions of one symmetric or Hermitian matrix.

**Symmetric, rational.** With the distinct eigenvalues λ_k of the exact characteristic polynomial,
the orthogonal projection onto the eigenspace of λ_k is Π_{j≠k} (A − λ_j)/(λ_k − λ_j) (Lagrange),
whatever the multiplicities. Close eigenvalues cost digits, so the precision is raised until the
projections are as sharp as asked for.

**Symmetric, balls.** A = M + E with ‖E‖_F ≤ ε. Eigenvalues of M with small gaps form a cluster, and
the projection onto the span of its eigenvectors moves by at most ε/(g − ε) in operator norm, g > ε
being the gap to the other clusters (Davis and Kahan's sin Θ theorem, with Weyl's inequality for the
gap). On a cluster f(A) lies within rad f(h) of mid f(h), where h contains its eigenvalues.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from rankcheck.balls import choices, matrices, numbers, orders, roots
from rankcheck.balls.complexes import (
    doubled,
    halved,
    has_complex,
    imag,
    real,
)
from rankcheck.balls.formal import NoBallForm
from rankcheck.balls.numbers import ONE, ZERO, Number, Undecided, precision

SHARPEST = 64
"""Projections are computed with at most this many times the current precision."""


class Cluster(NamedTuple):
    """Some consecutive eigenvalues of a symmetric matrix, apart from all others.

    Attributes:
        values: their enclosures, ascending, repeated as often as they are eigenvalues.
        equal: whether they are known to be one number.
        projection: (n, n), the orthogonal projection onto the span of their eigenvectors.
    """

    values: list[Number]
    equal: bool
    projection: np.ndarray


def clusters(A: np.ndarray) -> list[Cluster]:
    """The eigenvalues of a real symmetric matrix in ascending clusters, with their projections.

    The distinct eigenvalues of a rational matrix. Raises Undecided for an unbounded one.
    """
    if len(A) == 0:
        return []
    M = matrices.rational_matrix(A)
    if M is not None:
        return [
            Cluster([value] * count, True, projection)
            for value, count, projection in _rational_projections(M)
        ]
    split = matrices.midpoint_and_error(A)
    if split is None:
        raise Undecided("nothing is known of the spectrum of a matrix with unknown entries")
    return _merged(_rational_projections(split[0]), split[1])


def _rational_projections(M: fmpq_mat) -> list[tuple[Number, int, np.ndarray]]:
    """The distinct eigenvalues in ascending order, their multiplicities and projections."""
    N, d = M.numer_denom()
    p = matrices.bounded(N).charpoly()
    wanted = ctx.prec
    bits = wanted + 16
    while True:
        with precision(bits):
            values = [(x / d, count) for x, count in roots.distinct_real_roots(p)]
            values.sort(key=lambda root: orders.middle(root[0]))
            apart = all(x < y for (x, _), (y, _) in pairwise(values))
            projections = _lagrange(M, [x for x, _ in values]) if apart else []
        sharp = apart and all(_is_sharp(P, wanted) for P in projections)
        if sharp or (apart and bits > SHARPEST * wanted):
            rounded = np.frompyfunc(lambda x: x if isinstance(x, fmpq) else +x, 1, 1)
            return [
                (rounded(x), n, rounded(P)) for (x, n), P in zip(values, projections, strict=True)
            ]
        bits *= 2


def _is_sharp(P: np.ndarray, bits: int) -> bool:
    limit = arb(2) ** (-bits)
    return all(isinstance(x, fmpq) or x.rad() <= limit for x in P.ravel().tolist())


def _lagrange(M: fmpq_mat, values: Sequence[Number]) -> list[np.ndarray]:
    """Π_{j≠k} (M − λ_j)/(λ_k − λ_j) for each k, from the products before and after k."""
    n, count = M.nrows(), len(values)
    exact = all(isinstance(x, fmpq) for x in values)
    kind: Any = fmpq_mat if exact else arb_mat
    one = kind(n, n, matrices.identity(n).ravel().tolist())
    A = M if exact else arb_mat(M)
    shifted = [A - one * x for x in values]
    before, after = [one], [one]
    for k in range(count - 1):
        before.append(before[-1] * shifted[k])
        after.append(after[-1] * shifted[count - 1 - k])
    result = []
    for k, x in enumerate(values):
        scale = math.prod((x - y for j, y in enumerate(values) if j != k), start=ONE)
        result.append(matrices.array(before[k] * after[count - 1 - k] * (ONE / scale)))
    return result


def _merged(spectrum: list[tuple[Number, int, np.ndarray]], error: arb) -> list[Cluster]:
    """The clusters of every matrix within `error` of one that has this spectrum."""
    spread = arb(spectrum[-1][0]) - arb(spectrum[0][0])
    smallest = (error * 8 + (error * abs(spread)).sqrt()).upper()
    groups = [[spectrum[0]]]
    gaps = []
    for lower, upper in pairwise(spectrum):
        gap = (arb(upper[0]) - arb(lower[0])).lower()
        if gap > smallest:
            groups.append([])
            gaps.append(gap)
        groups[-1].append(upper)
    result = []
    for place, group in enumerate(groups):
        P = sum((entry[2] for entry in group[1:]), start=group[0][2])
        around = gaps[max(place - 1, 0) : place + 1]
        if around:
            moved = max((error / (gap - error)).upper() for gap in around)
            P = P + arb(0, moved)
        values = [x + arb(0, error) for x, count, _ in group for _ in range(count)]
        result.append(Cluster(values, len(values) == 1, P))
    return result


def function_of_symmetric(A: np.ndarray, f: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """f(A) = Σ f(λ_k) P_k for symmetric or Hermitian A, f a function of an array of eigenvalues.

    The lower triangle is read.
    """
    A = matrices.from_lower_triangle(A)
    if has_complex(A):
        return halved(function_of_symmetric(doubled(A), f))
    total = np.full(A.shape, ZERO, dtype=object)
    widest: arb = arb(0)
    for cluster in clusters(A):
        low, high = cluster.values[0], cluster.values[-1]
        hull = low if cluster.equal else arb(low).union(arb(high))
        value = f(np.array([hull], dtype=object))[0]
        if not isinstance(value, fmpq):
            if not value.is_finite():
                return np.full(A.shape, numbers.unknown(), dtype=object)
            if not cluster.equal:
                widest = max(widest, value.rad())
                value = value.mid()
        if not (isinstance(value, fmpq) and value == 0):
            total = total + cluster.projection * value
    return total if widest == 0 else total + arb(0, widest)


def projection_onto_largest(A: np.ndarray, k: int) -> np.ndarray:
    """The orthogonal projection onto the span of the eigenvectors of the k largest eigenvalues.

    Raises Undecided unless the k-th largest is provably larger than the next.
    """
    A = matrices.from_lower_triangle(A)
    if has_complex(A):
        return halved(projection_onto_largest(doubled(A), 2 * k))
    total = np.full(A.shape, ZERO, dtype=object)
    left = k
    for cluster in reversed(clusters(A)):
        if left <= 0:
            break
        left -= len(cluster.values)
        total = total + cluster.projection
    if left < 0:
        raise Undecided(
            f"the {k}-th and {k + 1}-th largest eigenvalues are equal or too close to tell apart, "
            "so the projection onto the first of them is not defined"
        )
    return total


# Single vectors.


def eigenvectors(A: np.ndarray, triangle: str = "L") -> np.ndarray:
    """Unit eigenvectors of a symmetric matrix as columns, eigenvalues ascending.

    The lower triangle of A is read. The signs are those of `torch.linalg.eigh` at the midpoint,
    which depend on the triangle that it is told to read. Raises Undecided where
    eigenvalues are not provably distinct, or where floats do not tell the vectors apart.
    """
    if has_complex(A):
        raise NoBallForm(
            "the eigenvectors of a Hermitian matrix",
            "their phases are arbitrary; use rankcheck.linalg.spectral_function or "
            "spectral_projection",
        )
    A = matrices.from_lower_triangle(A)
    floats = float_midpoints(A)
    try:
        guide = torch.linalg.eigh(floats, UPLO=triangle).eigenvectors
    except RuntimeError as error:
        raise Undecided("floats have no eigenvectors to take the signs from") from error
    columns = []
    for place, cluster in enumerate(clusters(A)):
        if len(cluster.values) > 1:
            raise Undecided(
                "eigenvectors are not defined at repeated eigenvalues, and eigenvalues of this "
                "matrix are equal or too close to tell apart; use "
                "rankcheck.linalg.spectral_function or spectral_projection"
            )
        columns.append(signed(unit_vector(cluster.projection), guide[:, place], place))
    return np.stack(columns, -1) if columns else A


def unit_vector(P: np.ndarray) -> np.ndarray:
    """The unit vector v, up to sign, with P = vvᵀ."""
    largest = max(range(len(P)), key=lambda j: orders.middle(P[j, j]))
    if not P[largest, largest] > 0:
        raise Undecided("an eigenvector of this matrix is not known to any digit")
    root = numbers.sqrt(P[largest, largest])
    return np.frompyfunc(lambda x: x / root, 1, 1)(P[:, largest])


def signed(v: np.ndarray, guide: torch.Tensor, place: int) -> np.ndarray:
    """v or −v, whichever is close to the vector that floats give; `choices` may turn it."""
    floats = torch.tensor([float(orders.middle(x)) for x in v], dtype=torch.float64)
    agreement = float(floats @ guide)
    if not abs(agreement) > 0.9:
        raise Undecided(
            "the sign of a singular or eigenvector is arbitrary, and floats do not resolve this "
            "vector, so there is no sign to follow"
        )
    return v if agreement * choices.sign(place) > 0 else -v


def float_midpoints(A: np.ndarray) -> torch.Tensor:
    """The midpoints as floats. Raises Undecided where they are not finite."""

    nearest = numbers.as_float
    floats = [[complex(nearest(real(x)), nearest(imag(x))) for x in row] for row in A.tolist()]
    result = torch.tensor(floats, dtype=torch.complex128).reshape(A.shape)
    if not result.isfinite().all():
        raise Undecided("nothing is known of the spectrum of a matrix beyond the range of floats")
    return result if has_complex(A) else result.real.contiguous()
