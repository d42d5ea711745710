r"""The tent map composed k times: 2^k linear pieces on [0, 1] from 2k hidden units.

$\Lambda(u) = 2 [u]_+ - 4 [u - \frac12]_+$ rises from 0 to 1 on $[0, \frac12]$ and falls back to 0
on $[\frac12, 1]$. $\Lambda^k$ is the wave through the points $(j / 2^k, j \bmod 2)$.

Used by field.tent-map. Source: M. Telgarsky, *Benefits of depth in neural networks*.
"""

from __future__ import annotations

import torch

from rankcheck.theory.linalg import Array, eye
from rankcheck.theory.networks.network import Network


def tent_network(times: int, like: Array) -> Network:
    """Λ^k for k = times: widths (1, 2, …, 2, 1), depth k + 1, weights and biases dyadic.

    Args:
        like: an array of the kind of number and the device of the network.

    Raises:
        ValueError: if times < 1.

    >>> net = tent_network(2, torch.zeros(1, dtype=torch.float64))
    >>> net(torch.tensor([[0.25], [0.5], [0.875]], dtype=torch.float64)).flatten().tolist()
    [1.0, 0.0, 0.5]
    """
    if times < 1:
        raise ValueError(f"received times = {times}; the tent map is composed once or more")
    one = eye(1, like).expand(2, 1)
    bias = torch.cat((0 * one[0], -one[0] / 2))
    tent = torch.cat((2 * one[:1], -4 * one[:1]), -1)
    weights = (one, *[one @ tent] * (times - 1), tent)
    return Network(weights, (*[bias] * times, 0 * bias[:1]))
