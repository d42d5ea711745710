"""The maximum of up to ten numbers: all arrangements of few different numbers, and its networks."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import torch

from rankcheck.networks import Network, balance_neurons
from rankcheck.witnesses import (
    MaxIdentity,
    MaxTerm,
    is_maximum,
    maximum_by_pairs,
    means_without_kinks,
)

#: How often each of the numbers occurs.
REPEATED = [
    (8, (2, 2, 2, 2)),
    (8, (1, 1, 1, 5)),
    (9, (3, 2, 2, 2)),
    (9, (7, 1, 1)),
    (9, (4, 5)),
    (10, (4, 3, 3)),
    (10, (1, 1, 1, 7)),
    (10, (1, 2, 3, 4)),
    (10, (5, 5)),
]


def arrangements(counts):
    """All rows with so many 0s, 1s, ...: (N, n)."""
    rows: list[list[int]] = [[]]
    for _ in range(sum(counts)):
        rows = [[*r, k] for r in rows for k, c in enumerate(counts) if r.count(k) < c]
    return np.array(rows)


@pytest.mark.oracle("rankcheck.witnesses.maximum_by_pairs", "all arrangements of whole numbers")
@pytest.mark.oracle("rankcheck.witnesses.means_without_kinks", "all arrangements of whole numbers")
@pytest.mark.parametrize(("n", "counts"), REPEATED)
def test_means_over_all_arrangements(n, counts):
    """In integers, of the maximum and of the means of |F − G|: no normal form, no sets."""
    rng = np.random.default_rng([n, *counts])
    numbers = rng.choice(np.arange(-999, 1000), len(counts), replace=False)
    x = numbers[arrangements(counts)]
    assert len(x) == math.factorial(n) // math.prod(map(math.factorial, counts))

    pairs = {s: x[:, list(s)].max(1) for k in (1, 2) for s in itertools.combinations(range(n), k)}

    def sides(term):
        return [sum(pairs[s] for s in side) for side in (term.left, term.right)]

    total = sum(t.coefficient * int(np.maximum(*sides(t)).sum()) for t in maximum_by_pairs(n).terms)
    assert total == len(x) * int(numbers.max())
    means, maxima = means_without_kinks(n)
    total = sum(t.coefficient * int(abs(np.subtract(*sides(t))).sum()) for t in means)
    assert total == sum(a * int(x[:, :m].max(1).sum()) for m, a in maxima.items())


@pytest.mark.parametrize("n", range(1, 9))
def test_all_of_them_are_the_maximum(n):
    identity = maximum_by_pairs(n)
    assert identity.n == n
    assert identity.rank == min(n, 2)
    assert max(len(t.left) for t in identity.terms) == max(1, math.ceil(n / 2) - 1)
    assert all(len(t.left) == len(t.right) for t in identity.terms)
    assert is_maximum(identity)


def test_the_coefficients_of_six_numbers():
    """Those that the page proves by hand."""
    found = {(t.left, t.right): t.coefficient for t in maximum_by_pairs(6).terms}
    assert found == {
        (((0, 1),), ((2, 3),)): 2,
        (((0, 1), (0, 2)), ((0, 3), (4, 5))): 2,
        (((0, 1), (0, 2)), ((3, 4), (3, 5))): Fraction(-1, 2),
        (((0, 1), (2, 3)), ((0, 2), (4, 5))): -2,
    }


@pytest.mark.parametrize("n", range(2, 7))
def test_units_are_those_of_the_network(n):
    identity = maximum_by_pairs(n)
    assert identity.network().widths == (n, *identity.hidden_units, 1)


def test_units_of_other_identities():
    """Sets of three, sides that are exchanged by no permutation, and a position in no set."""
    for term in (
        MaxTerm(1, [(0, 1, 2), (3,)], [(0, 3), (1, 2)]),
        MaxTerm(1, [(0, 1), (0, 1)], [(2, 3), (2, 3)]),
        MaxTerm(1, [(0, 2)], [(0, 2)]),
    ):
        identity = MaxIdentity(5, (term,))
        assert identity.hidden_units == (22, len(identity.expanded) + 4)
    assert maximum_by_pairs(10).hidden_units == (92, 286_953_034)


@pytest.mark.parametrize("n", range(3, 6))
def test_the_cost_is_that_of_a_balanced_network(n):
    """All images of all kinks in both signs, weights by least squares; two units see the mean."""
    identity = maximum_by_pairs(n)
    orders = [*itertools.permutations(range(n))]
    pairs = np.array([*itertools.permutations(range(n), 2)])
    place = {tuple(pair): k for k, pair in enumerate(pairs.tolist())}
    moved = np.array([[place[order[i], order[j]] for i, j in pairs] for order in orders])
    x = np.random.default_rng(n).normal(size=(20 * n, n))
    units = np.maximum(x[:, pairs[:, 0]] - x[:, pairs[:, 1]], 0)
    rows, reads, gamma = [np.full((1, len(pairs)), 1 / len(pairs))], [], 0.0
    for term in identity.terms:
        F, G = (sum(x[:, list(s)].max(1) for s in side) for side in (term.left, term.right))
        weights = np.linalg.lstsq(units, F - G)[0]
        images = np.unique(np.concatenate((weights[moved], -weights[moved])).round(9), axis=0)
        rows.append(images)
        reads.append(np.full(len(images), float(term.coefficient) / len(images)))
        gamma += float(term.coefficient) / 2 * sum(len(s) == 2 for s in term.left + term.right)
    one = np.eye(n)
    first = np.vstack((one[pairs[:, 0]] - one[pairs[:, 1]], one.mean(0), -one.mean(0)))
    net = Network.linear(
        (
            torch.tensor(first),
            torch.block_diag(torch.tensor(np.concatenate(rows)), torch.eye(2)),
            torch.tensor(np.concatenate(([gamma], *reads, [1, -1]))[None]),
        )
    )
    torch.testing.assert_close(net(torch.tensor(x))[:, 0], torch.tensor(x.max(1)))
    assert identity.cost == pytest.approx(float(balance_neurons(net).cost()), rel=1e-7)


def test_what_is_too_large_is_refused():
    for n in (0, 11):
        with pytest.raises(ValueError, match=f"received n = {n}; there are identities for"):
            maximum_by_pairs(n)
    with pytest.raises(ValueError, match="received n = 2; there are coefficients for n = 3"):
        means_without_kinks(2)
    with pytest.raises(ValueError, match=r"286953030 images; at most 4194304 are made"):
        maximum_by_pairs(10).network()
    for term in (MaxTerm(1, [(0, 1, 2)], [(0,)]), MaxTerm(1, [(0,), (1,)], [(2,)])):
        with pytest.raises(ValueError, match="the formula is one of pairs"):
            assert MaxIdentity(3, (term,)).cost
