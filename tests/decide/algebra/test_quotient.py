"""Rational functions, roots and logarithms agree with balls at points of every path."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from flint import arb, fmpq

from rankcheck.balls import BallArray, NoBallForm
from rankcheck.decide.algebra.cell import Linked
from rankcheck.decide.algebra.quotient import Quotient
from rankcheck.decide.algebra.ring import Ring
from rankcheck.decide.algebra.signs import MINUS, NONE, PLUS
from tests.decide.algebra.paths import contains, paths, value

#: Some are zero, some equal, some are of one sign.
POINTS = [
    tuple(map(Fraction, point))
    for point in product(("0", "1", "-1", "2", "-3/2"), ("0", "1", "-1", "5/3"), ("0", "2", "-1"))
]

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "a quotient": lambda x: (x[0] + x[1]) / (x[0] * x[0] + 1) - x[2] / 3,
    "relu": lambda x: torch.relu(x).sum(),
    "the largest": lambda x: x.amax(),
    "sorted": lambda x: torch.sort(x).values[1],
    "a norm": lambda x: torch.linalg.vector_norm(x),
    "its powers": lambda x: torch.linalg.vector_norm(x) ** 3 + torch.linalg.vector_norm(x) ** 2,
    "a root of a product": lambda x: torch.sqrt((x[0] * x[1]) ** 2 * 8),
    "a cube root": lambda x: x[0].abs() ** Fraction(1, 3) * x[1],
    "roots of two degrees": lambda x: x[0].abs() ** Fraction(1, 2) + x[0].abs() ** Fraction(2, 3),
    "a logarithm": lambda x: torch.log(1 + x[0] ** 2) * x[1],
    "a logarithm of a power": lambda x: torch.log((1 + x[0] ** 2) ** 3 / 12),
    "exp of it": lambda x: torch.exp(torch.log(1 + x[0] ** 2) / 2),
    "exponentials": lambda x: (
        torch.exp(x[0] / 3 - x[1]) + torch.exp(x[2] + torch.log(4 + x[0] ** 2))
    ),
    "where": lambda x: torch.where(x[:2] > x[1:], x[:2], -x[1:]).sum(),
    "sign": lambda x: torch.sign(x[0] - x[1]) * x[2],
    "a root of two": lambda x: torch.sqrt(x.new_tensor(2)) * x[0] + torch.sqrt(x.new_tensor(8)),
    "clamped": lambda x: x.clamp(min=0, max=1).sum(),
}


def array(entries: Sequence[Any]) -> BallArray:
    flat = np.empty(len(entries), dtype=object)
    flat[:] = entries
    return BallArray(flat)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_path_agrees_with_balls_at_its_points(name: str) -> None:
    function = FUNCTIONS[name]
    ring = Ring(3)
    found = paths(ring, lambda x: function(array(x)))
    reached = 0
    for point in POINTS:
        there = [(cell, end) for cell, end in found if contains(cell, point)]
        assert len(there) == 1, "the paths cover every point once"
        cell, end = there[0]
        if isinstance(end, Linked):
            assert value(cell, Quotient(cell, end.zero, ring.one), point) == 0
            continue
        expected = function(array([fmpq(x.numerator, x.denominator) for x in point]))
        got = value(cell, end.elements[()], point)
        assert arb(got - expected.elements[()]).contains(0)
        assert float(arb(got - expected.elements[()]).abs_upper()) < 1e-20
        reached += 1
    assert reached > len(POINTS) / 3


def test_what_cancels_is_a_rational() -> None:
    ring = Ring(2)

    def run(x: Sequence[Any]) -> Any:
        return (x[0] ** 2 - x[1] ** 2) / (x[0] * x[0] + x[1] ** 2 + 1) * 0 + x[0] / 2 - x[0] / 2

    [(_, end)] = paths(ring, run)
    assert end == fmpq(0)


def test_a_product_is_zero_where_one_of_its_factors_is() -> None:
    """The bug of a prototype: x0 · p = 0 was read as x0 = 0."""
    ring = Ring(2)
    found = paths(ring, lambda x: bool(x[0] * (x[1] - 1) == 0))
    ends = [end if isinstance(end, bool) else str(end.zero) for _, end in found]
    assert sorted(map(str, ends)) == ["False", "x0", "x1 - 1"]
    for point in (("0", "1"), ("0", "2"), ("3", "1")):
        [end] = [end for cell, end in found if contains(cell, tuple(map(Fraction, point)))]
        assert isinstance(end, Linked)


def test_a_sum_of_squares_is_zero_where_all_of_them_are() -> None:
    found = paths(Ring(2), lambda x: bool(x[0] ** 2 + x[1] ** 2 == 0))
    assert sorted(str(end.zero) if isinstance(end, Linked) else str(end) for _, end in found) == [
        "False",
        "x0^2 + x1^2",
    ]


def test_division_by_what_may_be_zero_asks() -> None:
    found = paths(Ring(2), lambda x: array([1 / x[0] if x[0] != 0 else x[1]]))
    assert len(found) == 2


def test_a_solved_entry_has_a_factor_that_is_not_zero() -> None:
    found = paths(Ring(3), lambda x: bool(x[0] * x[1] - x[2] == 0))
    [link] = [end for _, end in found if isinstance(end, Linked)]
    assert (link.variable, str(link.num), str(link.den), link.nonzero) == (2, "-x0*x1", "-1", ())
    found = paths(Ring(2), lambda x: bool(x[0] * x[1] - x[0] - 2 * x[1] * x[1] == 0))
    links = {str(end.zero) for _, end in found if isinstance(end, Linked)}
    assert links == {"x0*x1 - 2*x1^2 - x0", "x1 - 1"}  # solved for x0 where x1 is not 1


def test_what_is_not_known_is_asked_once() -> None:
    ring = Ring(1)
    found = paths(ring, lambda x: [x[0] > 0, x[0] >= 0, x[0] ** 3 < 0, -2 * x[0] <= 0])
    assert [end for _, end in found if isinstance(end, list)] == [
        [True, True, False, True],
        [False, False, True, False],
    ]
    assert sum(isinstance(end, Linked) for _, end in found) == 1


def test_a_maximum_does_not_ask_where_two_numbers_of_a_known_order_are_equal() -> None:
    def largest_and_smallest(x: Sequence[Any]) -> Any:
        square = array([x[0] * x[0]])
        both = torch.cat((square, 2 * square))
        return torch.stack((torch.relu(-square)[0], both.amax(), both.amin()))

    [(cell, end)] = paths(Ring(1), largest_and_smallest)
    assert not cell.trail
    point = (Fraction(-3, 2),)
    assert [value(cell, x, point) for x in end.elements] == [0, fmpq(9, 2), fmpq(9, 4)]


@pytest.mark.parametrize(
    ("run", "named"),
    [
        (lambda x: torch.erf(x), "erf of Quotient numbers"),
        (lambda x: torch.floor(x), "floor of Quotient numbers"),
        (lambda x: x.midpoints(), "the midpoint of Quotient numbers"),
        (lambda x: x ** x[0], "a power with the exponent"),
    ],
)
def test_operations_without_an_exact_form_are_named(run: Callable[[Any], Any], named: str) -> None:
    with pytest.raises(NoBallForm, match=named):
        paths(Ring(1), lambda x: run(array(x)))


def test_constants_of_which_a_ball_is_known_are_numbers_of_their_own() -> None:
    ring = Ring(1)
    third = torch.tensor(1 / 3, dtype=torch.float64)  # a computed float: all numbers near it
    [(_, end)] = paths(ring, lambda x: array(x) * third - array(x) * third.clone())
    assert isinstance(end.elements[0], Quotient), "they need not be one number"


def test_signs_that_exclude_one_another_leave_nothing() -> None:
    ring = Ring(1)
    found = paths(ring, lambda x: (x[0] + 1 < 0, x[0] > 0))
    empty = [cell for cell, _ in found if cell.of(ring.variables[0] + 1) == 0]
    assert not empty, "a path that is known to be empty has ended"
    assert NONE | PLUS | MINUS == 7
