r"""Singular values, spectra, and functions of them: ranks, Schatten sums, functions of matrices.

Every function takes matrices with any leading batch axes, shape ``(*B, m, n)``, as torch float64
tensors or as :class:`rankcheck.balls.BallArray`. On balls all results are exact or enclosed, and
ranks are proved. In floats a singular value counts as zero when it is at most

.. math:: \tau(A) = 8 \max(m, n)\, \varepsilon\, s_1(A) + \text{noise},

with ε the spacing of floats at 1. ``noise`` bounds the error in the entries of A, in operator norm
(by Weyl's inequality no singular value moves by more): pass
:meth:`rankcheck.networks.Network.jacobian_noise` for a Jacobian, and nothing for a matrix whose
entries are exact. Balls ignore it. :func:`rank_gap` says how clear the decision was.

Gradients are finite everywhere. They are the derivatives wherever the function has one, also at
repeated singular values; a singular value that counts as zero contributes nothing. So are those of
functions of symmetric matrices at repeated eigenvalues, where ``torch.linalg.eigh`` has nan.

>>> A = torch.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=torch.float64)
>>> rank(A), singular_values(balls.BallArray.exact(A))  # the second is exact
(tensor(1), BallArray([5, 0]))
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from rankcheck import balls
from rankcheck.balls import is_ball

Array: TypeAlias = Tensor
"""A float64 tensor, or a BallArray: exact rationals and real balls with the same operations.

To a type checker a BallArray is a Tensor; :func:`rankcheck.balls.is_ball` tells them apart.
"""
Number: TypeAlias = int | float | Fraction

RANK_FACTOR = 8
"""The factor 8 in τ(A): covers the rounding of a product of a few matrices."""

EQUAL = 1e-5
"""Relative distance below which a divided difference is replaced by the mean of two derivatives."""

DEFECTIVE = 1e-7
"""Least |cos| of the angle between left and right eigenvectors at which the spectral radius has a
gradient."""

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


def singular_values(A: Array) -> Array:
    """s_1 ≥ s_2 ≥ ..., shape (*B, min(m, n)), each to within a few ε·s_1.

    One row or column: a norm. Two: closed form after one Gram-Schmidt step, 3 to 7 times as fast
    as LAPACK on large batches. More: LAPACK. The eigenvalues of the Gram matrix would be twice as
    fast but lose half of the digits of the small values; Jacobi rotations of a whole batch at once
    were no faster from 4 × 4 on. ``benchmarks/networks.py`` measures.
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
    return torch.linalg.svdvals(A)


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


def frobenius_squared(A: Array) -> Array:
    """‖A‖_F² = Σ |a_ij|², shape (*B): a polynomial, so exact on rationals."""
    if A.is_complex():
        return (A.real * A.real + A.imag * A.imag).sum((-2, -1))
    return (A * A).sum((-2, -1))


def range_projection(A: Array) -> Array:
    """A A⁺, the orthogonal projection onto Im A, shape (*B, m, m): rational for rational A."""
    if is_ball(A):
        return A @ torch.linalg.pinv(A)
    relative = RANK_FACTOR * max(A.shape[-2:]) * torch.finfo(A.dtype).eps
    return A @ torch.linalg.pinv(A, rtol=relative)


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
    _require_square(A)
    if is_ball(A):
        return balls.spectral_function(A, f)

    def values_and_quotients(eigenvalues: Tensor) -> tuple[Tensor, Tensor]:
        with torch.enable_grad():
            x = eigenvalues.detach().requires_grad_()
            y = f(x)
            slope = torch.zeros_like(x)
            if y.requires_grad:
                (slope,) = torch.autograd.grad(
                    y.sum(), x, allow_unused=True, materialize_grads=True
                )
        y = y.detach().expand(x.shape)
        x = x.detach()
        left, right = x.unsqueeze(-1), x.unsqueeze(-2)
        equal = (left - right).abs() <= EQUAL * torch.maximum(left.abs(), right.abs())
        quotient = (y.unsqueeze(-1) - y.unsqueeze(-2)) / torch.where(equal, 1.0, left - right)
        mean = (slope.unsqueeze(-1) + slope.unsqueeze(-2)) / 2
        return y, torch.where(equal, mean, quotient)

    return _Spectral.apply(A, values_and_quotients)  # type: ignore[no-untyped-call,no-any-return]


class _Spectral(torch.autograd.Function):
    """V diag(y) Vᴴ from the eigenvalues of A, with the gradient for given difference quotients."""

    @staticmethod
    def forward(ctx: Any, A: Tensor, function: Callable[[Tensor], tuple[Tensor, Tensor]]) -> Tensor:
        eigenvalues, V = torch.linalg.eigh(A)
        y, quotients = function(eigenvalues)
        ctx.save_for_backward(V, quotients.nan_to_num(0.0, 0.0, 0.0))
        return (V * y.unsqueeze(-2)) @ V.mH

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        V, quotients = ctx.saved_tensors
        result = V @ (quotients * (V.mH @ gradient @ V)) @ V.mH
        return (result + result.mH) / 2, None


def symmetric_sqrt(A: Array) -> Array:
    """The positive semidefinite root of the positive part of A: A₊^½, shape (*B, n, n).

    Negative eigenvalues count as zero, so that rounding does not make a semidefinite matrix
    undefined; in floats so do those up to τ(A), where the gradient is zero.
    """

    def root(x: Array) -> Array:
        if not is_ball(x):
            x = torch.where(x > _zero_threshold(x), x, 0.0)
        return power(x.clamp(min=0), Fraction(1, 2))

    return spectral_function(A, root)


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
    n = _require_square(A)
    if not 0 <= k <= n:
        raise ValueError(f"received k = {k} for {n} × {n} matrices; 0 <= k <= n")
    if is_ball(A):
        return balls.spectral_projection(A, k)

    def values_and_quotients(eigenvalues: Tensor) -> tuple[Tensor, Tensor]:
        y = (torch.arange(n, device=A.device) >= n - k).to(eigenvalues.dtype)
        difference = y.unsqueeze(-1) - y.unsqueeze(-2)
        gap = eigenvalues.unsqueeze(-1) - eigenvalues.unsqueeze(-2)
        gap = torch.where(difference == 0, 1.0, gap)
        return y.expand(eigenvalues.shape), difference / gap

    return _Spectral.apply(A, values_and_quotients)  # type: ignore[no-untyped-call,no-any-return]


def spectral_radius(A: Array) -> Array:
    """max |λ| over the eigenvalues of square matrices, real or complex, shape (*B).

    On balls exact or enclosed at all matrices. In floats a repeated eigenvalue whose eigenvectors
    do not span (a Jordan block) loses half of the digits, or more.

    The gradient is that of |λ| for a simple eigenvalue λ of largest modulus. It is finite
    everywhere: zero for λ = 0 and at a Jordan block, where |λ| is not Lipschitz; at other repeated
    eigenvalues it is that of one of them. It has no derivatives of its own.
    """
    _require_square(A)
    if is_ball(A):
        return balls.spectral_radius(A)
    return _SpectralRadius.apply(A)  # type: ignore[no-untyped-call,no-any-return]


class _SpectralRadius(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, A: Tensor) -> Tensor:
        eigenvalues = torch.linalg.eigvals(A)
        sizes = eigenvalues.abs()
        if A.shape[-1] == 0:
            return sizes.sum(-1)
        place = sizes.argmax(-1, keepdim=True)
        ctx.save_for_backward(A, eigenvalues.gather(-1, place))
        return sizes.amax(-1)

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        A, top = ctx.saved_tensors
        shifted = A - top.unsqueeze(-1) * torch.eye(A.shape[-1], dtype=top.dtype, device=A.device)
        U, _, Vh = torch.linalg.svd(shifted)
        left, right = U[..., -1], Vh[..., -1, :].conj()
        size, cosine = top.abs(), (left.conj() * right).sum(-1, keepdim=True)
        defined = (size > 0) & (cosine.abs() > DEFECTIVE)
        scale = torch.where(defined, size * cosine, 1.0)
        phase = torch.where(defined, top.conj() / scale, 0.0) * gradient.unsqueeze(-1)
        result = (phase * left.conj()).unsqueeze(-1) * right.unsqueeze(-2)
        return result.conj().resolve_conj() if A.is_complex() else result.real


def permanent(A: Array) -> Array:
    """per A = Σ_π Π_i a_{i π(i)}, shape (*B), for square matrices with n <= 20.

    By expansion along the rows over the sets of columns, so that no number is subtracted from
    another: a nonnegative matrix has its permanent to within a few n·ε, relatively. A polynomial,
    so exact on rationals; its gradient is finite everywhere.

    >>> permanent(torch.ones(4, 4, dtype=torch.float64))
    tensor(24., dtype=torch.float64)

    Raises ValueError for matrices that are not square, or larger.
    """
    n = _require_square(A)
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


def _require_square(A: Array) -> int:
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise ValueError(f"received shape {tuple(A.shape)}; square matrices have shape (*B, n, n)")
    return A.shape[-1]


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
