r"""A network as a deeper network that equals it everywhere.

$v = (\sigma_a(v) - \sigma_a(-v)) / (1 + a)$ for every v and every slope a in (−1, 1), so the output
v of a network can pass through any number of further hidden layers as the pair (v, −v). With ReLU
the copy is exact (but v may be rounded differently when it is computed beside −v).

Used by rank.piecewise-linear-depth ("and every larger depth"), by field.two-layers-hold-one and
by rank.bottleneck-rank-axioms, which brings two networks to one depth.
"""

from __future__ import annotations

import torch

from rankcheck.theory.linalg import Array, Number, eye
from rankcheck.theory.networks.network import Network
from rankcheck.theory.scalars import scalar


def deepen(net: Network, depth: int) -> Network:
    """The network of the given depth ≥ net.depth that equals net everywhere.

    The added hidden layers have width 2 n_L. Raises ValueError if depth < net.depth.
    """
    extra = depth - net.depth
    if extra < 0:
        raise ValueError(
            f"received depth {depth} for a network of depth {net.depth}; depth can only grow"
        )
    if extra == 0:
        return net
    *weights, W = net.weights
    *biases, b = net.biases
    one = eye(net.widths[-1], W).expand(*net.batch, net.widths[-1], net.widths[-1])
    read = torch.cat((one, -one), -1) / (1 + matrix_slope(net.slope, W))
    copy = torch.cat((read, -read), -2)
    still = b.new_zeros((*net.batch, 2 * net.widths[-1]))
    return Network.unchecked_slope(
        (*weights, torch.cat((W, -W), -2), *[copy] * (extra - 1), read),
        (*biases, torch.cat((b, -b), -1), *[still] * (extra - 1), b.new_zeros(b.shape)),
        net.slope,
    )


def matrix_slope(slope: Number | Array, like: Array) -> Array:
    """The slope as an array that broadcasts against matrices (*B, m, n) of the kind of ``like``."""
    if isinstance(slope, Number):
        return scalar(slope, like)
    return slope[..., None, None]
