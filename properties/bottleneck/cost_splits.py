"""Section 3.3 of `bottleneck`: a network cut in two, and a map whose costs are not its Jacobian's."""

import torch

from rankcheck import (
    construction,
    costs,
    eq,
    identity,
    leq,
    networks,
    paper,
    tolerances,
    witnesses,
)
from rankcheck.instances import (
    Source,
    balanced_linear_networks,
    clear_of_boundaries,
    instances,
    network,
    positive,
    slope,
)


@instances
def cut_networks(source: Source):
    """A network of depth at least 2, a point, and a layer to cut it behind."""
    net = network(source, depth=(2, 5), width=(1, 3))
    x = source.tensor(net.widths[0])
    return clear_of_boundaries(source, net, x), x, source.integer(1, net.depth - 1)


@instances
def cut_least_networks(source: Source):
    """A balanced linear network, a point, and a layer to cut it behind."""
    net, x = balanced_linear_networks(depth=(2, 6), scale=(0.5, 2.0))(source)
    return net, x, source.integer(1, net.depth - 1)


def halves(net, cut, *, kept=1):
    """Layers 1..ℓ, with so many times the bias at the cut, and layers ℓ + 1..L as networks."""
    biases = (*net.biases[: cut - 1], kept * net.biases[cut - 1])
    lower = net.with_parameters(net.weights[:cut], biases)
    return lower, net.with_parameters(net.weights[cut:], net.biases[cut:])


@identity(
    "bottleneck.cost-splits",
    paper("bottleneck", "§3.3"),
    instances=cut_networks(),
    tight=cut_least_networks(),
    mutants={
        "the bias at the cut left out": {"cut_into": lambda net, cut: halves(net, cut, kept=0)},
        "the halves of any network": {"cheapest": lambda net: net},
    },
    effort=0.7,
    audit="left out: an identity of the formulas: both sides are the same for every network",
)
def test_cost_splits(net, x, cut, *, cut_into=halves, cheapest=networks.balance_layers):
    r"""Three consequences of this: a network of least cost consists of two halves of least cost.

    The statement: at a network of least cost
    $R(f; \Omega, L) = R(\tilde\alpha_\ell; \Omega, \ell)
      + R(\sigma(\tilde\alpha_\ell) \to f; \Omega, L - \ell)$
    for every $0 < \ell < L$, since a cheaper half would make the whole cheaper. $R$ cannot be computed,
    so the least cost is taken among rescalings, and bounded from below by Jacobians. Where the three
    costs are known for a map that is not linear, they are compared in
    bottleneck.cost-splits-beside-a-constant.

    Among the networks with $W_\ell \to \alpha_\ell W_\ell$,
    $b_\ell \to \alpha_1 \cdots \alpha_\ell\, b_\ell$, $\prod \alpha_\ell = 1$, which compute the same
    function, the cheapest has halves that are the cheapest among their own, and the upper half takes
    $\sigma(\tilde\alpha_\ell)$ to $f$. For every network
    $$L \|Jf\|_{S^{2/L}}^{2/L} \le \ell \|J\tilde\alpha_\ell\|_{S^{2/\ell}}^{2/\ell}
      + (L - \ell) \|J(\alpha_\ell \to f)\|_{S^{2/(L-\ell)}}^{2/(L-\ell)} \le \|\theta\|^2,$$
    with equality for balanced linear networks, where the three sides are the costs $R$.
    """
    best = cheapest(net)
    lower, upper = cut_into(best, cut)
    hidden = networks.leaky(lower(x), net.slope)
    parts = networks.balance_layers(lower).cost() + networks.balance_layers(upper).cost()
    below, above, whole = lower.jacobian(x), upper.jacobian(hidden), best.jacobian(x)
    slopes = costs.linear_cost(below, lower.depth, lower.jacobian_noise(x)) + costs.linear_cost(
        above, upper.depth, upper.jacobian_noise(hidden)
    )
    least = costs.linear_cost(whole, net.depth, best.jacobian_noise(x))
    return (
        eq(parts, best.cost(), label="the halves of the cheapest"),
        eq(upper(hidden), net(x), scale=tolerances.network_scale(best, x), label="the function"),
        leq(least, slopes, label="the Jacobian of the whole"),
        leq(slopes, best.cost(), label="the Jacobians of the halves"),
    )


@instances
def planes_and_constants(source: Source):
    """A dimension n, a height c in [0, 2], a depth, a slope, and a point of the orthant of R^n."""
    n, L, c = source.integer(1, 4), source.integer(2, 8), source.tensor(low=0.0, high=2.0)
    return n, c, L, slope(source), source.tensor(n, low=0.0, high=8.0)


@instances
def planes_outside_the_orthant(source: Source):
    """The same at a point with negative coordinates, for slope 0."""
    n, c, L, _, _ = planes_and_constants()(source)
    return n, c, L, 0, -positive(source, n)


def with_all_at_the_end(n, c, depth, a):
    """The network with the constant in the last bias."""
    net = witnesses.plane_beside_constant(n, 0 * c, depth, a)
    last = torch.hstack((net.biases[-1][:-1], c))
    return net.with_parameters(net.weights, (*net.biases[:-1], last))


@construction(
    "bottleneck.plane-beside-a-constant",
    paper("rankcheck", "rankcheck.witnesses.planar_identity"),
    instances=planes_and_constants(),
    needs={"the domain lies in the orthant": planes_outside_the_orthant()},
    mutants={"all in the last bias": {"witness": with_all_at_the_end}},
    witness=witnesses.plane_beside_constant,
)
def test_plane_beside_a_constant(n, c, L, a, x, *, witness=witnesses.plane_beside_constant):
    r"""The map y ↦ (y, c) costs nL and the price of a constant, at every depth from two on.

    Let $\Omega$ lie in the orthant of $\mathbb R^n$ and contain an open set, $f(y) = (y, c)$ and
    $0 \le c \le 2$. The witness equals $f$ on the orthant for every slope, at cost $nL + R(c)$.

    No network that equals $f$ on $\Omega$ is cheaper: bottleneck.offset-bound with all directions at a
    point of the open set has $u_0 = 0$ and $u_L = c^2$, and the sum is at least $\rho(u_L) -
    \rho(u_0) = R(c)$ by bottleneck.offset-steps. So $R(f; \Omega, L) = nL + R(c)$ at every
    $L \ge 2$, $R^{(0)}(f) = n$ and $R^{(1)}(f) = R(c)$. Proof: docs/proofs/identity-offset.md.
    """
    net = witness(n, c, L, a)
    entries, size = tolerances.network_scale(net, x), net.cost() + n * L
    least = witnesses.least_constant_cost(c)
    return (
        eq(net(x), torch.hstack((x, c)), scale=entries, label="the function"),
        eq(costs.excess(net, n), least, scale=size, label="the cost"),
    )


@instances
def cut_planes_and_constants(source: Source):
    """A point y > 0 of R^n, a constant c in [0, 2], a depth, a slope, and a layer to cut behind."""
    y, c = positive(source, source.integer(1, 3)), source.tensor(low=0.0, high=2.0)
    L = source.integer(2, 8)
    return y, c, L, slope(source), source.integer(1, L - 1)


@instances
def higher_constants(source: Source):
    """The same with a constant in [5/2, 4], beyond which three layers are cheaper than two."""
    y, _, L, a, cut = cut_planes_and_constants()(source)
    return y, source.tensor(low=2.5, high=4.0), L, a, cut


@construction(
    "bottleneck.cost-splits-beside-a-constant",
    paper("bottleneck", "§3.3"),
    instances=cut_planes_and_constants(),
    needs={"the constant is at most 2": higher_constants()},
    mutants={
        "the constant in the last bias": {"witness": with_all_at_the_end},
        "the bias at the cut left out": {"cut_into": lambda net, cut: halves(net, cut, kept=0)},
    },
    witness=witnesses.plane_beside_constant,
)
def test_cost_splits_beside_a_constant(
    y, c, L, a, cut, *, witness=witnesses.plane_beside_constant, cut_into=halves
):
    r"""A network of least cost for y ↦ (y, c) consists of two halves of least cost, at every cut.

    For $0 \le c \le 2$ and $\rho(u) = u$ up to $u = 1$, $2 \sqrt u - 1$ from there to 4, the witness computes
    $f(y) = (y, c)$ on the orthant of $\mathbb R^n$, and behind each layer $0 < \ell < L$ it has
    $\tilde\alpha_\ell(y) = (y, h)$. The costs of the whole and of the halves are
    $$nL + \rho(c^2), \qquad n \ell + \rho(h^2), \qquad n (L - \ell) + \rho(c^2) - \rho(h^2).$$

    On a domain with inner points these are $R(f; \Omega, L)$, $R(\tilde\alpha_\ell; \Omega, \ell)$ and
    $R(\sigma(\tilde\alpha_\ell) \to f; \Omega, L - \ell)$: no network of the same values along the plane costs less
    (bottleneck.offset-bound, bottleneck.offset-steps), as in bottleneck.plane-beside-a-constant. So the split
    of section 3.3 is checked with its three terms, for a map whose costs are not those of its Jacobian.
    """
    n = len(y)
    net = witness(n, c, L, a)
    lower, upper = cut_into(net, cut)
    below = lower(y)
    start, value = torch.hstack((y, below[-1])), torch.hstack((y, c))
    price, middle = costs.offset_price(c * c), costs.offset_price(below[-1] * below[-1])
    size = net.cost() + n * L
    return (
        eq(upper(below), value, scale=tolerances.network_scale(net, y), label="the function"),
        eq(below, start, scale=tolerances.network_scale(lower, y), label="the representation"),
        eq(costs.excess(net, n), price, scale=size, label="the whole"),
        eq(costs.excess(lower, n), middle, scale=size, label="the lower half"),
        eq(costs.excess(upper, n), price - middle, scale=size, label="the upper half"),
    )
