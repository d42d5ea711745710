r"""`Modular`: the value of a rational function at random points modulo primes.

A number stands for a rational function $N/(cD)$ of the entries: N and D are polynomials with
integer coefficients, c is a positive integer. It has the value of that function at a sample, by
which all comparisons are decided, and its residues at the random `Points`. Neither N nor D is ever
expanded. What is kept of N are bounds of its degree, and of the binary logarithm of the sum of the
absolute values of its coefficients. Of products and sums,

$$\deg FG \le \deg F + \deg G, \quad |FG|_1 \le |F|_1\,|G|_1, \quad |F + G|_1 \le |F|_1 + |G|_1.$$

D is a product of numerators that were divided by, with the powers to which they occur. None of them
is zero at the points, nor is c: otherwise a division fails. So the residue of the function is zero
if and only if that of N is.

**Patterns.** The pattern of a sample is where all comparisons come out as they do at the sample. On
it, each number is the same rational function. Two numbers that are equal at the sample are so on
the pattern if they are the same function, which the points show up to their probability to miss
what is not zero; else the pattern is thin, which raises `ThinCell`. What is no rational function,
as roots are, is `lost`: it has a ball at the sample, which decides comparisons, and no residue.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from flint import arb, fmpq

from rankcheck.algebra.points import Points
from rankcheck.algebra.sizes import (
    ONE,
    UP,
    Atom,
    Power,
    ceil_log,
    log_sum,
    multiple,
    of_atoms,
    times,
)
from rankcheck.balls import numbers
from rankcheck.balls.formal import Formal, NoBallForm
from rankcheck.balls.numbers import ZERO, unknown
from rankcheck.text import short_text

__all__ = ["BALL", "Modular", "number"]

#: What made a number that was a ball before it met the entries.
BALL = "a constant that is known as a ball"


class Modular(Formal):
    """A rational function of the entries, by its values; see the module.

    Attributes:
        points: where it has its residue.
        value: at the sample; a ball if it is lost.
        residue: modulo the product of the primes; no meaning if it is lost.
        degree, bits: bounds for N.
        content: c.
        atoms: D.
        lost: the operation by which it ceased to be a rational function; empty if it is one.
    """

    linear_algebra: ClassVar[Mapping[str, Callable[..., Any]]] = {}

    __slots__ = (
        "atoms",
        "bits",
        "content",
        "degree",
        "divisor",
        "lost",
        "points",
        "residue",
        "value",
    )

    def __init__(
        self,
        points: Points,
        value: fmpq | arb,
        residue: int,
        degree: int,
        bits: float,
        content: int = 1,
        atoms: Power = ONE,
        lost: str = "",
    ) -> None:
        self.points, self.value, self.residue = points, value, residue
        self.degree, self.bits, self.content, self.atoms = degree, bits, content, atoms
        self.lost = lost
        self.divisor: Atom | None = None

    @classmethod
    def entry(cls, points: Points, value: fmpq) -> Modular:
        """A variable, with that value at the sample."""
        return cls(points, value, points.entry(), 1, 0.0)

    @classmethod
    def constant(cls, points: Points, value: fmpq) -> Modular:
        """A rational number."""
        p, q = int(value.p), int(value.q)
        return cls(points, value, points.rational(p, q), 0, float(ceil_log(p)), q)

    def _lose(self, value: Any, name: str) -> Modular:
        return Modular(self.points, arb(value), 0, 0, 0.0, lost=name)

    def _of(self, other: Any) -> Any:
        """Another operand as such a number; None if it is no number at all.

        Of the unbounded ball, the ball.
        """
        if type(other) is Modular:
            return other
        if isinstance(other, int):
            other = fmpq(other)
        if isinstance(other, fmpq):
            return Modular.constant(self.points, other)
        if isinstance(other, arb):
            return self._lose(other, BALL) if other.is_finite() else other
        return None

    # Arithmetic.

    def __add__(self, other: Any) -> Any:
        if isinstance(other, (int, fmpq)) and other == 0:
            return self
        other = self._of(other)
        if type(other) is not Modular:
            return NotImplemented if other is None else other
        if self.lost or other.lost:
            return self._lose(arb(self.value) + other.value, self.lost or other.lost)
        value = self.value + other.value
        residue = (self.residue + other.residue) % self.points.modulus
        return Modular(self.points, value, residue, *self._sum(other))

    def __radd__(self, other: Any) -> Any:
        return self + other

    def _sum(self, other: Modular) -> tuple[int, float, int, Power]:
        """Degree, bits, content and atoms of a sum or difference."""
        degree, bits, other_degree, other_bits = self.degree, self.bits, other.degree, other.bits
        content, atoms = self.content, self.atoms
        if content != other.content:
            content = math.lcm(content, other.content)
            bits += ceil_log(content // self.content)
            other_bits += ceil_log(content // other.content)
        if atoms is not other.atoms:
            atoms = multiple(atoms, other.atoms)
            more = of_atoms(atoms, self.atoms)
            degree, bits = degree + more[0], bits + more[1]
            more = of_atoms(atoms, other.atoms)
            other_degree, other_bits = other_degree + more[0], other_bits + more[1]
        return max(degree, other_degree), log_sum(bits, other_bits), content, atoms

    def __neg__(self) -> Modular:
        if self.lost:
            return self._lose(-self.value, self.lost)
        residue = -self.residue % self.points.modulus
        return Modular(
            self.points, -self.value, residue, self.degree, self.bits, self.content, self.atoms
        )

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, (int, fmpq)) and other == 0:
            return self
        other = self._of(other)
        if type(other) is not Modular:
            return NotImplemented if other is None else other
        if self.lost or other.lost:
            return self._lose(arb(self.value) - other.value, self.lost or other.lost)
        value = self.value - other.value
        residue = (self.residue - other.residue) % self.points.modulus
        return Modular(self.points, value, residue, *self._sum(other))

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, (int, fmpq)):
            if other == 0:
                return ZERO
            if other == 1:
                return self
        other = self._of(other)
        if type(other) is not Modular:
            return NotImplemented if other is None else other
        if self.lost or other.lost:
            return self._lose(arb(self.value) * other.value, self.lost or other.lost)
        return Modular(
            self.points,
            self.value * other.value,
            self.residue * other.residue % self.points.modulus,
            self.degree + other.degree,
            (self.bits + other.bits) * UP,
            self.content * other.content,
            times(self.atoms, other.atoms),
        )

    def __rmul__(self, other: Any) -> Any:
        return self * other

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, (int, fmpq)) and other != 0:
            return self * (1 / fmpq(other))
        other = self._of(other)
        if type(other) is not Modular:
            return NotImplemented if other is None else other
        if other.value == 0:
            raise ZeroDivisionError("division by zero at the sample")
        if self.lost or other.lost:
            return self._lose(arb(self.value) / other.value, self.lost or other.lost)
        value = self.value / other.value
        residue = self.residue * self.points.inverse(other.residue) % self.points.modulus
        # N/(cD) / (N'/(c'D')) = N c' D' / (c D N'), and N' is an integer where it is constant.
        degree, bits = of_atoms(other.atoms)
        bits += self.bits + ceil_log(other.content)
        return Modular(
            self.points,
            value,
            residue,
            self.degree + degree,
            bits * UP,
            self.content,
            times(self.atoms, {other.as_divisor(): 1}),
        )

    def __rtruediv__(self, other: Any) -> Any:
        other = self._of(other)
        return (
            (NotImplemented if other is None else other)
            if type(other) is not Modular
            else (other / self)
        )

    def as_divisor(self) -> Atom:
        """Its numerator, the same one however often it is divided by."""
        if self.divisor is None:
            self.divisor = Atom(self.degree, self.bits)
        return self.divisor

    def __pow__(self, exponent: Any) -> Any:
        if not isinstance(exponent, int) or exponent < 1:
            return NotImplemented
        if self.lost:
            return self._lose(numbers.integer_power(self.value, exponent), self.lost)
        return Modular(
            self.points,
            self.value**exponent,
            pow(self.residue, exponent, self.points.modulus),
            self.degree * exponent,
            self.bits * exponent * UP,
            self.content**exponent,
            {atom: power * exponent for atom, power in self.atoms.items()},
        )

    # Comparisons, decided at the sample.

    def _compare(self, other: Any, holds: Callable[[Any, Any], bool], symbol: str) -> Any:
        if not self.lost and isinstance(other, (int, fmpq)) and self.value != other:
            return bool(holds(self.value, other))
        other = self._of(other)
        if type(other) is not Modular:
            return NotImplemented if other is None else False
        if self is other:
            return holds(0, 0)
        if self.lost or other.lost:
            # Equality at the sample says nothing about what surrounds it.
            difference = arb(self.value) - other.value
            return not difference.contains(0) and bool(holds(difference, 0))
        if self.value == other.value:
            self._take_as_equal(other, symbol)
        return bool(holds(self.value, other.value))

    def _take_as_equal(self, other: Modular, symbol: str) -> None:
        degree, bits, *_ = self._sum(other)
        text = f"{short_text(self.value)} {symbol} {short_text(other.value)}"
        self.points.take_as_zero(self.residue - other.residue, degree, bits, text)

    def __lt__(self, other: Any) -> Any:
        return self._compare(other, operator.lt, "<")

    def __le__(self, other: Any) -> Any:
        return self._compare(other, operator.le, "<=")

    def __gt__(self, other: Any) -> Any:
        return self._compare(other, operator.gt, ">")

    def __ge__(self, other: Any) -> Any:
        return self._compare(other, operator.ge, ">=")

    def __eq__(self, other: Any) -> Any:
        return self._compare(other, operator.eq, "==")

    def __ne__(self, other: Any) -> Any:
        return self._compare(other, operator.ne, "!=")

    __hash__ = Formal.__hash__

    # Functions of one number.

    def of(self, name: str) -> Any:
        if name in ("floor", "round", "sqrt"):
            return getattr(self, name)()
        return self._lose(getattr(arb(self.value), name)(), name)

    def floor(self) -> fmpq:
        """The integer that it is on the whole pattern, around the sample."""
        floor = self._known("floor").floor()
        self._compare(fmpq(floor), operator.eq, "==")
        return fmpq(floor)

    def round(self) -> fmpq:
        """As `floor`; half a unit from two integers it is at a kink."""
        value = self._known("rounding")
        low = fmpq(value.floor())
        rest = value - low
        self._compare(low + fmpq(1, 2), operator.eq, "==")
        up = rest > fmpq(1, 2) or (rest == fmpq(1, 2) and int(low.p) % 2)
        return low + 1 if up else low

    def _known(self, name: str) -> fmpq:
        if self.lost:
            raise NoBallForm(f"{name} of what {self.lost} made")
        assert isinstance(self.value, fmpq)
        return self.value

    def sqrt(self) -> Any:
        if self == 0:
            return ZERO
        return unknown() if self.value < 0 else self._lose(arb(self.value).sqrt(), "sqrt")

    def power(self, exponent: Any) -> Any:
        if isinstance(exponent, fmpq) and self == 0:
            return numbers.power(ZERO, exponent)
        at = exponent.value if isinstance(exponent, Modular) else exponent
        value = numbers.power(arb(self.value), at)
        return value if not arb(value).is_finite() else self._lose(value, "power")

    def as_exponent(self, base: Any) -> Any:
        return self._lose(numbers.power(arb(base), arb(self.value)), "power")

    def describe(self) -> str:
        return f"{short_text(self.value)} at the sample"


def number(points: Points, x: Any) -> Modular:
    """A number of a ball array as a rational function of the entries.

    Raises:
        NoBallForm: if it is none, naming the operation.
    """
    if isinstance(x, fmpq):
        return Modular.constant(points, x)
    lost = x.lost if isinstance(x, Modular) else BALL
    if not isinstance(x, Modular) or lost:
        raise NoBallForm(lost, "random points have the values of rational functions alone")
    return x
