"""`Formal`: numbers of another kind that a claim body may be evaluated on, beside fmpq and arb.

A formal number stands for a real number in another way: it keeps how it was computed, or it is a
function of unknown entries. It implements Python's arithmetic (with ints and rationals on either
side) and Python's comparisons, which return a bool; how it decides them is its own affair.
Functions of one number are methods. What a kind of number does not implement raises `NoBallForm`,
as everywhere on balls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ClassVar, TypeGuard

import numpy as np
from flint import arb


class Undecided(ArithmeticError):
    """Balls overlap, so a comparison (or a rank, a rounding, an order) is not decidable."""


class NoBallForm(NotImplementedError):
    """The named operation is not implemented on balls, and never falls back to floats."""

    def __init__(self, operation: str, hint: str = "") -> None:
        self.operation = operation
        super().__init__(f"{operation} has no ball form" + (f": {hint}" if hint else ""))


class Formal:
    """A number that is neither an fmpq nor an arb; elements of ball arrays may be such numbers.

    A subclass implements ``+ - * /``, negation, ``** int`` with positive exponents and the six
    comparisons, among themselves and with int and fmpq on either side, and `describe`. Whatever
    else has a form is a method without arguments under flint's name: ``sqrt``, ``log``, ``exp``,
    ``sin``, ``floor``, … Division by a zero raises ZeroDivisionError. Of the unbounded arb nothing
    is known, so arithmetic with it gives it again, and no comparison with it holds. For any other
    arb there is no formal number (see `exactly`), so raise `NoBallForm`.

    Attributes:
        linear_algebra: functions of a 2-d object array by their names in `rankcheck.balls.matrices`
            (``singular_values``, ``eigenvalues``, ``rank``, ``determinant``, ``solve``, …).
    """

    linear_algebra: ClassVar[Mapping[str, Callable[..., Any]]] = {}

    @classmethod
    def of_rational(cls, x: Any) -> Formal:
        """The number of this kind for a rational. See `exact_numbers`."""
        raise NoBallForm(f"a rational as a {cls.__name__} number")

    @classmethod
    def pi(cls) -> Formal:
        """π as a number of this kind."""
        raise NoBallForm(f"pi of {cls.__name__} numbers")

    def power(self, exponent: Any) -> Any:
        """self ** exponent, for an exponent that is no integer."""
        raise self.no_form("power")

    def as_exponent(self, base: Any) -> Any:
        """base ** self, for a base that is not formal."""
        raise self.no_form("power")

    def nonnegative(self) -> Any:
        """The number itself, where it is known to be nonnegative."""
        return self

    def of(self, name: str) -> Any:
        """The function of one number with that name: the method of that name."""
        method = getattr(self, name, None)
        if method is None:
            raise self.no_form(name)
        return method()

    def knows_at_most(self, a: Any, b: Any) -> bool:
        """Whether a <= b is known already; this is one of the two. Nothing is decided."""
        return False

    def __abs__(self) -> Any:
        return self if self >= 0 else -self

    def is_finite(self) -> Any:
        raise self.no_form("a rational enclosure")

    def mid(self) -> Any:
        raise self.no_form("the midpoint")

    def log1p(self) -> Any:
        return (self + 1).of("log")

    def expm1(self) -> Any:
        return self.of("exp") - 1

    def no_form(self, name: str) -> NoBallForm:
        """The error of a function that this kind of number does not have."""
        return NoBallForm(f"{name} of {type(self).__name__} numbers")

    def describe(self) -> str:
        """A short text for messages."""
        return f"a {type(self).__name__} number"

    # Subclasses implement these; declared for type checkers.

    if TYPE_CHECKING:

        def _arithmetic(self, other: Any) -> Any: ...

        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _arithmetic
        __truediv__ = __rtruediv__ = __pow__ = _arithmetic

        def __neg__(self) -> Any: ...

        def _comparison(self, other: Any) -> bool: ...

        __lt__ = __le__ = __gt__ = __ge__ = _comparison


exact_numbers: ContextVar[type[Formal] | None] = ContextVar("exact_numbers", default=None)
"""The kind of number that takes the place of a ball where rationals have an irrational root, power,
logarithm or other function, and of π; None for balls."""


@contextmanager
def exactly(kind: type[Formal]) -> Iterator[None]:
    """Inside the `with` block, what is irrational of rationals is a number of that kind."""
    token = exact_numbers.set(kind)
    try:
        yield
    finally:
        exact_numbers.reset(token)


def is_formal(x: object) -> TypeGuard[Formal]:
    """Whether an element of a ball array is neither an fmpq nor an arb nor a complex number."""
    return isinstance(x, Formal)


def undefined(x: object) -> bool:
    """Whether it is the unbounded ball, which stands for what has no value, too."""
    return isinstance(x, arb) and not x.is_finite()


def has_formal(A: np.ndarray) -> bool:
    """Whether an element of an object array is a formal number."""
    return any(isinstance(x, Formal) for x in A.ravel().tolist())


def of_matrices(name: str, *matrices: np.ndarray) -> Callable[..., Any] | None:
    """The function of that name for matrices with formal entries; None if there are none.

    Raises NoBallForm if they have no such function, and Undecided if an entry may be undefined.
    """
    numbers = [x for matrix in matrices for x in matrix.ravel().tolist()]
    for formal in filter(is_formal, numbers):
        what = f"{name.replace('_', ' ')} of a matrix"
        if any(map(undefined, numbers)):
            raise Undecided(f"no exact form: the {what} of which an entry may be undefined")
        if name not in type(formal).linear_algebra:
            raise formal.no_form(what)
        return type(formal).linear_algebra[name]
    return None
