"""Bakaev, Brunck, Hertrich, Stade and Yehudayoff: the maximum of five numbers takes two hidden
layers."""

import torch

from rankcheck import construction, eq, paper, tolerances, witnesses
from rankcheck.instances import Source, instances

from ._maxima import sorted_numbers, without_a_unit

MAX_OF_FIVE = witnesses.maximum_by_pairs(5)


@instances
def five_numbers(source: Source):
    """Any five numbers."""
    return source.tensor(5)


def other_coefficients() -> witnesses.MaxIdentity:
    """1/4 for 1/2 and 1/2 for 1/4: right wherever all five numbers are equal."""
    first, second, third, last = MAX_OF_FIVE.terms
    return witnesses.MaxIdentity(
        5,
        (
            first,
            witnesses.MaxTerm(third.coefficient, second.left, second.right),
            witnesses.MaxTerm(second.coefficient, third.left, third.right),
            last,
        ),
    )


FIVE = MAX_OF_FIVE.network()
MUTANTS = {
    "a unit of the first layer less": {"net": without_a_unit(FIVE, 1, 3)},
    "a unit of the second layer less": {"net": without_a_unit(FIVE, 2, 50)},
    "two coefficients exchanged": {"net": other_coefficients().network()},
    "the sum of the numbers not handed on below zero": {"net": without_a_unit(FIVE, 2, -1)},
}


@construction(
    "field.max-of-five",
    paper("bakaev2025", "the maximum of five numbers, as recalled"),
    instances=sorted_numbers(n=5),
    mutants=MUTANTS,
    witness=witnesses.MaxIdentity,
    effort=0.3,
)
def test_max_of_five(x, *, net=FIVE):
    r"""The maximum of five numbers by two hidden layers: at every point of $\mathbb R^5$.

    One ReLU network of two hidden layers, 5 → 22 → 109 → 1, without biases and with integer
    weights, has the value $60 \max(x_1, \dots, x_5)$. Pairs in a tree take three hidden layers.

    An instance is $x_1 \le \dots \le x_5$, and the network is evaluated at x in all 120 orders. Every
    point of $\mathbb R^5$ is such an x in one of the orders, and every such x is
    $x_1 + (1 + t^2)(0, g_1, g_1 + g_2, \dots)$ with $0 \le g_i \le 1$, as the generator draws it. So a
    proof for all instances is one for all points. Not checked: that the network is the one of the
    paper. The coefficients were found again, by linear algebra.
    """
    orders = x[..., witnesses.all_permutations(5)]
    values = net(orders.reshape((-1, 5))).reshape(orders.shape[:-1])
    spread = x[..., -1:] - x[..., :1]  # where it is small beside x, nothing cancels
    return (
        eq(values, 60 * x[..., -1:], scale=600 * spread, label="the network"),
        eq(net.depth - 1, 2, label="the hidden layers"),
    )


@construction(
    "field.max-of-five-by-pairs",
    paper("bakaev2025", "the maximum of five numbers, as recalled"),
    instances=five_numbers(),
    mutants={"two coefficients exchanged": {"identity": other_coefficients()}},
    witness=witnesses.MaxIdentity,
)
def test_max_of_five_by_pairs(x, *, identity=MAX_OF_FIVE):
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
    points = x.reshape((-1, 5))
    values = net(points).reshape(x.shape[:-1])
    scale = tolerances.network_scale(net, points).reshape(x.shape[:-1])
    return (
        eq(identity(x), 60 * x.amax(-1), scale=scale, label="the identity"),
        eq(identity(whole), 60 * whole.amax(-1), terms=0, label="whole numbers"),
        eq(values, identity(x), scale=scale, label="the network"),
    )
