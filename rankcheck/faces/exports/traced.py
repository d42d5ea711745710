"""`Traced` numbers: an exact rational or a ball, and beside it how it was computed.

A claim's body that is evaluated on traced numbers leaves behind the expressions of its two sides,
and every comparison that was decided on the way. Equal expressions are one object.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flint import arb, fmpq, fmpz

from rankcheck.balls import numbers
from rankcheck.balls.formal import Formal, NoBallForm, exact_numbers, exactly
from rankcheck.balls.numbers import ONE, ZERO, Number, Undecided, integer_power
from rankcheck.faces.exports.trace import Branch, RankFact, Trace, current, origin, recording

_HALF = fmpq(1, 2)


@contextmanager
def tracing() -> Iterator[Trace]:
    """Record what is computed on traced numbers; irrational constants are such numbers, too."""
    with recording() as trace, exactly(Traced):
        yield trace


class Traced(Formal):
    """A number and the expression that it is the value of.

    Attributes:
        operation: ``input``, ``constant``, ``add``, ``sub``, ``mul``, ``div``, ``neg``, ``pow`` (an
            integer exponent), ``root`` (a rational power), ``sqrt``, ``log``, ``exp``, ``pi``, …
        operands: traced numbers; of ``pow`` and ``root`` also the exponent, of ``input`` its name.
        value: the number itself.
        origin: the function of rankcheck or of the claim's file in which it was computed.
    """

    __slots__ = ("operands", "operation", "origin", "value")

    def __init__(
        self, operation: str, operands: tuple[Any, ...], value: Number, origin: str = ""
    ) -> None:
        self.operation = operation
        self.operands = operands
        self.value = value
        self.origin = origin

    __hash__ = object.__hash__

    @classmethod
    def of_rational(cls, x: Any) -> Traced:
        return constant(fmpq(x))

    @classmethod
    def pi(cls) -> Traced:
        return _made("pi", (), arb.pi())

    @property
    def rational(self) -> bool:
        """Whether its value is known exactly."""
        return isinstance(self.value, fmpq)

    @property
    def is_constant(self) -> bool:
        return self.operation == "constant"

    @property
    def parts(self) -> tuple[Traced, ...]:
        """The operands that are numbers of the trace."""
        if self.operation == "rank":
            return tuple(entry for row in self.operands[0].matrix for entry in row)
        return tuple(part for part in self.operands if isinstance(part, Traced))

    def describe(self) -> str:
        return numbers.short_text(self.value)

    # Arithmetic. What leaves a number as it is, is no operation.

    def __add__(self, other: Any) -> Any:
        return _with(_add, self, other)

    def __radd__(self, other: Any) -> Any:
        return _with(_add, other, self)

    def __sub__(self, other: Any) -> Any:
        return _with(_sub, self, other)

    def __rsub__(self, other: Any) -> Any:
        return _with(_sub, other, self)

    def __mul__(self, other: Any) -> Any:
        return _with(_mul, self, other)

    def __rmul__(self, other: Any) -> Any:
        return _with(_mul, other, self)

    def __truediv__(self, other: Any) -> Any:
        return _with(_div, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _with(_div, other, self)

    def __neg__(self) -> Any:
        if self.operation == "neg":
            return self.operands[0]
        return _folded("neg", (self,), -self.value)

    def __pow__(self, exponent: Any) -> Any:
        if isinstance(exponent, Traced) or not isinstance(exponent, int):
            return numbers.power(self, exponent)
        if exponent == 1:
            return self
        squared = self._squared_root() if exponent == 2 else None
        value = integer_power(self.value, exponent) if squared is None else squared
        return _folded("pow", (self, exponent), value)

    def _squared_root(self) -> Number | None:
        """The exact square of a square root."""
        return self.operands[0].value if self.operation == "sqrt" else None

    # Comparisons: decided by the values, and kept.

    def __lt__(self, other: Any) -> bool:
        return _compare(self, "<", other)

    def __le__(self, other: Any) -> bool:
        return _compare(self, "<=", other)

    def __gt__(self, other: Any) -> bool:
        return _compare(self, ">", other)

    def __ge__(self, other: Any) -> bool:
        return _compare(self, ">=", other)

    def __eq__(self, other: object) -> bool:
        return _compare(self, "=", other)

    def __ne__(self, other: object) -> bool:
        return not _compare(self, "=", other)

    # Functions. Where Coq's have values outside of their domain, a branch says that it is inside.

    def sqrt(self) -> Any:
        if not self >= 0:
            return numbers.unknown()
        return _folded("sqrt", (self,), _on_balls(numbers.sqrt, self.value))

    def log(self) -> Any:
        if not self > 0:
            return numbers.unknown()
        return _folded("log", (self,), _on_balls(numbers.log, self.value))

    def exp(self) -> Any:
        one = self.rational and self.value == 0
        return _folded("exp", (self,), ONE if one else arb(self.value).exp())

    def sin(self) -> Any:
        return _folded("sin", (self,), arb(self.value).sin())

    def cos(self) -> Any:
        return _folded("cos", (self,), arb(self.value).cos())

    def atan(self) -> Any:
        return _folded("atan", (self,), arb(self.value).atan())

    def tanh(self) -> Any:
        double = (2 * self).exp()
        return (double - 1) / (double + 1)

    def power(self, exponent: Any) -> Any:
        """self ** exponent for a base that is not negative, as on balls; 0 for the base 0."""
        if isinstance(exponent, fmpq) and exponent == _HALF:
            return self.sqrt()
        if self == 0:
            return ZERO if exponent > 0 else numbers.unknown()
        if not self > 0:
            return numbers.unknown()
        operation = "root" if isinstance(exponent, fmpq) else "power"
        plain = exponent.value if isinstance(exponent, Traced) else exponent
        return _folded(operation, (self, exponent), _on_balls(numbers.power, self.value, plain))

    def as_exponent(self, base: Any) -> Any:
        return constant(base).power(self)

    def floor(self) -> fmpq:
        below = constant(numbers.floor(self.value))
        if not (self >= below and self < below + 1):
            raise Undecided(f"the floor of {self.describe()} is not decidable")
        return below.value


def _on_balls(function: Any, *values: Number) -> Any:
    """A function of values, which are rationals and balls."""
    token = exact_numbers.set(None)
    try:
        return function(*values)
    finally:
        exact_numbers.reset(token)


def constant(x: Any) -> Traced:
    """A rational that a body, or rankcheck, writes."""
    value = fmpq(x)
    return _made("constant", (value,), value)


def traced(x: Any) -> Traced:
    """An element of a ball array as a traced number.

    Raises NoBallForm for a ball, of which it is not known how it was computed.
    """
    if isinstance(x, Traced):
        return x
    if isinstance(x, (fmpq, int, fmpz)):
        return constant(x)
    raise NoBallForm("the trace of a ball", "it was computed where nothing is traced")


def ranked(fact: RankFact) -> Traced:
    """A rank, which is a number of the trace with its proof."""
    return _made("rank", (fact,), fmpq(fact.rank))


def given(name: str, value: fmpq) -> Traced:
    """A number of the instance, which is no other number, whatever its name."""
    trace = current()
    assert trace is not None, "a traced number outside of a trace"
    number = Traced("input", (name,), value, "")
    trace.known["input", len(trace.known)] = number
    return number


def _made(operation: str, operands: tuple[Any, ...], value: Number) -> Traced:
    trace = current()
    assert trace is not None, "a traced number outside of a trace"
    key = (operation, *(id(x) if isinstance(x, Traced) else str(x) for x in operands))
    known = trace.known.get(key)
    if known is None:
        known = trace.known[key] = Traced(operation, operands, value, origin())
    return known


def _folded(operation: str, operands: tuple[Any, ...], value: Number) -> Traced:
    """An expression; of constants alone with a rational value, that constant."""
    if isinstance(value, fmpq) and all(
        part.is_constant for part in operands if isinstance(part, Traced)
    ):
        return constant(value)
    return _made(operation, operands, value)


def _with(function: Any, a: Any, b: Any) -> Any:
    for x in (a, b):
        if isinstance(x, arb) and not x.is_finite():
            return x
    if not all(isinstance(x, (Traced, fmpq, int, fmpz, arb)) for x in (a, b)):
        return NotImplemented
    return function(traced(a), traced(b))


def _zero(x: Traced) -> bool:
    return x.is_constant and x.value == 0


def _one(x: Traced) -> bool:
    return x.is_constant and x.value == 1


def _add(a: Traced, b: Traced) -> Any:
    if _zero(a) or _zero(b):
        return b if _zero(a) else a
    if b.operation == "neg":
        return _sub(a, b.operands[0])
    return _folded("add", (a, b), a.value + b.value)


def _sub(a: Traced, b: Traced) -> Any:
    if a is b:
        return constant(0)
    if _zero(b):
        return a
    if _zero(a):
        return -b
    return _folded("sub", (a, b), a.value - b.value)


def _mul(a: Traced, b: Traced) -> Any:
    if _zero(a) or _zero(b):
        return constant(0)
    if _one(a) or _one(b):
        return b if _one(a) else a
    for x, y in ((a, b), (b, a)):
        if x.is_constant and x.value == -1:
            return -y
    square = a._squared_root() if a is b else None
    if square is None and ZERO in (a.value, b.value):
        square = ZERO
    return _folded("mul", (a, b), a.value * b.value if square is None else square)


def _div(a: Traced, b: Traced) -> Any:
    if b == 0:
        raise ZeroDivisionError("a traced number is divided by zero")
    return (
        a
        if _one(b)
        else _folded("div", (a, b), ZERO if a.rational and a.value == 0 else a.value / b.value)
    )


_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "<>"}


def _compare(a: Traced, relation: str, other: Any) -> bool:
    """Decide, and keep the comparison or its opposite as a branch.

    Raises Undecided where the balls of the values overlap.
    """
    if isinstance(other, arb) and not other.is_finite():
        return False
    if not isinstance(other, (Traced, fmpq, int, fmpz, arb)):
        return NotImplemented
    b = traced(other)
    x, y = a.value, b.value
    if a is b:
        return relation in ("<=", ">=", "=")
    holds = {"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y, "=": x == y}[relation]
    if not holds:
        fails = {"<": x >= y, "<=": x > y, ">": x <= y, ">=": x < y, "=": x != y}[relation]
        if not fails:
            raise Undecided(
                f"the comparison of {a.describe()} with {b.describe()} is not decidable; in an "
                "export it would have to be a lemma"
            )
    _keep(a, relation if holds else _OPPOSITE[relation], b)
    return bool(holds)


def _keep(a: Traced, relation: str, b: Traced) -> None:
    """A branch, unless both numbers are constants, or a sharper one is there already."""
    trace = current()
    if trace is None or (a.is_constant and b.is_constant):
        return
    if relation in (">", ">="):
        a, b, relation = b, a, {">": "<", ">=": "<="}[relation]
    if a.operation == "neg" and _zero(b):
        a, b = b, a.operands[0]
    elif b.operation == "neg" and _zero(a):
        a, b = b.operands[0], a
    sharper = {"<=": ("<", "="), "<>": ("<",)}.get(relation, ())
    if any(Branch(a, sharp, b) in trace.branches for sharp in sharper):
        return
    if relation in ("<>", "=") and any(
        Branch(b, sharp, a) in trace.branches for sharp in ("<", "=")
    ):
        return
    for weaker in {"<": ("<=", "<>"), "=": ("<=",)}.get(relation, ()):
        trace.branches.pop(Branch(a, weaker, b), None)
    trace.branches[Branch(a, relation, b)] = origin()
