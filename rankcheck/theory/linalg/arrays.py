"""Kinds of arrays and of numbers, and polynomials in the entries of matrices."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import TypeAlias

import torch
from torch import Tensor

from rankcheck import balls
from rankcheck.balls import is_ball

Array: TypeAlias = Tensor
"""A float64 tensor, or a BallArray: exact rationals and real balls with the same operations.

To a type checker a BallArray is a Tensor; :func:`rankcheck.balls.is_ball` tells them apart.
"""
Number: TypeAlias = int | float | Fraction

LARGEST_PERMANENT = 20
"""The permanent of an n × n matrix takes n·2ⁿ numbers of memory for each instance."""


def power(x: Array, q: Number | Array) -> Array:
    """x**q entrywise for q > 0 and x ≥ 0 (any x if q is an integer).

    q is a number, or a tensor that broadcasts against x. The gradient at x = 0 is 0 for every
    non-integer q, although the one-sided derivative is infinite for q < 1.
    """
    if is_ball(x):
        return x**q
    if isinstance(q, Tensor):
        return _guarded_power(x, q)
    exponent = float(q)
    return _guarded_power(x, exponent) if 0 < exponent < 1 else x**exponent


def _guarded_power(x: Tensor, q: float | Tensor) -> Tensor:
    zero = x == 0
    return torch.where(zero, 0.0, torch.where(zero, 1.0, x) ** q)


def frobenius_squared(A: Array) -> Array:
    """‖A‖_F² = Σ |a_ij|², shape (*B): a polynomial, so exact on rationals."""
    if A.is_complex():
        return (A.real * A.real + A.imag * A.imag).sum((-2, -1))
    return (A * A).sum((-2, -1))


def permanent(A: Array) -> Array:
    """per A = Σ_π Π_i a_{i π(i)}, shape (*B), for square matrices with n <= 20.

    By expansion along the rows over the sets of columns, so that no number is subtracted from
    another: a nonnegative matrix has its permanent to within a few n·ε, relatively. A polynomial,
    so exact on rationals; its gradient is finite everywhere.

    >>> permanent(torch.ones(4, 4, dtype=torch.float64))
    tensor(24., dtype=torch.float64)

    Raises ValueError for matrices that are not square, or larger.
    """
    n = require_square(A)
    if n > LARGEST_PERMANENT:
        raise ValueError(f"received {n} × {n} matrices; permanent takes n <= {LARGEST_PERMANENT}")
    partial = A.new_ones((*A.shape[:-2], 1))
    if not is_ball(A):
        partial = partial.to(A.dtype)
    for row in range(n):
        columns, before = _column_sets(n, row + 1)
        partial = (A[..., row, :][..., columns] * partial[..., before]).sum(-1)
    return partial[..., 0]


@cache
def _column_sets(n: int, size: int) -> tuple[Tensor, Tensor]:
    """For each set of columns of that size: its columns, and the places of the sets without each.

    Both have shape (binomial(n, size), size), and places count the sets of one column less.
    """
    place = {smaller: i for i, smaller in enumerate(combinations(range(n), size - 1))}
    sets = list(combinations(range(n), size))
    before = [[place[s[:i] + s[i + 1 :]] for i in range(size)] for s in sets]
    return torch.tensor(sets), torch.tensor(before)


def require_square(A: Array) -> int:
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise ValueError(f"received shape {tuple(A.shape)}; square matrices have shape (*B, n, n)")
    return A.shape[-1]


def matrix(rows: tuple[tuple[Array, ...], ...]) -> Array:
    """A matrix (*B, m, n) from its entries (*B)."""
    return torch.stack([torch.stack(row, -1) for row in rows], -2)


def eye(n: int, like: Array) -> Array:
    """The n × n identity, of the kind of number and on the device of ``like``."""
    if is_ball(like):
        return balls.balls(torch.eye(n, dtype=torch.float64))
    return torch.eye(n, dtype=like.dtype, device=like.device)


def block_diagonal(A: Array, B: Array) -> Array:
    """[[A, 0], [0, B]], shape (*batch, m_A + m_B, n_A + n_B), for equal batch axes."""
    if A.shape[:-2] != B.shape[:-2]:
        raise ValueError(
            f"received blocks of shapes {tuple(A.shape)} and {tuple(B.shape)}; "
            "their batch axes must be equal"
        )
    batch, (m, n), (p, q) = A.shape[:-2], A.shape[-2:], B.shape[-2:]
    top = torch.cat((A, A.new_zeros((*batch, m, q))), -1)
    bottom = torch.cat((B.new_zeros((*batch, p, n)), B), -1)
    return torch.cat((top, bottom), -2)
