"""Cor. 1 of `rank`: every piecewise-linear function is a network, for ReLU and for leaky slopes."""

from functools import partial

import torch

from rankcheck import Erratum, construction, eq, identity, networks, paper, tolerances, witnesses
from rankcheck.instances import Source, instances, max_form, network, slope_in_range


@instances
def slopes_and_points(source: Source):
    """A slope a in (−1, 1) and a point."""
    return slope_in_range(source), source.tensor()


@identity(
    "rank.relu-from-leaky",
    paper("rank", "Cor. 1"),
    instances=slopes_and_points(),
    mutants={"the sign as printed": {"sign": -1}},
    errata=Erratum(
        printed=r"Notice that for any $a \in (-1, 1)$ $\frac{\sigma(x) - a\sigma(-x)}{1 - a^2} = "
        r"\max\{0, x\}$",
        right="The second unit has the factor +a. With −a the sum is $(1 + a^2)/(1 - a^2)$ at $x "
        r"= 1$, or $1/(1 - a^2)$ if $\sigma$ is ReLU; with −a it is the formula for the "
        "activation of slope −a.",
        survives="Corollary 1. With +a, doubling the hidden widths turns a ReLU network into one of "
        "slope a: rank.leaky-representation.",
        weight="misprint",
        place="proof of Cor. 1",
    ),
)
def test_relu_from_leaky(a, x, *, sign=1):
    r"""ReLU is a sum of two leaky units.

    $\max(0, x) = \frac{\sigma_a(x) + a\,\sigma_a(-x)}{1 - a^2}$ for $a \in (-1, 1)$.
    """
    total = networks.leaky(x, a) + sign * a * networks.leaky(-x, a)
    return eq(torch.relu(x), total / (1 - a * a), scale=2 * x.abs() / (1 - a * a))


@instances
def relu_networks(source: Source):
    """A ReLU network, a slope a in (−1, 1), and a point."""
    net = network(source, slopes="relu")
    return net, slope_in_range(source), source.tensor(net.widths[0])


def hidden_doubled(widths):
    """Twice every hidden width."""
    return (widths[0], *(2 * n for n in widths[1:-1]), widths[-1])


@construction(
    "rank.leaky-representation",
    paper("rank", "Cor. 1"),
    instances=relu_networks(),
    mutants={
        "the sign as printed": {"witness": partial(witnesses.leaky_representation, sign=-1)},
        "the outputs doubled too": {"doubled": lambda n: (n[0], *(2 * m for m in n[1:]))},
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


def functions(source: Source, times: int = 1) -> witnesses.MaxForm:
    """A function of up to four variables, of `times` n + 1 pieces in a maximum."""
    n, terms, outputs = source.integer(1, 4), source.integer(1, 4), source.integer(1, 2)
    return max_form(source, n, outputs=outputs, terms=terms, pieces=times * (n + 1))


@instances
def piecewise_linear_functions(source: Source):
    """A function of n variables, layers beyond the least depth, a slope, and a point."""
    form = functions(source)
    x = source.tensor(form.gradients.shape[-1])
    return form, source.integer(0, 3), slope_in_range(source), x


@instances
def twice_as_many_pieces(source: Source):
    """The same with maxima of 2n + 2 affine functions, in a network that needs one layer more."""
    form = functions(source, times=2)
    return form, 0, slope_in_range(source), source.tensor(form.gradients.shape[-1])


@instances
def integer_functions(source: Source):
    """The same with integer coefficients and points and a dyadic slope: nothing is rounded."""
    form, extra, _, x = piecewise_linear_functions()(source)
    whole = witnesses.MaxForm(form.gradients.round(), form.offsets.round(), form.signs)
    return whole, extra, source.choice((0.0, 0.5, -0.5)), x.round()


def minima(form, depth=None):
    """The tree that takes minima."""
    negative = witnesses.MaxForm(-form.gradients, -form.offsets, -form.signs)
    return witnesses.max_network(negative, depth)


def one_layer_more(form, depth=None):
    """A network with a layer too many."""
    net = witnesses.max_network(form)
    return witnesses.deepen(net, net.depth + 1 if depth is None else depth)


@construction(
    "rank.piecewise-linear-depth",
    paper("rank", "Cor. 1"),
    instances=piecewise_linear_functions(),
    needs={"at most n + 1 functions in a maximum": twice_as_many_pieces()},
    mutants={
        "minima for maxima": {"witness": minima},
        "a layer more than stated": {"witness": one_layer_more},
    },
    witness=witnesses.max_network,
)
def test_piecewise_linear_depth(form, extra, slope, x, *, witness=witnesses.max_network):
    r"""A piecewise-linear function of n variables as a network of depth ⌈log2(n+1)⌉ + 1.

    $f = \sum_j s_j \max_{i \in S_j} \ell_i$ with $|S_j| \le n + 1$ affine functions of $n$ variables
    and $s_j = \pm 1$ is a ReLU network of depth $\lceil \log_2(n+1) \rceil + 1$, and one of every larger
    depth; with twice the hidden units, also a network of any slope $a \in (-1, 1)$.

    Not checked: that every function with finitely many linear pieces has this form (Wang & Sun
    2005), and whether less depth would do.
    """
    net = witness(form)
    n = form.gradients.shape[-1]
    deeper = witness(form, net.depth + extra)
    leaky = witnesses.leaky_representation(deeper, slope)
    f = form(x)
    return (
        eq(net.depth, n.bit_length() + 1, label="the least depth"),
        eq(deeper.depth, net.depth + extra, label="a larger depth"),
        eq(net(x), f, scale=tolerances.network_scale(net, x), label="the function"),
        eq(deeper(x), f, scale=tolerances.network_scale(deeper, x), label="the function, deeper"),
        eq(leaky(x), f, scale=tolerances.network_scale(leaky, x), label="the function, leaky"),
    )


@construction(
    "rank.piecewise-linear-on-integers",
    paper("rank", "Cor. 1"),
    instances=integer_functions(),
    mutants={"minima for maxima": {"witness": minima}},
    witness=witnesses.max_network,
)
def test_piecewise_linear_on_integers(form, extra, slope, x, *, witness=witnesses.max_network):
    r"""On integers the network of maxima equals its function to the last bit.

    With integer coefficients the ReLU network of $f = \sum_j s_j \max_i \ell_i$ equals $f$ at every
    integer point *in floating point*, at every depth, because its weights behind the first layer are
    0, ±1 and ±2. Checked without a tolerance.
    """
    net = witness(form, witness(form).depth + extra)
    return eq(net(x), form(x), terms=0)
