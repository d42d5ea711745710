r"""Unitary and Hermitian matrices as pairs of real ones, exact on balls by construction.

A complex matrix X + iY is the pair (X, Y). A unitary matrix is a product of factors
I + (φ − 1)vv*/v*v with :math:`|\varphi| = 1`, so on balls U*U = I and A = A* hold as equalities of
rationals.
"""

from __future__ import annotations

from typing import Any

import torch

from rankcheck.theory import linalg
from rankcheck.theory.instances.matrix_classes import (
    even,
    folded,
    frame,
    on_and_below,
    repeat,
    symmetric,
)
from rankcheck.theory.instances.matrix_promises import PAIRS, SIZE, each_pair
from rankcheck.theory.instances.networks import Range
from rankcheck.theory.instances.options import validated
from rankcheck.theory.instances.promises import is_identity, promises, same
from rankcheck.theory.instances.source import Source, instances, made_again

#: The structures of a drawn matrix, the simplest first.
HERMITIAN = ("dense", "real", "low rank", "rank one and a shift")
UNITARY = ("dense", "real", "diagonal")


def _product(A: tuple[Any, Any], B: tuple[Any, Any]) -> tuple[Any, Any]:
    return A[0] @ B[0] - A[1] @ B[1], A[0] @ B[1] + A[1] @ B[0]


def _phases(source: Source, n: int) -> tuple[Any, Any]:
    """n complex numbers of modulus 1 other than 1, (it + 1)/(it − 1), as a pair."""
    t = source.tensor(n, low=-4.0, high=4.0)
    return (t * t - 1) / (t * t + 1), -2 * t / (t * t + 1)


def unitary(source: Source, n: int) -> tuple[Any, Any]:
    """A unitary n × n matrix as a pair: dense, real or diagonal.

    The first is a product of n factors I + (φ − 1)vv*/v*v with |φ| = 1, and every unitary matrix
    is.
    """
    structure = source.choice(UNITARY)
    if structure == "real":
        Q = frame(source, n, n, reflections=source.integer(n - 1, n))
        return Q, 0 * Q
    cosine, sine = _phases(source, n)
    if structure == "diagonal":
        return torch.diag_embed(-cosine), torch.diag_embed(-sine)
    vectors = source.tensor(2, n, n, low=-2.0, high=2.0)
    real = linalg.eye(n, like=vectors)
    U = real, 0 * real
    for i in range(n):
        v = vectors[0, i].unsqueeze(-1), vectors[1, i].unsqueeze(-1)
        square = (v[0] * v[0] + v[1] * v[1]).sum(-2, keepdim=True)
        square = torch.where(square == 0, 1 + square, square)
        x, y = cosine[i] - 1, sine[i]
        scaled = (x * v[0] - y * v[1]) / square, (x * v[1] + y * v[0]) / square
        change = _product(_product(U, scaled), (v[0].mT, -v[1].mT))
        U = U[0] + change[0], U[1] + change[1]
    return U


@made_again(lambda A, *_, **__: [0, on_and_below(A[0]), on_and_below(A[1], -1)])
def hermitian(source: Source, n: int, bound: float = 8.0) -> tuple[Any, Any]:
    """A Hermitian n × n matrix as a pair: dense, real, of low rank, or svv* + tI."""
    structure = source.choice(HERMITIAN)
    if structure == "real":
        A = symmetric(source, n, bound)
        return A, 0 * A
    if structure == "dense":
        real = folded(source.tensor(n * (n + 1) // 2, low=-bound, high=bound), n)
        return real, folded(source.tensor(n * (n - 1) // 2, low=-bound, high=bound), n, -1)
    if structure == "low rank":
        k = source.integer(1, n)
        parts = source.tensor(2, n, k, low=-(bound**0.25), high=bound**0.25)
        left = parts[0], parts[1]
        values = source.tensor(k, low=-(bound**0.5), high=bound**0.5).unsqueeze(-2)
    else:
        parts = source.tensor(2, n, 1, low=-2.0, high=2.0)
        left = parts[0], parts[1]
        square = (left[0] * left[0] + left[1] * left[1]).sum(-2, keepdim=True)
        values = source.tensor(1, 1, low=-bound, high=bound)
        values = values / torch.where(square == 0, 1 + square, square)
    scaled = left[0] * values, left[1] * values
    real, imaginary = _product(scaled, (left[0].mT, -left[1].mT))
    real, imaginary = even(real), (imaginary - imaginary.mT) / 2
    if structure == "rank one and a shift":
        shift = source.tensor(1, 1, low=-bound, high=bound)
        real = real + shift * linalg.eye(n, like=real)
    return real, imaginary


@validated
@instances
@promises(
    each_pair(
        "U*U = 1",
        lambda X, Y: is_identity(X.mT @ X + Y.mT @ Y) & same(X.mT @ Y, Y.mT @ X),
    ),
    size=SIZE,
    count=PAIRS,
)
def unitary_matrices(source: Source, *, size: Range = (1, 4), count: int = 1) -> Any:
    """Unitary matrices: real and imaginary part, one after the other, for each matrix.

    For a complex tensor: `torch.complex(real, imaginary)`. Real and diagonal ones are among them.
    """
    n = source.integer(*size)
    return repeat(count, lambda: unitary(source, n))


@validated
@instances
@promises(each_pair("A = A*", lambda X, Y: (X.mT == X) & (-Y.mT == Y)), size=SIZE, count=PAIRS)
def hermitian_matrices(source: Source, *, size: Range = (1, 4), count: int = 1) -> Any:
    """Hermitian matrices: real and imaginary part, one after the other, for each matrix.

    For a complex tensor: `torch.complex(real, imaginary)`. Dense, real, of low rank, or of rank
    one with a multiple of I.
    """
    n = source.integer(*size)
    return repeat(count, lambda: hermitian(source, n))
