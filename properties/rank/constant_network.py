import torch

from rankcheck import construction, eq, paper
from rankcheck.instances.source import Source, instances
from rankcheck.networks import Network
from rankcheck.witnesses import constants
from rankcheck.witnesses.constants import constant_network, least_constant_cost


@instances
def values_and_points(source: Source):
    """A value v and a point of the line."""
    return source.tensor(), source.tensor(1)


def bias_alone(v):
    """The constant as the last bias: the cheapest only for |v| ≤ 1."""
    zero = (0 * v)[..., None, None]
    return Network((zero, zero), (0 * v.unsqueeze(-1), v.unsqueeze(-1)))


@construction(
    "rank.constant-network",
    paper("rank", "Thm 4.2 (corrected)"),
    instances=values_and_points(),
    mutants={"the last bias alone": {"witness": bias_alone}},
    witness=constants,
)
def test_constant_network(v, x, *, witness=constant_network):
    r"""A network of depth two for a constant, at the least cost.

    The constant $v$ is a network of depth two at cost $v^2$ for $|v| \le 1$ and $2|v| - 1$ beyond:
    so $R(1; 2) = 1$ and $R(2; 2) = 3$. That no network is cheaper is rank.constant-cost.
    """
    net = witness(v)
    size = torch.maximum(v * v, 1 + 0 * v)
    return (
        eq(net(x)[..., 0], v, label="the function"),
        eq(net.cost(), least_constant_cost(v), scale=size, label="the cost"),
    )
