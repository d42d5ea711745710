r"""A ReLU network as a network with any slope $a \in (-1, 1)$, by twice the hidden units.

$$\max(0, z) = \frac{\sigma_a(z) + a\,\sigma_a(-z)}{1 - a^2},$$

so each hidden unit z becomes the two units z and −z, read with weights 1 and a, over 1 − a². (In
print the sign before a is minus, which gives (1 + a²)/(1 − a²) at z = 1.) In the same way

$$\sigma_p(z) = \frac{(1 - ap)\,\sigma_a(z) + (a - p)\,\sigma_a(-z)}{1 - a^2}$$

for every slope p: a function that is a network of one slope is a network of every other.

Used by rank.leaky-representation and rank.cost-of-conjugates; the first identity is
rank.relu-from-leaky. Source: A. Jacot, *Implicit
bias of large depth networks*, Corollary 1.
"""

from __future__ import annotations

import torch

from rankcheck.theory.linalg import Array, Number
from rankcheck.theory.networks.network import Network
from rankcheck.theory.witnesses.deepen import matrix_slope


def leaky_representation(net: Network, slope: Number | Array, *, sign: int = 1) -> Network:
    """A ReLU network as an equal network of any slope, by twice the hidden units.

    Args:
        net: ReLU networks, that is of slope 0.
        slope: a in (−1, 1), a number or an array (*B).
        sign: the sign of the coefficient a; −1 gives the formula as printed.

    Raises:
        ValueError: the slope of net is not 0, or a is not in (−1, 1).
    """
    if not (isinstance(net.slope, Number) and net.slope == 0):
        raise ValueError(
            f"received a network of slope {net.slope}; the network to represent has slope 0"
        )
    return _of_pairs(net, slope, 1, sign * matrix_slope(slope, net.weights[0]))


def with_slope(net: Network, slope: Number | Array) -> Network:
    """A network of any slope as an equal network of another one, by twice the hidden units.

    Args:
        net: networks of any slope p in (−1, 1).
        slope: a in (−1, 1), a number or an array (*B).

    Raises:
        ValueError: a is not in (−1, 1).
    """
    a, p = matrix_slope(slope, net.weights[0]), matrix_slope(net.slope, net.weights[0])
    return _of_pairs(net, slope, 1 - a * p, a - p)


def _of_pairs(net: Network, slope: Number | Array, first: int | Array, second: Array) -> Network:
    """Units z and −z of the given slope a, read with first/(1 − a²) and second/(1 − a²)."""
    a = matrix_slope(slope, net.weights[0])
    weights, biases = [], []
    for layer, (W, b) in enumerate(zip(net.weights, net.biases, strict=True), 1):
        if layer > 1:
            W = torch.cat((first * W, second * W), -1) / (1 - a * a)
        if layer < net.depth:
            W, b = torch.cat((W, -W), -2), torch.cat((b, -b), -1)
        weights.append(W)
        biases.append(b)
    return Network(tuple(weights), tuple(biases), slope)
