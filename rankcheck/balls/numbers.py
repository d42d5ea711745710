"""Functions of exact rationals (``fmpq``) and real balls (``arb``) that enclose their values.

A ball is a set of reals, midpoint ± radius. Every function here maps numbers to a number that
contains each value that the function takes on them (the inclusion property of ball arithmetic:
Johansson, *Arb: efficient arbitrary-precision midpoint-radius interval arithmetic*, 2017). Where
the function is undefined or unbounded on part of a ball, the result is the unbounded ball
``arb.nan()``. No comparison with it is decidable, so nothing false can be proved from it; a
`torch.where` that does not select it is unaffected.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from flint import arb, ctx, fmpq, fmpz

from rankcheck.balls.choices import evaluation
from rankcheck.balls.constants import constant, note
from rankcheck.balls.formal import Formal, Undecided, exact_numbers
from rankcheck.text import short_text

Number: TypeAlias = fmpq | arb

DEFAULT_PRECISION = 128
"""Bits of a ball's midpoint. Set on import, as python-flint's context is global to the process."""

EXACT_POWER_BITS = 1 << 20
"""A power of a rational that would have more bits than this becomes a ball."""

LARGEST_EXPONENT = 1 << 16
"""Balls beyond 2^±65536 are not converted to rationals, which would exhaust the memory."""

WRAPPED = 1 << 31
"""An integer of numpy from here on may be what is left of a larger one, modulo 2⁶⁴."""

ZERO = fmpq(0)
ONE = fmpq(1)

ctx.prec = DEFAULT_PRECISION


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Work with balls of `bits` bits inside the `with` block.

    >>> with precision(256):
    ...     print(arb.pi().rad() < arb("1e-76"))
    True
    """
    if bits < 2:
        raise ValueError(f"precision received {bits} bits; it takes at least 2 bits")
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


def unknown(why: str = "") -> arb:
    """The ball of which nothing is known; the `evaluation` notices why."""
    choices = evaluation()
    if why and choices is not None:
        choices.undefined[why] = None
    return arb.nan()


def exact(value: Any) -> Number:
    """Convert a number in a claim body to the rational, or the ball, that it stands for.

    An int and a Fraction are themselves. A float of at most 12 significant digits is the decimal
    that a person wrote: `0.9` is nine tenths. So is a short dyadic number itself (at most 20
    fractional bits, and 13 bits of its significand unused). Any other float was computed, and
    becomes a ball that is wide enough to cover what was meant; see `rankcheck.balls.constants`. Of
    an integer of numpy that `may_have_wrapped` nothing is known.

    >>> exact(0.75), exact(Fraction(1, 3)), exact(0.9), exact(1 - 0.9).contains(fmpq(1, 10))
    (3/4, 1/3, 9/10, True)

    Raises ValueError for an infinite or undefined float, TypeError for anything but a real number.
    """
    if isinstance(value, (fmpq, arb, Formal)):
        return value
    if isinstance(value, np.integer) and may_have_wrapped(value):
        note(str(value), "an integer of numpy, which may have wrapped", arb.pos_inf())
        return unknown()
    if isinstance(value, (bool, int, np.bool_, np.integer, fmpz)):
        return fmpq(int(value))
    if isinstance(value, Fraction):
        return fmpq(value.numerator, value.denominator)
    if isinstance(value, (float, np.floating)):
        return constant(value, dyadic(value))
    raise TypeError(
        f"received {type(value).__name__} {value!r}; expected an int, Fraction, float, fmpq or arb"
    )


def may_have_wrapped(value: np.integer[Any]) -> bool:
    """Whether an integer of numpy is large or has fewer than 64 bits, modulo which it computes."""
    return value.nbytes < 8 or abs(int(value)) >= WRAPPED


def dyadic(value: float | np.floating[Any]) -> fmpq:
    """The rational number that a float is. Raises ValueError for infinities and nan."""
    if not (math.isfinite(value) if isinstance(value, float) else np.isfinite(value)):
        raise ValueError(f"received {value}; expected a finite number")
    return fmpq(*value.as_integer_ratio())


def is_rational(x: Number) -> bool:
    """Whether x is one known rational number (an fmpq, or a ball of radius zero)."""
    if isinstance(x, fmpq):
        return True
    return isinstance(x, arb) and x.is_exact() and _has_rational_midpoint(x)


def rational(x: Number) -> fmpq:
    """The rational number that x is known to be; `is_rational(x)` must hold."""
    return x if isinstance(x, fmpq) else x.fmpq()


def midpoint_and_error(x: Number) -> tuple[fmpq, arb] | None:
    """A rational and a bound of its distance from every value in x; None for an unbounded x."""
    if isinstance(x, fmpq):
        return x, arb(0)
    if not x.is_finite():
        return None
    if _has_rational_midpoint(x):
        return x.mid().fmpq(), x.rad()
    return ZERO, x.abs_upper()


def _has_rational_midpoint(x: arb) -> bool:
    return x.is_finite() and abs(x.mid().man_exp()[1]) <= LARGEST_EXPONENT


def bounds(x: Number) -> tuple[Fraction, Fraction]:
    """Exact rationals lower ≤ x ≤ upper. Raises Undecided for a ball too wide to have them."""
    if isinstance(x, fmpq):
        value = Fraction(int(x.p), int(x.q))
        return value, value
    if not x.is_finite():
        raise Undecided(f"no bounds of {short_text(x)} are known")
    (low, low_exponent), (high, high_exponent) = x.lower().man_exp(), x.upper().man_exp()
    return _floor(int(low), int(low_exponent)), -_floor(-int(high), int(high_exponent))


def _floor(mantissa: int, exponent: int) -> Fraction:
    """mantissa · 2^exponent, rounded down to a multiple of 2^-65536."""
    if exponent > LARGEST_EXPONENT:
        raise Undecided(f"the bounds of a number are beyond 2^{LARGEST_EXPONENT}")
    if exponent >= 0:
        return Fraction(mantissa << exponent)
    shift = max(-exponent - LARGEST_EXPONENT, 0)
    return Fraction(mantissa >> shift, 1 << (-exponent - shift))


def up_to(upper: arb) -> arb:
    """A ball that contains [0, upper] and no negative number, for `upper` >= 0."""
    if not upper.is_finite():
        return unknown()
    # A radius is rounded up to 30 bits; the midpoint is that rounded radius, so they cancel.
    half = arb(0, (arb(upper) / 2).upper()).rad()
    return arb(arb(0, half).rad(), half)


def nonnegative(x: Number) -> Number:
    """Intersect with [0, ∞), for a quantity that is known to be nonnegative."""
    if isinstance(x, fmpq):
        return x if x >= 0 else ZERO
    if isinstance(x, Formal):
        return x.nonnegative()
    if x >= 0 or x.is_nan():
        return x
    return ZERO if x <= 0 else up_to(x.upper())


def formally(x: Number) -> Formal | None:
    """The formal number that has the functions of x, within `exactly` of a rational, too."""
    if isinstance(x, Formal):
        return x
    kind = exact_numbers.get()
    return kind.of_rational(x) if kind is not None and isinstance(x, fmpq) else None


def apply(name: str, x: Number) -> Number:
    """flint's function of one real number of that name, or that of a formal number."""
    formal = formally(x)
    return getattr(arb(x), name)() if formal is None else formal.of(name)


# Piecewise linear functions: enclosed without deciding a sign.


def absolute(x: Number) -> Number:
    if isinstance(x, fmpq) or x >= 0:
        return abs(x)
    if x <= 0:
        return -x
    return up_to(x.abs_upper()) if x.is_finite() else unknown()


def maximum(a: Number, b: Number) -> Number:
    if _seen_at_most(a, b):
        return b
    if a >= b:
        return a
    if b >= a:
        return b
    if isinstance(b, fmpq) and b == 0:
        return nonnegative(a)
    return _unordered(a, b) or arb(a).max(arb(b))


def minimum(a: Number, b: Number) -> Number:
    if _seen_at_most(b, a):
        return b
    if a <= b:
        return a
    if b <= a:
        return b
    return _unordered(a, b) or arb(a).min(arb(b))


def _seen_at_most(a: Number, b: Number) -> bool:
    """Formal numbers of which a <= b is known: to ask for a >= b might split a path where a = b."""
    formal = a if isinstance(a, Formal) else b
    return isinstance(formal, Formal) and formal.knows_at_most(a, b)


def _unordered(a: Number, b: Number) -> arb | None:
    """Only with the unbounded ball a formal number has no order."""
    return unknown() if isinstance(a, Formal) or isinstance(b, Formal) else None


# Functions with a restricted domain.


def divide(a: Number, b: Number) -> Number:
    if isinstance(b, (fmpq, Formal)) and b == 0:
        return unknown("a quotient by 0")
    return a / b


def sqrt(x: Number) -> Number:
    if isinstance(x, fmpq):
        if x < 0:
            return unknown("a root of a negative number")
        if x.p.is_square() and x.q.is_square():
            return fmpq(x.p.isqrt(), x.q.isqrt())
    if isinstance(x, Formal) or x > 0:
        return apply("sqrt", x)
    return up_to(x.upper().sqrt().upper()) if x >= 0 else unknown("a root of what may be negative")


def log(x: Number) -> Number:
    if isinstance(x, fmpq) and x == 1:
        return ZERO
    return apply("log", x) if x > 0 else unknown("a logarithm of what may be 0 or negative")


def power(base: Number, exponent: Number) -> Number:
    """base ** exponent with torch's conventions: 0⁰ = 1, undefined for negative base otherwise.

    Exact for integer exponents, and for rational ones when the root is rational.
    """
    if isinstance(exponent, fmpq):
        if exponent.q == 1:
            return integer_power(base, int(exponent.p))
        if isinstance(base, fmpq):
            root = _rational_root(base, int(exponent.q))
            if root is not None:
                return integer_power(root, int(exponent.p))
    if isinstance(exponent, Formal) and not isinstance(base, Formal):
        return exponent.as_exponent(base)
    formal = base if isinstance(base, Formal) else formally(base) if base > 0 else None
    if formal is not None:
        return formal.power(exponent)
    if base > 0:
        return arb(base) ** arb(exponent)
    if base == 0 and exponent > 0:
        return ZERO
    if base >= 0 and exponent > 0:  # the powers of [0, u] lie in [0, uᵉ]
        return up_to((arb(base).upper() ** arb(exponent)).upper())
    return unknown("a power of what may be negative, or 0")


def integer_power(base: Number, exponent: int) -> Number:
    if exponent == 0:
        return ONE
    if isinstance(base, fmpq):
        if base == 0 and exponent < 0:
            return unknown("a quotient by 0")
        if base.height_bits() * abs(exponent) <= EXACT_POWER_BITS:
            return base**exponent
        base = arb(base)
    if isinstance(base, Formal):
        return base**exponent if exponent > 0 else divide(ONE, base**-exponent)
    if exponent < 0:
        return 1 / integer_power(base, -exponent)
    if base > 0 or base < 0:
        return base**exponent
    # Around zero arb's own power takes a logarithm, or loses the sign.
    if not base.is_finite():
        return unknown()
    if base.is_zero():
        return ZERO
    largest = (base.abs_upper() ** exponent).upper()
    return up_to(largest) if exponent % 2 == 0 else arb(0, largest)


def _rational_root(x: fmpq, degree: int) -> fmpq | None:
    if x < 0:
        return None
    top, bottom = _integer_root(x.p, degree), _integer_root(x.q, degree)
    return None if top is None or bottom is None else fmpq(top, bottom)


def _integer_root(x: fmpz, degree: int) -> fmpz | None:
    if x <= 1:
        return x
    if degree >= x.bit_length():  # 1 < x < 2ᵈ
        return None
    root = x.root(degree)
    return root if root**degree == x else None


# Discontinuous functions: exact, or Undecided.


def sign(x: Number) -> fmpq:
    if x > 0:
        return ONE
    if x < 0:
        return -ONE
    if x == 0:
        return ZERO
    raise Undecided(f"the sign of {short_text(x)} is not decidable at {ctx.prec} bits")


def floor(x: Number) -> fmpq:
    if isinstance(x, fmpq):
        return fmpq(x.floor())
    if isinstance(x, Formal):
        return x.of("floor")
    low, high = bounds(x)
    if math.floor(low) != math.floor(high):
        raise Undecided(f"the floor of {short_text(x)} is not decidable at {ctx.prec} bits")
    return fmpq(math.floor(low))


def round_half_even(x: Number) -> fmpq:
    if isinstance(x, Formal):
        return x.of("round")
    low, high = bounds(x)
    if round(low) != round(high):
        raise Undecided(f"the rounding of {short_text(x)} is not decidable at {ctx.prec} bits")
    return fmpq(round(low))


def undecided(a: Any, relation: str, b: Any) -> Undecided:
    return Undecided(f"cannot decide {short_text(a)} {relation} {short_text(b)} at {ctx.prec} bits")


# In floats, for reports and guesses.


def as_float(x: Number) -> float:
    """The midpoint as a float, infinite beyond their range."""
    try:
        return int(x.p) / int(x.q) if isinstance(x, fmpq) else float(x.mid())
    except OverflowError:
        return float("inf") if x > 0 else float("-inf")


def float_radius(x: Number) -> float:
    """A float r such that x lies within r of `as_float(x)`."""
    centre = as_float(x)
    if not np.isfinite(centre):
        return float("inf")
    offset = x - dyadic(centre)
    if isinstance(offset, fmpq) and offset == 0:
        return 0.0
    reach = arb(offset).abs_upper()
    return 0.0 if reach == 0 else float(np.nextafter(float(reach), np.inf))
