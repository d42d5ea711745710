r"""Matching a rank-one matrix: $C(v) = \|vv^T - (ww^T + E)\|_F^2$, $\|w\| = 1$, and its descent.

For E = 0, $C = \|v\|^4 - 2 (w^T v)^2 + 1$ and $\nabla C = 4 (\|v\|^2 v - (w^T v) w)$. C is
invariant under the orthogonal maps that fix w up to its sign, so along the gradient flow, and along
gradient descent, the loss depends on v(0) only through $(w^T v)^2$ and $\|(1 - ww^T) v\|^2$. The
noise adds $-2 (E + E^T) v$ to the gradient.

Vectors are (*B, n), the noise E is (*B, n, n). Source: A. Jacot, *Bottleneck structure in learned
features*, section 5.
"""

from __future__ import annotations

import torch

from rankcheck.theory.linalg import Array, eye, frobenius_squared


def matching_loss(v: Array, w: Array, noise: Array | None = None) -> Array:
    """‖vvᵀ − wwᵀ − E‖_F², shape (*B), computed from the matrices."""
    difference = _outer(v) - _outer(w)
    return frobenius_squared(difference if noise is None else difference - noise)


def matching_gradient(v: Array, w: Array, noise: Array | None = None) -> Array:
    """∇C(v) = 4(‖v‖² v − (wᵀv) w) − 2(E + Eᵀ)v, shape (*B, n); w need not be a unit vector."""
    square, along = (v * v).sum(-1, keepdim=True), (w * v).sum(-1, keepdim=True)
    gradient = 4 * (square * v - along * w)
    if noise is None:
        return gradient
    return gradient - 2 * ((noise + noise.mT) @ v.unsqueeze(-1)).squeeze(-1)


def split_along(v: Array, w: Array) -> tuple[Array, Array]:
    """(wᵀv)² and ‖(1 − wwᵀ) v‖² for a unit vector w, each of shape (*B)."""
    along = (w * v).sum(-1)
    rest = v - along.unsqueeze(-1) * w
    return along * along, (rest * rest).sum(-1)


def descent_path(
    v: Array, w: Array, step: Array, steps: int, noise: Array | None = None
) -> tuple[Array, ...]:
    """v and the points after each of ``steps`` steps of gradient descent on C, each (*B, n).

    ``step`` has shape (*B).
    """
    path = [v]
    for _ in range(steps):
        v = v - step.unsqueeze(-1) * matching_gradient(v, w, noise)
        path.append(v)
    return tuple(path)


def descent_losses(
    v: Array, w: Array, step: Array, steps: int, noise: Array | None = None
) -> tuple[Array, ...]:
    """C at the points of `descent_path`, each of shape (*B)."""
    return tuple(matching_loss(v, w, noise) for v in descent_path(v, w, step, steps, noise))


def split_losses(along: Array, beside: Array, step: Array, steps: int) -> tuple[Array, ...]:
    """The losses of :func:`descent_losses` from the two numbers of `split_along` alone.

    A step takes (wᵀv)² to (wᵀv)² (1 − 4η(‖v‖² − 1))² and the other to itself times (1 − 4η‖v‖²)².
    """
    losses = []
    for _ in range(steps + 1):
        square = along + beside
        losses.append(square * square - 2 * along + 1)
        first, second = 1 - 4 * step * (square - 1), 1 - 4 * step * square
        along, beside = along * first * first, beside * second * second
    return tuple(losses)


def descent_jacobian(v: Array, w: Array, step: Array, steps: int) -> Array:
    """The derivative of the losses after 1, ..., ``steps`` steps by the start v, (*B, steps, n)."""
    identity = eye(v.shape[-1], v).expand(*v.shape, v.shape[-1])
    J, rows = identity, []
    for _ in range(steps):
        square = (v * v).sum(-1)[..., None, None]
        hessian = 4 * (square * identity + 2 * _outer(v) - _outer(w))
        J = J - step[..., None, None] * (hessian @ J)
        v = v - step.unsqueeze(-1) * matching_gradient(v, w)
        rows.append((matching_gradient(v, w).unsqueeze(-2) @ J).squeeze(-2))
    return torch.stack(rows, -2)


def _outer(v: Array) -> Array:
    return v.unsqueeze(-1) * v.unsqueeze(-2)
