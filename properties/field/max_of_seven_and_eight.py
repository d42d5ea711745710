"""Beside Bakaev, Brunck, Hertrich, Stade and Yehudayoff: the maximum of seven and of eight numbers
takes two hidden layers as well."""

from fractions import Fraction
from functools import cache

from rankcheck import construction, eq, paper
from rankcheck.witnesses.max_of_eight_by_pairs import MAX_OF_EIGHT_BY_PAIRS
from rankcheck.witnesses.max_of_seven_by_pairs import MAX_OF_SEVEN_BY_PAIRS
from rankcheck.witnesses.maxima import MaxIdentity, MaxTerm
from rankcheck.witnesses.maxima_on_orders import sorted_mean

from ._maxima import sorted_numbers


def changed(identity: MaxIdentity, place: int, change: Fraction) -> MaxIdentity:
    """A coefficient larger by ``change``, and the first smaller: right where all numbers are equal."""
    terms = list(identity.terms)
    for k, c in ((place, change), (0, -change)):
        terms[k] = MaxTerm(terms[k].coefficient + c, terms[k].left, terms[k].right)
    return MaxIdentity(identity.n, tuple(terms))


mean_of = cache(sorted_mean)


def is_the_largest(x, identity):
    """The mean at sorted numbers is the last of them, and all sets are pairs."""
    mean = mean_of(identity)
    spread = x[..., -1] - x[..., 0]  # where it is small beside x, nothing cancels
    return (
        eq(mean(x), mean.scale * x[..., -1], scale=40 * mean.scale * spread, label="the identity"),
        eq(identity.rank, 2, label="maxima of pairs"),
    )


@construction(
    "field.max-of-seven-by-pairs",
    paper("rankcheck", "docs/proofs/maxima-by-pairs.md, Theorem 2"),
    instances=sorted_numbers(n=7),
    mutants={
        "a coefficient changed": {"identity": changed(MAX_OF_SEVEN_BY_PAIRS, -1, Fraction(1, 48))},
        "another coefficient changed": {
            "identity": changed(MAX_OF_SEVEN_BY_PAIRS, 9, Fraction(1, 144))
        },
    },
    witness=MaxIdentity,
    effort=0.2,
)
def test_max_of_seven_by_pairs(x, *, identity=MAX_OF_SEVEN_BY_PAIRS):
    r"""The maximum of seven numbers is a mean of maxima of two sums of maxima of pairs.

    $\max(x_0, \dots, x_6)$ is the mean, over all permutations, of a combination of 24 maxima of two
    sums of three maxima of at most two numbers. So it takes two hidden layers, and by Wang and Sun
    every continuous function of six variables with finitely many linear pieces does. The bound
    $\lceil \log_3(n - 2) \rceil + 1$ of Bakaev et al., as recalled, is three for seven numbers; this is
    one less, and we know of no source for it.

    An instance is $x_0 \le \dots \le x_6$, and every such x is
    $x_0 + (1 + t^2)(0, g_1, g_1 + g_2, \dots)$ with $0 \le g_i \le 1$, as the generator draws it. A mean
    over all permutations does not change with the order, so a proof for these is one for all points.
    Its maxima at sorted numbers are 267 after those are left out that cancel. The network has 44743
    hidden units, and is not evaluated here.
    """
    return is_the_largest(x, identity)


@construction(
    "field.max-of-eight-by-pairs",
    paper("rankcheck", "docs/proofs/maxima-by-pairs.md, Theorem 2"),
    instances=sorted_numbers(n=8),
    mutants={
        "a coefficient changed": {"identity": changed(MAX_OF_EIGHT_BY_PAIRS, -1, Fraction(1, 48))},
        "another coefficient changed": {
            "identity": changed(MAX_OF_EIGHT_BY_PAIRS, 9, Fraction(1, 144))
        },
    },
    witness=MaxIdentity,
    effort=0.2,
)
def test_max_of_eight_by_pairs(x, *, identity=MAX_OF_EIGHT_BY_PAIRS):
    r"""The maximum of eight numbers is a mean of maxima of two sums of maxima of pairs.

    $\max(x_0, \dots, x_7)$ is the mean, over all permutations, of a combination of 36 maxima of two
    sums of at most three maxima of pairs. So it takes two hidden layers, and by Wang and Sun every
    continuous function of seven variables with finitely many linear pieces does. The bound
    $\lceil \log_3(n - 2) \rceil + 1$ of Bakaev et al., as recalled, is three for eight numbers; this is
    one less, and we know of no source for it.

    An instance is $x_0 \le \dots \le x_7$, as in field.max-of-seven-by-pairs.
    """
    return is_the_largest(x, identity)
