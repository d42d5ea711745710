"""Spectra: functions of symmetric and Hermitian matrices, and the spectral radius."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import torch
from torch import Tensor

from rankcheck import balls
from rankcheck.balls import is_ball
from rankcheck.theory.linalg.arrays import Array, Number, power, require_square
from rankcheck.theory.linalg.singular import RANK_FACTOR

EQUAL = 1e-5
"""Relative distance below which a divided difference is replaced by the mean of two derivatives."""

DEFECTIVE = 1e-7
"""Least |cos| of the angle between left and right eigenvectors at which the spectral radius has a
gradient."""


def spectral_function(A: Array, f: Callable[[Array], Array]) -> Array:
    r"""f(A) = Σ f(λ_i) v_i v_iᴴ, shape (*B, n, n), for symmetric or Hermitian A.

    f maps an array of eigenvalues elementwise, and is written in functions that both kinds of
    number know (``torch.exp``, ``lambda x: x.clamp(min=0)``). The lower triangle of A is read. The
    result depends neither on signs nor on the basis of an eigenspace, so it is enclosed on balls
    at all spectra, repeated and clustered ones included; it is unknown where f is.

    In floats the gradient is Daleckii and Krein's,

    .. math:: df(A) = V (Γ ∘ (Vᴴ\,dA\,V)) Vᴴ, \qquad Γ_{ij} = (f(λ_i) − f(λ_j))/(λ_i − λ_j),

    with f' in place of a difference quotient at equal eigenvalues, and 0 where f' is not finite. It
    has no derivatives of its own, and none for tensors that f closes over.

    >>> A = torch.tensor([[2.0, 1.0], [1.0, 2.0]], dtype=torch.float64)
    >>> spectral_function(balls.BallArray.exact(A), lambda x: x**3)
    BallArray([[14, 13], [13, 14]])
    """
    require_square(A)
    if is_ball(A):
        return balls.spectral_function(A, f)

    def values_and_quotients(x: Tensor) -> tuple[Tensor, Tensor]:
        y, pull = torch.func.vjp(f, x)  # type: ignore[misc]
        (slope,) = pull(torch.ones_like(y))
        y, left, right = y.expand(x.shape), x.unsqueeze(-1), x.unsqueeze(-2)
        equal = (left - right).abs() <= EQUAL * torch.maximum(left.abs(), right.abs())
        quotient = (y.unsqueeze(-1) - y.unsqueeze(-2)) / torch.where(equal, 1.0, left - right)
        mean = (slope.unsqueeze(-1) + slope.unsqueeze(-2)) / 2
        return y, torch.where(equal, mean, quotient)

    return _of_spectrum(A, f, values_and_quotients)


def _of_spectrum(
    A: Tensor,
    f: Callable[[Tensor], Tensor],
    values_and_quotients: Callable[[Tensor], tuple[Tensor, Tensor]],
) -> Tensor:
    """V diag(f(λ)) Vᴴ from the eigenvalues λ of A, with the gradient for given quotients."""
    eigenvalues, V = torch.linalg.eigh(A.detach())
    if not _differentiated(A):
        return (V * f(eigenvalues).detach().expand(eigenvalues.shape).unsqueeze(-2)) @ V.mH
    y, quotients = values_and_quotients(eigenvalues)
    result = (V * y.detach().unsqueeze(-2)) @ V.mH
    return _WithGradient.apply(_spectral, A, result, V, quotients.nan_to_num(0.0, 0.0, 0.0))


def _spectral(gradient: Tensor, V: Tensor, quotients: Tensor) -> Tensor:
    result = V @ (quotients * (V.mH @ gradient @ V)) @ V.mH
    return (result + result.mH) / 2


def _differentiated(A: Tensor) -> bool:
    """Whether somebody may ask for a gradient; a tensor under `torch.func.vmap` does not know."""
    return A.requires_grad or torch._C._are_functorch_transforms_active()


class _WithGradient(torch.autograd.Function):
    """A result that was computed from A without gradients, with a gradient for A of its own.

    `pull` makes it of the gradient for the result, and of what it needs besides.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(pull: Callable[..., Tensor], A: Tensor, result: Tensor, *needed: Tensor) -> Tensor:
        return result.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.pull, A, _, *needed = inputs
        ctx.save_for_backward(A, *needed)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        A, *needed = ctx.saved_tensors
        pulled = _WithGradient.apply(_second, A, ctx.pull(gradient, *needed))
        return None, pulled, None, *(None for _ in needed)


def _second(gradient: Tensor) -> Tensor:
    raise RuntimeError("a function of a spectrum has no derivatives of second order")


def symmetric_power(A: Array, q: Number) -> Array:
    """The power q > 0 of the positive part of A: A₊^q, shape (*B, n, n).

    Negative eigenvalues count as zero, so that rounding does not make a semidefinite matrix
    undefined; in floats so do those up to τ(A), where the gradient is zero.

    Raises ValueError unless q > 0: A₊⁰ is the identity or a projection, as one likes.

    >>> A = torch.tensor([[34.0, 30.0], [30.0, 34.0]], dtype=torch.float64)
    >>> symmetric_power(balls.BallArray.exact(A), Fraction(1, 2))
    BallArray([[5, 3], [3, 5]])
    """
    if not q > 0:
        raise ValueError(f"received the power {q} of a semidefinite matrix; it must be positive")

    def entrywise(x: Array) -> Array:
        if not is_ball(x):
            x = torch.where(x > _zero_threshold(x), x, 0.0)
        return power(x.clamp(min=0), q)

    return spectral_function(A, entrywise)


def symmetric_sqrt(A: Array) -> Array:
    """The positive semidefinite root of the positive part of A: A₊^½, shape (*B, n, n).

    See :func:`symmetric_power`.
    """
    return symmetric_power(A, Fraction(1, 2))


def symmetric_log(A: Array) -> Array:
    """log A of a positive definite matrix, shape (*B, n, n).

    An instance with an eigenvalue ≤ 0 is nan in floats, with gradient zero, and unknown on balls,
    as is one with an eigenvalue that is not provably positive.
    """
    if is_ball(A):
        return spectral_function(A, torch.log)
    return spectral_function(A, lambda x: torch.where(x > 0, x, math.nan).log())


def symmetric_abs(A: Array) -> Array:
    """|A| = (A²)^½ of a symmetric or Hermitian matrix, shape (*B, n, n).

    On balls it is Lipschitz in A, so it is sharp whether A is invertible or not.
    """
    return spectral_function(A, torch.abs)


def _zero_threshold(eigenvalues: Tensor) -> Tensor:
    """τ of a symmetric matrix, shape (*B, 1)."""
    largest = eigenvalues.detach().abs().amax(-1, keepdim=True)
    return RANK_FACTOR * eigenvalues.shape[-1] * torch.finfo(eigenvalues.dtype).eps * largest


def spectral_projection(A: Array, k: int) -> Array:
    """The orthogonal projection onto the span of the eigenvectors of the k largest eigenvalues.

    For symmetric or Hermitian A, shape (*B, n, n); the lower triangle is read. If the k-th and the
    next eigenvalue are equal it is not defined: balls raise Undecided; floats give one of many,
    whose gradient leaves out the pairs of equal eigenvalues.

    Raises ValueError unless 0 <= k <= n.
    """
    n = require_square(A)
    if not 0 <= k <= n:
        raise ValueError(f"received k = {k} for {n} × {n} matrices; 0 <= k <= n")
    if is_ball(A):
        return balls.spectral_projection(A, k)

    y = (torch.arange(n, device=A.device) >= n - k).to(A.real.dtype)
    difference = y.unsqueeze(-1) - y.unsqueeze(-2)

    def values_and_quotients(eigenvalues: Tensor) -> tuple[Tensor, Tensor]:
        gap = eigenvalues.unsqueeze(-1) - eigenvalues.unsqueeze(-2)
        return y, difference / torch.where(difference == 0, 1.0, gap)

    return _of_spectrum(A, lambda _: y, values_and_quotients)


def spectral_radius(A: Array) -> Array:
    """max |λ| over the eigenvalues of square matrices, real or complex, shape (*B).

    On balls exact or enclosed at all matrices. In floats a repeated eigenvalue whose eigenvectors
    do not span (a Jordan block) loses half of the digits, or more.

    The gradient is that of |λ| for a simple eigenvalue λ of largest modulus. It is finite
    everywhere: zero for λ = 0 and at a Jordan block, where |λ| is not Lipschitz; at other repeated
    eigenvalues it is that of one of them. It has no derivatives of its own.
    """
    require_square(A)
    if is_ball(A):
        return balls.spectral_radius(A)
    if A.shape[-1] == 0:
        return A.abs().sum((-2, -1))
    eigenvalues = torch.linalg.eigvals(A.detach())
    sizes = eigenvalues.abs()
    if not _differentiated(A):
        return sizes.amax(-1)
    top = eigenvalues.gather(-1, sizes.argmax(-1, keepdim=True))
    return _WithGradient.apply(_radius, A, sizes.amax(-1), A.detach(), top)


def _radius(gradient: Tensor, A: Tensor, top: Tensor) -> Tensor:
    shifted = A - top.unsqueeze(-1) * torch.eye(A.shape[-1], dtype=top.dtype, device=A.device)
    U, _, Vh = torch.linalg.svd(shifted)
    left, right = U[..., -1], Vh[..., -1, :].conj()
    size, cosine = top.abs(), (left.conj() * right).sum(-1, keepdim=True)
    defined = (size > 0) & (cosine.abs() > DEFECTIVE)
    scale = torch.where(defined, size * cosine, 1.0)
    phase = torch.where(defined, top.conj() / scale, 0.0) * gradient.unsqueeze(-1)
    result = (phase * left.conj()).unsqueeze(-1) * right.unsqueeze(-2)
    return result.conj().resolve_conj() if A.is_complex() else result.real
