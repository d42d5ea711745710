"""Cor. 1 and Prop. 5/11 of `rank` with two hidden layers: their depths without a logarithm."""

import torch

from rankcheck import construction, eq, paper
from rankcheck.claims.tolerances import network_scale
from rankcheck.instances.networks import STEEPEST
from rankcheck.instances.points import box
from rankcheck.instances.source import Source, instances
from rankcheck.networks.bounds import interval_bounds
from rankcheck.witnesses.identity_layers import identity_layers, translate
from rankcheck.witnesses.leaky_representation import leaky_representation
from rankcheck.witnesses.maxima_by_pairs import maximum_by_pairs
from rankcheck.witnesses.piecewise_linear import MaxForm, Maximum, binary_tree, max_network


def two_layers(pieces: int) -> Maximum:
    """The maximum of at most six numbers in two hidden layers, or one, times a whole number."""
    if pieces <= 4:
        return binary_tree(pieces)
    identity = maximum_by_pairs(pieces)
    return Maximum(identity.network().weights, identity.denominator)


def minimum(pieces: int) -> Maximum:
    """The minimum: the signs of the first and the last matrix are changed."""
    first, *middle, last = two_layers(pieces).matrices
    return Maximum((-first, *middle, -last), two_layers(pieces).times)


def a_unit_less(pieces: int) -> Maximum:
    """Without the first unit of the last hidden layer."""
    *rest, last = two_layers(pieces).matrices
    return Maximum((*rest, torch.cat((0 * last[:, :1], last[:, 1:]), -1)), two_layers(pieces).times)


def max_form(source: Source, n: int, outputs: int, pieces: int) -> MaxForm:
    """Σ_j s_j max of affine functions of n variables, s_j = ±1 for each output."""
    terms = source.integer(1, 2)
    gradients = source.tensor(terms, pieces, n, low=-4.0, high=4.0)
    offsets = source.tensor(terms, pieces, low=-4.0, high=4.0)
    signs = torch.tensor(
        [[source.choice((1.0, -1.0)) for _ in range(terms)] for _ in range(outputs)],
        dtype=torch.float64,
    )
    return MaxForm(gradients, offsets, gradients.new_ones((*source.batch, outputs, terms)) * signs)


@instances
def functions(source: Source, *, most: int = 4):
    """A function of at most 4 variables, layers beyond the least depth, a slope, and a point."""
    n = source.integer(1, most)
    form = max_form(source, n, source.integer(1, 2), n + 1)
    slope = source.tensor(low=-STEEPEST, high=STEEPEST)
    return form, source.integer(0, 3), slope, source.tensor(n)


@instances
def more_pieces(source: Source):
    """The same with maxima of 3 to 5 functions of one variable, which take a layer more."""
    form = max_form(source, 1, 1, source.integer(3, 5))
    slope = source.tensor(low=-STEEPEST, high=STEEPEST)
    return form, source.integer(0, 3), slope, source.tensor(1)


@instances
def integer_functions(source: Source):
    """A function of at most 5 variables with whole coefficients, further layers, a whole point."""
    form, extra, _, x = functions(most=5)(source)
    return MaxForm(form.gradients.round(), form.offsets.round(), form.signs), extra, x.round()


@construction(
    "rank.piecewise-linear-depth-three",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Theorem 8"),
    instances=functions(),
    needs={"at most n + 1 functions in a maximum": more_pieces()},
    mutants={
        "a tree of maxima of two": {"maximum": binary_tree},
        "minima for maxima": {"maximum": minimum},
        "a unit less": {"maximum": a_unit_less},
    },
    witness=max_network,
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
    net = max_network(form, len(largest.matrices) + extra, maximum=largest)
    leaky = leaky_representation(net, slope)
    f = form(x)
    return (
        eq(net.depth, min(n + 1, 3) + extra, label="the depth"),
        eq(net(x), f, scale=network_scale(net, x), label="the function"),
        eq(leaky(x), f, scale=network_scale(leaky, x), label="the function, leaky"),
    )


@construction(
    "rank.piecewise-linear-depth-three-on-integers",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Theorem 8"),
    instances=integer_functions(),
    mutants={
        "minima for maxima": {"maximum": minimum},
        "a unit less": {"maximum": a_unit_less},
    },
    witness=max_network,
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
    whole = MaxForm(form.gradients, form.offsets, largest.times * form.signs)
    net = max_network(whole, len(largest.matrices) + extra, maximum=largest)
    return eq(net(x), whole(x), terms=0)


@instances
def compositions(source: Source):
    """g of d ≤ 4 and h of k ≤ 4 variables, a slope, a box with data, and two numbers of layers."""
    d, k = source.integer(1, 4), source.integer(1, 4)
    g, h = max_form(source, d, k, d + 1), max_form(source, k, source.integer(1, 2), k + 1)
    low, high = box(source, d)
    share = source.tensor(source.integer(1, 4), d, low=0.0, high=1.0)
    data = low.unsqueeze(-2) + share * (high - low).unsqueeze(-2)
    slope = source.tensor(low=-STEEPEST, high=STEEPEST)
    return h, g, slope, (low, high), data, (source.integer(0, 4), source.integer(5, 24))


@instances
def data_outside(source: Source):
    """The same with data far outside the box."""
    h, g, slope, (low, high), data, extra = compositions()(source)
    return h, g, slope, (low, high), low.unsqueeze(-2) + 64 * (data + 1 - low.unsqueeze(-2)), extra


def not_translated(h, g, depth, lower):
    """The network without the shift into the positive orthant."""
    return identity_layers(h, g, depth, torch.zeros_like(lower))


def growing(h, g, depth, lower):
    """The network with weights that grow with the depth."""
    net = identity_layers(h, g, depth, lower)
    return net.with_parameters([w * (1 + depth / 64) for w in net.weights], net.biases)


@construction(
    "rank.true-rank-cost-at-depth-six",
    paper("rankcheck", "docs/proofs/two-hidden-layers.md, Theorem 8"),
    instances=compositions(),
    needs={"the data lie in Ω": data_outside()},
    mutants={
        "trees of maxima of two": {"maximum": binary_tree},
        "no translation": {"witness": not_translated},
        "weights that grow with the depth": {"witness": growing},
    },
    witness=identity_layers,
    effort=0.1,
)
def test_true_rank_cost_at_depth_six(
    h, g, slope, box, data, extra, *, maximum=two_layers, witness=identity_layers
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
    first, last = (
        leaky_representation(
            max_network(form, max(3, len(largest.matrices)), maximum=largest), slope
        )
        for form in (g, h)
        for largest in [maximum(form.gradients.shape[-2])]
    )
    lower, _ = interval_bounds(max_network(g), *box)
    k, least = first.widths[-1], first.depth + last.depth
    constant = sum(net.cost() for net in translate(last, first, lower)) - 6 * k
    relations = [eq(least, 6, label="the least depth")]
    for name, more in zip(("first", "second"), extra, strict=True):
        net = witness(last, first, least + more, lower)
        relations += [
            eq(
                net(data),
                h(g(data)),
                scale=network_scale(net, data),
                label=f"the fit at the {name} depth",
            ),
            eq(net.cost(), k * net.depth + constant, label=f"the cost at the {name} depth"),
        ]
    return tuple(relations)
