"""Normal forms of combinations of maxima on the cones of orders."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import torch

from rankcheck.balls import balls
from rankcheck.witnesses import (
    MAX_OF_SEVEN,
    MaxIdentity,
    MaxSum,
    MaxTerm,
    form_on_order,
    is_linear_on_orders,
    is_maximum,
    maximum_by_pairs,
    mean_form,
    values_on_sets,
)

BENT = MaxTerm("1/3", [(0, 1), (0, 2)], [(0, 3), (1, 2)])
UNEQUAL = MaxTerm("-2/5", [(0, 1), (2,)], [(3,)])
STRAIGHT = MaxTerm(2, [(0, 1)], [(2, 3)])
TERMS = [BENT, UNEQUAL, STRAIGHT]
BY_PAIRS = [maximum_by_pairs(n) for n in (6, 7, 8)]


def value(term, x):
    """By numpy; x has positions first."""
    sides = [sum(np.max(x[list(s)], axis=0) for s in side) for side in (term.left, term.right)]
    return term.coefficient.numerator * np.maximum(*sides) / term.coefficient.denominator


def evaluate(form, y):
    total = sum(float(a) * y[k] for k, a in enumerate(form.linear))
    return total + sum(float(c) * np.maximum(0, np.array(p) @ y) for p, c in form.kinks.items())


def cone(order, seed=0):
    """Coordinates y (n, N) and points x (n, N) of the cone of an order."""
    rng = np.random.default_rng(seed)
    y = rng.exponential(size=(len(order), 500))
    y[0] = rng.normal(size=500)
    x = np.empty_like(y)
    x[list(order)] = np.cumsum(y, axis=0)
    return y, x


@pytest.mark.oracle("rankcheck.witnesses.values_on_sets", "numpy.max")
def test_values_on_sets():
    side = [(0, 2), (1,), (1,), (2, 3)]
    values = values_on_sets(4, side)
    for S in range(16):
        x = np.array([S >> i & 1 for i in range(4)])
        assert values[S] == sum(np.max(x[list(s)]) for s in side)


@pytest.mark.oracle("rankcheck.witnesses.form_on_order", "numpy.max at points of the cone")
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 0, 2), (2, 3, 1, 0)])
def test_the_form_on_an_order(order):
    y, x = cone(order)
    for terms in (*([term] for term in TERMS), TERMS):
        form = form_on_order(terms, order)
        expected = sum(value(term, x) for term in terms)
        np.testing.assert_allclose(evaluate(form, y), expected, atol=1e-12)


@pytest.mark.oracle("rankcheck.witnesses.mean_form", "the mean over itertools.permutations")
@pytest.mark.parametrize("term", TERMS)
def test_the_form_of_a_mean(term):
    y, x = cone(range(4))
    expected = np.mean([value(term, x[list(p)]) for p in itertools.permutations(range(4))], axis=0)
    np.testing.assert_allclose(evaluate(mean_form(4, term), y), expected, atol=1e-12)


def test_kinks_are_primitive_and_meet_the_cone():
    """2 m_01 − 2 m_23 and its half have the same kink; a sign that never changes has none."""
    half = mean_form(5, MaxTerm(1, [(0, 1), (2, 3)], [(0, 2), (1, 4)]))
    double = mean_form(5, MaxTerm(1, [(0, 1), (2, 3)] * 2, [(0, 2), (1, 4)] * 2))
    assert half.kinks
    assert {p: 2 * c for p, c in half.kinks.items()} == double.kinks
    assert all(max(p) > 0 > min(p) and np.gcd.reduce(p) == 1 for p in half.kinks)
    assert not mean_form(4, STRAIGHT).kinks


def test_numbers_below_zero_bend_where_sides_have_different_sizes():
    """max(x_0 + x_1, x_2) bends at x_0 = 0, where x_0 is the least: not inside a cone of gaps."""
    form = form_on_order([MaxTerm(1, [(0,), (1,)], [(2,)])], (0, 1, 2))
    assert form.kinks == {(1, 0, -1): Fraction(1)}


@pytest.mark.oracle("rankcheck.witnesses.is_maximum", "numpy.max at random points")
@pytest.mark.parametrize("factor", [1, Fraction(99, 100)])
@pytest.mark.parametrize("identity", [maximum_by_pairs(5), MAX_OF_SEVEN], ids=["mean", "sum"])
def test_what_is_the_maximum(identity, factor):
    first, *rest = identity.terms
    changed = MaxTerm(first.coefficient * factor, first.left, first.right)
    identity = type(identity)(identity.n, (changed, *rest))
    x = np.random.default_rng(1).normal(size=(identity.n, 200))
    total = sum(value(term, x) for term in identity.expanded)
    assert is_maximum(identity) == np.allclose(total, np.max(x, axis=0))
    assert is_maximum(identity) == (factor == 1)


def test_kinks_of_a_sum_are_seen():
    """Right at the indicators of all sets, and not the maximum: it bends inside of cones."""
    bent = MaxTerm("1/2", [(0,), (3,)], [(1,), (2,)])
    edges = [MaxTerm("-1/2", [s], [s]) for s in ((0, 1), (0, 2), (1, 3), (2, 3))]
    threes = [MaxTerm("1/2", [s], [s]) for s in itertools.combinations(range(4), 3)]
    total = MaxSum(4, (bent, *edges, *threes))
    indicators = np.array([*itertools.product([0, 1], repeat=4)]).T
    assert (sum(value(term, indicators) for term in total.terms) == indicators.max(0)).all()
    assert not is_maximum(total)
    tree = MaxTerm(1, [(0, 1)], [(2, 3)])
    assert is_maximum(MaxSum(4, (tree, bent, MaxTerm("-1/2", bent.left, bent.right))))


@pytest.mark.oracle("rankcheck.witnesses.is_linear_on_orders", "numpy.max at sums of points")
@pytest.mark.parametrize("term", TERMS)
def test_what_is_linear_on_orders(term):
    """f(x + z) = f(x) + f(z) for points of one cone."""
    additive = []
    for order in itertools.permutations(range(4)):
        (_, x), (_, z) = cone(order), cone(order, seed=1)
        additive.append(np.allclose(value(term, x + z), value(term, x) + value(term, z)))
    assert is_linear_on_orders(4, term) == all(additive) == (term is STRAIGHT)


def test_values_of_a_mean_at_sorted_numbers():
    """Of several terms at once, in floats and exactly on balls of whole numbers."""
    terms = (BENT, UNEQUAL, STRAIGHT, MaxTerm("2/7", [(0,)], [(1, 2)]))
    form = mean_form(4, *terms)
    _, x = cone(range(4))
    for points in (x, np.round(x).astype(int)):
        orders = [points[list(p)] for p in itertools.permutations(range(4))]
        expected = np.mean([sum(value(term, one) for term in terms) for one in orders], axis=0)
        values = form(torch.tensor(points.T, dtype=torch.float64))
        np.testing.assert_allclose(values / form.denominator, expected, atol=1e-12)
    at_balls = form(balls(torch.tensor(points.T, dtype=torch.float64)))
    assert at_balls.elements.tolist() == [int(v) for v in values.round().tolist()]


def drawn_terms(n):
    """Sums of up to four maxima of up to three numbers."""
    rng = np.random.default_rng(n)
    for _ in range(8):
        left, right = (
            [rng.permutation(n)[: rng.integers(1, 4)].tolist() for _ in range(rng.integers(1, 5))]
            for _ in range(2)
        )
        yield MaxTerm(Fraction(int(rng.integers(1, 9)), 7), left, right)


def permuted(term, order):
    """The term with position order[i] in place of i."""
    sides = ([[order[i] for i in s] for s in side] for side in (term.left, term.right))
    return MaxTerm(term.coefficient, *sides)


@pytest.mark.oracle("rankcheck.witnesses.mean_form", "form_on_order, one order after another")
@pytest.mark.parametrize("n", [1, 2, 5, 6])
def test_counts_over_sets_are_those_over_orders(n):
    for term in drawn_terms(n):
        orders = [*itertools.permutations(range(n))]
        total = form_on_order([permuted(term, order) for order in orders], range(n))
        mean = mean_form(n, term)
        assert [a * len(orders) for a in mean.linear] == list(total.linear)
        assert {p: c * len(orders) for p, c in mean.kinks.items()} == total.kinks


def test_counts_of_many_different_values():
    """Vectors that do not fit into one number: at whole numbers, over all 40 320 permutations."""
    term = MaxTerm(1, [(0, 1)] * 250, [(2, 3)] * 157 + [(4,)] * 93)
    form = mean_form(8, term)
    y = np.random.default_rng(0).integers(0, 99, 8)
    orders = np.cumsum(y)[np.array([*itertools.permutations(range(8))])]
    expected = np.maximum(
        250 * orders[:, :2].max(1), 157 * orders[:, 2:4].max(1) + 93 * orders[:, 4]
    ).sum()
    linear = sum(a * int(k) for a, k in zip(form.linear, y, strict=True))
    kinks = sum(c * max(0, int(np.array(p) @ y)) for p, c in form.kinks.items())
    assert linear + kinks == Fraction(int(expected), len(orders))


@pytest.mark.parametrize("identity", BY_PAIRS, ids=["six", "seven", "eight"])
def test_two_hidden_layers_are_enough(identity):
    """Six to eight numbers by pairs: proved, and counted in all orders of whole ones."""
    assert identity.rank == 2
    assert all(len(term.left) == len(term.right) for term in identity.terms)
    assert is_maximum(identity)
    x = np.random.default_rng(2).integers(-9, 10, identity.n)
    orders = [x[list(p)] for p in itertools.permutations(range(identity.n))]
    columns = np.array(orders).T
    common = math.lcm(*(term.coefficient.denominator for term in identity.terms))
    total = sum(
        int(common * t.coefficient)
        * np.maximum(*(sum(columns[list(s)].max(0) for s in side) for side in (t.left, t.right)))
        for t in identity.terms
    ).sum()
    assert total == common * math.factorial(identity.n) * x.max()


@pytest.mark.parametrize("identity", BY_PAIRS, ids=["six", "seven", "eight"])
def test_every_mean_is_needed(identity):
    for place in range(0, len(identity.terms), 1 if identity.n < 8 else 12):
        terms = identity.terms[:place] + identity.terms[place + 1 :]
        assert not is_maximum(MaxIdentity(identity.n, terms))


def test_huge_coefficients_are_not_rounded_or_wrapped():
    """2^64 x_0 beside the maximum, of which the factor of the indicators wraps to zero."""
    maximum = MaxTerm(1, [(0, 1, 2)], [(0, 1, 2)])
    assert is_maximum(MaxSum(3, (maximum,)))
    assert not is_maximum(MaxSum(3, (maximum, MaxTerm(2**62, [(0,)] * 4, [(0,)] * 4))))
    far = MaxTerm(10**30, [(0, 1)], [(0, 2)])
    assert is_maximum(MaxSum(3, (maximum, far, MaxTerm(-(10**30), far.left, far.right))))


def test_sums_of_many_maxima():
    """max(40000 x_0, x_1) on x_0 ≤ x_1 bends at 39999 y_0 = y_1."""
    form = form_on_order([MaxTerm(1, [(0,)] * 40_000, [(1,)])], (0, 1))
    assert form.kinks == {(39_999, -1): Fraction(1)}


def test_bad_input():
    with pytest.raises(ValueError, match=r"received the positions \(0, 4\) and n = 4"):
        values_on_sets(4, [(0, 4)])
    with pytest.raises(ValueError, match=r"received the positions \(2, 3\) and n = 3"):
        mean_form(3, STRAIGHT)
    with pytest.raises(ValueError, match="received n = 2 and differences up to 40000"):
        mean_form(2, MaxTerm(1, [(0,)] * 40_000, [(1,)]))
    with pytest.raises(ValueError, match=r"received the order \(0, 0, 1, 2\)"):
        form_on_order([STRAIGHT], (0, 0, 1, 2))


def test_a_mean_that_is_not_the_maximum():
    assert not is_maximum(MaxIdentity(4, (BENT,)))


@pytest.mark.parametrize("identity", BY_PAIRS, ids=lambda identity: str(identity.n))
def test_means_are_the_maximum_at_whole_numbers(identity):
    """Term by term and permutation by permutation, in integers: no normal form."""
    n, scale = identity.n, math.lcm(*(t.coefficient.denominator for t in identity.terms))
    orders = np.array([*itertools.permutations(range(n))])
    rng = np.random.default_rng(n)
    points = [rng.integers(-50, 51, n), rng.integers(-1, 2, n), 2 ** rng.permutation(n)]
    for x in points:
        total = 0
        for term in identity.terms:
            F, G = (
                sum(x[orders[:, list(s)]].max(1) for s in side) for side in (term.left, term.right)
            )
            total += int(term.coefficient * scale) * int(np.maximum(F, G).sum())
        assert total == scale * math.factorial(n) * int(x.max())
