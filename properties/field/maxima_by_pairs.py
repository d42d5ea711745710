"""Rueß et al.: the maximum of eight, nine and ten numbers takes two hidden layers. The identities were
found here."""

from fractions import Fraction
from functools import cache, partial
from math import comb

import numpy as np

from rankcheck import construction, eq, paper, witnesses
from rankcheck.instances import Source, instances

from ._maxima import sorted_numbers

EIGHT, NINE, TEN = map(witnesses.maximum_by_pairs, (8, 9, 10))


def coefficients_moved(identity: witnesses.MaxIdentity) -> witnesses.MaxIdentity:
    """1/48 of a pair from the last mean to the first: right where all numbers are equal."""
    first, *rest, last = identity.terms
    first, last = (
        witnesses.MaxTerm(t.coefficient + c / len(t.left), t.left, t.right)
        for t, c in ((first, Fraction(1, 48)), (last, Fraction(-1, 48)))
    )
    return witnesses.MaxIdentity(identity.n, (first, *rest, last))


def other_pair(term: witnesses.MaxTerm, coefficient: Fraction | int) -> witnesses.MaxTerm:
    """A mean with its first pair changed."""
    return witnesses.MaxTerm(coefficient, [(0, 2), *term.left[1:]], term.right)


def pair_changed(identity: witnesses.MaxIdentity) -> witnesses.MaxIdentity:
    """The first mean once with its first pair changed."""
    first, *rest = identity.terms
    less = witnesses.MaxTerm(first.coefficient - 1, first.left, first.right)
    return witnesses.MaxIdentity(identity.n, (less, other_pair(first, 1), *rest))


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
    spread = x[..., -1] - x[..., 0]  # where it is small beside x, nothing cancels
    scale = 40 * form.denominator * spread
    return (
        eq(form(x), form.denominator * x[..., -1], scale=scale, label="the identity"),
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


def with_maxima(n: int, *, change: int):
    """The coefficient of the maximum of n numbers changed."""
    means, maxima = witnesses.means_without_kinks(n)
    return means, {**maxima, n: maxima[n] + change}


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
    values = sum(
        int(t.coefficient)
        * abs(witnesses.values_on_sets(n, t.left) - witnesses.values_on_sets(n, t.right))
        for t in means
    )
    sizes = np.bitwise_count(np.arange(1 << n))
    return [int(np.sum(values * (sizes == k))) for k in range(n + 1)]


@construction(
    "field.means-without-kinks",
    paper("rankcheck", "docs/proofs/maxima-by-pairs.md, Lemma 3"),
    instances=sets_by_size(),
    mutants={
        "the coefficient of the maximum changed": {"combination": partial(with_maxima, change=1)},
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
