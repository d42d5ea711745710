"""Complex numbers whose parts are exact rationals or real balls.

A `Complex` is an element of a ball array like any other: numpy's object arrays add and multiply it,
so the functions that only rearrange, add or multiply elements need nothing more. It has no order.
Functions of one number that are not listed here raise `NoBallForm` for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import acb, arb, fmpq, fmpz

from rankcheck.balls import numbers
from rankcheck.balls.formal import Formal, NoBallForm
from rankcheck.balls.numbers import ONE, ZERO, Number


class Complex:
    """real + i·imag. Arithmetic with rationals of both kinds is exact."""

    __slots__ = ("imag", "real")

    def __init__(self, real: Number, imag: Number = ZERO) -> None:
        self.real = real
        self.imag = imag

    def __add__(self, other: Any) -> Complex:
        x = _complex(other)
        return NotImplemented if x is None else Complex(self.real + x.real, self.imag + x.imag)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Complex:
        x = _complex(other)
        return NotImplemented if x is None else Complex(self.real - x.real, self.imag - x.imag)

    def __rsub__(self, other: Any) -> Complex:
        x = _complex(other)
        return NotImplemented if x is None else Complex(x.real - self.real, x.imag - self.imag)

    def __mul__(self, other: Any) -> Complex:
        if isinstance(other, Complex):
            return Complex(
                self.real * other.real - self.imag * other.imag,
                self.real * other.imag + self.imag * other.real,
            )
        x = _real(other)
        return NotImplemented if x is None else Complex(self.real * x, self.imag * x)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Complex:
        if isinstance(other, Complex):
            return (self * other.conjugate()) / other.square_of_absolute()
        x = _real(other)
        if x is None:
            return NotImplemented
        return Complex(numbers.divide(self.real, x), numbers.divide(self.imag, x))

    def __rtruediv__(self, other: Any) -> Complex:
        x = _complex(other)
        return NotImplemented if x is None else x / self

    def __pow__(self, exponent: int) -> Complex:
        if not isinstance(exponent, int):
            return NotImplemented
        if exponent < 0:
            return (ONE / self) ** -exponent
        result, base = Complex(ONE), self
        while exponent:
            result = result * base if exponent & 1 else result
            base, exponent = base * base, exponent >> 1
        return result

    def __neg__(self) -> Complex:
        return Complex(-self.real, -self.imag)

    def __pos__(self) -> Complex:
        return self

    # As for balls, == and != are both False where neither is proved.

    def __eq__(self, other: object) -> bool:
        x = _complex(other)
        return x is not None and bool(self.real == x.real and self.imag == x.imag)

    def __ne__(self, other: object) -> bool:
        x = _complex(other)
        return x is None or bool(self.real != x.real or self.imag != x.imag)

    __hash__ = object.__hash__

    def _no_order(self, other: Any) -> bool:
        raise NoBallForm(
            "an order of complex numbers", "compare absolute values, or .real and .imag"
        )

    __lt__ = __le__ = __gt__ = __ge__ = _no_order

    def conjugate(self) -> Complex:
        return Complex(self.real, -self.imag)

    def square_of_absolute(self) -> Number:
        # A square of a ball around 0 must not become negative, so it is no product.
        return numbers.integer_power(self.real, 2) + numbers.integer_power(self.imag, 2)

    def absolute(self) -> Number:
        if isinstance(self.imag, fmpq) and self.imag == 0:
            return numbers.absolute(self.real)
        if isinstance(self.real, fmpq) and self.real == 0:
            return numbers.absolute(self.imag)
        return numbers.sqrt(numbers.nonnegative(self.square_of_absolute()))

    def exp(self) -> Complex:
        return from_acb(self.acb().exp())

    def acb(self) -> acb:
        return acb(arb(self.real), arb(self.imag))

    def __repr__(self) -> str:
        return f"Complex({self.real}, {self.imag})"


def _real(x: Any) -> Number | None:
    if isinstance(x, (fmpq, arb, Formal)):
        return x
    return fmpq(int(x)) if isinstance(x, (int, np.integer, fmpz)) else None


def _complex(x: Any) -> Complex | None:
    if isinstance(x, Complex):
        return x
    real = _real(x)
    return None if real is None else Complex(real)


def from_acb(z: acb) -> Complex:
    return Complex(z.real, z.imag)


def real(x: Any) -> Number:
    """The real part of an element."""
    return x.real if type(x) is Complex else x


def imag(x: Any) -> Number:
    """The imaginary part of an element, the rational 0 for a real one."""
    return x.imag if type(x) is Complex else ZERO


def conjugate(x: Any) -> Any:
    return x.conjugate() if type(x) is Complex else x


def parts(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The real and the imaginary parts of an object array, as object arrays of its shape."""
    return _array(_reals(A)), _array(_imags(A))


def joined(real_part: np.ndarray, imaginary_part: np.ndarray) -> np.ndarray:
    """The inverse of `parts`; every element of the result is a `Complex`."""
    return _array(_join(real_part, imaginary_part))


def conjugated(A: np.ndarray) -> np.ndarray:
    return _array(_conjugates(A))


_reals = np.frompyfunc(real, 1, 1)
_imags = np.frompyfunc(imag, 1, 1)
_conjugates = np.frompyfunc(conjugate, 1, 1)
_join = np.frompyfunc(Complex, 2, 1)


def _array(result: Any) -> np.ndarray:
    if isinstance(result, np.ndarray):
        return result
    scalar = np.empty((), dtype=object)
    scalar[()] = result
    return scalar


def has_complex(A: np.ndarray) -> bool:
    """Whether an element is a `Complex`, which decides the dtype of a ball array."""
    return any(type(x) is Complex for x in A.ravel().tolist())


def doubled(A: np.ndarray) -> np.ndarray:
    """[[X, −Y], [Y, X]] for A = X + iY, shape (2m, 2n).

    The map respects sums, products and adjoints, so it carries inverses and functions of matrices
    over. Every eigenvalue of a Hermitian A, and every singular value, occurs twice as often.
    """
    X, Y = parts(A)
    return np.block([[X, -Y], [Y, X]])


def halved(A: np.ndarray) -> np.ndarray:
    """The matrix whose `doubled` form is A."""
    m, n = (size // 2 for size in A.shape)
    return joined(A[:m, :n], A[m:, :n])
