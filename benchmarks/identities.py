"""Identities of claims by exact algebra, by sympy, and at random points, on one pattern each.

The same bodies run on ball arrays of numbers of other kinds, and a sample decides all comparisons:
rational functions of flint, as `prove` has them; expressions of sympy, which `simplify` has to make
zero; elements of sympy's field of rational functions, which are in lowest terms at every step. Then
the same path of a proof, which has to know the signs that it asks for; and residues at random
points, which prove nothing. sympy comes with torch.
"""

from __future__ import annotations

import random
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import sympy
from flint import arb, fmpq
from sympy.core.cache import clear_cache

import rankcheck.algebra.matrices  # noqa: F401 -- the linear algebra of exact numbers
from benchmarks.measuring import Ratio, timed
from rankcheck.algebra.cell import Cell, Stopped
from rankcheck.algebra.quotient import on
from rankcheck.algebra.ring import Ring
from rankcheck.algebra.signs import MINUS, NONE, PLUS
from rankcheck.balls import BallArray
from rankcheck.balls.formal import Formal
from rankcheck.balls.numbers import dyadic
from rankcheck.catalogue.loader import load
from rankcheck.catalogue.selection import select
from rankcheck.claims.claim import Claim
from rankcheck.instances.drivers import ReplaySource
from rankcheck.instances.record import Record
from rankcheck.prove.exact.faces import Plane
from rankcheck.prove.identities import identity, sample

#: By the name of a claim, integers that its generator draws.
CASES: dict[str, tuple[int, ...]] = {
    "linear.reparameterisation": (5, 2, 4, 3, 1, 1, 2),
    "rank.weak-balancedness": (3, 4, 3, 2, 3, 0, 1, 1),
    "rank.balance-and-gradient": (2, 2, 3, 1, 0, 1, 1),
    "separation.neuron-is-separable": (2,),
    "bottleneck.ntk-trace": (1, 3, 2, 3, 0, 0),
}
#: A call that takes longer is stopped, and its ratio is then at least the one shown.
LIMIT = 20
#: With `--quick`, so many cases.
QUICK = 1


class _Generic(Cell):
    """Knows that no polynomial is zero unless it is so everywhere; the sample knows the rest."""

    def of(self, p: Any) -> int:
        return PLUS

    def ask(self, p: Any, yes: int) -> bool:
        return bool(yes & (NONE if p.is_zero() else PLUS))


class _Stopped(Exception):
    """The limit is over."""


def limited(call: Callable[[], None]) -> tuple[float, bool]:
    """The least seconds of three calls of sympy, and whether one was stopped.

    The first call imports what it needs; each begins with an empty cache.
    """

    def stop(*_: object) -> None:
        raise _Stopped

    before = signal.signal(signal.SIGALRM, stop)
    seconds = float("inf")
    try:
        for _ in range(3):
            clear_cache()
            signal.alarm(LIMIT)
            seconds = min(seconds, timed(call)[0])
    except _Stopped:
        return float(LIMIT), True
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return seconds, False


class Sampled(Formal):
    """A number of some algebra, with its value at a sample, which decides comparisons.

    Attributes:
        of: the number.
        constant: makes a number of that algebra of a rational.
    """

    def __init__(self, of: Any, value: fmpq, constant: Callable[[fmpq], Any]) -> None:
        self.number, self.value, self.constant = of, value, constant

    def _pair(self, other: Any) -> tuple[Any, fmpq]:
        if isinstance(other, Sampled):
            return other.number, other.value
        if isinstance(other, arb):  # in a scale, and in no side
            return self.constant(fmpq(1)), fmpq(1)
        value = fmpq(other)
        return self.constant(value), value

    def _made(self, number: Any, value: fmpq) -> Sampled:
        return Sampled(number, value, self.constant)

    def __add__(self, other: Any) -> Any:
        of, value = self._pair(other)
        return self._made(self.number + of, self.value + value)

    __radd__ = __add__  # type: ignore[assignment]

    def __sub__(self, other: Any) -> Any:
        of, value = self._pair(other)
        return self._made(self.number - of, self.value - value)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        of, value = self._pair(other)
        return self._made(self.number * of, self.value * value)

    __rmul__ = __mul__  # type: ignore[assignment]

    def __truediv__(self, other: Any) -> Any:
        of, value = self._pair(other)
        return self._made(self.number / of, self.value / value)

    def __rtruediv__(self, other: Any) -> Any:
        of, value = self._pair(other)
        return self._made(of / self.number, value / self.value)

    def __pow__(self, exponent: int) -> Any:
        return self._made(self.number**exponent, self.value**exponent)

    def __neg__(self) -> Any:
        return self._made(-self.number, -self.value)

    def __lt__(self, other: Any) -> bool:
        return bool(self.value < self._pair(other)[1])

    def __le__(self, other: Any) -> bool:
        return bool(self.value <= self._pair(other)[1])

    def __gt__(self, other: Any) -> bool:
        return bool(self.value > self._pair(other)[1])

    def __ge__(self, other: Any) -> bool:
        return bool(self.value >= self._pair(other)[1])

    def __eq__(self, other: object) -> bool:
        return bool(self.value == self._pair(other)[1])

    def __ne__(self, other: object) -> bool:
        return bool(self.value != self._pair(other)[1])

    __hash__ = Formal.__hash__


@dataclass(frozen=True)
class Algebra:
    """A way to compute with rational functions.

    Attributes:
        entries: the variables.
        vanishes: whether a number is zero, as a function.
    """

    entries: Sequence[Any]
    constant: Callable[[fmpq], Any]
    vanishes: Callable[[Any], bool]


def algebras(count: int) -> Iterator[tuple[str, Algebra]]:
    """Ours, and those of sympy, with so many variables."""
    symbols = sympy.symbols(f"x0:{count}")
    field = sympy.QQ.frac_field(*symbols)

    def number(x: fmpq) -> Any:
        return sympy.Rational(int(x.p), int(x.q))

    def element(x: fmpq) -> Any:
        return field(number(x))

    yield "flint", Algebra(Plane().values(_Generic(Ring(count), {})), fmpq, lambda x: x == 0)
    yield "sympy.expand", Algebra(symbols, number, lambda x: sympy.expand(x) == 0)
    yield "sympy.simplify", Algebra(symbols, number, lambda x: sympy.simplify(x) == 0)
    yield "sympy's field", Algebra(field.gens, element, lambda x: not x)


@dataclass
class Case:
    """A claim on a sample."""

    claim: Claim
    record: Record

    @property
    def values(self) -> list[fmpq]:
        return [dyadic(x) for t in self.record.tensors for x in t.reshape(-1).tolist()]

    def differences(self, numbers: list[Any]) -> list[Any]:
        """Those of the sides of all identities, with these numbers as entries."""
        left = iter(numbers)

        def convert(values: Any) -> BallArray:
            flat = np.empty(values.numel(), dtype=object)
            flat[:] = [next(left) for _ in range(values.numel())]
            return BallArray(flat.reshape(tuple(values.shape)))

        assert self.claim.instances is not None
        instance = self.claim.instances(ReplaySource(self.record, convert))
        found = []
        for relation in self.claim.relations(instance):
            if relation.kind == "eq":
                lhs, rhs = relation.sides()
                found += (lhs - rhs).elements.ravel().tolist()
        return found

    def on_path(self, script: tuple[int, ...]) -> None:
        """A path of a proof, which follows a script and knows the signs that it asks for."""
        cell = Cell(Ring(len(self.values)), {}, script)
        with on(cell):
            assert all(x == 0 for x in self.differences(Plane().values(cell)))

    def script(self) -> tuple[int, ...]:
        """The decisions of the path of the sample."""
        ring, script = Ring(len(self.values)), tuple[int, ...]()
        while True:
            cell = Cell(ring, {}, script)
            with suppress(Stopped), on(cell):  # the first branch may be an edge
                self.differences(Plane().values(cell))
            for place, fork in enumerate(cell.trail):
                sign = _at(fork.of, self.values)
                taken = int(
                    not fork.options[0] & (MINUS if sign < 0 else PLUS if sign > 0 else NONE)
                )
                if taken != fork.taken:
                    script = (*(one.taken for one in cell.trail[:place]), taken)
                    break
            else:
                return tuple(fork.taken for fork in cell.trail)

    def by(self, algebra: Algebra) -> None:
        """The sample decides, and the differences of all sides vanish."""
        entries = [
            Sampled(x, v, algebra.constant)
            for x, v in zip(algebra.entries, self.values, strict=True)
        ]
        for x in self.differences(entries):
            assert algebra.vanishes(x.number if isinstance(x, Sampled) else x)


def _at(polynomial: Any, values: list[fmpq]) -> fmpq:
    total = fmpq(0)
    for exponents, coefficient in polynomial.to_dict().items():
        term = fmpq(coefficient)
        for value, power in zip(values, exponents, strict=False):
            term *= value ** int(power)
        total += term
    return total


def ratios(*, quick: bool) -> Iterator[Ratio]:
    """Exact algebra against sympy, a path of a proof against both, random points against it."""
    for name, integers in list(CASES.items())[: QUICK if quick else None]:
        [claim] = load(select([name]))
        assert claim.instances is not None
        case = Case(claim, sample(claim.instances, integers, random.Random(0)))
        count = len(case.values)
        what = f"{name}, {count} entries"
        (_, ours), *others = algebras(count)
        exact, _ = timed(partial(case.by, ours), 5)
        for against, algebra in others:
            seconds, stopped = limited(partial(case.by, algebra))
            yield Ratio(what, against + f", stopped after {LIMIT} s" * stopped, seconds / exact)
        path, _ = timed(partial(case.on_path, case.script()), 5)
        yield Ratio(f"{what}: with the signs, as a proof", "exact algebra", exact / path)
        there, found = timed(partial(identity, claim, case.record), 5)
        assert found.passed
        yield Ratio(f"{what}: random points", "exact algebra", exact / there)
