r"""A wide network whose Jacobians have a sharper bound of their rounding.

The bodies of the claims take `net.jacobian_noise(x)` for what counts as zero. That bound, a product
of absolute values, grows by a factor of order √n a layer: beyond some ten layers of width 512 it
exceeds every singular value of Jf. For a network with more than `WIDE` units in a layer the smaller
of it and `rankcheck.networks.rounding.product_noise` is taken.
"""

from __future__ import annotations

import torch

from rankcheck.linalg import Array, operator_norm
from rankcheck.networks import Network
from rankcheck.networks.rounding import product_noise

__all__ = ["SharpNetwork", "sharp"]

#: Up to this width the product of absolute values is sharp enough.
WIDE = 16


class SharpNetwork(Network):
    """A network in floats; `norms` has ‖W_1‖_op, ..., ‖W_L‖_op, without axes."""

    norms: tuple[Array, ...]

    def jacobian_noise(self, x: Array) -> Array:
        """The smaller of the two bounds, shape (*B, [N])."""
        at = self.at(x)
        plain = at.jacobian_noise
        # Here the product starts with the first layer, and the other bound is not of it.
        if self.widths[0] < self.widths[-1]:
            return plain
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
    norms = tuple(map(operator_norm, net.weights))
    return _with_norms(net.weights, net.biases, net.slope, norms)


def _with_norms(weights: object, biases: object, slope: object, norms: object) -> SharpNetwork:
    net = SharpNetwork.unchecked_slope(weights, biases, slope)  # type: ignore[arg-type]
    object.__setattr__(net, "norms", norms)
    assert isinstance(net, SharpNetwork)
    return net
