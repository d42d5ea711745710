r"""The largest singular values of a matrix that is known by its products alone.

Lanczos' method for AᵀA with thick restarts (Wu and Simon, *SIAM J. Matrix Anal. Appl.* 22, 2000),
from a fixed start: the basis is orthogonalised against all of itself, and shrinks to the best Ritz
vectors when it is full. A Krylov space holds one vector of each eigenspace, so values that occur
several times would be found once. Once k vectors have converged, a fresh vector is therefore added,
and the search goes on until the next Ritz value behind the k has converged as well.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

__all__ = ["largest_singular_values"]

#: ‖AᵀAv − θv‖ ≤ TOLERANCE · s_1² for each vector v that is used.
TOLERANCE = 1e-8
#: The same for the next one, which only has to show that it is no larger.
NEXT = 1e-4
#: The basis has so many vectors for each value that is wanted, and at least 32; fewer, but eight
#: more than values, if they would need more than so many bytes.
BASIS, MEMORY = 4, 2**28
#: So many products with AᵀA are tried for each value that is wanted, and for four more.
MOST = 500


def largest_singular_values(
    apply: Callable[[Tensor], Tensor],
    transpose: Callable[[Tensor], Tensor],
    columns: int,
    number: int,
) -> Tensor:
    """The largest singular values of A, the largest first.

    They are singular values of A restricted to a subspace, so that none is larger than the one of A
    in its place, up to rounding; and each is within 10⁻⁸ s_1 of one of A. That none was left out is
    no theorem: it would need a fresh vector without any part of what was left out.

    Args:
        apply: z ↦ Az for z (n).
        transpose: y ↦ Aᵀy.
        columns: n.
        number: how many, at most n.

    Raises:
        ArithmeticError: if the iteration does not end.
    """
    fitting = max(number + 8, MEMORY // (8 * columns))
    size = min(columns, max(32, BASIS * number), fitting)
    V = torch.zeros(size, columns, dtype=torch.float64)  # the basis, a row each
    H = torch.zeros(size, size, dtype=torch.float64)  # V AᵀA Vᵀ
    draw = torch.Generator().manual_seed(0)
    after = torch.randn(columns, dtype=torch.float64, generator=draw)
    used, fresh = 0, False  # rows of V; whether the last search began with a fresh vector
    for _ in range(MOST * (number + 4)):
        V[used] = after / after.norm()
        used += 1
        after, parts = _apart(transpose(apply(V[used - 1])), V[:used])
        H[used - 1, :used] = H[:used, used - 1] = parts
        error = float(after.norm())
        if error <= 1e-13 * float(H.diagonal().max()):  # what is there is invariant
            error = 0.0
            random = torch.randn(columns, dtype=torch.float64, generator=draw)
            after, _ = _apart(random, V[:used])
        if used < size and (error > 0 or used < number):
            continue
        theta, Q = (x.flip(-1) for x in torch.linalg.eigh(H[:used, :used]))
        errors = error * Q[-1].abs() / theta[0] if error else torch.zeros_like(theta)
        keep = number + (used - number) // 2
        if bool((errors[:number] <= TOLERANCE).all()):
            if used == columns or (fresh and used > number and float(errors[number]) <= NEXT):
                images = [apply(v) for v in Q[:, :number].T @ V[:used]]
                return torch.linalg.svdvals(torch.stack(images))
            if not fresh:
                random = torch.randn(columns, dtype=torch.float64, generator=draw)
                fresh, keep = True, number
                after, _ = _apart(random, Q[:, :number].T @ V[:used])
        else:
            fresh = False
        V[:keep] = Q[:, :keep].T @ V[:used]
        H.zero_()
        H.diagonal()[:keep] = theta[:keep]
        used = keep
    raise ArithmeticError(f"{number} singular values were not found by {MOST} products for each")


def _apart(x: Tensor, basis: Tensor) -> tuple[Tensor, Tensor]:
    """What of x is orthogonal to an orthonormal basis (rows), and its products with these."""
    first = basis @ x
    x = x - first @ basis
    second = basis @ x  # once more, for what rounding left
    return x - second @ basis, first + second
