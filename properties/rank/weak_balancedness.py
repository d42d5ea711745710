"""Prop. 12 of `rank`: rescaling the layers of a network, and balance at the least cost."""

import torch

from rankcheck import bound, eq, identity, leq, paper
from rankcheck.claims.tolerances import network_scale
from rankcheck.instances.matrices import positive
from rankcheck.instances.networks import network
from rankcheck.instances.source import Source, instances
from rankcheck.linalg import frobenius_squared
from rankcheck.networks.balancing import balance_layers, layer_imbalances, layer_rescaling


@instances
def rescaled_networks(source: Source):
    """A network, a point, factors α_1..α_L > 0 with Πα = 1, and one factor r for one layer ℓ."""
    net = network(source, depth=(2, 5))
    x = source.tensor(net.widths[0])
    alphas = [positive(source, low=0.25) for _ in range(net.depth - 1)]
    product = alphas[0]
    for alpha in alphas[1:]:
        product = product * alpha
    return net, x, (*alphas, 1 / product), positive(source, low=0.25), source.integer(1, net.depth)


def biases_by_their_own_factor(net, alphas):
    """The rescaling in which a bias ignores the factors of the layers before its own."""
    return net.with_parameters(
        [w * a[..., None, None] for w, a in zip(net.weights, alphas, strict=True)],
        [b * a[..., None] for b, a in zip(net.biases, alphas, strict=True)],
    )


@identity(
    "rank.weak-balancedness",
    paper("rank", "Prop. 12"),
    instances=rescaled_networks(),
    mutants={"biases scaled by their own layer": {"rescaling": biases_by_their_own_factor}},
    witness=layer_rescaling,
)
def test_weak_balancedness(net, x, alphas, r, layer, *, rescaling=layer_rescaling):
    r"""Rescaling the layers keeps the function, and the change of the cost is explicit.

    With $W_\ell \to \alpha_\ell W_\ell$, $b_\ell \to (\alpha_1 \cdots \alpha_\ell) b_\ell$ and
    $\prod \alpha_\ell = 1$ the function is unchanged. With the single factor $\alpha_\ell = r$,
    $\|\theta(r)\|^2 - \|\theta\|^2 = (r^2 - 1)(\|W_\ell\|^2 + \sum_{j \ge \ell} \|b_j\|^2)$, so the
    derivative in $\log \alpha_\ell$ at 1 is $2(\|W_\ell\|^2 + \sum_{j \ge \ell} \|b_j\|^2)$.

    The finite difference is checked; it implies the derivative.
    """
    moved = rescaling(net, alphas)
    one = torch.ones_like(r)
    once = rescaling(net, [r if index == layer else one for index in range(1, net.depth + 1)])
    slope = frobenius_squared(net.weights[layer - 1])
    slope = slope + sum((b * b).sum(-1) for b in net.biases[layer - 1 :])
    scale = once.cost() + net.cost()
    return (
        eq(moved(x), net(x), scale=network_scale(net, x), label="the function"),
        eq(once.cost() - net.cost(), (r * r - 1) * slope, scale=scale, label="the cost"),
    )


@bound(
    "rank.balanced-layers",
    paper("rank", "Prop. 12"),
    instances=rescaled_networks(),
    mutants={"balanced on the wrong side": {"balance": lambda net: net}},
    witness=balance_layers,
    no_ball="the balancing factors are irrational: they come from a float solver",
)
def test_balanced_layers(net, x, alphas, r, layer, *, balance=balance_layers):
    r"""At the least cost over layer rescalings, consecutive layers are in balance.

    At the minimum over $\alpha$ with $\prod \alpha_\ell = 1$:
    $\|W_\ell\|_F^2 + \|b_\ell\|^2 = \|W_{\ell+1}\|_F^2$ for $\ell < L$, the function is unchanged, and
    no other rescaling is cheaper. The minimum is compared with drawn rescalings.
    """
    least = balance(net)
    cost = least.cost()
    return (
        eq(layer_imbalances(least), 0, scale=cost.unsqueeze(-1), label="the balance"),
        eq(least(x), net(x), scale=network_scale(net, x), label="the function"),
        leq(cost, layer_rescaling(net, alphas).cost(), label="the minimum"),
    )
