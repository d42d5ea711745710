"""Thm 4.2 of `rank`, corrected: the cheapest network of depth two for a constant."""

import torch

from rankcheck import Network, construction, eq, paper, witnesses
from rankcheck.instances import Source, instances


@instances
def values_and_points(source: Source):
    """A value v and a point of the line."""
    return source.tensor(), source.tensor(1)


def bias_alone(v):
    """The constant as the last bias: the cheapest only for |v| ≤ 1."""
    zero = torch.zeros_like(v)[..., None, None]
    return Network((zero, zero), (zero[..., 0], v.unsqueeze(-1)))


@construction(
    "rank.constant-network",
    paper("rank", "Thm 4.2 (corrected)"),
    instances=values_and_points(),
    mutants={"the last bias alone": {"witness": bias_alone}},
    witness=witnesses.constant_network,
)
def test_constant_network(v, x, *, witness=witnesses.constant_network):
    r"""A network of depth two for a constant, at the least cost.

    The network computes the constant $v$ and costs $v^2$ for $|v| \le 1$, $2|v| - 1$ beyond. So
    $R(1; 2) = 1$ and $R(2; 2) = 3$: that no network is cheaper is rank.constant-cost.
    """
    net = witness(v)
    size = torch.maximum(v * v, torch.ones_like(v))
    return (
        eq(net(x)[..., 0], v, label="the function"),
        eq(net.cost(), witnesses.least_constant_cost(v), scale=size, label="the cost"),
    )
