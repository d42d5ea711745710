"""§2–3 of `rank`: a network is piecewise affine and continuous."""

import torch

from rankcheck import eq, identity, paper
from rankcheck.claims.tolerances import network_scale
from rankcheck.instances.networks import clear_of_boundaries, network
from rankcheck.instances.source import Source, instances
from rankcheck.networks import Network


@instances
def networks_near_points(source: Source):
    """A network, a point x where it is differentiable, and a second point near x or far from it."""
    net = network(source)
    x = source.tensor(net.widths[0])
    net = clear_of_boundaries(source, net, x)
    reach = 2.0 ** -source.choice((10, 3, 0))
    return net, x, x + reach * source.tensor(net.widths[0], low=-1.0, high=1.0)


def without_masks(net, x):
    """W_L ··· W_1, whatever x is."""
    product = net.weights[0]
    for w in net.weights[1:]:
        product = w @ product
    return product


@identity(
    "rank.piecewise-affine",
    paper("rank", "§2–3"),
    instances=networks_near_points(),
    mutants={"the Jacobian without its masks": {"jacobian": without_masks}},
)
def test_piecewise_affine(net, x, y, *, jacobian=Network.jacobian):
    r"""A network is affine where its activation pattern is constant.

    $f(y) = f(x) + Jf(x)(y - x)$ whenever $x$ and $y$ have the same activation pattern, with
    $Jf = W_L D_{L-1} W_{L-1} \cdots D_1 W_1$.

    The tests of `Network` compare the masked product with automatic differentiation.
    """
    same = torch.ones(net.batch, dtype=torch.bool, device=y.device)
    for here, there in zip(net.pattern(x), net.pattern(y), strict=True):
        same = same & (here == there).all(-1)
    step = (jacobian(net, x) @ (y - x).unsqueeze(-1)).squeeze(-1)
    return eq(
        net(y), net(x) + step, where=same, scale=network_scale(net, x) + network_scale(net, y)
    )


@instances
def networks_on_boundaries(source: Source):
    """A network, and a point at which a hidden unit of the first layer has pre-activation zero."""
    net = network(source, depth=(2, 5))
    x = source.tensor(net.widths[0])
    unit = source.integer(0, net.widths[1] - 1)
    chosen = torch.arange(net.widths[1], device=x.device) == unit
    through = -(net.weights[0] @ x.unsqueeze(-1)).squeeze(-1)
    first = torch.where(chosen, through, net.biases[0])
    return Network(net.weights, (first, *net.biases[1:]), net.slope), x, unit


@identity(
    "rank.continuous-across-boundaries",
    paper("rank", "§2–3"),
    instances=networks_on_boundaries(),
    mutants={"a step in the activation": {"step": 1}},
)
def test_continuous_across_boundaries(net, x, unit, *, step=0):
    r"""The affine pieces on the two sides of a boundary agree on it.

    Where $\tilde\alpha_{1,i}(x) = 0$, the affine pieces with $\sigma_a'$ of unit $i$ equal to 1
    and to $a$ take the same value at $x$, so $f$ is continuous there. Checked for units of the first
    layer.
    """
    chosen = torch.arange(net.widths[1], device=x.device) == unit
    z = net.preactivations(x)[0]
    rest = Network(net.weights[1:], net.biases[1:], net.slope)
    hidden = net.activations(x)[1]
    slope = net.slope if isinstance(net.slope, int | float) else net.slope.unsqueeze(-1)
    left = torch.where(chosen, slope * z - step, hidden)
    right = torch.where(chosen, z, hidden)
    return eq(rest(left), rest(right), scale=network_scale(net, x))
