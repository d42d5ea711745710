"""torch's products, norms and matrix functions on balls, over any leading batch axes."""

# ruff: noqa: A002 - arguments are named as in torch, because callers may pass them by name.
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import torch

from rankcheck.balls import matrices, numbers
from rankcheck.balls.array import (
    BallArray,
    balls,
    elementwise,
    full,
    implements,
    wrap,
)
from rankcheck.balls.complexes import has_complex
from rankcheck.balls.conversion import element
from rankcheck.balls.elementwise import (
    absolute,
    log,
    maximum,
    nonnegative,
    root_of_squares,
    square_of_absolute,
)
from rankcheck.balls.formal import NoBallForm, has_formal
from rankcheck.balls.numbers import ONE, ZERO
from rankcheck.balls.reductions import Dims, amax, amin, sum_
from rankcheck.balls.shapes import adjoint, axis, diagonal, matrix_transpose

RETURNED: Any = torch.return_types
"""torch's own named tuples; its stubs lack those of torch.linalg."""

FLINT_PRODUCT = 1000
"""A matrix product with at least this many multiplications uses flint's matrices."""


# Products.


@implements("matmul", "mm", "bmm", "mv", "dot", "linalg_matmul")
def matmul(input: Any, other: Any) -> BallArray:
    x, y = balls(input).elements, balls(other).elements
    matrices_ = x.ndim == 2 == y.ndim and x.shape[1] == y.shape[0]
    if (
        matrices_
        and x.size * y.shape[1] >= FLINT_PRODUCT
        and not (has_complex(x) or has_complex(y) or has_formal(x) or has_formal(y))
    ):
        return _flint_product(x, y)
    product = np.matmul(x, y)
    if x.shape[-1] == 0:
        return full(np.shape(product), ZERO)
    return wrap(product)


def _flint_product(x: np.ndarray, y: np.ndarray) -> BallArray:
    A, B = matrices.rational_matrix(x), matrices.rational_matrix(y)
    if A is not None and B is not None:
        return wrap(matrices.array(A * B))
    return wrap(matrices.array(matrices.ball_matrix(x) * matrices.ball_matrix(y)))


@implements("outer", "ger")
def outer(input: Any, vec2: Any) -> BallArray:
    return balls(input)[:, None] * balls(vec2)[None, :]


@implements("einsum")
def einsum(equation: Any, *operands: Any) -> BallArray:
    if not isinstance(equation, str):
        raise NoBallForm("torch.einsum with lists of axes", "write the equation as a string")
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    result = np.einsum(equation, *(balls(x).elements for x in operands))
    return wrap(elementwise(element)(result))  # an empty sum is the int 0


@implements("kron")
def kron(input: Any, other: Any) -> BallArray:
    return wrap(np.kron(balls(input).elements, balls(other).elements))


@implements("linear")
def linear(input: Any, weight: Any, bias: Any = None) -> BallArray:
    w = balls(weight)
    y = matmul(input, w if w.ndim == 1 else matrix_transpose(w))
    return y if bias is None else y + bias


@implements("linalg_matrix_power", "matrix_power")
def matrix_power(input: Any, n: int) -> BallArray:
    base = balls(input)
    if n < 0:
        base, n = inv(base), -n
    result = wrap(np.broadcast_to(matrices.identity(base.shape[-1]), base.shape))
    for _ in range(n):
        result = matmul(result, base)
    return result


@implements("trace")
def trace(input: Any) -> BallArray:
    return sum_(diagonal(input), -1)


# Norms.


@implements("linalg_vector_norm")
def vector_norm(
    x: Any, ord: Any = 2, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None
) -> BallArray:
    """(Σ|x|ᵖ)^{1/p} for real p > 0, max |x| and min |x| for ±inf, the number of x ≠ 0 for 0."""
    x = balls(x)
    if isinstance(ord, float) and math.isinf(ord):
        extreme = amax if ord > 0 else amin
        return extreme(absolute(x), () if dim is None else dim, keepdim)
    p = numbers.exact(ord)
    if p == 2:
        return root_of_squares(sum_(square_of_absolute(x), dim, keepdim))
    if p == 1:
        return sum_(absolute(x), dim, keepdim)
    if p == 0:
        return sum_(balls((x != 0).to(torch.float64)), dim, keepdim)
    if not p > 0:
        raise NoBallForm(f"a vector norm of order {ord}")
    return nonnegative(sum_(absolute(x) ** wrap(p), dim, keepdim)) ** wrap(ONE / p)


@implements("linalg_matrix_norm")
def matrix_norm(
    input: Any,
    ord: Any = "fro",
    dim: Sequence[int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> BallArray:
    A = balls(input)
    rows, columns = (axis(d, A.ndim) for d in dim)
    if ord == "fro":
        return vector_norm(A, 2, (rows, columns), keepdim)
    if ord in (1, -1, math.inf, -math.inf):
        summed, kept = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = sum_(absolute(A), summed, keepdim=True)
        result = (amax if ord > 0 else amin)(sums, kept, keepdim=True)
    elif ord in ("nuc", 2, -2):
        s = svdvals(wrap(np.moveaxis(A.elements, (rows, columns), (-2, -1))))
        value = sum_(s, -1) if ord == "nuc" else s[..., 0] if ord == 2 else s[..., -1]
        result = wrap(np.expand_dims(value.elements, (rows, columns)))
    else:
        raise NoBallForm(f"a matrix norm of order {ord!r}")
    return result if keepdim else wrap(result.elements.squeeze((rows, columns)))


@implements("linalg_norm")
def linalg_norm(
    input: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> BallArray:
    A = balls(input)
    if ord is None:
        return vector_norm(A, 2, dim, keepdim)
    matrix = A.ndim == 2 if dim is None else not isinstance(dim, int) and len(dim) == 2
    if matrix:
        return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim)
    return vector_norm(A, ord, dim, keepdim)


@implements("norm")
def norm(
    input: Any,
    p: Any = "fro",
    dim: Any = None,
    keepdim: bool = False,
    out: None = None,
    dtype: Any = None,
) -> BallArray:
    if p == "nuc":
        return matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim)
    return vector_norm(input, 2 if p in ("fro", None) else p, dim, keepdim)


# Functions of matrices.


def each(
    function: Callable[[np.ndarray], Any], A: BallArray, shape: tuple[int, ...], dtype: Any = object
) -> np.ndarray:
    """Apply a function of one matrix to each of a batch; `shape` is that of its result."""
    if A.ndim < 2:
        raise ValueError(
            f"received an array of shape {tuple(A.shape)}; expected matrices (*B, m, n)"
        )
    result = np.empty((*A.shape[:-2], *shape), dtype=dtype)
    for index in np.ndindex(A.shape[:-2]):
        result[index] = function(A.elements[index])
    return result


def require_square(A: BallArray) -> int:
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise ValueError(
            f"received an array of shape {tuple(A.shape)}; expected square matrices (*B, n, n)"
        )
    return A.shape[-1]


@implements("linalg_svdvals")
def svdvals(A: Any, *, driver: Any = None) -> BallArray:
    """In descending order. The zeros and multiplicities of rational matrices are exact."""
    A = balls(A)
    return wrap(each(matrices.singular_values, A, (min(A.shape[-2:], default=0),)))


@implements("linalg_eigvalsh")
def eigvalsh(A: Any, UPLO: str = "L") -> BallArray:
    """Of symmetric and Hermitian matrices, ascending; one triangle of them is read."""
    A = balls(A) if UPLO.upper() == "L" else adjoint(A)
    return wrap(each(matrices.eigenvalues, A, (require_square(A),)))


@implements("linalg_det", "det")
def det(A: Any) -> BallArray:
    A = balls(A)
    require_square(A)
    return wrap(each(matrices.determinant, A, ()))


@implements("logdet")
def logdet(input: Any) -> BallArray:
    return log(det(input))


@implements("linalg_inv", "inverse")
def inv(A: Any) -> BallArray:
    A = balls(A)
    n = require_square(A)
    return wrap(each(lambda M: matrices.solve(M, matrices.identity(n)), A, (n, n)))


@implements("linalg_solve")
def solve(A: Any, B: Any, *, left: bool = True) -> BallArray:
    A, B = balls(A), balls(B)
    n = require_square(A)
    vector = B.ndim == 1 or (A.ndim - 1 == B.ndim and B.shape == A.shape[:-1])
    if vector:
        B = B[..., None]
    if not left:
        return matrix_transpose(solve(A.mT, B.mT))
    batch = np.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    matrices_ = np.broadcast_to(A.elements, (*batch, n, n))
    sides = np.broadcast_to(B.elements, (*batch, *B.shape[-2:]))
    result = np.empty((*batch, n, B.shape[-1]), dtype=object)
    for index in np.ndindex(batch):
        result[index] = matrices.solve(matrices_[index], sides[index])
    return wrap(result[..., 0] if vector else result)


@implements("linalg_pinv", "pinverse")
def pinv(A: Any, **tolerances: Any) -> BallArray:
    _no_tolerance("torch.linalg.pinv", tolerances)
    A = balls(A)
    return wrap(each(matrices.pseudo_inverse, A, (A.shape[-1], A.shape[-2])))


@implements("linalg_matrix_rank")
def matrix_rank(
    A: Any,
    tol: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
) -> torch.Tensor:
    """The exact rank, or the number of singular values above max(atol, rtol · the largest one).

    As in torch, `tol` is absolute, `hermitian` reads the lower triangle, and a tolerance of 0 that
    stands alone is none. Undecided where a singular value may be on either side.
    """
    A = balls(A)
    if tol is not None:
        atol, rtol = tol, 0
    absolute_, relative = (balls(0 if one is None else one) for one in (atol, rtol))
    if rtol is None and not bool((absolute_ > 0).all()):
        if bool((absolute_ > 0).any()):
            raise NoBallForm("torch.linalg.matrix_rank with some tolerances of 0", "pass rtol=0.0")
        return rank(A.tril() + adjoint(A.tril(-1)) if hermitian else A)
    s = absolute(eigvalsh(A)) if hermitian else svdvals(A)
    bound = maximum(absolute_, relative * amax(s, -1)) if s.shape[-1] else absolute_
    return (s > bound[..., None]).sum(-1)


def _no_tolerance(name: str, tolerances: dict[str, Any]) -> None:
    if any(value is not None and value is not False for value in tolerances.values()):
        raise NoBallForm(f"{name} with a tolerance", "on balls the rank is exact")


@implements("linalg_cholesky")
def cholesky(A: Any, *, upper: bool = False) -> BallArray:
    A = balls(A)
    n = require_square(A)
    L = wrap(each(matrices.cholesky, A, (n, n)))
    return adjoint(L) if upper else L


# What `rankcheck.linalg` dispatches to.


def singular_values(A: Any) -> BallArray:
    """`svdvals`: shape (*B, min(m, n)), in descending order."""
    return svdvals(A)


def rank(A: Any) -> torch.Tensor:
    """The exact ranks, int64 of shape (*B).

    A kind of formal number may have ranks that are formal numbers themselves: then a ball array.

    Raises Undecided for a matrix that is neither exact nor provably of full rank.
    """
    ranks = each(matrices.rank, balls(A), ())
    if has_formal(ranks):
        return cast(torch.Tensor, wrap(ranks))
    return torch.from_numpy(ranks.astype(np.int64))


def log_pseudo_determinant(A: Any) -> BallArray:
    """log of the product of the nonzero singular values, (*B); 0 for a zero matrix."""
    return wrap(each(matrices.log_pseudo_determinant, balls(A), ()))
