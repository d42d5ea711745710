"""torch's elementwise functions on balls."""

# ruff: noqa: A002 - arguments are named as in torch, because callers may pass them by name.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from flint import acb, arb, fmpq

from rankcheck.balls import complexes, numbers
from rankcheck.balls.array import (
    BallArray,
    balls,
    divide,
    elementwise,
    implements,
    wrap,
)
from rankcheck.balls.complexes import Complex, from_acb
from rankcheck.balls.formal import Formal, NoBallForm, exact_numbers
from rankcheck.balls.numbers import ONE, ZERO, Number
from rankcheck.text import short_text


def pi() -> BallArray:
    """π, at the current precision."""
    kind = exact_numbers.get()
    return wrap(arb.pi() if kind is None else kind.pi())


# Arithmetic.


@implements("add")
def add(input: Any, other: Any, *, alpha: Any = 1) -> BallArray:
    return balls(input) + (other if alpha == 1 else balls(other) * alpha)


@implements("sub", "subtract")
def sub(input: Any, other: Any, *, alpha: Any = 1) -> BallArray:
    return balls(input) - (other if alpha == 1 else balls(other) * alpha)


@implements("rsub")
def rsub(input: Any, other: Any) -> BallArray:
    return balls(other) - input


@implements("mul", "multiply")
def mul(input: Any, other: Any) -> BallArray:
    return balls(input) * other


@implements("div", "divide", "true_divide")
def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> BallArray:
    quotient = divide(input, other)
    if rounding_mode is None:
        return quotient
    return floor(quotient) if rounding_mode == "floor" else trunc(quotient)


@implements("floor_divide", "__floordiv__")
def floor_divide(input: Any, other: Any) -> BallArray:
    return floor(divide(input, other))


@implements("remainder")
def remainder(input: Any, other: Any) -> BallArray:
    return balls(input) - floor_divide(input, other) * other


def _power_of(base: Any, exponent: Any) -> Any:
    if type(base) is not Complex and type(exponent) is not Complex:
        return numbers.power(base, exponent)
    if isinstance(exponent, fmpq) and exponent.q == 1:
        return base ** int(exponent.p)
    raise NoBallForm("a complex power", "only integer powers of complex numbers have one")


_power = elementwise(_power_of, 2)


@implements("pow", "float_power")
def power(input: Any, exponent: Any) -> BallArray:
    if type(exponent) is int and exponent > 0:

        def raised(x: Any) -> Any:
            return x**exponent if type(x) is Complex else numbers.integer_power(x, exponent)

        return wrap(elementwise(raised)(balls(input).elements))
    return wrap(_power(balls(input).elements, balls(exponent).elements))


@implements("neg", "negative")
def neg(input: Any) -> BallArray:
    return -balls(input)


@implements("positive")
def positive(input: Any) -> BallArray:
    return balls(input)


@implements("addcmul")
def addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> BallArray:
    return balls(input) + balls(tensor1) * tensor2 * value


@implements("reciprocal")
def reciprocal(input: Any) -> BallArray:
    return divide(1, input)


@implements("square")
def square(input: Any) -> BallArray:
    return power(input, 2)


def square_of_absolute(x: BallArray) -> BallArray:
    """|x|²: the square of a real number, and re² + im² of a complex one."""
    return wrap(
        elementwise(
            lambda z: z.square_of_absolute() if type(z) is Complex else numbers.integer_power(z, 2)
        )(x.elements)
    )


# Functions of one number.


def _unary(
    function: Callable[[Number], Number],
    *names: str,
    of_complex: Callable[[Complex], Any] | None = None,
) -> Callable[[Any], BallArray]:
    """Register a function of real numbers; without `of_complex` it refuses complex ones."""

    def of_one(x: Any) -> Any:
        if type(x) is not Complex:
            return function(x)
        if of_complex is None:
            raise NoBallForm(f"torch.{names[0]} of complex numbers")
        return of_complex(x)

    ufunc = elementwise(of_one)

    def apply(input: Any) -> BallArray:
        return wrap(ufunc(balls(input).elements))

    apply.__name__ = apply.__qualname__ = names[0]
    return implements(*names)(apply)


def _of_acb(name: str) -> Callable[[Complex], Complex]:
    """flint's function of that name, with the principal branch as torch has it."""
    return lambda z: from_acb(getattr(z.acb(), name)())


def _by_arb(name: str) -> Callable[[Number], Number]:
    """flint's function of real balls of that name."""
    return lambda x: numbers.apply(name, x)


def _ball(x: Number, name: str) -> arb:
    if isinstance(x, Formal):
        raise x.no_form(name)
    return arb(x)


absolute = _unary(numbers.absolute, "abs", "absolute", of_complex=Complex.absolute)
sign = _unary(numbers.sign, "sign")
floor = _unary(numbers.floor, "floor")
ceil = _unary(lambda x: -numbers.floor(-x), "ceil")
trunc = _unary(lambda x: numbers.floor(x) if x >= 0 else -numbers.floor(-x), "trunc", "fix")
sqrt = _unary(numbers.sqrt, "sqrt", of_complex=_of_acb("sqrt"))
rsqrt = _unary(lambda x: numbers.divide(ONE, numbers.sqrt(x)), "rsqrt")
log = _unary(numbers.log, "log", of_complex=_of_acb("log"))
log2 = _unary(lambda x: numbers.log(x) / numbers.log(fmpq(2)), "log2")
log10 = _unary(lambda x: numbers.log(x) / numbers.log(fmpq(10)), "log10")
log1p = _unary(_by_arb("log1p"), "log1p", "special_log1p")
exp = _unary(_by_arb("exp"), "exp", of_complex=Complex.exp)
exp2 = _unary(lambda x: numbers.power(fmpq(2), x), "exp2", "special_exp2")
expm1 = _unary(_by_arb("expm1"), "expm1", "special_expm1")
sin = _unary(_by_arb("sin"), "sin", of_complex=_of_acb("sin"))
cos = _unary(_by_arb("cos"), "cos", of_complex=_of_acb("cos"))
tan = _unary(_by_arb("tan"), "tan", of_complex=_of_acb("tan"))
asin = _unary(_by_arb("asin"), "asin", "arcsin")
acos = _unary(_by_arb("acos"), "acos", "arccos")
atan = _unary(_by_arb("atan"), "atan", "arctan")
sinh = _unary(_by_arb("sinh"), "sinh", of_complex=_of_acb("sinh"))
cosh = _unary(_by_arb("cosh"), "cosh", of_complex=_of_acb("cosh"))
tanh = _unary(_by_arb("tanh"), "tanh", of_complex=_of_acb("tanh"))
asinh = _unary(_by_arb("asinh"), "asinh", "arcsinh")
acosh = _unary(_by_arb("acosh"), "acosh", "arccosh")
atanh = _unary(_by_arb("atanh"), "atanh", "arctanh")
erfc = _unary(_by_arb("erfc"), "erfc", "special_erfc")
erf = _unary(_by_arb("erf"), "erf", "special_erf")
sigmoid = _unary(lambda x: 1 / (1 + numbers.apply("exp", -x)), "sigmoid", "special_expit")
lgamma = _unary(
    lambda x: numbers.apply("lgamma", x) if x > 0 else numbers.unknown(),
    "lgamma",
    "special_gammaln",
)


_clip = elementwise(numbers.nonnegative)


def nonnegative(x: BallArray) -> BallArray:
    """Intersect with [0, ∞): for sums of squares and the like, whose balls may reach below 0."""
    return wrap(_clip(x.elements))


def root_of_squares(x: BallArray) -> BallArray:
    """The square root of a quantity that is known to be nonnegative."""
    return sqrt(nonnegative(x))


@implements("round")
def round_(input: Any, *, decimals: int = 0) -> BallArray:
    balls(input).require_real("torch.round")
    scale = 10**decimals if decimals >= 0 else divide(1, 10**-decimals)
    return wrap(elementwise(numbers.round_half_even)((balls(input) * scale).elements)) / scale


_relu = elementwise(lambda x: numbers.maximum(x, ZERO))


def relu(input: Any) -> BallArray:
    return wrap(_relu(balls(input).elements))


# Functions of two.

_maximum = elementwise(numbers.maximum, 2)
_minimum = elementwise(numbers.minimum, 2)


@implements("maximum", "fmax")
def maximum(input: Any, other: Any) -> BallArray:
    return wrap(_maximum(balls(input).elements, balls(other).elements))


@implements("minimum", "fmin")
def minimum(input: Any, other: Any) -> BallArray:
    return wrap(_minimum(balls(input).elements, balls(other).elements))


@implements("clamp", "clip")
def clamp(input: Any, min: Any = None, max: Any = None) -> BallArray:
    x = balls(input)
    x = x if min is None else maximum(x, min)
    return x if max is None else minimum(x, max)


@implements("clamp_min")
def clamp_min(input: Any, min: Any) -> BallArray:
    return maximum(input, min)


@implements("clamp_max")
def clamp_max(input: Any, max: Any) -> BallArray:
    return minimum(input, max)


_atan2 = elementwise(lambda y, x: acb(_ball(x, "atan2"), _ball(y, "atan2")).arg(), 2)


@implements("atan2", "arctan2")
def atan2(input: Any, other: Any) -> BallArray:
    """The angle of `other` + i · `input`."""
    y, x = balls(input), balls(other)
    for part in (y, x):
        part.require_real("torch.atan2")
    return wrap(_atan2(y.elements, x.elements))


# Selection: the condition is a decided bool tensor.


@implements("where")
def where(condition: Any, input: Any, other: Any) -> BallArray:
    if not _is_mask(condition) and _is_mask(input):
        return where(input, condition, other)  # called as torch.Tensor.where
    if not _is_mask(condition):
        raise TypeError(
            f"where received a condition of type {type(condition).__name__}; it takes a bool tensor"
        )
    return wrap(np.where(np.asarray(condition), balls(input).elements, balls(other).elements))


@implements("masked_fill")
def masked_fill(input: Any, mask: torch.Tensor, value: Any) -> BallArray:
    return where(mask, value, input)


def _is_mask(x: Any) -> bool:
    return isinstance(x, torch.Tensor) and x.dtype is torch.bool


# Comparisons: a bool tensor, or Undecided.


def _comparison(
    holds: Callable[..., Any], fails: Callable[..., Any], symbol: str, *names: str
) -> Callable[[Any, Any], torch.Tensor]:
    def compare(input: Any, other: Any) -> torch.Tensor:
        x, y = balls(input).elements, balls(other).elements
        yes = np.asarray(holds(x, y))
        if not yes.all():
            open_ = np.asarray(~yes & ~fails(x, y))
            if open_.any():
                x, y = np.broadcast_arrays(x, y)
                raise numbers.undecided(x[open_][0], symbol, y[open_][0])
        return torch.from_numpy(yes)

    compare.__name__ = compare.__qualname__ = names[0]
    return implements(*names)(compare)


lt = _comparison(np.less, np.greater_equal, "<", "lt", "less")
le = _comparison(np.less_equal, np.greater, "<=", "le", "less_equal")
gt = _comparison(np.greater, np.less_equal, ">", "gt", "greater")
ge = _comparison(np.greater_equal, np.less, ">=", "ge", "greater_equal")
eq = _comparison(np.equal, np.not_equal, "==", "eq")
ne = _comparison(np.not_equal, np.equal, "!=", "ne", "not_equal")


@implements("isfinite")
def isfinite(input: Any) -> torch.Tensor:
    """True everywhere. Raises Undecided for an unbounded ball: no ball proves a value infinite."""
    x = balls(input).elements
    for number in (part for half in complexes.parts(x) for part in half.ravel().tolist()):
        if isinstance(number, arb) and not number.is_finite():
            raise numbers.Undecided(f"whether {short_text(number)} is finite is not decidable")
    return torch.ones(x.shape, dtype=torch.bool)


@implements("isnan", "isinf")
def isnan(input: Any) -> torch.Tensor:
    return ~isfinite(input)


# Comparisons for certificates: these never raise.


def provably_less(a: Any, b: Any) -> torch.Tensor:
    """Where a < b is proved, elementwise; False where it is false or undecided."""
    return torch.from_numpy(np.asarray(np.less(balls(a).elements, balls(b).elements)))


def provably_leq(a: Any, b: Any) -> torch.Tensor:
    """Where a ≤ b is proved, elementwise; False where it is false or undecided."""
    return torch.from_numpy(np.asarray(np.less_equal(balls(a).elements, balls(b).elements)))


def difference_bounds(a: Any, b: Any) -> tuple[Any, Any]:
    """Exact (lower, upper) bounds of a − b: Fractions, or object arrays of them (see `lower`).

    Raises Undecided where the difference is unbounded.
    """
    difference = balls(a) - b
    return difference.lower(), difference.upper()
