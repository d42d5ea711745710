"""Rational functions of the entries of an instance, as numbers inside ball arrays.

Arithmetic with rationals and among themselves is exact. A comparison asks the cell, which may split
the path. Roots and logarithms are formal variables of the ring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar

from flint import arb, fmpq, fmpz, fmpz_mpoly

from rankcheck.balls.formal import Formal, NoBallForm, exactly
from rankcheck.decide.algebra.cell import Cell
from rankcheck.decide.algebra.ring import TERMS, TooLarge, rational
from rankcheck.decide.algebra.signs import MINUS, NONE, PLUS, flipped, product

#: An integer with more bits than this is not factored, and its root is one of the whole.
FACTORED = 64

_cell: ContextVar[Cell] = ContextVar("cell")


@contextmanager
def on(cell: Cell) -> Iterator[None]:
    """Inside the `with` block, irrational numbers are formal ones on that path."""
    token = _cell.set(cell)
    try:
        with exactly(Quotient):
            yield
    finally:
        _cell.reset(token)


def current() -> Cell:
    """The path that is being run."""
    return _cell.get()


class Quotient(Formal):
    """num/den, two polynomials without a common factor; the denominator is not zero on the path."""

    linear_algebra: ClassVar[Mapping[str, Callable[..., Any]]] = {}

    __slots__ = ("cell", "den", "num")

    def __init__(self, cell: Cell, num: fmpz_mpoly, den: fmpz_mpoly) -> None:
        self.cell, self.num, self.den = cell, num, den

    @classmethod
    def of_rational(cls, x: fmpq) -> Quotient:
        cell = current()
        return cls(cell, cell.ring.constant(x.p), cell.ring.constant(x.q))

    @classmethod
    def pi(cls) -> Quotient:
        return _ball(current(), _PI)

    def describe(self) -> str:
        return str(self.num) if self.den == self.cell.ring.one else f"({self.num})/({self.den})"

    __repr__ = describe

    # Arithmetic.

    def __add__(self, other: Any) -> Any:
        other = self.coerced(other)
        if not isinstance(other, Quotient):
            return other
        if self.den == other.den:
            return made(self.cell, self.num + other.num, self.den)
        return made(self.cell, self.num * other.den + other.num * self.den, self.den * other.den)

    __radd__ = __add__  # type: ignore[assignment]  # a name, where the base declares a function

    def __neg__(self) -> Any:
        return Quotient(self.cell, -self.num, self.den)

    def __sub__(self, other: Any) -> Any:
        other = self.coerced(other)
        return self + -other if isinstance(other, Quotient) else other

    def __rsub__(self, other: Any) -> Any:
        other = self.coerced(other)
        return -self + other if isinstance(other, Quotient) else other

    def __mul__(self, other: Any) -> Any:
        other = self.coerced(other)
        if not isinstance(other, Quotient):
            return other
        return made(self.cell, self.num * other.num, self.den * other.den)

    __rmul__ = __mul__  # type: ignore[assignment]  # as above

    def __truediv__(self, other: Any) -> Any:
        other = self.coerced(other)
        if not isinstance(other, Quotient):
            return other
        if other._asks(NONE):
            raise ZeroDivisionError
        return made(self.cell, self.num * other.den, self.den * other.num)

    def __rtruediv__(self, other: Any) -> Any:
        other = self.coerced(other)
        return other / self if isinstance(other, Quotient) else other

    def __pow__(self, exponent: Any) -> Any:
        if exponent < 0:
            return 1 / self ** (-exponent)
        power = int(exponent)
        return made(self.cell, self.num**power, self.den**power)

    def coerced(self, other: Any) -> Any:
        """Another number of this path, or the unbounded ball, of which nothing is known."""
        if isinstance(other, Quotient):
            return other
        if isinstance(other, (int, fmpz)):
            other = fmpq(other)
        if isinstance(other, fmpq):
            ring = self.cell.ring
            return Quotient(self.cell, ring.constant(other.p), ring.constant(other.q))
        if isinstance(other, arb):
            return _ball(self.cell, other) if other.is_finite() else other
        return NotImplemented

    # Comparisons.

    def _asks(self, signs: int) -> bool:
        """Whether the sign of this number is one of these."""
        of_den = self.cell.of(self.den)
        if of_den == PLUS:
            return self.cell.ask(self.num, signs)
        if of_den == MINUS:
            return self.cell.ask(self.num, flipped(signs))
        if signs in (NONE, MINUS | PLUS):
            return self.cell.ask(self.num, signs)
        return self.cell.ask(self.num * self.den, signs)

    def _compares(self, other: Any, signs: int) -> bool:
        if isinstance(other, arb) and not other.is_finite():
            return False
        difference = self - other
        if isinstance(difference, fmpq):
            sign = PLUS if difference > 0 else MINUS if difference < 0 else NONE
            return bool(sign & signs)
        return bool(difference._asks(signs))

    def knows_at_most(self, a: Any, b: Any) -> bool:
        difference = a - b
        if not isinstance(difference, Quotient):
            return False
        signs = product(self.cell.of(difference.num), self.cell.of(difference.den))
        return bool(signs) and not signs & PLUS

    def __lt__(self, other: Any) -> bool:
        return self._compares(other, MINUS)

    def __le__(self, other: Any) -> bool:
        return self._compares(other, MINUS | NONE)

    def __gt__(self, other: Any) -> bool:
        return self._compares(other, PLUS)

    def __ge__(self, other: Any) -> bool:
        return self._compares(other, PLUS | NONE)

    def __eq__(self, other: object) -> bool:
        return self._compares(other, NONE)

    def __ne__(self, other: object) -> bool:
        return self._compares(other, MINUS | PLUS)

    __hash__ = object.__hash__

    # Functions.

    def sqrt(self) -> Any:
        return self._root(2)

    def power(self, exponent: Any) -> Any:
        if not isinstance(exponent, fmpq):
            raise NoBallForm(f"a power with the exponent {exponent}", "write it as a Fraction")
        p, q = int(exponent.p), int(exponent.q)
        if self._asks(MINUS):
            return arb.nan()
        if p < 0:
            return 1 / self.power(-exponent) if self._asks(PLUS) else arb.nan()
        root = self._root(q)
        return root if p == 1 or isinstance(root, arb) else root**p

    def _root(self, degree: int) -> Any:
        """The root of a number that is not negative; of another one nothing is known."""
        if self._asks(MINUS):
            return arb.nan()
        cell, ring = self.cell, self.cell.ring
        if self.num.is_zero():
            return fmpq(0)
        num, den = self.num, self.den
        if not cell.ask(den, PLUS):
            num, den = -num, -den
        outside, inside = ring.one, ring.one
        scale, factors = ring.factor(num * den ** (degree - 1))
        for f, power in factors:
            whole, part = divmod(power, degree)
            if (whole or part) and not cell.ask(f, NONE | PLUS):
                f, scale = -f, scale * (-1) ** power
            outside = outside * f**whole
            if part:
                g, times = cell.root(f, degree)
                inside = inside * g ** (times * part)
        whole, left = _integer_parts(abs(scale), degree)
        outside = outside * whole
        for prime, power in left:
            g, times = cell.root(ring.constant(prime), degree)
            inside = inside * g ** (times * power)
        return made(cell, outside * inside, den)

    def log(self) -> Any:
        if not self._asks(PLUS):
            return arb.nan()
        total: Any = fmpq(0)
        for polynomial, sign in ((self.num, 1), (self.den, -1)):
            total = total + sign * _log_of_absolute(self.cell, polynomial)
        return total

    def exp(self) -> Any:
        """A product of powers, as far as it is a sum of multiples of logarithms; a formal exp."""
        ring = self.cell.ring
        if not self.den.is_constant():
            raise self.no_form("exp")
        result: Any = fmpq(1)
        rest = ring.zero
        scale = self.den.leading_coefficient()
        for exponents, coefficient in self.num.to_dict().items():
            places = [(i, int(power)) for i, power in enumerate(exponents) if power]
            generator = ring.generator(places[0][0]) if len(places) == 1 else None
            if generator is None or generator.kind != "log" or places[0][1] != 1:
                rest = rest + ring.context.from_dict({exponents: coefficient})
                continue
            assert generator.of is not None
            power = Quotient(self.cell, generator.of, ring.one)
            result = result * power.to_the(fmpq(coefficient, scale))
        if not rest.is_zero():
            result = result * made(self.cell, self.cell.exp(rest, int(scale)), ring.one)
        return result

    def to_the(self, exponent: fmpq) -> Any:
        """A power with a rational exponent."""
        return self ** int(exponent.p) if exponent.q == 1 else self.power(exponent)


_PI = arb.pi()


def _ball(cell: Cell, value: arb) -> Quotient:
    if value.is_exact() and abs(value.man_exp()[1]) < 4096:
        x = value.fmpq()
        return Quotient(cell, cell.ring.constant(x.p), cell.ring.constant(x.q))
    return Quotient(cell, cell.ball(value), cell.ring.one)


def made(cell: Cell, num: fmpz_mpoly, den: fmpz_mpoly) -> Any:
    """num/den in lowest terms; an fmpq if it is a constant."""
    ring = cell.ring
    num, den = ring.reduced(num), ring.reduced(den)
    if len(num) > TERMS or len(den) > TERMS:
        raise TooLarge(f"a polynomial of {max(len(num), len(den))} terms; at most {TERMS} are kept")
    if num.is_zero():
        return fmpq(0)
    if not den.is_constant():
        common = num.gcd(den)
        if not common.is_one():
            num, den = num / common, den / common
    constant = rational(num, den)
    if constant is not None:
        return constant
    if den.is_constant():
        content = fmpq(num.content(), den.leading_coefficient())
        num = num / num.content() * content.p
        den = ring.constant(content.q)
    return Quotient(cell, num, den)


def _integer_parts(n: fmpz, degree: int) -> tuple[fmpz, list[tuple[fmpz, int]]]:
    """n = wholeᵈ · ∏ primeᵖ with all powers below d."""
    n = fmpz(n)
    if n == 1:
        return n, []
    if n.bit_length() > FACTORED:
        root = n.root(degree)
        return (root, []) if root**degree == n else (fmpz(1), [(n, 1)])
    whole, left = fmpz(1), []
    for prime, power in n.factor():
        times, part = divmod(int(power), degree)
        whole *= fmpz(prime) ** times
        if part:
            left.append((fmpz(prime), part))
    return whole, left


def _log_of_absolute(cell: Cell, p: fmpz_mpoly) -> Any:
    """log |p| as a sum over the factors of p, which is not zero."""
    ring = cell.ring
    scale, factors = ring.factor(p)
    total: Any = fmpq(0)
    for f, power in factors:
        index = ring.single(f)
        generator = None if index is None else ring.generator(index)
        if generator is not None and generator.kind == "root":
            assert generator.of is not None
            total = total + fmpq(power, generator.degree) * _log_of_absolute(cell, generator.of)
            continue
        if not cell.ask(f, PLUS):
            f = -f
        total = total + made(cell, ring.log(f) * power, ring.one)
    for prime, power in _integer_parts(abs(scale), 1 << 20)[1]:
        total = total + made(cell, ring.log(ring.constant(prime)) * power, ring.one)
    return total
