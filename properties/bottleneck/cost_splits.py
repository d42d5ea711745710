"""Section 3.3 of `bottleneck`: a network cut in two."""

import torch

from rankcheck import eq, identity, leq, paper
from rankcheck.claims.tolerances import network_scale
from rankcheck.costs.corrections import linear_cost
from rankcheck.instances.networks import balanced_linear_networks, clear_of_boundaries, network
from rankcheck.instances.source import Source, instances
from rankcheck.networks.evaluation import leaky


@instances
def cut_networks(source: Source):
    """A network of depth at least 2, a point, and a layer to cut it behind."""
    net = network(source, depth=(2, 5), width=(1, 3))
    x = source.tensor(net.widths[0])
    return clear_of_boundaries(source, net, x), x, source.integer(1, net.depth - 1)


@instances
def cut_least_networks(source: Source):
    """A balanced linear network, a point, and a layer to cut it behind."""
    net, x = balanced_linear_networks(depth=(2, 6))(source)
    return net, x, source.integer(1, net.depth - 1)


def halves(net, cut):
    """Layers 1..ℓ and layers ℓ + 1..L as networks."""
    lower = net.with_parameters(net.weights[:cut], net.biases[:cut])
    return lower, net.with_parameters(net.weights[cut:], net.biases[cut:])


def halves_without_a_bias(net, cut):
    """The halves without the bias at the cut."""
    lower, upper = halves(net, cut)
    biases = (*lower.biases[:-1], torch.zeros_like(lower.biases[-1]))
    return lower.with_parameters(lower.weights, biases), upper


def _column(net):
    """The slope, as it broadcasts against activations."""
    return net.slope if isinstance(net.slope, int | float) else net.slope.unsqueeze(-1)


@identity(
    "bottleneck.cost-splits",
    paper("bottleneck", "§3.3"),
    instances=cut_networks(),
    tight=cut_least_networks(),
    mutants={"the bias at the cut left out": {"cut_into": halves_without_a_bias}},
    effort=0.7,
)
def test_cost_splits(net, x, cut, *, cut_into=halves):
    r"""The cost of a network is the sum of the costs of its two halves.

    For every $0 < \ell < L$ the cost $\|\theta\|^2$ is that of layers $1..\ell$, which compute
    $\tilde\alpha_\ell$, plus that of layers $\ell + 1..L$, which take $\sigma(\tilde\alpha_\ell)$ to
    $f$; and therefore
    $$\ell \|J\tilde\alpha_\ell\|_{S^{2/\ell}}^{2/\ell}
      + (L - \ell) \|J(\alpha_\ell \to f)\|_{S^{2/(L-\ell)}}^{2/(L-\ell)} \le \|\theta\|^2.$$

    Hence $R(f; \Omega, L) = R(\tilde\alpha_\ell; \Omega, \ell) +
    R(\sigma(\tilde\alpha_\ell) \to f; \Omega, L - \ell)$ at a network of least cost. This is checked
    only for balanced linear networks, the tight family, where both sides are known.
    """
    lower, upper = cut_into(net, cut)
    parameters = [*net.weights, *net.biases]
    axes = len(net.batch)
    flat = torch.cat([p.reshape((*net.batch, p.shape[axes:].numel())) for p in parameters], -1)
    hidden = leaky(lower(x), _column(net))
    scale = network_scale(net, x)
    below, above = lower.jacobian(x), upper.jacobian(hidden)
    slopes = linear_cost(below, lower.depth, lower.jacobian_noise(x)) + linear_cost(
        above, upper.depth, upper.jacobian_noise(hidden)
    )
    return (
        eq((flat * flat).sum(-1), lower.cost() + upper.cost(), label="the cost"),
        eq(upper(hidden), net(x), scale=scale, label="the function"),
        leq(slopes, net.cost(), label="the Jacobians"),
    )
