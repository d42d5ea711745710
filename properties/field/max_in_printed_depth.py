"""Bakaev, Brunck, Hertrich, Stade and Yehudayoff: the maximum of n numbers, and every continuous
piecewise linear function of n variables, in about log₃ n hidden layers."""

import torch

from rankcheck import construction, eq, leq, paper, tolerances, witnesses
from rankcheck.instances import Source, instances, max_form

#: The numbers of numbers, with those where the depth is less than that of a tree of pairs.
NUMBERS = (4, 5, 6, 7, 8, 9, 10, 11, 17, 20, 21, 25, 29)


@instances
def numbers(source: Source):
    """4 to 11, or 17, 20, 21, 25 or 29 numbers."""
    return source.tensor(source.choice(NUMBERS, weights=(4, 4, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1)))


@instances
def piecewise_linear_functions(source: Source):
    """Σ_j s_j max of n + 1 affine functions of n = 3, ..., 9 variables, s_j = ±1, and a point."""
    n, terms = source.integer(3, 9), source.integer(1, 3)
    return max_form(source, n, terms=terms, pieces=n + 1), source.tensor(n)


@instances
def twice_as_many_pieces(source: Source):
    """The same with 2n + 2 affine functions of n = 3 or 4 variables, which take a layer more."""
    n = source.integer(3, 4)
    gradients = source.tensor(1, 2 * n + 2, n, low=-4.0, high=4.0)
    offsets = source.tensor(1, 2 * n + 2, low=-4.0, high=4.0)
    return witnesses.MaxForm(
        gradients, offsets, gradients.new_ones((*source.batch, 1, 1))
    ), source.tensor(n)


def minimum_of(n: int) -> witnesses.Maximum:
    """The network of the minimum: the same with the signs of its first and last matrix changed."""
    first, *middle, last = witnesses.maximum_of(n).matrices
    return witnesses.Maximum((-first, *middle, -last), witnesses.maximum_of(n).times)


def without_a_unit(n: int) -> witnesses.Maximum:
    """The network without the first unit of its last hidden layer."""
    *rest, last = witnesses.maximum_of(n).matrices
    return witnesses.Maximum(
        (*rest, torch.cat((0 * last[:, :1], last[:, 1:]), -1)), witnesses.maximum_of(n).times
    )


@construction(
    "field.max-in-printed-depth",
    paper("bakaev2025", "the maximum of n numbers, as recalled"),
    instances=numbers(),
    mutants={
        "a tree of pairs": {"witness": witnesses.binary_tree},
        "the minimum": {"witness": minimum_of},
        "a unit less": {"witness": without_a_unit},
    },
    witness=witnesses.maximum_of,
)
def test_max_in_printed_depth(x, *, witness=witnesses.maximum_of):
    r"""The maximum of n ≥ 4 numbers in ⌈log₃(n − 2)⌉ + 1 hidden layers, for n up to 72.

    A ReLU network of $h = \lceil \log_3(n-2) \rceil + 1$ hidden layers, without biases and with whole
    weights, has the value $60^b 180^c \max(x_1, \dots, x_n)$: levels of maxima of two, then levels of
    maxima of five (field.max-of-five), and of six (field.max-of-six) where fives do not reach. Here
    $3^{h-1} \ge n - 2 > 3^{h-2}$ is compared in integers.

    Checked for $n = 4, \dots, 11$, 17, 20, 21, 25 and 29. The statement is about all $n \ge 4$; maxima
    of two, five and six reach $n \le 72$ in so few layers, and the construction of the paper is not
    made here. So many are not needed: two are enough for every $n$
    (docs/proofs/two-hidden-layers.md), by networks of unknown size.
    """
    n = x.shape[-1]
    maximum = witness(n)
    net, layers = maximum.network(), maximum.hidden_layers
    points = x.reshape((-1, n))
    values, scale = net(points)[..., 0], tolerances.network_scale(net, points)[..., 0]
    return (
        eq(
            values.reshape(x.shape[:-1]),
            maximum.times * x.amax(-1),
            scale=scale.reshape(x.shape[:-1]),
            label="the network",
        ),
        eq(layers, witnesses.least_hidden_layers(n), label="the hidden layers"),
        leq(n - 2, 3 ** (layers - 1), label="the logarithm, from above"),
        leq(3 ** (layers - 2) + 1, n - 2, label="the logarithm, from below"),
    )


def of_maxima(form: witnesses.MaxForm):
    """The network of a function by maxima in few layers."""
    return witnesses.max_network(form, maximum=witnesses.maximum_of(form.offsets.shape[-1]))


def of_minima(form: witnesses.MaxForm):
    """The network with minima for maxima."""
    return witnesses.max_network(form, maximum=minimum_of(form.offsets.shape[-1]))


@construction(
    "field.piecewise-linear-in-printed-depth",
    paper("bakaev2025", "continuous piecewise linear functions, as recalled"),
    instances=piecewise_linear_functions(),
    needs={"at most n + 1 functions in a maximum": twice_as_many_pieces()},
    mutants={
        "a tree of pairs": {"witness": witnesses.max_network},
        "minima for maxima": {"witness": of_minima},
    },
    witness=witnesses.max_network,
)
def test_piecewise_linear_in_printed_depth(form, x, *, witness=of_maxima):
    r"""A piecewise linear function of n variables in ⌈log₃(n − 1)⌉ + 1 hidden layers, 3 ≤ n ≤ 71.

    $f = \sum_j s_j \max_{i \in S_j} \ell_i$ with $|S_j| \le n + 1$ affine functions of $n$ variables
    and $s_j = \pm 1$ is a ReLU network of $\lceil \log_3(n-1) \rceil + 1$ hidden layers: each maximum
    is one of $n + 1$ numbers (field.max-in-printed-depth). A tree of pairs takes
    $\lceil \log_2(n+1) \rceil$ (rank.piecewise-linear-depth), one more for $n = 4$, 8 and 9.

    Checked for $3 \le n \le 9$. Not checked: that every continuous piecewise linear function has this
    form (Wang & Sun 2005). Two hidden layers would do for every n (docs/proofs/two-hidden-layers.md).
    """
    net = witness(form)
    n = form.gradients.shape[-1]
    layers = net.depth - 1
    return (
        eq(net(x), form(x), scale=tolerances.network_scale(net, x), label="the function"),
        eq(layers, witnesses.least_hidden_layers(n + 1), label="the hidden layers"),
        leq(n - 1, 3 ** (layers - 1), label="the logarithm, from above"),
        leq(3 ** (layers - 2) + 1, n - 1, label="the logarithm, from below"),
    )
