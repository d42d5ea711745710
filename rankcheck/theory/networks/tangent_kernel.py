r"""The neural tangent kernel from products of masked weights, without automatic differentiation.

With G_ℓ(x) the Jacobian of α̃_ℓ → f at x, the derivative of f with respect to W_ℓ is the outer
product of G_ℓ and α_{ℓ−1}, and with respect to b_ℓ it is G_ℓ. Hence (`bottleneck` §4)

.. math::
    \Theta(x, y) = \sum_{\ell=1}^{L} (\langle\alpha_{\ell-1}(x), \alpha_{\ell-1}(y)\rangle + \beta)
    \, G_\ell(x) G_\ell(y)^T,

a d_out × d_out matrix, with β = 1 if the biases are parameters and 0 if not, in all layers or in
each by itself. Networks and points may have any batch axes; all functions run on floats and on
balls. The formulas hold for every slope, at points where no hidden pre-activation vanishes.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from rankcheck.balls import is_ball
from rankcheck.theory.linalg import Array, frobenius_squared
from rankcheck.theory.networks.evaluation import AtPoints
from rankcheck.theory.networks.network import Network


def ntk(net: Network, x: Array, y: Array, biases: bool | Sequence[bool] = False) -> Array:
    """Θ(x, y), shape (*B, [N,] d_out, d_out), for x and y of one shape, paired point by point."""
    if x.shape != y.shape:
        raise ValueError(
            f"received x of shape {tuple(x.shape)} and y of shape {tuple(y.shape)}; "
            "they are paired point by point, so the shapes must be equal"
        )
    at_x = net.at(x)
    at_y = at_x if y is x else net.at(y)
    terms = [
        ((a * b).sum(-1) + beta)[..., None, None] * (g @ h.mT)
        for a, b, g, h, beta in zip(
            at_x.activations,
            at_y.activations,
            at_x.outer_jacobians,
            at_y.outer_jacobians,
            _betas(net.depth, biases),
            strict=True,
        )
    ]
    return _total(terms)


def ntk_trace(net: Network, x: Array, biases: bool = False) -> Array:
    """tr Θ(x, x) = Σ (‖α_{ℓ−1}‖² + β) ‖G_ℓ‖_F², shape (*B, [N])."""
    return ntk_trace_at(net.at(x), biases)


def ntk_trace_at(at: AtPoints, biases: bool | Sequence[bool] = False) -> Array:
    """:func:`ntk_trace` of a network that is evaluated at the points already."""
    layers = zip(at.activations, at.outer_jacobians, strict=True)
    terms = [
        ((a * a).sum(-1) + beta) * frobenius_squared(g)
        for (a, g), beta in zip(layers, _betas(len(at.outer_jacobians), biases), strict=True)
    ]
    return _total(terms)


def ntk_mixed_derivative(net: Network, x: Array) -> Array:
    """∂²Θ_{ij}(x, y)/∂x_a∂y_b at y = x, a matrix with rows (a, i) and columns (b, j).

    It is Σ_ℓ Jα_{ℓ−1}ᵀJα_{ℓ−1} ⊗ G_ℓG_ℓᵀ, positive semi-definite, of shape
    (*B, [N,] d_in·d_out, d_in·d_out); G_ℓ is locally constant, so the biases do not enter
    (`bottleneck` Prop. 9/18).
    """
    at = net.at(x)
    terms = [
        _kronecker(a.mT @ a, g @ g.mT)
        for a, g in zip(at.inner_jacobians, at.outer_jacobians, strict=True)
    ]
    return _total(terms)


def gram(net: Network, X: Array, biases: bool | Sequence[bool] = False) -> Array:
    """Θ(X, X) for the N points X (*B, N, n_0), exactly symmetric, shape (*B, N·d_out, N·d_out).

    Rows and columns run over (point, output), the output fastest. Balls are computed point by
    point.

    Raises:
        ValueError: if X has another number of axes.
    """
    if X.ndim != len(net.batch) + 2:
        raise ValueError(
            f"received points of shape {tuple(X.shape)}; "
            f"a Gram matrix takes (*{net.batch}, N, {net.widths[0]})"
        )
    if is_ball(X):
        points = [X[..., i, :] for i in range(X.shape[-2])]
        rows = [torch.cat([ntk(net, x, y, biases) for y in points], -1) for x in points]
        return torch.cat(rows, -2)
    at = net.at(X)
    d = net.widths[-1]
    one = X.new_ones((*X.shape[:-1], 1))
    betas = _betas(net.depth, biases)
    activations = [
        torch.cat((a, one), -1) if beta else a
        for a, beta in zip(at.activations, betas, strict=True)
    ]
    outer = [g.flatten(-3, -2) for g in at.outer_jacobians]
    pairs = [(_repeat(a @ a.mT, d), g @ g.mT) for a, g in zip(activations, outer, strict=True)]
    total = _sum_of_products(pairs)
    return (total + total.mT) / 2  # rounding leaves A·Aᵀ unsymmetric


def _betas(depth: int, biases: bool | Sequence[bool]) -> list[int]:
    """β of each layer."""
    return list(map(int, biases)) if isinstance(biases, Sequence) else [int(biases)] * depth


def _sum_of_products(pairs: Sequence[tuple[Tensor, Tensor]]) -> Tensor:
    (a, b), *rest = pairs
    total = a * b
    for a, b in rest:
        total = torch.addcmul(total, a, b)
    return total


def _total(terms: Sequence[Array]) -> Array:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _repeat(K: Tensor, d: int) -> Tensor:
    """K ⊗ (the d × d matrix of ones)."""
    return K if d == 1 else K.repeat_interleave(d, -1).repeat_interleave(d, -2)


def _kronecker(A: Array, B: Array) -> Array:
    m, n = A.shape[-1], B.shape[-1]
    product = A[..., :, None, :, None] * B[..., None, :, None, :]
    return product.reshape(*A.shape[:-2], m * n, m * n)
