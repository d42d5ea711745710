"""Rueß et al.: the maximum of six, eight, nine and ten numbers takes two hidden layers, as a mean of
maxima of two sums of maxima of pairs. The identities for eight, nine and ten were found here."""

from fractions import Fraction
from functools import cache
from math import comb

import numpy as np
import torch

from rankcheck import construction, eq, paper, tolerances, witnesses
from rankcheck.instances import Source, instances

from ._maxima import sorted_numbers, with_coefficients, without_a_unit

SIX, EIGHT, NINE, TEN = map(witnesses.maximum_by_pairs, (6, 8, 9, 10))


@instances
def six_numbers(source: Source):
    """Any six numbers."""
    return source.tensor(6)


SIX_NETWORK = SIX.network()
#: 17/8 and −5/8 for 2 and −1/2: right wherever all six numbers are equal.
OTHERS = with_coefficients(SIX, {0: "17/8", 1: "-5/8"})
#: m_03 + m_35 for m_03 + m_45 in the second mean.
OTHER_PAIR = witnesses.MaxIdentity(
    6, (witnesses.MaxTerm(2, [(0, 1), (0, 2)], [(0, 3), (3, 5)]), *SIX.terms[1:])
)


@construction(
    "field.max-of-six",
    paper("ruess2026", "the certificate for six numbers, version 1, page 10"),
    instances=six_numbers(),
    mutants={
        "a unit of the second layer less": {"net": without_a_unit(SIX, 2, 50)},
        "the sum of the numbers not handed on below zero": {"net": without_a_unit(SIX, 2, -1)},
        "other coefficients": {"net": OTHERS.network()},
    },
    witness=witnesses.MaxIdentity.network,
)
def test_max_of_six(x, *, net=SIX_NETWORK):
    r"""The maximum of six numbers by two hidden layers.

    One ReLU network of two hidden layers, 6 → 32 → 499 → 1, without biases and with integer
    weights, has the value $180 \max(x_0, \dots, x_5)$ at every $x \in \mathbb R^6$. So by Wang and Sun
    every continuous function of five variables with finitely many linear pieces needs at most two
    hidden layers. A tree of pairs takes three.

    Compared at any numbers, and at whole ones without a tolerance. The network computes the identity
    of field.max-of-six-by-pairs. The proof is in docs/proofs/maxima-by-pairs.md.
    """
    whole, scale = torch.round(x), tolerances.network_scale(net, x)
    return (
        eq(net(x), 180 * x.amax(), scale=scale, label="the network"),
        eq(net(whole), 180 * whole.amax(), terms=0, label="whole numbers"),
        eq(net.depth - 1, 2, label="the hidden layers"),
    )


@construction(
    "field.max-of-six-by-pairs",
    paper("ruess2026", "the certificate for six numbers, version 1, page 10"),
    instances=sorted_numbers(n=6),
    mutants={
        "other coefficients": {"identity": OTHERS},
        "a pair of the second mean changed": {"identity": OTHER_PAIR},
    },
    witness=witnesses.MaxIdentity,
    effort=0.3,
)
def test_max_of_six_by_pairs(x, *, identity=SIX):
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
    return eq(identity(x), whole * x[-1], scale=40 * whole * (x[-1] - x[0]))


def coefficients_moved(identity: witnesses.MaxIdentity) -> witnesses.MaxIdentity:
    """1/48 of a pair from the last mean to the first: right where all numbers are equal."""
    terms, moved = identity.terms, {0: Fraction(1, 48), len(identity.terms) - 1: Fraction(-1, 48)}
    changed = {i: terms[i].coefficient + c / len(terms[i].left) for i, c in moved.items()}
    return with_coefficients(identity, changed)


def other_pair(term: witnesses.MaxTerm, coefficient: Fraction | int) -> witnesses.MaxTerm:
    """A mean with its first pair changed."""
    return witnesses.MaxTerm(coefficient, [(0, 2), *term.left[1:]], term.right)


def pair_changed(identity: witnesses.MaxIdentity) -> witnesses.MaxIdentity:
    """The first mean once with its first pair changed."""
    first = identity.terms[0]
    less = with_coefficients(identity, {0: first.coefficient - 1})
    return witnesses.MaxIdentity(identity.n, (*less.terms, other_pair(first, 1)))


#: Two means of which the one minus the other is kinks alone: they are equal where k numbers are 1 and
#: the others 0.
KINKS = (
    witnesses.MaxTerm(1, [(0, 1), (0, 1)], [(0, 2), (1, 2)]),
    witnesses.MaxTerm(-1, [(0, 1), (0, 1)], [(1, 2), (1, 3)]),
)


def with_kinks(identity: witnesses.MaxIdentity) -> witnesses.MaxIdentity:
    """A function that bends, and is the maximum where the numbers are 0 and 1."""
    return witnesses.MaxIdentity(identity.n, (*identity.terms, *KINKS))


@cache
def form_of(identity: witnesses.MaxIdentity):
    """Its normal form, by counting."""
    return witnesses.mean_form(identity.n, *identity.terms)


def is_the_largest(x, identity):
    """At sorted numbers the mean is the last of them; no kink is left, and all sets are pairs."""
    form = form_of(identity)
    scale = 40 * form.denominator * (x[-1] - x[0])
    return (
        eq(form(x), form.denominator * x[-1], scale=scale, label="the identity"),
        eq(len(form.kinks), 0, label="the kinks that are left"),
        eq(identity.rank, 2, label="maxima of pairs"),
    )


@construction(
    "field.max-of-eight-by-pairs",
    paper("ruess2026", "two hidden layers for n <= 10, as recalled"),
    instances=sorted_numbers(n=8),
    mutants={
        "two coefficients changed": {"identity": coefficients_moved(EIGHT)},
        "a pair changed": {"identity": pair_changed(EIGHT)},
        "with kinks": {"identity": with_kinks(EIGHT)},
    },
    witness=witnesses.MaxIdentity,
    effort=0.2,
)
def test_max_of_eight_by_pairs(x, *, identity=EIGHT):
    r"""The maximum of eight numbers is a mean of maxima of two sums of maxima of pairs.

    $\max(x_0, \dots, x_7)$ is the mean, over all permutations, of a combination of 29 maxima of two
    sums of at most three maxima of pairs. So it needs at most two hidden layers, and by Wang and Sun
    every continuous function of seven variables with finitely many linear pieces does. The statement
    is due to Rueß et al. and, independently, to Wang and Basu (arXiv:2608.25221), with identities of
    their own.

    An instance is $x_0 \le \dots \le x_7$, and a mean over all permutations does not change with the
    order. There it is a linear function plus kinks $[\langle p, y \rangle]_+$ in
    $y_k = x_k - x_{k-1}$, which are counted over sets of numbers, in integers: all of them cancel, and
    the linear function is the last number. So this is decided for all x. The linear function, and what
    is left of the kinks in controls, is compared at x as well.
    """
    return is_the_largest(x, identity)


@construction(
    "field.max-of-nine-by-pairs",
    paper("ruess2026", "two hidden layers for n <= 10, as recalled"),
    instances=sorted_numbers(n=9),
    mutants={
        "two coefficients changed": {"identity": coefficients_moved(NINE)},
        "a pair changed": {"identity": pair_changed(NINE)},
        "with kinks": {"identity": with_kinks(NINE)},
    },
    witness=witnesses.MaxIdentity,
    effort=0.2,
)
def test_max_of_nine_by_pairs(x, *, identity=NINE):
    r"""The maximum of nine numbers is a mean of maxima of two sums of maxima of pairs.

    $\max(x_0, \dots, x_8)$ is the mean, over all permutations, of a combination of 366 maxima of two
    sums of at most four maxima of at most two numbers. It follows from that of ten numbers
    (field.max-of-ten-by-pairs) with one of them repeated; this one has far fewer units. The
    statement is due to Rueß et al., with an identity of their own.

    An instance is $x_0 \le \dots \le x_8$; as in field.max-of-eight-by-pairs, the kinks are counted over
    sets and cancel.
    """
    return is_the_largest(x, identity)


@construction(
    "field.max-of-ten-by-pairs",
    paper("ruess2026", "two hidden layers for n <= 10, as recalled"),
    instances=sorted_numbers(n=10),
    mutants={
        "two coefficients changed": {"identity": coefficients_moved(TEN)},
        "a pair changed": {"identity": pair_changed(TEN)},
        "with kinks": {"identity": with_kinks(TEN)},
    },
    witness=witnesses.MaxIdentity,
    effort=0.2,
)
def test_max_of_ten_by_pairs(x, *, identity=TEN):
    r"""The maximum of ten numbers is a mean of maxima of two sums of maxima of pairs.

    $\max(x_0, \dots, x_9)$ is the mean, over all permutations, of a combination of 366 maxima of two
    sums of at most four maxima of pairs. So it needs at most two hidden layers, and by Wang and Sun
    every continuous function of nine variables with finitely many linear pieces does. Both are due to
    Rueß et al., with an identity of their own.

    An instance is $x_0 \le \dots \le x_9$; as in field.max-of-eight-by-pairs, the kinks are counted over
    sets, and all 10 204 cancel. The network has 286 953 126 units, and is not built.
    """
    return is_the_largest(x, identity)


@instances
def sets_by_size(source: Source):
    """n = 4, 6, 8 or 10 numbers, and how many of them are 1, the others 0."""
    n = source.choice((4, 6, 8, 10))
    return n, source.integer(1, n)


def with_maxima(n: int):
    """The coefficient of the maximum of n numbers larger by one."""
    means, maxima = witnesses.means_without_kinks(n)
    return means, {**maxima, n: maxima[n] + 1}


def with_kinks_beside(n: int):
    """Two means more, which are equal where k numbers are 1 and the others 0."""
    means, maxima = witnesses.means_without_kinks(n)
    return (*means, *KINKS), maxima


def with_other_pair(n: int):
    """The first pair of the first mean changed."""
    (first, *means), maxima = witnesses.means_without_kinks(n)
    return (other_pair(first, first.coefficient), *means), maxima


@cache
def sums_by_size(n: int, means):
    """The sum of a combination of |F − G| over all sets of k positions, k = 0, ..., n."""
    sides = ([witnesses.values_on_sets(n, side) for side in (t.left, t.right)] for t in means)
    values = sum(int(t.coefficient) * abs(F - G) for t, (F, G) in zip(means, sides, strict=True))
    sizes = np.bitwise_count(np.arange(1 << n))
    return [int(np.sum(values * (sizes == k))) for k in range(n + 1)]


@construction(
    "field.means-without-kinks",
    paper("rankcheck", "docs/proofs/maxima-by-pairs.md, Lemma 3"),
    instances=sets_by_size(),
    mutants={
        "the coefficient of the maximum changed": {"combination": with_maxima},
        "a pair changed": {"combination": with_other_pair},
        "with kinks": {"combination": with_kinks_beside},
    },
    witness=witnesses.MaxIdentity,
)
def test_means_without_kinks(n, k, *, combination=witnesses.means_without_kinks):
    r"""Means of $|F - G|$ whose kinks cancel, and the maxima that they are.

    With sums F, G of equally many maxima of pairs of n numbers, and $M_m$ the mean of the maxima of m
    of the n numbers, there are combinations of means of $|F - G|$ over all permutations, of 1, 3, 25 and
    337 terms for n = 4, 6, 8 and 10, that are
    $$2 (M_4 - M_2), \quad 4 (M_6 - 2 M_4 + M_2), \quad 12 (5 M_8 - 12 M_6 + 9 M_4 - 2 M_2), \quad
    24 (7 M_{10} - 20 M_8 + 20 M_6 - 8 M_4 + M_2).$$

    An instance is n and k, and there are 28. That all kinks cancel is counted for n. So both sides are
    linear where the numbers are sorted, and equal if they are where k numbers are 1 and the others 0:
    the sums over all such sets are compared, in integers.
    """
    means, maxima = combination(n)
    expected = sum(a * (comb(n, k) - comb(n - m, k)) for m, a in maxima.items())
    return (
        eq(sums_by_size(n, means)[k], expected, terms=0, label="k numbers are 1"),
        eq(len(form_of(witnesses.MaxIdentity(n, means)).kinks), 0, label="the kinks that are left"),
    )
