"""Rueß et al.: the maximum of six numbers takes two hidden layers."""

import torch

from rankcheck import construction, eq, paper, tolerances, witnesses
from rankcheck.instances import Source, instances

from ._maxima import sorted_numbers, without_a_unit

MAX_OF_SIX = witnesses.maximum_by_pairs(6)


@instances
def six_numbers(source: Source):
    """Any six numbers."""
    return source.tensor(6)


def other_coefficients() -> witnesses.MaxIdentity:
    """17/8 and −5/8 for 2 and −1/2: right wherever all six numbers are equal."""
    second, third, last, first = MAX_OF_SIX.terms
    return witnesses.MaxIdentity(
        6,
        (
            first,
            witnesses.MaxTerm("17/8", second.left, second.right),
            witnesses.MaxTerm("-5/8", third.left, third.right),
            last,
        ),
    )


def other_pairs() -> witnesses.MaxIdentity:
    """m_03 + m_35 for m_03 + m_45 in the second mean."""
    changed = witnesses.MaxTerm(2, [(0, 1), (0, 2)], [(0, 3), (3, 5)])
    return witnesses.MaxIdentity(6, (changed, *MAX_OF_SIX.terms[1:]))


SIX = MAX_OF_SIX.network()


@construction(
    "field.max-of-six",
    paper("ruess2026", "the certificate for six numbers, version 1, page 10"),
    instances=six_numbers(),
    mutants={
        "a unit of the second layer less": {"net": without_a_unit(SIX, 2, 50)},
        "the sum of the numbers not handed on below zero": {"net": without_a_unit(SIX, 2, -1)},
        "other coefficients": {"net": other_coefficients().network()},
    },
    witness=witnesses.MaxIdentity.network,
)
def test_max_of_six(x, *, net=SIX):
    r"""The maximum of six numbers by two hidden layers.

    One ReLU network of two hidden layers, 6 → 32 → 499 → 1, without biases and with integer
    weights, has the value $180 \max(x_0, \dots, x_5)$ at every $x \in \mathbb R^6$. So by Wang and Sun
    every continuous function of five variables with finitely many linear pieces needs at most two
    hidden layers. A tree of pairs takes three.

    Compared at any numbers, and at whole ones without a tolerance. The network computes the identity
    of field.max-of-six-by-pairs. The proof is in docs/proofs/maxima-by-pairs.md.
    """
    whole = torch.round(x)
    return (
        eq(
            net(x),
            180 * x.amax(-1, keepdim=True),
            scale=tolerances.network_scale(net, x),
            label="the network",
        ),
        eq(net(whole), 180 * whole.amax(-1, keepdim=True), terms=0, label="whole numbers"),
        eq(net.depth - 1, 2, label="the hidden layers"),
    )


@construction(
    "field.max-of-six-by-pairs",
    paper("ruess2026", "the certificate for six numbers, version 1, page 10"),
    instances=sorted_numbers(n=6),
    mutants={
        "other coefficients": {"identity": other_coefficients()},
        "a pair of the second mean changed": {"identity": other_pairs()},
    },
    witness=witnesses.MaxIdentity,
    effort=0.3,
)
def test_max_of_six_by_pairs(x, *, identity=MAX_OF_SIX):
    r"""The maximum of six numbers is a mean of maxima of two sums of maxima of pairs.

    With $m_{ij} = \max(x_i, x_j)$, for all $x \in \mathbb R^6$, $\max(x_0, \dots, x_5)$ is the mean
    over all permutations of the six numbers of
    $$2 \max(m_{01}, m_{23}) + 2 \max(m_{01} + m_{02}, m_{03} + m_{45})
    - \tfrac12 \max(m_{01} + m_{02}, m_{34} + m_{35}) - 2 \max(m_{01} + m_{23}, m_{02} + m_{45}).$$

    An instance is $x_0 \le \dots \le x_5$, and every such x is
    $x_0 + (1 + t^2)(0, g_1, g_1 + g_2, \dots)$ with $0 \le g_i \le 1$, as the generator draws it. A mean
    over all permutations does not change with the order, so a proof for these is one for all points.
    The 495 maxima of the mean are evaluated one by one, and multiplied by 180, so that all
    coefficients are whole. The identity is that of the paper, term by term. Which kinks cancel is in
    docs/proofs/maxima-by-pairs.md.
    """
    whole = identity.denominator
    spread = x[..., -1] - x[..., 0]  # where it is small beside x, nothing cancels
    return eq(identity(x), whole * x[..., -1], scale=40 * whole * spread)
