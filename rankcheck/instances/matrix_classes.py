r"""Classes of matrices: definite, orthogonal, stochastic; each exact on balls by construction.

Symmetric matrices are filled from their lower triangle. Orthogonal and unitary matrices, frames and
projections are made of reflections I − 2vvᵀ/vᵀv, which are rational in v; definite matrices are
V diag(λ) Vᵀ with a frame V. A doubly stochastic matrix is a convex combination of permutations
(Birkhoff). So on balls A = Aᵀ, P² = P, QᵀQ = I and unit row sums hold as equalities of rationals;
in floats symmetry is exact and the rest holds up to rounding.

A quantity with a logarithmic scale is :math:`((1 + at)/(1 - at))^p` with t in [−1, 1]: rational in
t, and its logarithm :math:`2p \operatorname{artanh}(at)` is almost linear.

Every generator takes `size=(low, high)` and `count=`, the number of matrices of one size.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, ParamSpec

import torch

from rankcheck import linalg
from rankcheck.instances.networks import Range
from rankcheck.instances.promises import (
    Promise,
    at_most,
    inside,
    is_identity,
    promises,
    same,
)
from rankcheck.instances.source import Instances, Source, instances
from rankcheck.scalars import scalar

__all__ = [
    "doubly_stochastic_matrices",
    "graded_matrices",
    "hermitian_matrices",
    "orthogonal_matrices",
    "permutation_matrices",
    "positive_definite_matrices",
    "positive_semidefinite_matrices",
    "projections",
    "symmetric_matrices",
    "unitary_matrices",
]

P = ParamSpec("P")

#: The structures of a drawn symmetric or Hermitian matrix, the simplest first.
SYMMETRIC = ("dense", "zero", "low rank", "two eigenvalues")
HERMITIAN = ("dense", "real", "low rank", "rank one and a shift")
UNITARY = ("dense", "real", "diagonal")
STOCHASTIC = ("permutations", "uniform")
GRADED = ("entries", "rows", "columns", "rows and columns")
#: The largest condition number of an option: beyond it float64 has no digits left.
WORST = 1e15


# Options


def _validated(factory: Callable[P, Instances]) -> Callable[P, Instances]:
    """The factory, with its options checked where they are written rather than where they draw."""
    signature = inspect.signature(factory)

    @functools.wraps(factory)
    def checked(*args: P.args, **options: P.kwargs) -> Instances:
        made = factory(*args, **options)
        bound = signature.bind(*args, **options)
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            if (wrong := _complaint(name, value, bound.arguments)) is not None:
                raise ValueError(f"{factory.__name__}: received {name}={value!r}; {wrong}")
        return made

    return checked


def _is_count(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _complaint(name: str, value: Any, options: dict[str, Any]) -> str | None:
    """The rule that the value of an option breaks, if any."""
    if name in ("size", "rows", "columns"):
        pair = isinstance(value, tuple | list) and len(value) == 2
        if pair and all(_is_count(end, 1) for end in value) and value[0] <= value[1]:
            return None
        return "a range of sizes is (low, high) with integers 1 <= low <= high"
    if name == "count":
        return None if _is_count(value, 1) else "count is a positive integer"
    if name == "rank":
        size = options["size"]
        if value is None or (_is_count(value, 0) and value <= size[1]):
            return None
        return f"rank is None or an integer from 0 to the largest size, {size[1]}"
    if not isinstance(value, int | float) or isinstance(value, bool):
        return f"{name} is a number"
    if name == "condition":
        return None if 1 <= value <= WORST else f"a condition number lies in [1, {WORST:g}]"
    return None if 0 <= value <= 15 else f"{name} lies in [0, 15]"


def _repeat(count: int, draw: Callable[[], Any]) -> Any:
    """One result, or a tuple of `count` results; pairs are strung together."""
    drawn = [draw() for _ in range(count)]
    if isinstance(drawn[0], tuple):
        return tuple(part for pair in drawn for part in pair)
    return drawn[0] if count == 1 else tuple(drawn)


# Building blocks


def magnitudes(source: Source, *shape: int, ratio: float) -> Any:
    r"""Positive numbers in :math:`[r^{-1/2}, r^{1/2}]` for r = `ratio`, almost log-uniform.

    They are ((1 + at)/(1 − at))^p for drawn t in [−1, 1], with (1 + a)/(1 − a) at most 4; a is a
    dyadic number, rounded down, so that the quotient of two of them is at most r.
    """
    t = source.tensor(*shape, low=-1.0, high=1.0)
    power = max(1, math.ceil(math.log2(ratio) / 4))
    step = ratio ** (1 / (2 * power))
    a = scalar(Fraction(math.floor((step - 1) / (step + 1) * 2**20), 2**20), t)
    return ((1 + a * t) / (1 - a * t)) ** power


def frame(source: Source, n: int, k: int, reflections: int | None = None) -> Any:
    """An n × k matrix with orthonormal columns, k ≤ n: reflections of the first columns of I.

    k reflections, the default, give every such matrix. A vector that is zero reflects nothing.
    """
    vectors = source.tensor(k if reflections is None else reflections, n, low=-2.0, high=2.0)
    columns = linalg.eye(n, like=vectors)[:, :k].expand(*source.batch, n, k)
    for i in reversed(range(vectors.shape[-2])):
        v = vectors[..., i, :].unsqueeze(-1)
        square = (v * v).sum(-2, keepdim=True)
        columns = columns - 2 * v @ (v.mT @ columns) / torch.where(square == 0, 1 + square, square)
    return columns


def _folded(entries: Any, n: int, sign: int = 1) -> Any:
    """The n × n matrix with these entries below the diagonal, and their `sign`-fold above it.

    A symmetric matrix (sign 1) has n(n + 1)/2 entries, a skew one (sign −1) has n(n − 1)/2.
    """
    zero = entries.new_zeros((*entries.shape[:-1], 1))
    rows, columns = torch.tril_indices(n, n, 0 if sign == 1 else -1)
    place = torch.full((n, n), entries.shape[-1])
    place[rows, columns] = torch.arange(entries.shape[-1])
    lower = torch.cat((entries, zero), -1)[..., place.flatten()]
    lower = lower.reshape((*entries.shape[:-1], n, n))
    return lower.tril() + sign * lower.tril(-1).mT


def _even(A: Any) -> Any:
    """The symmetric part: A itself if A is symmetric, without its rounding in floats."""
    return (A + A.mT) / 2


def _spread(V: Any, values: Any) -> Any:
    """V diag(values) Vᵀ."""
    return _even((V * values.unsqueeze(-2)) @ V.mT)


def symmetric(source: Source, n: int, bound: float = 8.0) -> Any:
    """A symmetric n × n matrix: dense, zero, of low rank, or with two eigenvalues."""
    structure = source.choice(SYMMETRIC)
    if structure == "low rank":
        k = source.integer(1, n)
        left = source.tensor(n, k, low=-(bound**0.25), high=bound**0.25)
        return _spread(left, source.tensor(k, low=-(bound**0.5), high=bound**0.5))
    if structure == "two eigenvalues":
        V = frame(source, n, source.integer(0, n - 1))
        values = source.tensor(2, 1, 1, low=-bound, high=bound)
        first, second = values[..., 0, :, :], values[..., 1, :, :]
        return first * linalg.eye(n, like=V) + (second - first) * _even(V @ V.mT)
    entries = source.tensor(n * (n + 1) // 2, low=-bound, high=bound)
    return _folded(entries if structure == "dense" else 0 * entries, n)


def spectrum(source: Source, n: int, condition: float) -> Any:
    """n positive numbers whose quotients are at most `condition`; the first few are equal."""
    values = magnitudes(source, n, ratio=condition)
    if n < 2:
        return values
    equal = source.integer(1, n)
    return torch.where(torch.arange(n, device=values.device) < equal, values[..., :1], values)


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


# Complex matrices as pairs (real part, imaginary part)


def _product(A: tuple[Any, Any], B: tuple[Any, Any]) -> tuple[Any, Any]:
    return A[0] @ B[0] - A[1] @ B[1], A[0] @ B[1] + A[1] @ B[0]


def _phases(source: Source, n: int) -> tuple[Any, Any]:
    """Complex numbers of modulus 1 other than 1, (it + 1)/(it − 1), as pairs (*batch, n)."""
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
    real = linalg.eye(n, like=vectors).expand(*source.batch, n, n)
    U = real, 0 * real
    for i in range(n):
        v = vectors[..., 0, i, :].unsqueeze(-1), vectors[..., 1, i, :].unsqueeze(-1)
        square = (v[0] * v[0] + v[1] * v[1]).sum(-2, keepdim=True)
        square = torch.where(square == 0, 1 + square, square)
        x, y = ((cosine[..., i] - 1)[..., None, None], sine[..., i][..., None, None])
        scaled = (x * v[0] - y * v[1]) / square, (x * v[1] + y * v[0]) / square
        change = _product(_product(U, scaled), (v[0].mT, -v[1].mT))
        U = U[0] + change[0], U[1] + change[1]
    return U


def hermitian(source: Source, n: int, bound: float = 8.0) -> tuple[Any, Any]:
    """A Hermitian n × n matrix as a pair: dense, real, of low rank, or svv* + tI."""
    structure = source.choice(HERMITIAN)
    if structure == "real":
        A = symmetric(source, n, bound)
        return A, 0 * A
    if structure == "dense":
        real = _folded(source.tensor(n * (n + 1) // 2, low=-bound, high=bound), n)
        return real, _folded(source.tensor(n * (n - 1) // 2, low=-bound, high=bound), n, -1)
    if structure == "low rank":
        k = source.integer(1, n)
        parts = source.tensor(2, n, k, low=-(bound**0.25), high=bound**0.25)
        left = parts[..., 0, :, :], parts[..., 1, :, :]
        values = source.tensor(k, low=-(bound**0.5), high=bound**0.5).unsqueeze(-2)
    else:
        parts = source.tensor(2, n, 1, low=-2.0, high=2.0)
        left = parts[..., 0, :, :], parts[..., 1, :, :]
        square = (left[0] * left[0] + left[1] * left[1]).sum(-2, keepdim=True)
        values = source.tensor(1, 1, low=-bound, high=bound)
        values = values / torch.where(square == 0, 1 + square, square)
    scaled = left[0] * values, left[1] * values
    real, imaginary = _product(scaled, (left[0].mT, -left[1].mT))
    real, imaginary = _even(real), (imaginary - imaginary.mT) / 2
    if structure == "rank one and a shift":
        shift = source.tensor(1, 1, low=-bound, high=bound)
        real = real + shift * linalg.eye(n, like=real)
    return real, imaginary


# Promises


def each(says: str, holds: Callable[[Any], Any]) -> Promise:
    """A promise about every matrix, real or as a pair."""
    return Promise(says, lambda o, *found: _all(holds(A) for A in found))


def each_pair(says: str, holds: Callable[[Any, Any], Any]) -> Promise:
    """A promise about every complex matrix X + iY."""
    return Promise(
        says,
        lambda o, *found: _all(holds(X, Y) for X, Y in zip(found[::2], found[1::2], strict=True)),
    )


def _all(found: Iterable[Any]) -> Any:
    """Where the entries of all arrays are true, (*batch)."""
    return functools.reduce(torch.logical_and, [torch.as_tensor(f).all(-1).all(-1) for f in found])


def _condition(o: Any, *found: Any) -> Any:
    """Of positive semidefinite matrices: the largest eigenvalue against the least positive one."""
    good = []
    for A in found:
        s, rank = linalg.singular_values(A), linalg.rank(A)
        positive = torch.arange(s.shape[-1], device=rank.device) < rank.unsqueeze(-1)
        least = torch.where(positive, s, s[..., :1]).amin(-1)
        good.append(at_most(s[..., 0], o.condition * least))
    return functools.reduce(torch.logical_and, good)


SIZE = Promise(
    "all are n × n for one n in the range",
    lambda o, *found: (
        inside(o.size, found[0].shape[-1])
        and all(A.shape[-2:] == (found[0].shape[-1],) * 2 for A in found)
    ),
)
COUNT = Promise("there are so many", lambda o, *found: len(found) == o.count)
PAIRS = Promise(
    "there are so many, two real matrices each", lambda o, *found: len(found) == 2 * o.count
)
SYMMETRY = each("A = Aᵀ", lambda A: A.mT == A)
CONDITION = Promise("no quotient of positive eigenvalues is larger", _condition)
RANK = Promise(
    "unless None, the rank is this one",
    lambda o, *found: (
        o.rank is None
        or functools.reduce(torch.logical_and, [linalg.rank(A) == o.rank for A in found])
    ),
)


# Generators


@_validated
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
    return _repeat(count, lambda: symmetric(source, n))


@_validated
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
    equal. Every symmetric matrix with its spectrum there is of this form.
    """
    n = source.integer(*size)
    return _repeat(count, lambda: _spread(frame(source, n, n), spectrum(source, n, condition)))


@_validated
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
        k = source.integer(0, n) if rank is None else rank
        return _spread(frame(source, n, k), spectrum(source, k, condition))

    return _repeat(count, draw)


@_validated
@instances
@promises(SYMMETRY, each("P² = P", lambda P: same(P @ P, P)), size=SIZE, rank=RANK, count=COUNT)
def projections(
    source: Source, *, size: Range = (1, 4), rank: int | None = None, count: int = 1
) -> Any:
    """Orthogonal projections P = Pᵀ = P² of given rank, by default of any rank from 0 to n."""
    n = source.integer(max(size[0], rank or 0), size[1])

    def draw() -> Any:
        V = frame(source, n, source.integer(0, n) if rank is None else rank)
        return _even(V @ V.mT)

    return _repeat(count, draw)


@_validated
@instances
@promises(each("QᵀQ = 1", lambda Q: is_identity(Q.mT @ Q)), size=SIZE, count=COUNT)
def orthogonal_matrices(source: Source, *, size: Range = (1, 4), count: int = 1) -> Any:
    """Orthogonal matrices of both determinants, as products of n − 1 or n reflections."""
    n = source.integer(*size)
    return _repeat(count, lambda: frame(source, n, n, reflections=source.integer(n - 1, n)))


@_validated
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
    return _repeat(count, lambda: unitary(source, n))


@_validated
@instances
@promises(each_pair("A = A*", lambda X, Y: (X.mT == X) & (-Y.mT == Y)), size=SIZE, count=PAIRS)
def hermitian_matrices(source: Source, *, size: Range = (1, 4), count: int = 1) -> Any:
    """Hermitian matrices: real and imaginary part, one after the other, for each matrix.

    For a complex tensor: `torch.complex(real, imaginary)`. Dense, real, of low rank, or of rank
    one with a multiple of I.
    """
    n = source.integer(*size)
    return _repeat(count, lambda: hermitian(source, n))


@_validated
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

    return _repeat(count, draw)


@_validated
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
    """Permutation matrices; a batch holds the same permutation throughout."""
    n = source.integer(*size)

    def draw() -> Any:
        P = _permutation_matrix(source, n)
        # A tensor without entries has the device and the kind of number of the source.
        one = source.tensor(0).new_ones((*source.batch, n, n))
        return one * P.to(one.device)

    return _repeat(count, draw)


@_validated
@instances
@promises(
    rows=Promise(
        "their number is in the range",
        lambda o, *found: all(inside(o.rows, A.shape[-2]) for A in found),
    ),
    columns=Promise(
        "their number is in the range",
        lambda o, *found: all(inside(o.columns, A.shape[-1]) for A in found),
    ),
    decades=Promise(
        "no entry is larger than 10 to the power of them",
        lambda o, *found: _all(at_most(A.abs(), 10.0**o.decades) for A in found),
    ),
    count=COUNT,
)
def graded_matrices(
    source: Source,
    *,
    rows: Range = (1, 4),
    columns: Range = (1, 4),
    decades: float = 6.0,
    count: int = 1,
) -> Any:
    """Matrices with entries of very different magnitudes: by entry, row, column, or both.

    The magnitudes are almost log-uniform over so many decades, half of them below 1. An entry is a
    magnitude times a number in [-1, 1], so that zeros and both signs occur. Those of rows and of
    columns multiply.
    """
    m, n = source.integer(*rows), source.integer(*columns)
    ratio = 10.0**decades

    def draw() -> Any:
        structure = source.choice(GRADED)
        A = source.tensor(m, n, low=-1.0, high=1.0)
        if structure == "entries":
            return A * magnitudes(source, m, n, ratio=ratio)
        if structure != "columns":
            A = A * magnitudes(source, m, 1, ratio=ratio)
        if structure != "rows":
            A = A * magnitudes(source, 1, n, ratio=ratio)
        return A

    return _repeat(count, draw)
