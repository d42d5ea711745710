r"""The identity on a planar, completely positive domain at cost kL, and beside the origin.

Let Ω span a k-dimensional space, with projection P, and let O have $O^T O = P$ and
$O\Omega \ge 0$. The network $W_1 = O$, $W_\ell = O O^T$ (the projection onto Im O), $W_L = O^T$
(and $W_1 = P$ for L = 1) without biases is the identity on Ω for every slope, and each layer costs
k: R(id; Ω, L) = kL.

On Ω + e, with a fixed vector e ⊥ span Ω, the same network carries a second chain of numbers
$c_0 = |e|, c_1, \dots, c_L$ along e, by the cheapest affine maps from each to the next,

$$c_\ell = w_\ell c_{\ell-1} + b_\ell, \qquad
  (w_\ell, b_\ell) = \frac{c_\ell}{1 + c_{\ell-1}^2} (c_{\ell-1}, 1),$$

at cost $c_\ell^2 / (1 + c_{\ell-1}^2)$ for layer ℓ. With $c_L = c_0 = c$ it is the identity on
Ω + e. The heights $(c, 0, \dots, 0, \sqrt{[c - 1]_+}, c)$ cost as much as the constant c alone,
$c^2$ for c <= 1 and $2c - 1$ beyond (:mod:`rankcheck.theory.witnesses.constants`); for c <= 2 no
heights are cheaper at any depth L >= 5 (docs/proofs/identity-offset.md).

From c_0 = 0 the heights $(0, \dots, 0, \sqrt{[c - 1]_+}, c)$ have the same cost at every depth
L >= 2: y ↦ (y, c) on the orthant of R^n costs nL + R(c) there.

Source: A. Jacot, *Bottleneck structure in learned features*, Proposition 12, for the planar case.
Used by bottleneck.identity-planar, bottleneck.identity-offset,
bottleneck.plane-beside-a-constant and bottleneck.sum-as-printed.
"""

from __future__ import annotations

from fractions import Fraction

import torch

from rankcheck.theory.linalg import Array, Number, eye, power
from rankcheck.theory.networks.network import Network


def planar_identity(O: Array, depth: int, slope: Number | Array = 0) -> Network:  # noqa: E741
    """The network O, O Oᵀ, ..., O Oᵀ, Oᵀ without biases: the identity on Ω at cost k·depth.

    O is (*B, m, n). It is not checked that O Oᵀ is a projection and OΩ >= 0. Raises ValueError if
    depth < 1.
    """
    weights = _layers(O, depth)
    return Network(weights, [w.new_zeros(w.shape[:-1]) for w in weights], slope)


def offset_identity(
    O: Array,  # noqa: E741
    direction: Array,
    heights: Array,
    slope: Number | Array = 0,
) -> Network:
    """The network of depth L that maps y + c_0 e/|e| to y + c_L e/|e| for y in Ω.

    Args:
        O: (*B, m, n) with O Oᵀ a projection and OΩ >= 0 (not checked).
        direction: e/|e|, (*B, n), orthogonal to the rows of O.
        heights: c_0, ..., c_L >= 0, (*B, L + 1).
        slope: of the activation.

    Raises ValueError if there are fewer than two heights.
    """
    depth = heights.shape[-1] - 1
    before, after = heights[..., :-1], heights[..., 1:]
    share = after / (1 + before * before)
    chain, shift = share * before, share
    weights, biases = [], []
    column = direction.unsqueeze(-1)
    for index, W in enumerate(_layers(O, depth)):
        w, b = chain[..., index, None, None], shift[..., index, None]
        if depth == 1:
            weights.append(W + w * (column @ column.mT))
            biases.append(b * direction)
        elif index == 0:
            weights.append(torch.cat((W, w * column.mT), -2))
            biases.append(torch.cat((W.new_zeros(W.shape[:-1]), b), -1))
        elif index == depth - 1:
            weights.append(torch.cat((W, w * column), -1))
            biases.append(b * direction)
        else:
            zeros = W.new_zeros((*W.shape[:-1], 1))
            below = torch.cat((zeros.mT, w), -1)
            weights.append(torch.cat((torch.cat((W, zeros), -1), below), -2))
            biases.append(torch.cat((W.new_zeros(W.shape[:-1]), b), -1))
    return Network(weights, biases, slope)


def cheapest_heights(c: Array, depth: int) -> Array:
    """The heights (c, 0, ..., 0, √[c − 1]_+, c), shape (*B, depth + 1), for c >= 0 of shape (*B).

    Raises ValueError if depth < 2.
    """
    if depth < 2:
        raise ValueError(f"received depth {depth}; these heights need depth >= 2")
    last = power(torch.relu(c - 1), Fraction(1, 2))
    return torch.stack((c, *[0 * c] * (depth - 2), last, c), -1)


def plane_beside_constant(
    dimension: int, c: Array, depth: int, slope: Number | Array = 0
) -> Network:
    """The network y ↦ (y, c) on the orthant of R^dimension, for c >= 0 of shape (*B).

    It costs dimension·depth + R(c), R(c) = c² for c <= 1 and 2c − 1 beyond. Raises ValueError if
    depth < 2.
    """
    heights = cheapest_heights(c, depth)
    heights = torch.cat((0 * heights[..., :1], heights[..., 1:]), -1)
    identity = eye(dimension + 1, c).expand(*c.shape, dimension + 1, dimension + 1)
    net = offset_identity(identity[..., :dimension, :], identity[..., dimension], heights, slope)
    first = net.weights[0][..., :dimension]  # the coordinate beside the plane is zero at the input
    return net.with_parameters((first, *net.weights[1:]), net.biases)


def _layers(O: Array, depth: int) -> list[Array]:  # noqa: E741
    if depth < 1:
        raise ValueError(f"received depth {depth}; a network has depth >= 1")
    if depth == 1:
        return [O.mT @ O]
    return [O, *[O @ O.mT] * (depth - 2), O.mT]
