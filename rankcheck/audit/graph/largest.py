"""The largest singular values of a matrix that is known by its products alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

__all__ = ["largest_singular_values"]

#: Of the squares of singular values, relative.
TOLERANCE = 1e-10


def largest_singular_values(
    apply: Callable[[Tensor], Tensor],
    transpose: Callable[[Tensor], Tensor],
    shape: tuple[int, int],
    number: int,
) -> Tensor:
    """The largest singular values of A, the largest first.

    Args:
        apply: z ↦ Az, from (n) to (m).
        transpose: y ↦ Aᵀy.
        shape: (m, n).
        number: how many, less than m and n.
    """
    from scipy.sparse.linalg import LinearOperator, svds  # 0.1 s, for few networks

    operator = LinearOperator(
        shape,
        matvec=lambda z: apply(torch.from_numpy(np.ascontiguousarray(z)).reshape(-1)).numpy(),
        rmatvec=lambda y: transpose(torch.from_numpy(np.ascontiguousarray(y)).reshape(-1)).numpy(),
        dtype=np.float64,
    )
    start = np.random.default_rng(0).standard_normal(min(shape))
    values = svds(operator, k=number, tol=TOLERANCE, v0=start, return_singular_vectors=False)
    return torch.from_numpy(np.sort(values)[::-1].copy())
