"""Thm 4.2 of `rank`: the cost of a sum, and the cross term that is missing in print."""

import torch

from rankcheck import Erratum, bound, construction, eq, leq, paper, refuted
from rankcheck.claims.tolerances import network_scale
from rankcheck.instances.networks import network
from rankcheck.instances.source import Source, instances
from rankcheck.networks import Network
from rankcheck.witnesses.constants import constant_network, least_constant_cost


@instances
def summands(source: Source):
    """Networks f and g of one depth, with the same inputs and outputs, and a point."""
    depth = source.integer(2, 4)
    f = network(source, depth=(depth, depth))
    g = network(
        source, depth=(depth, depth), inputs=f.widths[0], outputs=f.widths[-1], slopes="relu"
    )
    return f, Network(g.weights, g.biases, f.slope), source.tensor(f.widths[0])


def last_biases(f, g):
    """Twice the inner product of the last biases."""
    return 2 * (f.biases[-1] * g.biases[-1]).sum(-1)


def nothing(f, g):
    """The cross term, forgotten."""
    return torch.zeros_like(last_biases(f, g))


@construction(
    "rank.sum-cost",
    paper("rank", "Thm 4.2"),
    instances=summands(),
    mutants={"the cross term forgotten, as printed": {"cross": nothing}},
    witness=Network.add,
)
def test_sum_cost(f, g, x, *, cross=last_biases):
    r"""The parallel network computes the sum; its cost has a cross term in the last biases.

    For networks of one depth $L \ge 2$ the block-diagonal network computes $f + g$, and
    $\|\theta\|^2 = \|\theta_f\|^2 + \|\theta_g\|^2 + 2 \langle b_{L,f}, b_{L,g} \rangle$.
    """
    net = f.add(g)
    return (
        eq(net(x), f(x) + g(x), scale=network_scale(net, x), label="the function"),
        eq(net.cost(), f.cost() + g.cost() + cross(f, g), scale=net.cost(), label="the cost"),
    )


@instances
def networks_at_the_origin(source: Source):
    """Networks of depth two with one output and any slope."""
    return network(source, depth=(2, 2), outputs=1)


@instances
def cheapest_constants(source: Source):
    """The cheapest network for a constant."""
    return constant_network(source.tensor())


@bound(
    "rank.constant-cost",
    paper("rank", "Thm 4.2 (corrected)"),
    instances=networks_at_the_origin(),
    tight=cheapest_constants(),
    witness=constant_network,
)
def test_constant_cost(net):
    r"""The value at the origin bounds the cost of a network of depth two.

    $\|\theta\|^2 \ge R(f(0); 2)$ with $R(v; 2) = v^2$ for $|v| \le 1$ and $2|v| - 1$ beyond: the
    least cost at depth two of a function that takes the value $v$ at $0$.
    """
    origin = net.weights[0].new_zeros((*net.batch, net.widths[0]))
    return leq(least_constant_cost(net(origin)[..., 0]), net.cost())


@instances
def constants(source: Source):
    """Two constant functions on a domain that contains 0."""
    return source.tensor(), source.tensor()


@refuted(
    "rank.sum-cost-as-printed",
    paper("rank", "proof of Thm 4.2"),
    instances=constants(),
    errata=Erratum(
        printed="TODO",
        right="The last biases are added before they are squared: R(1; L) = 1 for every L, but "
        "R(2; 2) = 3. The limit of large L is not affected.",
        survives="TODO",
        weight="theorem",
    ),
    readings={"TODO": "TODO"},
    corrected_by="rank.sum-cost",
)
def test_sum_cost_as_printed(v, w):
    r"""The cost of a sum is at most the sum of the costs, at finite depth.

    $R(f + g; \Omega, L) \le R(f; \Omega, L) + R(g; \Omega, L)$.

    Checked for constants $f \equiv v$, $g \equiv w$ at $L = 2$ on $\Omega \ni 0$, where $R$ is known
    exactly (rank.constant-cost).
    """
    return leq(least_constant_cost(v + w), least_constant_cost(v) + least_constant_cost(w))
