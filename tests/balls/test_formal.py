"""Numbers of another kind in ball arrays: functions, orders and matrices ask the number itself."""

import operator
from fractions import Fraction

import numpy as np
import pytest
import torch
from flint import arb, fmpq

from rankcheck.balls import BallArray, NoBallForm, balls, matrices, numbers, orders, pi
from rankcheck.balls.formal import Formal, exactly, has_formal, is_formal


class Named(Formal):
    """A rational under a name, which every operation extends."""

    def __init__(self, value, name):
        self.value, self.name = fmpq(value), name

    @classmethod
    def of_rational(cls, x):
        return cls(x, str(x))

    @classmethod
    def pi(cls):
        return cls(3, "pi")

    def _with(self, other, sign, swap=False):
        if isinstance(other, arb) and not other.is_finite():
            return other
        if isinstance(other, arb):
            raise NoBallForm("an arb among named numbers")
        other = other if isinstance(other, Named) else Named.of_rational(other)
        a, b = (other, self) if swap else (self, other)
        value = {"+": a.value + b.value, "-": a.value - b.value, "*": a.value * b.value}.get(sign)
        return Named(a.value / b.value if value is None else value, f"({a.name} {sign} {b.name})")

    def __add__(self, other):
        return self._with(other, "+")

    def __mul__(self, other):
        return self._with(other, "*")

    def __sub__(self, other):
        return self._with(other, "-")

    def __truediv__(self, other):
        return self._with(other, "/")

    def __radd__(self, other):
        return self._with(other, "+", swap=True)

    def __rmul__(self, other):
        return self._with(other, "*", swap=True)

    def __rsub__(self, other):
        return self._with(other, "-", swap=True)

    def __rtruediv__(self, other):
        return self._with(other, "/", swap=True)

    def __neg__(self):
        return Named(-self.value, f"-{self.name}")

    def __pow__(self, exponent):
        return Named(self.value**exponent, f"{self.name}^{exponent}")

    def _compared(relation):  # noqa: N805 - makes the comparisons
        def compare(self, other):
            other = other.value if isinstance(other, Named) else other
            return bool(relation(self.value, other))

        return compare

    __lt__, __le__, __gt__, __ge__, __eq__, __ne__ = map(
        _compared, (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
    )
    __hash__ = object.__hash__

    def sqrt(self):
        return Named(self.value, f"sqrt {self.name}")

    def power(self, exponent):
        return Named(self.value, f"{self.name}^({exponent})")

    def as_exponent(self, base):
        return Named(self.value, f"{base}^({self.name})")

    def describe(self):
        return self.name

    linear_algebra = {"rank": np.size}  # noqa: RUF012


def names(array):
    return [x.describe() if is_formal(x) else str(x) for x in array.elements.ravel().tolist()]


X = [Named(2, "x"), Named(-3, "y")]


def test_arithmetic_and_functions_ask_the_number():
    x = BallArray.exact(X)
    assert names(1 - x * x) == ["(1 - (x * x))", "(1 - (y * y))"]
    assert names(torch.relu(x)) == ["x", "0"]
    assert names(abs(x)) == ["x", "-y"]
    assert names(torch.linalg.vector_norm(x)) == ["sqrt ((0 + x^2) + y^2)"]
    assert names(x ** Fraction(1, 3)) == ["x^(1/3)", "y^(1/3)"]
    assert names(2 ** x[:1]) == ["2^(x)"]
    assert names(x**-1) == ["(1 / x^1)", "(1 / y^1)"]
    assert names(torch.sign(x)) == ["1", "-1"]


def test_comparisons_orders_and_selections_are_decided_by_the_number():
    x = BallArray.exact(X)
    assert (x > 0).tolist() == [True, False]
    assert (x == balls([2, 2])).tolist() == [True, False]
    assert names(x.sort().values) == ["y", "x"]
    assert x.argsort(descending=True).tolist() == [0, 1]
    assert names(x.max()) == ["x"]
    assert x.argmin().item() == 1
    assert orders.compared_order([Named(1, "a"), Named(1, "b")], descending=True) == [0, 1]
    assert bool(torch.isfinite(x).all())


def test_a_division_by_zero_is_unknown():
    quotient = balls(1) / BallArray.exact([Named(0, "zero"), Named(2, "two")])
    assert not quotient.elements[0].is_finite()
    assert names(quotient[1]) == ["(1 / two)"]
    assert names(torch.where(torch.tensor([False, True]), quotient, 0)) == ["0", "(1 / two)"]


def test_matrices_have_the_functions_of_the_table_and_no_others():
    A = BallArray.exact([X, X])
    assert torch.linalg.matrix_rank(A).item() == 4
    for function in (
        torch.linalg.svdvals,
        torch.linalg.det,
        torch.linalg.inv,
        torch.linalg.eigvals,
    ):
        with pytest.raises(NoBallForm, match=r"of Named numbers"):
            function(A)
    assert names(A @ balls([1, 1]))[0] == "((x * 1) + (y * 1))"


def test_a_large_product_is_one_of_numpy():
    A = torch.ones(10, 10) * BallArray.exact(X[0])
    assert has_formal((A @ A).elements)


def test_what_a_kind_of_number_lacks_has_no_form():
    x = BallArray.exact(X)
    for function in (torch.sin, torch.floor, torch.log1p, torch.log, torch.erf):
        with pytest.raises(NoBallForm, match="of Named numbers"):
            function(abs(x))
    for method in ("midpoints", "lower", "centres"):
        with pytest.raises(NoBallForm, match="of Named numbers"):
            getattr(x, method)()


def test_irrational_numbers_are_balls_or_of_the_kind_that_is_asked_for():
    two = balls(2)
    assert isinstance(two.sqrt().elements[()], arb)
    with exactly(Named):
        assert names(two.sqrt()) == ["sqrt 2"]
        assert names(two ** Fraction(1, 3)) == ["2^(1/3)"]
        assert names(pi()) == ["pi"]
        assert names(balls(4).sqrt()) == ["2"]
        assert names(balls(8) ** Fraction(1, 3)) == ["2"]
        with pytest.raises(NoBallForm, match="exp of Named"):
            torch.exp(two)
        assert not numbers.sqrt(fmpq(-1)).is_finite()
        assert not numbers.power(fmpq(-1), fmpq(1, 3)).is_finite()
    assert isinstance(torch.exp(two).elements[()], arb)


def test_has_formal_finds_one_entry():
    assert has_formal(BallArray.exact([fmpq(1), X[0]]).elements)
    assert not has_formal(balls([1, 2]).sqrt().elements)
    assert matrices.rational_matrix(BallArray.exact([X]).elements) is None
