"""What is said of instances: properties that they have, and none that sizes say already."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch

from rankcheck import leq
from rankcheck.balls import BallArray
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.sharpen.run import sharpen
from rankcheck.sharpen.special import MOST, of_parts, sentences, special
from rankcheck.theory.instances.choices import read_choices
from rankcheck.theory.instances.drivers import BatchSource
from rankcheck.theory.instances.matrices import matrix_pairs
from rankcheck.theory.instances.networks import balanced_linear_networks, networks_at_points
from rankcheck.theory.instances.source import instances
from rankcheck.theory.networks.network import Network


def said(**parts) -> list[str]:
    """What is said of parts: lists of numbers, and networks."""
    exact = {
        name: part if isinstance(part, (Network, tuple)) else BallArray.exact(part)
        for name, part in parts.items()
    }
    return list(sentences(of_parts(exact)))


def network(*weights, biases=None):
    made = [BallArray.exact(w) for w in weights]
    if biases is None:
        return Network.linear(made)
    return Network(made, [BallArray.exact(b) for b in biases])


@pytest.mark.parametrize(
    ("A", "expected"),
    [
        ([[0, 0], [0, 0]], ["A is zero"]),
        ([[1, 0], [0, 1]], ["A is the identity"]),
        ([[3, 0], [0, 3]], ["A is a multiple of the identity"]),
        ([[0, 1], [1, 0]], ["A is a permutation matrix"]),
        ([[3, 4], [-4, 3]], ["A is a multiple of an orthogonal matrix"]),
        ([[1, 1, 0], [1, -1, 0]], ["A has equal singular values", "2 of the 6 entries of A are 0"]),
        ([[1, 2, 3], [2, 4, 6]], ["A has rank 1"]),
        ([[1, 0], [0, 2]], ["A is diagonal"]),
        ([[1, 2], [2, 5]], ["A is symmetric"]),
        ([[7, 7], [7, 7]], ["A has rank 1", "A has equal entries", "A is symmetric"]),
        ([[1, 2], [3, 5]], []),
        ([[5]], []),
        ([[1, 2, 4]], []),
    ],
)  # fmt: skip
def test_matrices(A, expected):
    assert said(A=A) == expected


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ([0, 0], ["x is zero"]),
        ([2, 2, 2], ["x has equal entries"]),
        ([2, -2, 2], ["x has entries that are equal up to their signs"]),
        ([0, 3, 0], ["x has one entry that is not 0"]),
        ([0, 3, 1], ["1 of the 3 entries of x is 0"]),
        ([Fraction(3, 5), Fraction(4, 5)], ["x has norm 1"]),
        ([7], []),
    ],
)
def test_vectors(x, expected):
    assert said(x=x) == expected


def test_numbers_that_are_not_rational_are_left_out():
    root = BallArray.exact([2, 2]).sqrt()
    assert said(x=(root,)) == []


def test_two_parts():
    assert said(x=[1, 2], y=[1, 2]) == ["x and y are equal"]
    assert said(x=[1, 2], y=[-1, -2]) == ["x and y are opposite"]
    assert said(x=[1, 2], y=[3, 6]) == ["x and y are proportional"]
    assert said(x=[1, 2], y=[2, -1]) == ["x and y are orthogonal"]
    assert said(A=[[1, 2], [3, 5]], B=[[1, 3], [2, 5]]) == ["B is the transpose of A"]
    assert said(x=[1], y=[3]) == []
    assert said(x=2, y=-2, z=0) == ["z is zero", "x and y are opposite"]
    assert said(x=[1, 2], y=[3, 5], z=[1, 2]) == ["x and z are equal"]


def test_a_balanced_network():
    found = said(net=network([[3, 4], [-4, 3]], [[4, 3], [3, -4]]), x=[1, 7])
    assert found == [
        "W_1 and W_2 are multiples of orthogonal matrices",
        "every hidden unit is balanced: its incoming and outgoing weights have equal norms",
        "every hidden unit is active at x",
        "all biases are 0",
        "W_2 is symmetric",
    ]


def test_layers_that_are_balanced_and_units_that_are_not():
    found = said(net=network([[1, 2], [3, 5]], [[3, 2], [1, 5]]), x=[1, -7])
    assert "the layers are balanced" in found
    assert "no hidden unit is active at x" in found
    found = said(net=network([[1, 2], [3, 5]], [[3, 2], [1, 5]], biases=[[1, 0], [0, 0]]))
    assert found == ["the weight matrices have equal norms"]


def test_units_that_do_nothing_and_kinks():
    net = network([[1, 2], [0, 0], [5, 3]], [[2, 1, 0]], biases=[[1, 1, 2], [0]])
    found = said(net=net, x=[1, -1])
    assert "2 of 3 hidden units have no incoming or no outgoing weights" in found
    assert "1 of 3 hidden units is at its kink at x" in found


def of(claim, choices):
    return Instance(claim, claim.instances, read_choices(claim.instances, choices))


def test_entries_at_the_end_of_their_range(declare):
    @instances
    def pairs(source):
        return source.tensor(3), source.tensor(2, low=0.0, high=1.0)

    claim = declare(lambda x, y: leq(x.sum(-1), 1 + y.sum(-1)), pairs())
    found = special(claim, of(claim, [[8, -8, 2], [0, Fraction(1, 2).__float__()]]))
    assert found[0] == "2 entries are at an end of the range that is drawn from"
    assert "y has one entry that is not 0" in found


@pytest.mark.parametrize(
    "family", [networks_at_points(), balanced_linear_networks(), matrix_pairs()], ids=str
)
def test_whatever_is_drawn(declare, family):
    """Each instance gets a few sentences, all of them different."""
    one = declare(lambda *parts: leq(0 * _first(parts), 1), family)
    for seed in range(12):
        source = BatchSource(seed)
        family(source)
        found = special(one, Instance(one, family, source.record.instance(0)))
        assert len(found) == len(set(found)) <= MOST


def _first(parts):
    part = parts[0]
    return part.cost() if isinstance(part, Network) else part.sum((-2, -1))


def test_without_exact_numbers(declare):
    claim = declare(lambda x: leq(x, x), _numbers(), no_ball="a reason")
    with pytest.raises(ValueError, match="exact numbers"):
        special(claim, of(claim, [1]))


@instances
def _numbers(source):
    return source.tensor()


@instances
def up_to_1024(source):
    return source.tensor(low=0.0, high=1024.0)


@instances
def three_numbers(source):
    return source.tensor(3)


def saturating(x):
    return leq(x / (1 + x), 1)


def softmax(x):
    return leq(torch.softmax(x, -1).amax(-1), 2)


def means(x):
    return leq((x[..., 0] * x[..., 1]).abs(), x[..., 0] ** 2 + x[..., 1] ** 2)


def root(x):
    return leq(x[..., 0].abs() + x[..., 1].abs(), 2 * (x * x).sum(-1).sqrt())


def test_the_end_of_a_range_is_said_to_be_one(declare, tmp_path):
    claim = declare(saturating, up_to_1024(), kind="conjecture")
    (only,) = sharpen(claim, budget=None, tasks=6, shrink=0.0, folder=tmp_path).relations
    assert only.best.attained.low == Fraction(1024, 1025)
    assert only.looks_like == ()
    assert only.special[0] == "the ratio is made of 1024, an end of the range of an entry"


@pytest.mark.parametrize(
    ("body", "like", "how"),
    [
        (softmax, "1/2", "approached"),
        (means, "1/2", "attained"),
        (root, "1/√2", "attained to 24 digits"),
    ],
)
def test_attained_is_what_is_exact(declare, tmp_path, body, like, how):
    claim = declare(body, three_numbers(), kind="conjecture")
    result = sharpen(claim, budget=None, tasks=9, shrink=0.0, folder=tmp_path)
    (only,) = result.relations
    assert only.looks_like[0].text == like
    assert only.how == how
    assert f"{how} by: x = " in result.message
