r"""Classes of matrices: definite, orthogonal, stochastic; each exact on balls by construction.

Symmetric matrices are filled from their lower triangle. Orthogonal matrices, frames and
projections are made of reflections I − 2vvᵀ/vᵀv, which are rational in v; definite matrices are
V diag(λ) Vᵀ with a frame V, or LDLᵀ. A doubly stochastic matrix is a convex combination of
permutations (Birkhoff). So on balls A = Aᵀ, P² = P, QᵀQ = I and unit row sums hold as equalities of
rationals; in floats symmetry is exact and the rest holds up to rounding.

A quantity with a logarithmic scale is piecewise linear in t ∈ [−1, 1] through numbers of one digit,
or the inverse: short for short t, and its logarithm is almost linear.

Every generator takes `size=(low, high)` and `count=`, the number of matrices of one size.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from rankcheck.theory import linalg
from rankcheck.theory.instances.matrix_promises import (
    CONDITION,
    COUNT,
    RANK,
    SIZE,
    SYMMETRY,
    each,
)
from rankcheck.theory.instances.networks import Range
from rankcheck.theory.instances.options import validated
from rankcheck.theory.instances.promises import (
    Promise,
    at_most,
    is_identity,
    promises,
    same,
)
from rankcheck.theory.instances.source import Source, instances, made_again
from rankcheck.theory.scalars import scalar

#: The structures of a drawn matrix, the simplest first.
SYMMETRIC = ("dense", "zero", "low rank", "two eigenvalues")
DEFINITE = ("triangular", "eigenvalues")
#: The least bound of the condition number for which LDLᵀ is mostly not diagonal.
LEAST = 100.0
STOCHASTIC = ("permutations", "uniform")


# Building blocks


def repeat(count: int, draw: Callable[[], Any]) -> Any:
    """One result, or a tuple of `count` results; pairs are strung together."""
    drawn = [draw() for _ in range(count)]
    if isinstance(drawn[0], tuple):
        return tuple(part for pair in drawn for part in pair)
    return drawn[0] if count == 1 else tuple(drawn)


def _knots(ratio: float) -> list[Fraction]:
    """The magnitudes at equal steps of t, from 1 to the root of the ratio, of two digits."""
    short = Context(prec=2 if ratio >= 2 else 9, rounding=ROUND_FLOOR)
    root = Fraction(short.create_decimal(Decimal(str(ratio)).sqrt()))
    pieces = 2 ** int(math.log2(max(1.0, math.log2(root))))
    return [*(Fraction(f"{root ** (k / pieces):.0e}") for k in range(pieces)), root]


def magnitudes(source: Source, *shape: int, ratio: float) -> Any:
    r"""Positive numbers in :math:`[r^{-1/2}, r^{1/2}]` for r = `ratio`, almost log-uniform.

    For t from 0 to 1 they go from 1 to √r, rounded down to two digits, in straight pieces of equal
    length, through numbers of one digit; for −t they are the inverses.
    """
    t = source.tensor(*shape, low=-1.0, high=1.0)
    knots = _knots(ratio)
    pieces, steps = len(knots) - 1, [scalar(b - a, t) for a, b in pairwise(knots)]

    def above(s: Any) -> Any:
        return 1 + sum(step * (s - k).clamp(0, 1) for k, step in enumerate(steps))

    return above(pieces * t) / above(-pieces * t)


def frame(source: Source, n: int, k: int, reflections: int | None = None) -> Any:
    """An n × k matrix with orthonormal columns, k ≤ n: reflections of the first columns of I.

    k reflections, the default, give every such matrix. A vector that is zero reflects nothing.
    """
    vectors = source.tensor(k if reflections is None else reflections, n, low=-2.0, high=2.0)
    columns = linalg.eye(n, like=vectors)[:, :k]
    for i in reversed(range(vectors.shape[-2])):
        v = vectors[i].unsqueeze(-1)
        square = (v * v).sum()
        columns = columns - 2 * v @ (v.mT @ columns) / torch.where(square == 0, 1 + square, square)
    return columns


def filled(entries: Any, n: int, k: int, diagonal: int) -> Any:
    """The n × k matrix with these entries on and below a diagonal, row by row, and zeros above."""
    zero = entries.new_zeros((*entries.shape[:-1], 1))
    rows, columns = torch.tril_indices(n, k, diagonal)
    place = torch.full((n, k), entries.shape[-1])
    place[rows, columns] = torch.arange(entries.shape[-1])
    lower = torch.cat((entries, zero), -1)[..., place.flatten()]
    return lower.reshape((*entries.shape[:-1], n, k))


def folded(entries: Any, n: int, sign: int = 1) -> Any:
    """The n × n matrix with these entries below the diagonal, and their `sign`-fold above it.

    A symmetric matrix (sign 1) has n(n + 1)/2 entries, a skew one (sign −1) has n(n − 1)/2.
    """
    lower = filled(entries, n, n, 0 if sign == 1 else -1)
    return lower + sign * lower.tril(-1).mT


def even(A: Any) -> Any:
    """The symmetric part: A itself if A is symmetric, without its rounding in floats."""
    return (A + A.mT) / 2


def _spread(V: Any, values: Any) -> Any:
    """V diag(values) Vᵀ."""
    return even((V * values.unsqueeze(-2)) @ V.mT)


def on_and_below(A: torch.Tensor, diagonal: int = 0) -> torch.Tensor:
    """What `filled` fills in."""
    rows, columns = torch.tril_indices(A.shape[0], A.shape[1], diagonal)
    return A[rows, columns]


@made_again(lambda A, *_, **__: [0, on_and_below(A)])
def symmetric(source: Source, n: int, bound: float = 8.0) -> Any:
    """A symmetric n × n matrix: dense, zero, of low rank, or with two eigenvalues."""
    structure = source.choice(SYMMETRIC)
    if structure == "low rank":
        k = source.integer(1, n)
        left = source.tensor(n, k, low=-(bound**0.25), high=bound**0.25)
        return _spread(left, source.tensor(k, low=-(bound**0.5), high=bound**0.5))
    if structure == "two eigenvalues":
        V = frame(source, n, source.integer(0, n - 1))
        first, second = source.tensor(2, 1, 1, low=-bound, high=bound)
        return first * linalg.eye(n, like=V) + (second - first) * even(V @ V.mT)
    entries = source.tensor(n * (n + 1) // 2, low=-bound, high=bound)
    return folded(entries if structure == "dense" else 0 * entries, n)


def spectrum(source: Source, n: int, condition: float) -> Any:
    """n positive numbers whose quotients are at most `condition`; the first few are equal."""
    values = magnitudes(source, n, ratio=condition)
    if n < 2:
        return values
    equal = source.integer(1, n)
    return torch.where(torch.arange(n, device=values.device) < equal, values[..., :1], values)


def _ratio(condition: float) -> float:
    """Of the entries of D: the square of a short number."""
    return (math.floor(4 * condition**0.25) / 4) ** 2


def _triangular(A: torch.Tensor, n: int, k: int, condition: float) -> list[int | torch.Tensor]:
    """The choices that make A = LDLᵀ, by elimination, or a multiple of A, if D is too large."""
    L, D = A.new_zeros(n, k), A.new_zeros(k)
    for j in range(k):
        D[j], L[:, j] = A[j, j], A[:, j] / A[j, j]
        A = A - D[j] * L[:, j].outer(L[:, j])
    knots = [float(knot) for knot in _knots(_ratio(condition))]
    D = D / max([1.0, *(D / knots[-1]).tolist()])
    above = np.interp(D.clamp(min=1 / D), knots, np.linspace(0, 1, len(knots)))
    return [0, on_and_below(L, -1), torch.where(D < 1, -1, 1) * torch.from_numpy(above)]


@made_again(_triangular)
def definite(source: Source, n: int, k: int, condition: float) -> Any:
    """A positive semidefinite n × n matrix of rank k, its positive eigenvalues in [κ^−½, κ^½].

    V diag(λ) Vᵀ with a frame V, or LDLᵀ of short numbers, if κ = `condition` is at least `LEAST`. L
    is the identity where the traces of the matrix and of an inverse do not bound the spectrum.
    """
    if condition < LEAST or source.choice(DEFINITE) == "eigenvalues":
        return _spread(frame(source, n, k), spectrum(source, k, condition))
    below = source.tensor(n * k - k * (k + 1) // 2, low=-2.0, high=2.0)
    D = magnitudes(source, k, ratio=_ratio(condition))
    N, one = filled(below, n, k, -1), linalg.eye(n, like=D)[:, :k]
    inverse = one[:k]  # of the first k rows of L
    for _ in range(1, k):
        inverse = one[:k] - N[:k] @ inverse
    trace = (D * (1 + (N * N).sum(-2))).sum(-1)
    good = (trace <= condition**0.5) & (((inverse**2).sum(-1) / D).sum(-1) <= condition**0.5)
    return _spread(one + torch.where(good, N, 0 * N), D)


def permutation(n: int, index: int) -> list[int]:
    """The permutation of 0, ..., n − 1 with this index, 0 ≤ index < n!; 0 is the identity."""
    left, images = list(range(n)), []
    for rest in range(n - 1, -1, -1):
        place, index = divmod(index, math.factorial(rest))
        images.append(left.pop(place))
    return images


def _permutation_matrix(source: Source, n: int) -> torch.Tensor:
    images = permutation(n, source.integer(0, math.factorial(n) - 1))
    return torch.eye(n, dtype=torch.float64)[images]


# Generators


@validated
@instances
@promises(
    SYMMETRY,
    each("no entry is larger than 8n", lambda A: at_most(A.abs(), 8 * A.shape[-1])),
    size=SIZE,
    count=COUNT,
)
def symmetric_matrices(source: Source, *, size: Range = (1, 4), count: int = 1) -> Any:
    """Symmetric matrices: dense, zero, of low rank, or with two eigenvalues.

    Entries lie in [-8, 8], those of a matrix of rank k in [-8k, 8k].
    """
    n = source.integer(*size)
    return repeat(count, lambda: symmetric(source, n))


@validated
@instances
@promises(
    SYMMETRY,
    Promise(
        "every eigenvalue is positive",
        lambda o, *found: functools.reduce(
            torch.logical_and, [torch.linalg.eigvalsh(A).amin(-1) > 0 for A in found]
        ),
    ),
    size=SIZE,
    condition=CONDITION,
    count=COUNT,
)
def positive_definite_matrices(
    source: Source, *, size: Range = (1, 4), condition: float = 1e4, count: int = 1
) -> Any:
    r"""Positive definite matrices, condition number at most `condition`.

    V diag(λ) Vᵀ with λ almost log-uniform in :math:`[\kappa^{-1/2}, \kappa^{1/2}]`, some of them
    equal, or LDLᵀ of short numbers, if the condition may be 100. Every symmetric matrix with its
    spectrum there is of the first form, and those of the second have it there.
    """
    n = source.integer(*size)
    return repeat(count, lambda: definite(source, n, n, condition))


@validated
@instances
@promises(
    SYMMETRY,
    Promise(
        "no eigenvalue is negative",
        lambda o, *found: functools.reduce(
            torch.logical_and, [at_most(0, torch.linalg.eigvalsh(A)).all(-1) for A in found]
        ),
    ),
    size=SIZE,
    rank=RANK,
    condition=CONDITION,
    count=COUNT,
)
def positive_semidefinite_matrices(
    source: Source,
    *,
    size: Range = (1, 4),
    rank: int | None = None,
    condition: float = 1e4,
    count: int = 1,
) -> Any:
    """Positive semidefinite matrices of given rank, by default of any rank from 0 to n.

    The quotients of the positive eigenvalues are at most `condition`.
    """
    n = source.integer(max(size[0], rank or 0), size[1])

    def draw() -> Any:
        return definite(source, n, source.integer(0, n) if rank is None else rank, condition)

    return repeat(count, draw)


@validated
@instances
@promises(SYMMETRY, each("P² = P", lambda P: same(P @ P, P)), size=SIZE, rank=RANK, count=COUNT)
def projections(
    source: Source, *, size: Range = (1, 4), rank: int | None = None, count: int = 1
) -> Any:
    """Orthogonal projections P = Pᵀ = P² of given rank, by default of any rank from 0 to n."""
    n = source.integer(max(size[0], rank or 0), size[1])

    def draw() -> Any:
        V = frame(source, n, source.integer(0, n) if rank is None else rank)
        return even(V @ V.mT)

    return repeat(count, draw)


@validated
@instances
@promises(each("QᵀQ = 1", lambda Q: is_identity(Q.mT @ Q)), size=SIZE, count=COUNT)
def orthogonal_matrices(source: Source, *, size: Range = (1, 4), count: int = 1) -> Any:
    """Orthogonal matrices of both determinants, as products of n − 1 or n reflections."""
    n = source.integer(*size)
    return repeat(count, lambda: frame(source, n, n, reflections=source.integer(n - 1, n)))


@validated
@instances
@promises(
    each("no entry is negative", lambda A: A >= 0),
    each(
        "every row and column sums to 1",
        lambda A: same(A.sum(-1, keepdim=True), 1) & same(A.sum(-2, keepdim=True), 1),
    ),
    size=SIZE,
    count=COUNT,
)
def doubly_stochastic_matrices(source: Source, *, size: Range = (1, 4), count: int = 1) -> Any:
    """Doubly stochastic matrices: convex combinations of up to (n − 1)² + 1 permutations.

    By Birkhoff and Carathéodory every such matrix is one. The uniform matrix is among them.
    """
    n = source.integer(*size)

    def draw() -> Any:
        if source.choice(STOCHASTIC) == "uniform":
            return source.tensor(0).new_ones((*source.batch, n, n)) / n
        m = source.integer(1, (n - 1) ** 2 + 1)
        corners = torch.stack([_permutation_matrix(source, n) for _ in range(m)])
        weights = source.tensor(m, low=0.0, high=1.0)
        total = weights.sum(-1, keepdim=True)
        weights = torch.where(total == 0, 1 + weights, weights)
        weights = weights / weights.sum(-1, keepdim=True)
        return (weights[..., None, None] * corners.to(weights.device)).sum(-3)

    return repeat(count, draw)


@validated
@instances
@promises(
    each("every entry is 0 or 1", lambda P: (P == 0) | (P == 1)),
    each(
        "every row and column has one 1",
        lambda P: (P.sum(-1, keepdim=True) == 1) & (P.sum(-2, keepdim=True) == 1),
    ),
    size=SIZE,
    count=COUNT,
)
def permutation_matrices(source: Source, *, size: Range = (1, 4), count: int = 1) -> Any:
    """Permutation matrices; the permutation is drawn as an integer."""
    n = source.integer(*size)

    def draw() -> Any:
        P = _permutation_matrix(source, n)
        # A tensor without entries has the device and the kind of number of the source.
        one = source.tensor(0).new_ones((*source.batch, n, n))
        return one * P.to(one.device)

    return repeat(count, draw)
