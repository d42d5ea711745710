"""Networks at two points, where their Jacobians may differ."""

import torch

from rankcheck import Network, costs, linalg, networks
from rankcheck.instances import (
    Source,
    clear_of_boundaries,
    instances,
    network,
    orthogonal,
    positive,
    slope,
)


@instances
def networks_at_two_points(source: Source, *, depth=(1, 4), width=(1, 3), slopes="relu"):
    """A network and two points, in half of the cases opposite to each other."""
    net = network(source, depth=depth, width=width, slopes=slopes)
    x = source.tensor(net.widths[0])
    y = -x if source.integer(0, 1) == 0 else source.tensor(net.widths[0])
    points = torch.stack((x, y))
    return clear_of_boundaries(source, net, points), points


@instances
def functions_of_one_variable(source: Source, *, depth=(1, 5), width=(1, 3), slopes="nonnegative"):
    """A network with one input and one output, and two points."""
    net = network(source, depth=depth, width=width, inputs=1, outputs=1, slopes=slopes)
    points = source.tensor(2, 1)
    return clear_of_boundaries(source, net, points), points


@instances
def shared_units(source: Source):
    """W_1 = tQ_0ᵀ, W_2 = tQ_1, t <= 1, at two points such that every unit is active at one or both."""
    n = source.integer(1, 3)
    into, out = orthogonal(source, n), orthogonal(source, n)
    t = positive(source, 1, 1, low=0.25, high=1.0)
    size, sign = positive(source, 2, n), source.tensor(2, n, low=-1.0, high=1.0)
    first, second = torch.where(sign >= 0, size, -size)
    second = torch.where(first >= 0, second, -first)
    net = Network.linear((t * into.mT, t * out), slope(source, "relu"))
    return net, torch.stack((first, second)) @ into.mT


def mean_and_gap(net, x):
    """L/2 times the sum of ‖Jf‖_{S^{2/L}}^{2/L} at the two points, and ‖Jf(x) − Jf(y)‖_*."""
    J = net.jacobian(x)
    mean = costs.linear_cost(J, net.depth, net.jacobian_noise(x)).sum() / 2
    return mean, linalg.nuclear_norm(J[0] - J[1])


def larger_than_one(net, x):
    """max(1, C²), C the largest slope at the points x of the maps α̃_ℓ and α_ℓ → f."""
    return torch.relu(networks.lipschitz_square_at(net, x) - 1) + 1
