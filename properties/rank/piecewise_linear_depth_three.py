"""Cor. 1 of `rank` with two hidden layers: its depth without a logarithm."""

import torch

from rankcheck import construction, eq, paper, tolerances, witnesses
from rankcheck.instances import STEEPEST, Source, instances, max_form

from ._two_layers import two_layers


def minimum(pieces: int) -> witnesses.Maximum:
    """The minimum: the signs of the first and the last matrix are changed."""
    first, *middle, last = two_layers(pieces).matrices
    return witnesses.Maximum((-first, *middle, -last), two_layers(pieces).times)


def a_unit_less(pieces: int) -> witnesses.Maximum:
    """Without the first unit of the last hidden layer."""
    *rest, last = two_layers(pieces).matrices
    return witnesses.Maximum(
        (*rest, torch.cat((0 * last[:, :1], last[:, 1:]), -1)), two_layers(pieces).times
    )


@instances
def functions(source: Source, *, most: int = 4):
    """A function of at most 4 variables, layers beyond the least depth, a slope, and a point."""
    n = source.integer(1, most)
    outputs, terms = source.integer(1, 2), source.integer(1, 2)
    form = max_form(source, n, outputs=outputs, terms=terms, pieces=n + 1)
    slope = source.tensor(low=-STEEPEST, high=STEEPEST)
    return form, source.integer(0, 3), slope, source.tensor(n)


@instances
def more_pieces(source: Source):
    """The same with maxima of 3 to 5 functions of one variable, which take a layer more."""
    pieces, terms = source.integer(3, 5), source.integer(1, 2)
    form = max_form(source, 1, terms=terms, pieces=pieces)
    slope = source.tensor(low=-STEEPEST, high=STEEPEST)
    return form, source.integer(0, 3), slope, source.tensor(1)


@instances
def integer_functions(source: Source):
    """A function of at most 5 variables with whole coefficients, further layers, a whole point."""
    form, extra, _, x = functions(most=5)(source)
    return (
        witnesses.MaxForm(form.gradients.round(), form.offsets.round(), form.signs),
        extra,
        x.round(),
    )


@construction(
    "rank.piecewise-linear-depth-three",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Theorem 8"),
    instances=functions(),
    needs={"at most n + 1 functions in a maximum": more_pieces()},
    mutants={
        "a tree of maxima of two": {"maximum": witnesses.binary_tree},
        "minima for maxima": {"maximum": minimum},
        "a unit less": {"maximum": a_unit_less},
    },
    witness=witnesses.max_network,
    effort=0.2,
)
def test_piecewise_linear_depth_three(form, extra, slope, x, *, maximum=two_layers):
    r"""A piecewise-linear function of n variables as a network of depth three.

    $f = \sum_j s_j \max_{i \in S_j} \ell_i$ with $|S_j| \le n + 1$ affine functions of $n$ variables
    and $s_j = \pm 1$ is a ReLU network of depth 3, one of depth 2 if $n = 1$, and one of every larger
    depth; with twice the hidden units, also a network of any slope $a \in (-1, 1)$. Cor. 1 of `rank`
    has depth $\lceil \log_2(n+1) \rceil + 1$, which is the same for $n \le 3$ and more from $n = 4$ on.

    Checked for $n \le 4$, with the network of field.max-of-five, and without a slope for $n = 5$ in
    rank.piecewise-linear-depth-three-on-integers. For every $n$ it rests on the page, which gives no
    network. Less would not do for $n \ge 2$: $\max(0, x_1, x_2)$ is no network of depth two (Mukherjee
    & Basu 2017). That every function with finitely many linear pieces has this form is due to Wang &
    Sun (2005). Neither of the two is checked.
    """
    n, pieces = form.gradients.shape[-1], form.gradients.shape[-2]
    largest = maximum(pieces)
    net = witnesses.max_network(form, len(largest.matrices) + extra, maximum=largest)
    leaky = witnesses.leaky_representation(net, slope)
    f = form(x)
    return (
        eq(net.depth, min(n + 1, 3) + extra, label="the depth"),
        eq(net(x), f, scale=tolerances.network_scale(net, x), label="the function"),
        eq(leaky(x), f, scale=tolerances.network_scale(leaky, x), label="the function, leaky"),
    )


@construction(
    "rank.piecewise-linear-depth-three-on-integers",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Theorem 8"),
    instances=integer_functions(),
    mutants={
        "minima for maxima": {"maximum": minimum},
        "a unit less": {"maximum": a_unit_less},
    },
    witness=witnesses.max_network,
    effort=0.3,
)
def test_piecewise_linear_depth_three_on_integers(form, extra, x, *, maximum=two_layers):
    r"""On integers the network of depth three equals 60 or 180 times its function to the last bit.

    With integer coefficients, and $N = 60$ for $n = 4$ variables, 180 for $n = 5$ and 1 for fewer, the
    ReLU network of $N f$, $f = \sum_j s_j \max_i \ell_i$, has integer weights and equals $N f$ at every
    integer point *in floating point*, at every depth. Checked without a tolerance, for $n \le 5$; the
    networks are those of field.max-of-five and field.max-of-six.
    """
    largest = maximum(form.gradients.shape[-2])
    whole = witnesses.MaxForm(form.gradients, form.offsets, largest.times * form.signs)
    net = witnesses.max_network(whole, len(largest.matrices) + extra, maximum=largest)
    return eq(net(x), whole(x), terms=0)
