"""Maxima in few layers: of five and of n numbers, and piecewise linear functions (Bakaev, Brunck,
Hertrich, Stade, Yehudayoff); of seven numbers by maxima of three and of two (Grillo, Hertrich, Loho)."""

from functools import cache

import torch

from rankcheck import cited, construction, eq, leq, paper, tolerances, witnesses
from rankcheck.instances import Source, instances, max_form

from ._maxima import sorted_numbers, with_coefficients, without_a_unit

FIVE = witnesses.maximum_by_pairs(5)
FIVE_NETWORK = FIVE.network()
#: 1/4 for 1/2 and 1/2 for 1/4: right wherever all five numbers are equal.
EXCHANGED = with_coefficients(FIVE, {1: "1/4", 2: "1/2"})
#: The numbers of numbers, with those where the depth is less than that of a tree of pairs.
NUMBERS = (4, 5, 6, 7, 8, 9, 10, 11, 17, 20, 21, 25, 29)


@instances
def five_numbers(source: Source):
    """Any five numbers."""
    return source.tensor(5)


@construction(
    "field.max-of-five",
    paper("bakaev2025", "the maximum of five numbers, as recalled"),
    instances=sorted_numbers(n=5),
    mutants={
        "a unit of the first layer less": {"net": without_a_unit(FIVE, 1, 3)},
        "a unit of the second layer less": {"net": without_a_unit(FIVE, 2, 50)},
        "two coefficients exchanged": {"net": EXCHANGED.network()},
        "the sum of the numbers not handed on below zero": {"net": without_a_unit(FIVE, 2, -1)},
    },
    witness=witnesses.MaxIdentity,
    effort=0.3,
)
def test_max_of_five(x, *, net=FIVE_NETWORK):
    r"""The maximum of five numbers by two hidden layers: at every point of $\mathbb R^5$.

    One ReLU network of two hidden layers, 5 → 22 → 109 → 1, without biases and with integer
    weights, has the value $60 \max(x_1, \dots, x_5)$. Pairs in a tree take three hidden layers.

    An instance is $x_1 \le \dots \le x_5$, and the network is evaluated at x in all 120 orders. Every
    point of $\mathbb R^5$ is such an x in one of the orders, and every such x is
    $x_1 + (1 + t^2)(0, g_1, g_1 + g_2, \dots)$ with $0 \le g_i \le 1$, as the generator draws it. So a
    proof for all instances is one for all points. Not checked: that the network is the one of the
    paper. The coefficients were found again, by linear algebra.
    """
    values = net(x[witnesses.all_permutations(5)])
    spread = x[-1] - x[0]  # where it is small beside x, nothing cancels
    return (
        eq(values, 60 * x[-1], scale=600 * spread, label="the network"),
        eq(net.depth - 1, 2, label="the hidden layers"),
    )


@construction(
    "field.max-of-five-by-pairs",
    paper("bakaev2025", "the maximum of five numbers, as recalled"),
    instances=five_numbers(),
    mutants={"two coefficients exchanged": {"identity": EXCHANGED}},
    witness=witnesses.MaxIdentity,
)
def test_max_of_five_by_pairs(x, *, identity=FIVE):
    r"""The maximum of five numbers is a mean of maxima of two sums of maxima of pairs.

    With $m_{ij} = \max(x_i, x_j)$, for all $x \in \mathbb R^5$, $\max(x_0, \dots, x_4)$ is the mean
    over all permutations of the five numbers of
    $$\tfrac32 \max(m_{01}, m_{23}) + \tfrac12 \max(m_{01} + m_{02}, m_{03} + m_{04})
    + \tfrac14 \max(m_{01} + m_{23}, m_{02} + m_{13}) - \max(m_{01} + m_{23}, m_{02} + m_{14}).$$

    60 times both sides are compared, in which every coefficient is whole: at any numbers, and at
    whole ones without a tolerance. That the network of field.max-of-five has this value is compared,
    too.
    """
    net, whole = identity.network(), torch.round(x)
    scale = tolerances.network_scale(net, x)[0]
    return (
        eq(identity(x), 60 * x.amax(), scale=scale, label="the identity"),
        eq(identity(whole), 60 * whole.amax(), terms=0, label="whole numbers"),
        eq(net(x)[0], identity(x), scale=scale, label="the network"),
    )


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
    form = witnesses.MaxForm(gradients, offsets, gradients.new_ones(1, 1))
    return form, source.tensor(n)


def minimum_of(n: int) -> witnesses.Maximum:
    """The network of the minimum: the same with the signs of its first and last matrix changed."""
    first, *middle, last = witnesses.maximum_of(n).matrices
    return witnesses.Maximum((-first, *middle, -last), witnesses.maximum_of(n).times)


def one_unit_less(n: int) -> witnesses.Maximum:
    """The network without the first unit of its last hidden layer."""
    *rest, last = witnesses.maximum_of(n).matrices
    fewer = torch.cat((0 * last[:, :1], last[:, 1:]), 1)
    return witnesses.Maximum((*rest, fewer), witnesses.maximum_of(n).times)


@construction(
    "field.max-in-printed-depth",
    paper("bakaev2025", "the maximum of n numbers, as recalled"),
    instances=numbers(),
    mutants={
        "a tree of pairs": {"witness": witnesses.binary_tree},
        "the minimum": {"witness": minimum_of},
        "a unit less": {"witness": one_unit_less},
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
    n, maximum = len(x), witness(len(x))
    net, layers = maximum.network(), maximum.hidden_layers
    scale = tolerances.network_scale(net, x)
    return (
        eq(net(x), maximum.times * x.amax(), scale=scale, label="the network"),
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
    net, n = witness(form), len(x)
    layers = net.depth - 1
    return (
        eq(net(x), form(x), scale=tolerances.network_scale(net, x), label="the function"),
        eq(layers, witnesses.least_hidden_layers(n + 1), label="the hidden layers"),
        leq(n - 1, 3 ** (layers - 1), label="the logarithm, from above"),
        leq(3 ** (layers - 2) + 1, n - 1, label="the logarithm, from below"),
    )


@cited(
    "field.width-of-the-maximum",
    paper("safran2026", "main result, from the abstract"),
    reason="no constants at hand: the width is given up to a factor, and it is about every network of "
    "that width; rank.piecewise-linear-depth has a depth that is enough",
)
def test_width_of_the_maximum():
    r"""The maximum of d numbers needs more than linear width at small depth.

    As recalled: a ReLU network of depth $k$, $3 \le k \le \log_2 \log_2 d$, that equals
    $\max(x_1, \dots, x_d)$ everywhere has width at least $c_k\, d^{1 + 1/(2^{k-2} - 1)}$, with a constant
    $c_k > 0$ that is not given here. The proof finds cliques in a graph on the inputs that the
    first layer defines.
    """


@instances
def seven_numbers(source: Source):
    """Any seven numbers."""
    return source.tensor(7)


@instances
def sets_of_positions(source: Source):
    """A set of seven positions: 1 for each that is in it, 0 for the others."""
    return tuple(source.integer(0, 1) for _ in range(7))


@cache
def differences(identity):
    """F − G of each of its maxima of two at the indicators of all sets: (terms, 128)."""
    sides = [[witnesses.values_on_sets(7, s) for s in (t.left, t.right)] for t in identity.expanded]
    return torch.tensor([(F - G).tolist() for F, G in sides])


BENT, *REST = witnesses.MAX_OF_SEVEN.terms
#: m_04 for m_014.
PAIR = [(0, 4) if s == (0, 1, 4) else s for s in BENT.left]
CHANGED = witnesses.MaxTerm("2/5", BENT.left, BENT.right)
SHORTER = witnesses.MaxTerm(BENT.coefficient, PAIR, BENT.right)
MUTANTS = {
    "2/5 for the first coefficient": {"identity": witnesses.MaxSum(7, (CHANGED, *REST))},
    "a maximum of two for one of three": {"identity": witnesses.MaxSum(7, (SHORTER, *REST))},
    "a term less": {"identity": witnesses.MaxSum(7, (BENT, *REST[:-2], REST[-1]))},
}


@construction(
    "field.max-of-seven",
    paper("grillo2025", "a rank-3 maxout layer and a rank-2 maxout layer, as recalled"),
    instances=seven_numbers(),
    mutants=MUTANTS,
    witness=witnesses.MaxSum,
)
def test_max_of_seven(x, *, identity=witnesses.MAX_OF_SEVEN):
    r"""The maximum of seven numbers by maxima of three and maxima of two sums of those.

    With $m_S = \max_{i \in S} x_i$, $C = \{0, 1, 2, 3\}$,
    $F = \sum_{i<4} m_{i45} + m_{036} + m_{126}$ and
    $G = m_{014} + m_{234} + m_{035} + m_{125} + 2 m_{45}$, for all $x \in \mathbb R^7$
    $$2 \max(x_0, \dots, x_6) = \max(F, G) - \sum_{i<4} m_{i45} - m_{0356} - m_{1256}
    - \sum_{i<4} m_{C \setminus i \cup 46} + \sum_{i<4} m_{C \setminus i \cup 456} + 2 m_{C46}.$$
    A maximum of four to six numbers is one of two maxima of at most three, so this is a maxout layer
    of rank 3, of 19 maxima, and one of rank 2, of 13. A tree of maxima of three and of two stops at six
    numbers.

    Compared at any numbers, and at whole ones without a tolerance; field.max-of-seven-on-sets proves
    it. Not checked: that the network is the one of the paper. It was found again, by integer
    programming (examples/max_identities.py).
    """
    whole, scale = torch.round(x), 40 * x.abs().amax()
    return (
        eq(identity(x), 2 * x.amax(), scale=scale, label="the identity"),
        eq(identity(whole), 2 * whole.amax(), terms=0, label="whole numbers"),
        eq(identity.rank, 3, label="maxima of three"),
    )


@construction(
    "field.max-of-seven-on-sets",
    paper("grillo2025", "functions on the braid fan, as recalled"),
    instances=sets_of_positions(),
    mutants=MUTANTS,
    witness=witnesses.MaxSum,
)
def test_max_of_seven_on_sets(*indicator, identity=witnesses.MAX_OF_SEVEN):
    r"""Why it is the maximum of seven numbers: one set of positions at a time.

    For a set T of positions: the identity holds at the indicator of T, and in each of its 13 maxima
    of two the difference $F - G$ has no opposite signs at the indicators of T and of a subset of T,
    and is zero at $(1, \dots, 1)$.

    There are 128 such sets, and for all of them this proves field.max-of-seven at every
    $x \in \mathbb R^7$: x is a combination of $\pm(1, \dots, 1)$ and of indicators of nested sets,
    with factors $\ge 0$; all $m_S$ are linear on the cone of such combinations, and so is
    $\max(F, G)$ where $F - G$ has one sign on its generators.
    """
    chosen = sum(1 << i for i, k in enumerate(indicator) if k)
    subsets = [S for S in range(128) if S & chosen == S]
    x = torch.tensor([float(k) for k in indicator], dtype=torch.float64)
    difference = differences(identity)
    return (
        eq(identity(x), 2 * x.amax(), terms=0, label="the identity on sets"),
        leq(0, difference[:, subsets] * difference[:, [chosen]], label="one sign on nested sets"),
        eq(difference[:, -1], 0, label="equal numbers"),
    )
