"""Cor. 1 of `rank`: ReLU networks are leaky networks of twice the hidden width."""

from rankcheck import construction, eq, paper, tolerances, witnesses
from rankcheck.instances import STEEPEST, Source, instances, network


@instances
def relu_networks(source: Source):
    """A ReLU network, a slope a in (−1, 1), and a point."""
    net = network(source, slopes="relu")
    return net, source.tensor(low=-STEEPEST, high=STEEPEST), source.tensor(net.widths[0])


def sign_as_printed(net, slope):
    """The second unit of each pair with −a, as in print."""
    return witnesses.leaky_representation(net, slope, sign=-1)


def last_layer_too(widths):
    """Twice every width but the first."""
    return (widths[0], *(2 * n for n in widths[1:]))


def hidden_doubled(widths):
    """Twice every hidden width."""
    return (widths[0], *(2 * n for n in widths[1:-1]), widths[-1])


@construction(
    "rank.leaky-representation",
    paper("rank", "Cor. 1"),
    instances=relu_networks(),
    mutants={
        "the sign as printed": {"witness": sign_as_printed},
        "the outputs doubled too": {"doubled": last_layer_too},
    },
    witness=witnesses.leaky_representation,
    audit="left out: a construction: a network with another slope for the function",
)
def test_leaky_representation(
    net, slope, x, *, witness=witnesses.leaky_representation, doubled=hidden_doubled
):
    r"""A ReLU network is a leaky network with twice the hidden units.

    For every ReLU network $f$ and every $a \in (-1, 1)$ there is a network with activation
    $\sigma_a$, of the same depth and of widths $(n_0, 2n_1, \dots, 2n_{L-1}, n_L)$, that equals $f$.

    Equal up to rounding errors, which grow like $(1 - a^2)^{-L}$, and exactly on rationals. Every pair
    of units is an instance of rank.relu-from-leaky, so the functions agree at all points.
    """
    leaky = witness(net, slope)
    widths = zip(leaky.widths, doubled(net.widths), strict=True)
    return (
        eq(leaky(x), net(x), scale=tolerances.network_scale(leaky, x), label="the function"),
        *(eq(got, stated, label=f"width {layer}") for layer, (got, stated) in enumerate(widths)),
    )
