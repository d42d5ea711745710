"""What the claims on maxima share: numbers in their order, and networks with a unit less."""

import torch

from rankcheck import Network
from rankcheck.instances import Source, instances


@instances
def sorted_numbers(source: Source, *, n: int):
    """x_0 + (1 + t²)(0, g_1, g_1 + g_2, …) with 0 ≤ g ≤ 1: all x_0 ≤ … ≤ x_{n−1}."""
    gaps, size = source.tensor(n - 1, low=0.0, high=1.0), source.tensor(1)
    steps = torch.cat((gaps.new_zeros((*source.batch, 1)), gaps), -1)
    return source.tensor(1) + (1 + size * size) * steps.cumsum(-1)


def without_a_unit(net: Network, layer: int, unit: int) -> Network:
    """The network whose next layer does not read a unit of a hidden layer."""
    weights = [w.clone() for w in net.weights]
    weights[layer][:, unit] = 0
    return Network.linear(weights)
