r"""Matching a rank-one matrix: $C(v) = \|vv^T - ww^T\|_F^2$ for a unit vector w, and its descent.

$C = \|v\|^4 - 2 (w^T v)^2 + 1$ and $\nabla C = 4 (\|v\|^2 v - (w^T v) w)$. C is invariant under the
orthogonal maps that fix w up to its sign, so along the gradient flow, and along gradient descent,
the loss depends on v(0) only through $(w^T v)^2$ and $\|(1 - ww^T) v\|^2$.

Vectors are (*B, n). Source: A. Jacot, *Bottleneck structure in learned features*, section 5.
"""

from __future__ import annotations

from rankcheck.linalg import Array, frobenius_squared

__all__ = ["descent_losses", "matching_gradient", "matching_loss", "split_along"]


def matching_loss(v: Array, w: Array) -> Array:
    """‖vvᵀ − wwᵀ‖_F², shape (*B), computed from the matrices."""
    difference = v.unsqueeze(-1) * v.unsqueeze(-2) - w.unsqueeze(-1) * w.unsqueeze(-2)
    return frobenius_squared(difference)


def matching_gradient(v: Array, w: Array) -> Array:
    """∇C(v) = 4(‖v‖² v − (wᵀv) w), shape (*B, n); w need not be a unit vector."""
    square, along = (v * v).sum(-1, keepdim=True), (w * v).sum(-1, keepdim=True)
    return 4 * (square * v - along * w)


def split_along(v: Array, w: Array) -> tuple[Array, Array]:
    """(wᵀv)² and ‖(1 − wwᵀ) v‖² for a unit vector w, each of shape (*B)."""
    along = (w * v).sum(-1)
    rest = v - along.unsqueeze(-1) * w
    return along * along, (rest * rest).sum(-1)


def descent_losses(v: Array, w: Array, step: Array, steps: int) -> tuple[Array, ...]:
    """C at v and after each of ``steps`` steps of gradient descent; ``step`` has shape (*B)."""
    losses = [matching_loss(v, w)]
    for _ in range(steps):
        v = v - step.unsqueeze(-1) * matching_gradient(v, w)
        losses.append(matching_loss(v, w))
    return tuple(losses)
