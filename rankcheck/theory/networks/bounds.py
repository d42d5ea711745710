r"""Guaranteed bounds of a network's output over a box of inputs.

Interval propagation. An affine map takes the box with centre c and radius r into
$Wc + b \pm |W|r$; the activation $\sigma_a(z) = [z]_+ - a[-z]_+$ takes $z \in [l, u]$ into

$$\bigl[\, [l]_+ - a_+[-l]_+ + a_-[-u]_+,\ \max(\sigma_a(l), \sigma_a(u)) \,\bigr],\qquad
  a = a_+ - a_-,$$

for every slope: $\sigma_a$ increases for a >= 0, and is convex with its least value at 0 for a < 0.
"""

from __future__ import annotations

import torch
from torch import Tensor

from rankcheck.balls import is_ball
from rankcheck.theory.linalg import Array, Number
from rankcheck.theory.networks.network import Network


def interval_bounds(net: Network, low: Array, high: Array) -> tuple[Array, Array]:
    """Arrays (*B, n_L) that bound net(x) from below and above for every low <= x <= high.

    low and high are (*B, n_0). On balls the enclosure is that of exact arithmetic. In floats each
    affine map is widened by more than its rounding error, so the bounds hold for the network with
    exactly these weights (and for its float evaluation up to the rounding of that evaluation).

    >>> import torch
    >>> from rankcheck.balls import BallArray
    >>> net = Network.linear([BallArray.exact([[1], [-1]]), BallArray.exact([[1, 1]])])  # |x|
    >>> interval_bounds(net, BallArray.exact([-1]), BallArray.exact([2]))
    (BallArray([0]), BallArray([3]))

    Raises ValueError if low or high has another shape.
    """
    shape = (*net.batch, net.widths[0])
    for name, bound in (("low", low), ("high", high)):
        if tuple(bound.shape) != shape:
            raise ValueError(f"{name} has shape {tuple(bound.shape)}; expected {shape}")
    slope = net.slope if isinstance(net.slope, Number) else net.slope.unsqueeze(-1)
    for layer, (W, b) in enumerate(zip(net.weights, net.biases, strict=True)):
        if layer:
            low, high = _through_activation(low, high, slope)
        low, high = _through_affine(W, b, low, high)
    return low, high


def _through_affine(W: Array, b: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """The box of W x + b: positive entries of W keep lower and upper end, negative ones swap."""
    W_plus, W_minus = torch.relu(W), torch.relu(-W)
    lowest = _apply(W_plus, low) - _apply(W_minus, high) + b
    highest = _apply(W_plus, high) - _apply(W_minus, low) + b
    if is_ball(W):
        return lowest, highest
    # Each end is a sum of 2n + 1 terms, with an error of at most (n + 2)/2 ulps of the sum of
    # sizes; four times that also covers the activation before and the rounding of the margin.
    size = _apply(W.abs(), torch.maximum(low.abs(), high.abs())) + b.abs()
    margin = 2 * (W.shape[-1] + 3) * torch.finfo(W.dtype).eps * size
    return lowest - margin, highest + margin


def _through_activation(low: Array, high: Array, slope: Number | Array) -> tuple[Array, Array]:
    up: Number | Array
    down: Number | Array
    if isinstance(slope, Number):
        up, down = max(slope, 0), max(-slope, 0)
    else:
        up, down = torch.relu(slope), torch.relu(-slope)
    lowest = torch.relu(low) - _scaled(up, torch.relu(-low)) + _scaled(down, torch.relu(-high))
    ends = [torch.relu(z) - _scaled(slope, torch.relu(-z)) for z in (low, high)]
    return lowest, torch.maximum(*ends)


def _scaled(factor: Number | Array, array: Array) -> Array:
    """factor times array; a number becomes a double beside a tensor, and stays exact on balls."""
    if isinstance(factor, Number) and isinstance(array, Tensor):
        return array * float(factor)
    return factor * array


def _apply(W: Array, x: Array) -> Array:
    """W x for vectors (*B, n)."""
    return (W @ x.unsqueeze(-1)).squeeze(-1)
