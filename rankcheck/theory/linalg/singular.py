"""Singular values, and what is made of them: ranks, Schatten sums, pseudo-determinants."""

from __future__ import annotations

import math
from fractions import Fraction

import torch
from torch import Tensor

from rankcheck import balls
from rankcheck.balls import as_batch, is_ball
from rankcheck.theory.linalg.arrays import Array, Number, frobenius_squared, power

RANK_FACTOR = 8
"""The factor 8 in τ(A): covers the rounding of a product of a few matrices."""


def singular_values(A: Array) -> Array:
    """s_1 ≥ s_2 ≥ ..., shape (*B, min(m, n)), each to within a few ε·s_1.

    One row or column: a norm. Two: closed form after one Gram-Schmidt step, 3 to 7 times as fast
    as LAPACK on large batches. More: LAPACK. The eigenvalues of the Gram matrix would be twice as
    fast but lose half of the digits of the small values; Jacobi rotations of a whole batch at once
    were no faster from 4 × 4 on.
    """
    if is_ball(A):
        return balls.singular_values(A)
    if A.ndim < 2:
        raise ValueError(f"received shape {tuple(A.shape)}; a matrix has at least two axes")
    narrow = min(A.shape[-2:])
    if narrow == 0:
        return A.new_zeros((*A.shape[:-2], 0))
    if narrow == 1:
        return torch.linalg.vector_norm(A, dim=(-2, -1)).unsqueeze(-1)
    if narrow == 2 and not A.is_complex():
        return _two_singular_values(A if A.shape[-1] == 2 else A.mT)
    return as_batch(torch.linalg.svdvals, A)


def _two_singular_values(A: Tensor) -> Tensor:
    """Singular values of (*B, m, 2), m ≥ 2.

    For [[a, b], [c, d]]: s_1 ± s_2 = |(a ± d, c ∓ b)|, and s_1 s_2 = |ad − bc|. Taller matrices
    are first made triangular, the longer column leading. The scale is a power of two, so that
    squares neither overflow nor vanish, and exact matrices stay exact.
    """
    size = A.detach().abs().amax((-2, -1))
    scale = torch.ldexp(torch.ones_like(size), torch.frexp(size)[1].clamp(-1000, 1000))
    A = A / scale[..., None, None]
    if A.shape[-2] == 2:
        a, b, c, d = A[..., 0, 0], A[..., 0, 1], A[..., 1, 0], A[..., 1, 1]
        determinant = a * d - b * c
    else:
        left, right = A[..., 0], A[..., 1]
        swap = ((right * right).sum(-1) > (left * left).sum(-1)).unsqueeze(-1)
        left, right = torch.where(swap, right, left), torch.where(swap, left, right)
        a = torch.linalg.vector_norm(left, dim=-1)
        along = left / torch.where(a == 0, 1.0, a).unsqueeze(-1)
        b = (along * right).sum(-1)
        d = torch.linalg.vector_norm(right - along * b.unsqueeze(-1), dim=-1)
        c = torch.zeros_like(a)
        determinant = a * d
    first = (_hypot(a + d, c - b) + _hypot(a - d, b + c)) / 2
    second = determinant.abs() / torch.where(first == 0, 1.0, first)
    # Where rounding swaps them it is the first in value, with a gradient of its own.
    second = second - (second - first).detach().clamp(min=0)
    return torch.stack((first, second), -1) * scale.unsqueeze(-1)


def _hypot(x: Tensor, y: Tensor) -> Tensor:
    """√(x² + y²) with gradient 0 at the origin (torch.hypot has nan there)."""
    square = x * x + y * y
    zero = square == 0
    return torch.where(zero, 0.0, torch.where(zero, 1.0, square).sqrt())


def rank_threshold(A: Tensor, s: Tensor, noise: float | Tensor = 0.0) -> Tensor:
    """τ(A), shape (*B, 1), for the singular values s of the float matrix A."""
    relative = RANK_FACTOR * max(A.shape[-2:]) * torch.finfo(A.dtype).eps
    absolute = noise.unsqueeze(-1) if isinstance(noise, Tensor) else noise
    return (relative * s[..., :1] + absolute).detach()


def _counted(A: Tensor, noise: float | Tensor) -> tuple[Tensor, Tensor]:
    """The singular values, with 1 for those that count as zero, and the mask of the others."""
    s = singular_values(A)
    mask = s > rank_threshold(A, s, noise)  # not >=, or the zero matrix has full rank
    return torch.where(mask, s, 1.0), mask


def rank(A: Array, noise: float | Tensor = 0.0) -> Tensor:
    """rank A, an integer tensor of shape (*B): proved on balls, by the threshold τ in floats."""
    if is_ball(A):
        return balls.rank(A)
    return _counted(A, noise)[1].sum(-1)


def rank_gap(A: Array, noise: float | Tensor = 0.0) -> Tensor:
    """The factor by which τ could be raised or lowered without changing :func:`rank`, ≥ 1.

    min(s_r/τ, τ/s_{r+1}) for r = rank A. Near 1 the rank is unreliable. The rounding of one product
    leaves τ/s_{r+1} between about 10 and 1000. Infinite for the zero matrix, and on balls.
    """
    if is_ball(A):
        return torch.full(A.shape[:-2], math.inf, dtype=torch.float64)
    s = singular_values(A)
    threshold = rank_threshold(A, s, noise)
    above = torch.where(s > threshold, s / threshold, math.inf).amin(-1)
    below = torch.where((s <= threshold) & (s > 0), threshold / s, math.inf).amin(-1)
    return torch.minimum(above, below)


def schatten_power(A: Array, q: Number | Tensor, noise: float | Tensor = 0.0) -> Array:
    r"""‖A‖_{S^q}^q = Σ s_i^q over the non-zero singular values, shape (*B), q > 0.

    q is a number, or in floats a tensor of shape (*B). The derivative
    q A (AᵀA)^{(q−2)/2} exists at repeated singular values, and autograd returns it there.
    """
    if not isinstance(q, Tensor):
        if not q > 0:
            raise ValueError(f"received the Schatten exponent {q}; it must be positive")
        if q == 2:
            return frobenius_squared(A)
    if is_ball(A):
        return power(balls.singular_values(A), q).sum(-1)
    s, mask = _counted(A, noise)
    exponent = q.unsqueeze(-1) if isinstance(q, Tensor) else float(q)
    return torch.where(mask, s**exponent, 0.0).sum(-1)


def schatten_norm(A: Array, q: Number, noise: float | Tensor = 0.0) -> Array:
    """‖A‖_{S^q} = (Σ s_i^q)^{1/q}, shape (*B), for 0 < q ≤ ∞ (a quasi-norm below 1)."""
    if q == math.inf:
        return operator_norm(A)
    inverse: Number | Array = 1 / q if isinstance(q, float) else 1 / Fraction(q)
    if is_ball(A):  # where a float stands for a decimal, whose inverse a float does not
        inverse = 1 / balls.balls(q)
    return power(schatten_power(A, q, noise), inverse)


def log_pseudo_determinant(A: Array, noise: float | Tensor = 0.0) -> Array:
    """log |A|_+ = Σ log s_i over the non-zero singular values, shape (*B); log |0|_+ = 0."""
    if is_ball(A):
        return balls.log_pseudo_determinant(A)
    return _counted(A, noise)[0].log().sum(-1)


def pseudo_determinant(A: Array, noise: float | Tensor = 0.0) -> Array:
    """|A|_+, the product of the non-zero singular values, shape (*B); |0|_+ = 1."""
    if is_ball(A):
        return torch.exp(log_pseudo_determinant(A))
    return _counted(A, noise)[0].prod(-1)


def operator_norm(A: Array) -> Array:
    """‖A‖_op = s_1, shape (*B)."""
    return singular_values(A)[..., 0]


def nuclear_norm(A: Array) -> Array:
    """‖A‖_* = Σ s_i, shape (*B)."""
    return singular_values(A).sum(-1)


def pseudo_inverse(A: Array) -> Array:
    """A⁺, the Moore–Penrose inverse, shape (*B, n, m): rational for rational A.

    In floats the singular values up to τ(A) count as zero; the result is 0 for A = 0.
    """
    if is_ball(A):
        return torch.linalg.pinv(A)
    relative = RANK_FACTOR * max(A.shape[-2:]) * torch.finfo(A.dtype).eps
    return torch.linalg.pinv(A, rtol=relative)


def range_projection(A: Array) -> Array:
    """A A⁺, the orthogonal projection onto Im A, shape (*B, m, m): rational for rational A."""
    return A @ pseudo_inverse(A)
