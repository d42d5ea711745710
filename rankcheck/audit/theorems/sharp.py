r"""A wide network whose Jacobians have a sharper bound of their rounding.

The bodies of the claims take `net.jacobian_noise(x)` for what counts as zero. That bound, a product
of absolute values, grows by a factor of order √n a layer: beyond some ten layers of width 512 it
exceeds every singular value of Jf. For a network with more than `WIDE` units in a layer the smaller
of it and `rankcheck.networks.rounding.product_noise` is taken.
"""

from __future__ import annotations

import torch

from rankcheck.linalg import Array, frobenius_squared
from rankcheck.networks import Network
from rankcheck.networks.rounding import product_noise

__all__ = ["SharpNetwork", "sharp"]

#: Up to this width the product of absolute values is sharp enough.
WIDE = 16
#: How often WᵀW is squared: ‖W‖_op is at most its Schatten norm of the exponent 2^{this + 2}.
SQUARINGS = 4


class SharpNetwork(Network):
    """A network in floats; `norms` has upper bounds of ‖W_1‖_op, ..., ‖W_L‖_op, without axes."""

    norms: tuple[Array, ...]

    def jacobian_noise(self, x: Array) -> Array:
        """The smaller of the two bounds, shape (*B, [N])."""
        at = self.at(x)
        plain = at.jacobian_noise
        if self.widths[0] < self.widths[-1]:
            return (
                plain  # the product starts with the first layer, and the other bound is not of it
            )
        norms = [norm.expand(self.batch) for norm in self.norms]
        return torch.minimum(plain.nan_to_num(nan=torch.inf), product_noise(at, norms, probes=0))

    def copies(self, number: int) -> SharpNetwork:
        """The network with one batch axis of that length."""
        weights, biases = (
            [array.expand(number, *array.shape) for array in arrays]
            for arrays in (self.weights, self.biases)
        )
        return _with_norms(weights, biases, self.slope, self.norms)


def sharp(net: Network) -> Network:
    """The network itself if it is narrow, otherwise with the sharper bound; without batch axes."""
    if max(net.widths) <= WIDE:
        return net
    norms = tuple(_norm_above(w) for w in net.weights)
    return _with_norms(net.weights, net.biases, net.slope, norms)


def _with_norms(weights: object, biases: object, slope: object, norms: object) -> SharpNetwork:
    net = SharpNetwork.unchecked_slope(weights, biases, slope)  # type: ignore[arg-type]
    object.__setattr__(net, "norms", norms)
    assert isinstance(net, SharpNetwork)
    return net


def _norm_above(W: Array) -> Array:
    """A number a little above ‖W‖_op: (Σ s_i^{2q})^{1/(2q)} for a power q of two."""
    G = W @ W.mT if W.shape[-2] <= W.shape[-1] else W.mT @ W
    log, exponent = torch.zeros_like(G[..., 0, 0]), 2.0
    for _ in range(SQUARINGS):
        size = frobenius_squared(G).sqrt()
        size = torch.where(size > 0, size, torch.ones_like(size))
        G = G / size
        log = log + size.log() / exponent
        G, exponent = G @ G, 2 * exponent
    square = frobenius_squared(G)  # Σ s^{2·exponent} of the scaled matrix
    safe = torch.where(square > 0, square, torch.ones_like(square))
    return torch.where(square > 0, (log + safe.log() / (2 * exponent)).exp(), 0 * log)
