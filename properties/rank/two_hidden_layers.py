"""Cor. 1 and Prop. 5/11 of `rank`, and both with two hidden layers in place of a logarithm."""

import torch

from rankcheck import Erratum, construction, eq, linalg, networks, paper, tolerances, witnesses
from rankcheck.instances import (
    Source,
    box,
    factorisation,
    instances,
    max_form,
    points_in,
    slope_in_range,
)


def two_layers(pieces: int) -> witnesses.Maximum:
    """The maximum of at most six numbers in two hidden layers, or one, times a whole number."""
    if pieces <= 4:
        return witnesses.binary_tree(pieces)
    identity = witnesses.maximum_by_pairs(pieces)
    return witnesses.Maximum(identity.network().weights, identity.denominator)


def minimum(pieces: int) -> witnesses.Maximum:
    """The minimum: the signs of the first and the last matrix are changed."""
    first, *middle, last = two_layers(pieces).matrices
    return witnesses.Maximum((-first, *middle, -last), two_layers(pieces).times)


def a_unit_less(pieces: int) -> witnesses.Maximum:
    """Without the first unit of the last hidden layer."""
    *rest, last = two_layers(pieces).matrices
    last = torch.cat((0 * last[:, :1], last[:, 1:]), -1)
    return witnesses.Maximum((*rest, last), two_layers(pieces).times)


@instances
def functions(source: Source, *, most: int = 4):
    """A function of at most 4 variables, layers beyond the least depth, a slope, and a point."""
    n = source.integer(1, most)
    outputs, terms = source.integer(1, 2), source.integer(1, 2)
    form = max_form(source, n, outputs=outputs, terms=terms, pieces=n + 1)
    slope = slope_in_range(source)
    return form, source.integer(0, 3), slope, source.tensor(n)


@instances
def more_pieces(source: Source):
    """The same with maxima of 3 to 5 functions of one variable, which take a layer more."""
    pieces, terms = source.integer(3, 5), source.integer(1, 2)
    form = max_form(source, 1, terms=terms, pieces=pieces)
    slope = slope_in_range(source)
    return form, source.integer(0, 3), slope, source.tensor(1)


@instances
def integer_functions(source: Source):
    """A function of at most 5 variables with whole coefficients, further layers, a whole point."""
    form, extra, _, x = functions(most=5)(source)
    whole = witnesses.MaxForm(form.gradients.round(), form.offsets.round(), form.signs)
    return whole, extra, x.round()


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
    mutants={"minima for maxima": {"maximum": minimum}, "a unit less": {"maximum": a_unit_less}},
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


@instances
def data_of_true_rank(source: Source):
    """f* = h ∘ g through R^k, N data points in a box, a ridge λ and two depths."""
    h, g = factorisation(source)
    low, high = box(source, g.widths[0])
    lower, _ = networks.interval_bounds(g, low, high)
    data = points_in(source, low, high, source.integer(1, 6))
    least = h.depth + g.depth
    depths = (least + source.integer(0, 8), least + source.integer(0, 30))
    return h, g, lower, data, source.tensor(low=0.125, high=2.0), depths


@instances
def data_below_the_bound(source: Source):
    """The same with a lower bound of 1 or more, which g need not reach at the data."""
    h, g, lower, data, ridge, depths = data_of_true_rank()(source)
    below = torch.relu(g(data).amin(0)) + 1
    return h, g, torch.maximum(lower, below), data, ridge, (depths[0] + 1, depths[1] + 1)


def by_depth(h, g, depth, lower):
    """The network with weights that grow with the depth, so that its constant depends on it."""
    net = witnesses.identity_layers(h, g, depth, lower)
    return net.with_parameters([w * (1 + depth / 64) for w in net.weights], net.biases)


@construction(
    "rank.true-rank-cost",
    paper("rank", "Prop. 5/11"),
    instances=data_of_true_rank(),
    needs={"g is at least its lower bound at the data": data_below_the_bound()},
    mutants={"weights that grow with the depth": {"witness": by_depth}},
    witness=witnesses.identity_layers,
    errata=Erratum(
        printed=r"networks of depth $\lceil \log_2 d_{in} + 1 \rceil + 1$ (resp. $\lceil \log_2 k "
        r"+ 1 \rceil + 1$) […] using Corollary 1",
        right=r"$\lceil \log_2(d_{in} + 1) \rceil + 1$ and $\lceil \log_2(k + 1) \rceil + 1$, as "
        "in Corollary 1.",
        survives="Prop. 11, also with the printed depths: they are at least those of the corollary, which has "
        "a network of every larger depth.",
        weight="misprint",
        place="proof of Prop. 11",
    ),
)
def test_true_rank_cost(h, g, lower, data, ridge, depths, *, witness=witnesses.identity_layers):
    r"""Any number of data of a function of rank k are fitted at cost k + C/L per layer.

    The network of rank.identity-layers for $f^* = h \circ g$ fits every data set $(x_i, f^*(x_i))$
    exactly, so its loss with ridge $\lambda$ is
    $\frac1N \sum_i \|f(x_i) - y_i\|^2 + \frac{\lambda}{L} \|\theta\|^2 = \lambda (k + C/L)$, with the
    same $C$ at every depth and for every data set.
    """
    h_moved, g_moved = witnesses.translate(h, g, lower)
    k, targets = g.widths[-1], h(g(data))
    constant = h_moved.cost() + g_moved.cost() - (h.depth + g.depth) * k
    relations = []
    for name, depth in zip(("first", "second"), depths, strict=True):
        net = witness(h, g, depth, lower)
        errors, scale = net(data) - targets, tolerances.network_scale(net, data)
        loss = linalg.frobenius_squared(errors) / len(data) + ridge * net.cost() / depth
        rounding = linalg.frobenius_squared(scale) / len(data) * 2.0**-50
        size = ridge * (net.cost() / depth + k) + rounding
        stated = ridge * (k + constant / depth)
        relations += [
            eq(errors, 0, scale=scale, label=f"the fit at the {name} depth"),
            eq(loss, stated, scale=size, label=f"the loss at the {name} depth"),
        ]
    return tuple(relations)


@instances
def compositions(source: Source):
    """g of d ≤ 4 and h of k ≤ 4 variables, a slope, a box with data, and two numbers of layers."""
    d, k = source.integer(1, 4), source.integer(1, 4)
    g = max_form(source, d, outputs=k, terms=source.integer(1, 2), pieces=d + 1)
    outputs, terms = source.integer(1, 2), source.integer(1, 2)
    h = max_form(source, k, outputs=outputs, terms=terms, pieces=k + 1)
    low, high = box(source, d)
    data = points_in(source, low, high, source.integer(1, 4))
    slope = slope_in_range(source)
    return h, g, slope, (low, high), data, (source.integer(0, 4), source.integer(5, 24))


@instances
def data_outside(source: Source):
    """The same with data far outside the box."""
    h, g, slope, (low, high), data, extra = compositions()(source)
    return h, g, slope, (low, high), low + 64 * (data + 1 - low), extra


def not_translated(h, g, depth, lower):
    """The network without the shift into the positive orthant."""
    return witnesses.identity_layers(h, g, depth, 0 * lower)


@construction(
    "rank.true-rank-cost-at-depth-six",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Theorem 8"),
    instances=compositions(),
    needs={"the data lie in Ω": data_outside()},
    mutants={
        "trees of maxima of two": {"maximum": witnesses.binary_tree},
        "no translation": {"witness": not_translated},
        "weights that grow with the depth": {"witness": by_depth},
    },
    witness=witnesses.identity_layers,
    effort=0.1,
)
def test_true_rank_cost_at_depth_six(
    h, g, slope, box, data, extra, *, maximum=two_layers, witness=witnesses.identity_layers
):
    r"""Data of a function of rank k are fitted at every depth from 6 on, at cost k + C/L per layer.

    Let $f^* = h \circ g$ through $\mathbb R^k$, with $g$ of $d$ variables and $h$ of $k$ as in
    rank.piecewise-linear-depth-three, and $\Omega$ a box. Both are networks of depth three and of any slope
    $a \in (-1, 1)$, so with identity layers in between $f^*$ is on $\Omega$ a network of every depth
    $L \ge 6$ with $\|\theta\|^2 / L = k + C/L$, where $C$ depends neither on $L$ nor on the data. This
    is Prop. 5/11 of `rank`; its proof takes
    $L > \lceil \log_2(d+1) \rceil + \lceil \log_2(k+1) \rceil + 2$.

    Checked for $d \le 4$ and $k \le 4$, at two depths. For all $d$ and $k$ it rests on the page. So
    does this: $f^*$ itself is a network of depths 3, 4 and 5, so that with a larger $C$ the proposition
    holds from $L = 3$ on.
    """

    def of_depth_three(form):
        """The function as a network of the slope."""
        largest = maximum(form.gradients.shape[-2])
        net = witnesses.max_network(form, max(3, len(largest.matrices)), maximum=largest)
        return witnesses.leaky_representation(net, slope)

    first, last, values = of_depth_three(g), of_depth_three(h), h(g(data))
    lower, _ = networks.interval_bounds(witnesses.max_network(g), *box)
    k, least = first.widths[-1], first.depth + last.depth
    constant = sum(net.cost() for net in witnesses.translate(last, first, lower)) - 6 * k
    relations = [eq(least, 6, label="the least depth")]
    for name, more in zip(("first", "second"), extra, strict=True):
        net = witness(last, first, least + more, lower)
        scale = tolerances.network_scale(net, data)
        relations += [
            eq(net(data), values, scale=scale, label=f"the fit at the {name} depth"),
            eq(net.cost(), k * net.depth + constant, label=f"the cost at the {name} depth"),
        ]
    return tuple(relations)
