"""Remark 6 of `rank`: at the least cost every neuron is balanced."""

from rankcheck import construction, eq, leq, networks, paper, tolerances
from rankcheck.instances import Source, instances, network


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
        eq(layer, 0, scale=cost.unsqueeze(-1), label=f"the balance of layer {index}")
        for index, layer in enumerate(networks.neuron_imbalances(least), 1)
    )
    return (
        eq(least(x), net(x), scale=tolerances.network_scale(net, x), label="the function"),
        leq(least.cost(), cost, label="the cost"),
        *balances,
    )
