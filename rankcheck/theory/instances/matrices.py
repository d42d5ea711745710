"""Matrices: of given rank, orthogonal, balanced; rational functions of what is drawn.

Rational constructions satisfy their hypotheses exactly on balls: a product of thin factors has at
most the rank of its factors, and a product of reflections is orthogonal. A factorisation computed
in floats has neither property exactly. The first part of the file holds building blocks, functions
of a source; the generators at its end use them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch

from rankcheck.theory import linalg
from rankcheck.theory.instances.promises import Promise, inside, promises, same
from rankcheck.theory.instances.source import Source, instances, made_again

#: The structures of a drawn matrix, the simplest first.
STRUCTURES = ("dense", "zero", "low rank", "repeated singular values")


def low_rank(source: Source, m: int, n: int, rank: int, bound: float = 3.0) -> Any:
    """An m × n matrix of rank at most `rank`: a product of factors with entries in ±bound."""
    left = source.tensor(m, rank, low=-bound, high=bound)
    right = source.tensor(rank, n, low=-bound, high=bound)
    return left @ right


def orthogonal(source: Source, n: int) -> Any:
    """An n × n orthogonal matrix: a product of n Householder reflections, rational in the entries.

    The first unit vector replaces a drawn vector that is zero.
    """
    vectors = source.tensor(n, n, low=-2.0, high=2.0)
    identity = linalg.eye(n, like=vectors)
    product = identity
    for i in range(n):
        v = vectors[i]
        v = torch.where((v * v).sum(-1, keepdim=True) == 0, identity[0], v)
        outer = v.unsqueeze(-1) * v.unsqueeze(-2)
        product = product - 2 * (product @ outer) / (v * v).sum()
    return product


def semi_orthogonal(source: Source, n: int, k: int) -> Any:
    """An n × k matrix with orthonormal columns, k ≤ n."""
    return orthogonal(source, n)[:, :k]


def positive(source: Source, *shape: int, low: float = 0.125, high: float = 4.0) -> Any:
    """Positive entries, bounded away from zero."""
    return source.tensor(*shape, low=low, high=high)


def away_from_zero(source: Source, *shape: int, least: float = 0.125, high: float = 4.0) -> Any:
    """Entries with least ≤ |entry| ≤ high; an entry that is drawn smaller becomes 1."""
    entries = source.tensor(*shape, low=-high, high=high)
    return torch.where(entries.abs() < least, entries.new_ones(()), entries)


def signs(source: Source, *shape: int) -> Any:
    """Entries ±1."""
    entries = source.tensor(*shape, low=-1.0, high=1.0)
    one = entries.new_ones(())
    return torch.where(entries < 0, -one, one)


def balanced_factors(
    source: Source,
    *,
    layers: tuple[int, int] = (1, 5),
    size: tuple[int, int] = (1, 4),
    low: float = 0.125,
    high: float = 2.0,
) -> list[Any]:
    r"""Factors W_1, ..., W_L of least cost for their product: W_ℓ = U_ℓ T U_{ℓ−1}ᵀ.

    U_ℓ is orthogonal, T = diag(t) with t_i in [low, high] or, for the last few i, zero. The product
    W_L ··· W_1 = U_L T^L U_0ᵀ has the singular values t_i^L, and every square matrix is of this
    form, up to the range of t.
    """
    count, n = source.integer(*layers), source.integer(*size)
    zeros = source.integer(0, n - 1)
    alive = torch.arange(n) < n - zeros
    t = positive(source, n, low=low, high=high)
    T = torch.diag_embed(torch.where(alive, t, 0 * t))
    rotations = [orthogonal(source, n) for _ in range(count + 1)]
    return [out @ T @ into.mT for into, out in pairwise(rotations)]


@made_again(lambda A, *_, **__: [0, A])
def matrix(source: Source, m: int, n: int, bound: float = 8.0) -> Any:
    """An m × n matrix: dense, zero, of low rank, or with repeated singular values.

    The structure is drawn first, so that all four occur.
    """
    structure = source.choice(STRUCTURES)
    if structure == "low rank":
        return low_rank(source, m, n, source.integer(1, min(m, n)), bound=bound**0.5)
    if structure == "repeated singular values":
        size = source.tensor(1, 1, low=-bound, high=bound)
        if m >= n:
            return size * semi_orthogonal(source, m, n)
        return size * semi_orthogonal(source, n, m).mT
    entries = source.tensor(m, n, low=-bound, high=bound)
    return entries if structure == "dense" else 0 * entries


SIZES = Promise(
    "all numbers of rows and columns are in the range",
    lambda o, *found: all(inside(o.size, *A.shape[-2:]) for A in found),
)


@instances
@promises(
    rows=Promise("their number is in the range", lambda o, A: inside(o.rows, A.shape[-2])),
    columns=Promise("their number is in the range", lambda o, A: inside(o.columns, A.shape[-1])),
)
def matrices(
    source: Source, *, rows: tuple[int, int] = (1, 4), columns: tuple[int, int] = (1, 4)
) -> Any:
    """One matrix of any structure."""
    return matrix(source, source.integer(*rows), source.integer(*columns))


@instances
@promises(Promise("both have one shape", lambda o, A, B: A.shape == B.shape), size=SIZES)
def matrix_pairs(source: Source, *, size: tuple[int, int] = (1, 4)) -> Any:
    """Two matrices of one shape."""
    m, n = source.integer(*size), source.integer(*size)
    return matrix(source, m, n), matrix(source, m, n)


@instances
@promises(
    Promise("A has as many columns as B has rows", lambda o, A, B: A.shape[-1] == B.shape[-2]),
    size=SIZES,
)
def chained_matrices(source: Source, *, size: tuple[int, int] = (1, 4)) -> Any:
    """Two matrices that can be multiplied, A of shape m × k and B of shape k × n."""
    m, k, n = source.integer(*size), source.integer(*size), source.integer(*size)
    return matrix(source, m, k), matrix(source, k, n)


@instances
@promises(
    Promise("ABᵀ = 0", lambda o, A, B: same(A @ B.mT, 0)),
    Promise("AᵀB = 0", lambda o, A, B: same(A.mT @ B, 0)),
    size=Promise(
        "all numbers of rows and columns are sums of two in the range",
        lambda o, *found: all(inside((2 * o.size[0], 2 * o.size[1]), *A.shape[-2:]) for A in found),
    ),
)
def orthogonal_blocks(source: Source, *, size: tuple[int, int] = (1, 3)) -> Any:
    """Two matrices of one shape whose row spaces and whose column spaces are orthogonal."""
    m, n = source.integer(*size), source.integer(*size)
    p, q = source.integer(*size), source.integer(*size)
    first, second = matrix(source, m, n), matrix(source, p, q)
    return (
        linalg.block_diagonal(first, first.new_zeros((*source.batch, p, q))),
        linalg.block_diagonal(first.new_zeros((*source.batch, m, n)), second),
    )


@instances
@promises(Promise("AAᵀA = A", lambda o, A: same(A @ A.mT @ A, A)), size=SIZES)
def partial_isometries(source: Source, *, size: tuple[int, int] = (1, 4)) -> Any:
    """A matrix all of whose singular values are 0 or 1."""
    m, n = source.integer(*size), source.integer(*size)
    k = source.integer(0, min(m, n))
    left, right = semi_orthogonal(source, m, k), semi_orthogonal(source, n, k)
    return left @ right.mT
