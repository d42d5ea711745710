"""Remark 6 and Prop. 12 of `rank`: rescaling neurons and layers, and balance at the least cost."""

import math

from rankcheck import bound, construction, eq, identity, leq, linalg, networks, paper, tolerances
from rankcheck.instances import Source, instances, network, networks_with_inputs, positive


@instances
def networks_and_inputs(source: Source):
    """A network and a point."""
    net = network(source, depth=(2, 5))
    return net, source.tensor(net.widths[0])


@construction(
    "rank.neuron-balancedness",
    paper("rank", "Remark 6"),
    instances=networks_and_inputs(),
    mutants={"not balanced": {"balance": lambda net: net}},
    witness=networks.balance_neurons,
    no_ball="the balancing factors are irrational: they come from a float solver",
    audit="left out: it checks a function of rankcheck, on any network",
)
def test_neuron_balancedness(net, x, *, balance=networks.balance_neurons):
    r"""Balancing neuron by neuron keeps the function and never raises the cost.

    At the least cost over rescalings of the neurons,
    $\|W_{\ell, i\cdot}\|^2 + b_{\ell, i}^2 = \|W_{\ell+1, \cdot i}\|^2$ for every hidden neuron; the
    function is unchanged, and $\|\theta\|^2$ is not larger.

    Generators of balanced networks rest on `balance_neurons`, whose residual is checked here.
    """
    least = balance(net)
    cost = net.cost()
    balances = tuple(
        eq(layer, 0, scale=cost, label=f"the balance of layer {index}")
        for index, layer in enumerate(networks.neuron_imbalances(least), 1)
    )
    return (
        eq(least(x), net(x), scale=tolerances.network_scale(net, x), label="the function"),
        leq(least.cost(), cost, label="the cost"),
        *balances,
    )


@instances
def rescaled_networks(source: Source, *, last: float = 1.0, sign: float = 1.0):
    """A network, a point, factors α_1..α_L > 0 with Πα = 1, and one factor r for one layer ℓ.

    Πα is `last` in place of 1, and the signs of α_1 and α_2 are that of `sign`.
    """
    net = network(source, depth=(2, 5))
    x = source.tensor(net.widths[0])
    alphas = [positive(source, low=0.25) for _ in range(net.depth - 1)]
    first, second, *others = (*alphas, last / math.prod(alphas))
    factors = (sign * first, sign * second, *others)
    return net, x, factors, positive(source, low=0.25), source.integer(1, net.depth)


def biases_by_their_own_factor(net, alphas):
    """The rescaling in which a bias ignores the factors of the layers before its own."""
    return net.with_parameters(
        [a * w for a, w in zip(alphas, net.weights, strict=True)],
        [a * b for a, b in zip(alphas, net.biases, strict=True)],
    )


@identity(
    "rank.weak-balancedness",
    paper("rank", "Prop. 12"),
    instances=rescaled_networks(),
    needs={
        "the factors have product 1": rescaled_networks(last=2.0),
        "the factors are positive": rescaled_networks(sign=-1.0),
    },
    mutants={"biases scaled by their own layer": {"rescaling": biases_by_their_own_factor}},
    witness=networks.layer_rescaling,
    audit="left out: an identity of the formulas: both sides are the same for every network",
)
def test_weak_balancedness(net, x, alphas, r, layer, *, rescaling=networks.layer_rescaling):
    r"""Rescaling the layers keeps the function, and the change of the cost is explicit.

    With $W_\ell \to \alpha_\ell W_\ell$, $b_\ell \to (\alpha_1 \cdots \alpha_\ell) b_\ell$ and
    $\prod \alpha_\ell = 1$ the function is unchanged. With the single factor $\alpha_\ell = r$,
    $\|\theta(r)\|^2 - \|\theta\|^2 = (r^2 - 1)(\|W_\ell\|^2 + \sum_{j \ge \ell} \|b_j\|^2)$, so the
    derivative in $\log \alpha_\ell$ at 1 is $2(\|W_\ell\|^2 + \sum_{j \ge \ell} \|b_j\|^2)$.

    The finite difference is checked; it implies the derivative.
    """
    moved = rescaling(net, alphas)
    once = rescaling(net, [r if index == layer else 1 for index in range(1, net.depth + 1)])
    W, biases = net.weights[layer - 1], net.biases[layer - 1 :]
    slope = linalg.frobenius_squared(W) + sum(b @ b for b in biases)
    scale = once.cost() + net.cost()
    return (
        eq(moved(x), net(x), scale=tolerances.network_scale(net, x), label="the function"),
        eq(once.cost() - net.cost(), (r * r - 1) * slope, scale=scale, label="the cost"),
    )


def balance_of_weights(net):
    """The rescaling that balances the weights alone: the biases are left out of the cost."""
    logs = [linalg.frobenius_squared(W).clamp(min=1e-9).log() for W in net.weights]
    mean = sum(logs) / net.depth
    return networks.layer_rescaling(net, [((mean - log) / 2).exp() for log in logs])


@bound(
    "rank.balanced-layers",
    paper("rank", "Prop. 12"),
    instances=rescaled_networks(),
    mutants={
        "not balanced": {"balance": lambda net: net},
        "balanced without the biases": {"balance": balance_of_weights},
    },
    witness=networks.balance_layers,
    no_ball="the balancing factors are irrational: they come from a float solver",
    audit="left out: it checks a function of rankcheck, on any network",
)
def test_balanced_layers(net, x, alphas, r, layer, *, balance=networks.balance_layers):
    r"""At the least cost over layer rescalings, consecutive layers are in balance.

    At the minimum over $\alpha$ with $\prod \alpha_\ell = 1$:
    $\|W_\ell\|_F^2 + \|b_\ell\|^2 = \|W_{\ell+1}\|_F^2$ for $\ell < L$, the function is unchanged, and
    no other rescaling is cheaper. The minimum is compared with drawn rescalings. Minima of a loss
    with ridge are balanced as well: rank.balance-and-gradient.
    """
    least = balance(net)
    cost = least.cost()
    return (
        eq(networks.layer_imbalances(least), 0, scale=cost, label="the balance"),
        eq(least(x), net(x), scale=tolerances.network_scale(net, x), label="the function"),
        leq(cost, networks.layer_rescaling(net, alphas).cost(), label="the minimum"),
    )


@instances
def networks_and_data(source: Source):
    """A network of depth two or more, N points at which it is differentiable, and N targets."""
    net, x = networks_with_inputs(depth=(2, 4), points=(1, 4))(source)
    return net, x, source.tensor(len(x), net.widths[-1])


def with_the_biases(net, weights, biases, layer):
    """⟨W_ℓ, ∂C/∂W_ℓ⟩ + ⟨b_ℓ, ∂C/∂b_ℓ⟩."""
    along = without_the_biases(net, weights, biases, layer)
    return along + net.biases[layer] @ biases[layer]


def without_the_biases(net, weights, biases, layer):
    """⟨W_ℓ, ∂C/∂W_ℓ⟩."""
    return (net.weights[layer] * weights[layer]).sum()


@identity(
    "rank.balance-and-gradient",
    paper("rank", "Prop. 12"),
    instances=networks_and_data(),
    mutants={"the biases forgotten": {"change": without_the_biases}},
    witness=networks.squared_error_gradient,
    audit="left out: it takes the targets of a loss; an audit has none",
)
def test_balance_and_gradient(net, x, y, *, change=with_the_biases):
    r"""The gradient of a loss with ridge measures how far the layers are from balance.

    For $\mathcal L_\lambda = C(f_\theta) + \lambda \|\theta\|^2$ and every $\ell < L$
    $$\langle W_\ell, \partial_{W_\ell} \mathcal L_\lambda \rangle
    + \langle b_\ell, \partial_{b_\ell} \mathcal L_\lambda \rangle
    - \langle W_{\ell+1}, \partial_{W_{\ell+1}} \mathcal L_\lambda \rangle
    = 2 \lambda (\|W_\ell\|_F^2 + \|b_\ell\|^2 - \|W_{\ell+1}\|_F^2).$$
    Proof: $C(f_\theta)$ does not change if $W_\ell$, $b_\ell$ are multiplied by $e^t$ and
    $W_{\ell+1}$ by $e^{-t}$; its derivative at $t = 0$ vanishes.

    So at every stationary point, and hence at every minimum that training reaches, the layers are in
    balance; close to one, the imbalance is at most
    $\|\theta\| \|\nabla \mathcal L_\lambda\| / (2\lambda)$.

    Checked for $C(f) = \frac1N \sum_i \|f(x_i) - y_i\|^2$ as the same equation for $C$ alone, whose
    right side is 0, where $f$ is differentiable: the terms of $\lambda \|\theta\|^2$ are its right
    side. A trained network is among the unit tests.
    """
    weights, biases = networks.squared_error_gradient(net, x, y)
    outputs = tolerances.network_scale(net, x)
    # What backpropagation sums, with absolute values: by homogeneity the same for each layer.
    size = 2 * ((outputs + y.abs()) * outputs).sum() / len(x)
    relations = []
    for layer in range(net.depth - 1):
        inner = change(net, weights, biases, layer)
        outer = without_the_biases(net, weights, biases, layer + 1)
        relations.append(eq(inner, outer, scale=size, label=f"layers {layer + 1} and {layer + 2}"))
    return tuple(relations)
