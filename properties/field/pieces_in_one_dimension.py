"""Benefits of depth: how many linear pieces a network has on the line, and the tent map."""

from itertools import pairwise
from math import prod

import torch

from rankcheck import Network, bound, construction, eq, leq, networks, paper, regions, witnesses
from rankcheck.instances import (
    DYADIC_SLOPES,
    Source,
    instances,
    integer_box,
    integer_network,
    signs,
)

#: All kinks of the instances lie between − this and this.
FAR = 2.0**24


@instances
def networks_on_the_line(source: Source):
    """An integer network with one input, and an interval: a small one, or all of the line."""
    net = integer_network(source, depth=(1, 4), width=(1, 4), inputs=1)
    low, high = integer_box(source, 1)
    wide = source.choice((True, False))
    return net, ((0 * low - FAR, 0 * high + FAR) if wide else (low, high))


@instances
def networks_of_the_plane(source: Source):
    """Networks with two inputs, and one hidden layer of two to four units."""
    net = integer_network(source, depth=(2, 2), width=(2, 4), inputs=2)
    return net, integer_box(source, 2)


def zigzag_layer(m, height, slope):
    r"""W, b, V, c of a layer whose V σ(Wz + b) + c bends at 1, …, m between the height and 0.

    Its slopes have alternating signs, and it is unbounded in both directions. For m ≥ 3 the third
    unit is turned, so that the first slope is positive if the slope of σ is above −2/3; the unit of
    m = 1 zigzags if that slope is negative.
    """
    place = torch.arange(m, dtype=torch.float64)
    signs_of_jumps = 2 * (place % 2) - 1
    # The slopes are p, −1, 1, −1, … times the height; p follows from which unit is turned.
    p = 2 + 2 * slope + (-1) ** m * slope if m > 1 else 1
    V = height * signs_of_jumps * torch.where(place == 0, 1.0 + p, 2.0)
    W = torch.where(place == 2, -1.0, 1.0).to(torch.float64)
    c = height * (1 - slope) - V @ networks.leaky(-W * place, slope)
    return W[:, None], -W * (place + 1), V[None], c[None]


def last_layer(m, slope):
    """The same for a layer that need not zigzag: its slopes differ, and the outer ones are not 0."""
    place = torch.arange(m, dtype=torch.float64)
    W = torch.where((place == 0) & (slope == 0) & (m > 1), -1.0, 1.0).to(torch.float64)
    return W[:, None], -W * (place + 1), torch.ones_like(W)[None], 0 * W[:1]


@instances
def zigzags(source: Source):
    """Networks that zigzag in every hidden layer, turned and shifted along the line.

    ReLU layers have three units or more, the last hidden one two or more; with a negative slope one
    is enough.
    """
    slope, hidden = source.choice(DYADIC_SLOPES), source.integer(0, 3)
    widths = [source.choice((3, 4, 1 if slope < 0 else 3)) for _ in range(hidden - 1)]
    if hidden:
        widths.append(source.integer(2 if slope == 0 and hidden > 1 else 1, 4))
    first, c = signs(source, 1, 1), source.tensor(1, low=-4.0, high=4.0).round()
    end = 2.0**10 + 0 * c
    weights, biases = [], []
    for m, following in pairwise((*widths, 0)):
        W, b, V, d = (
            zigzag_layer(m, 2 * following + 2.0, slope) if following else last_layer(m, slope)
        )
        weights.append(W @ first)
        biases.append(W @ c + b)
        first, c = V + 0 * first[0, 0], d + 0 * c
    return Network((*weights, first), (*biases, c), slope), (-end, end)


def product_of_widths(net):
    """Π (m_ℓ + 1) over the hidden widths."""
    return prod(m + 1 for m in net.widths[1:-1])


def last_without_one(net):
    """Π (m_ℓ + 1), but m_k for the last hidden layer."""
    hidden = net.widths[1:-1]
    return prod(m + 1 for m in hidden[:-1]) * prod(hidden[-1:])


@bound(
    "field.pieces-in-one-dimension",
    paper("telgarsky2016", "on pieces of compositions, as recalled"),
    instances=networks_on_the_line(),
    tight=zigzags(),
    needs={"one input": networks_of_the_plane()},
    mutants={
        "one piece fewer": {"most": lambda net: product_of_widths(net) - 1},
        "the last layer without the one": {"most": last_without_one},
    },
    audit="left out: it counts linear regions, which takes too long for a trained network",
)
def test_pieces_in_one_dimension(net, box, *, most=product_of_widths):
    r"""On the line a network has at most Π (m_ℓ + 1) linear pieces.

    A network with one input and hidden layers of $m_1, \dots, m_k$ units, of any slope, has at most
    $\prod_\ell (m_\ell + 1)$ activation regions, and $f$ at most as many linear pieces: on each
    region of the layers before, each unit of the next one vanishes at one point at most.

    The bound is attained, by ReLU networks with $m_\ell \ge 3$ and $m_k \ge 2$ whose layers all
    zigzag, and for slopes $a < 0$ also with $m_\ell = 1$. With two inputs a hidden layer of two
    units can have four regions. Regions and slopes are exact, for integer weights and dyadic slopes.
    """
    cells = regions.region_arrays(net, *box)
    counted = leq(cells.count, most(net), label="regions")
    if net.widths[0] > 1:
        return counted
    return counted, leq(regions.linear_pieces(cells), most(net), label="pieces")


@instances
def compositions(source: Source):
    """How often the tent map is composed, and points in [0, 1]."""
    times, N = source.integer(1, 7), source.integer(1, 3)
    return times, source.tensor(N, low=0.0, high=1.0)


def too_flat(times, like):
    """The second half falls with the slope −1."""
    net = witnesses.tent_network(times, like)
    down = like.new_tensor([1.0, 0.75])
    weights = [W * down if W.shape[1] == 2 else W for W in net.weights]
    return net.with_parameters(weights, net.biases)


def one_too_few(times, like):
    """The tent map composed k − 1 times, behind an identity of [0, 1]."""
    net = witnesses.tent_network(times, like)
    first, same = net.weights[0], like.new_tensor([[1.0, 0.0]])
    same = same if times == 1 else first @ same
    return net.with_parameters((first, same, *net.weights[2:]), net.biases)


@construction(
    "field.tent-map",
    paper("telgarsky2016", "on the composed tent map, as recalled"),
    instances=compositions(),
    mutants={
        "the wrong slope on the right": {"witness": too_flat},
        "composed once less": {"witness": one_too_few},
    },
    witness=witnesses.tent_network,
)
def test_tent_map(times, x, *, witness=witnesses.tent_network):
    r"""The tent map composed k times has 2^k linear pieces on [0, 1], from two units a layer.

    $\Lambda(u) = 2 [u]_+ - 4 [u - \frac12]_+$. The network of $k$ hidden layers of two units
    computes $\Lambda^k$, the wave through the points $(j / 2^k, j \bmod 2)$, which has exactly $2^k$
    linear pieces on $[0, 1]$. By field.pieces-in-one-dimension a network with one hidden layer needs
    $2^k - 1$ units for it.

    Not checked: that shallow networks that are not exponentially wide stay away from it in $L^1$.
    """
    net, places = witness(times, x), torch.arange(2**times + 1) * x.new_ones(())
    wave = networks.PiecewiseLinear(places / 2**times, places % 2)
    return (
        eq(net(x[:, None])[:, 0], wave(x), label="the wave"),
        eq(regions.linear_pieces(regions.region_arrays(net, 0, 1)), 2**times, label="the pieces"),
        eq(max(net.widths), 2, label="the width"),
    )
