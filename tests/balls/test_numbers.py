"""Functions of balls enclose their values: against mpmath at 400 bits, at random points."""

import math
import random
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import torch
from flint import arb, ctx, fmpq

from rankcheck.balls import BallArray, Undecided, balls, exact, numbers, orders, pi, precision

from .cases import fraction, to_mpf

ORACLE_BITS = 400


def contains(number, value, slack_bits=ORACLE_BITS - 40):
    """Whether an mpf, correct to about `slack_bits` bits, lies in a number."""
    value = fraction(value)
    slack = Fraction(1, 2**slack_bits) * (1 + abs(value))
    low, high = numbers.bounds(number)
    return low - slack <= value <= high + slack


def random_cases(seed, count, low=-4, high=4):
    """Balls (and rationals), each with a rational point inside."""
    rng = random.Random(seed)
    for _ in range(count):
        middle = fmpq(rng.randint(low * 16, high * 16), rng.choice([1, 3, 8, 16, 48]))
        if rng.random() < 0.3:
            yield middle, middle
            continue
        radius = fmpq(rng.randint(1, 64), rng.choice([64, 512, 2**40]))
        where = fmpq(rng.randint(-8, 8), 8)
        yield arb(middle, arb(radius)), middle + where * radius


def assert_encloses(function, oracle, cases, least):
    """Each case has a pair for each argument, a ball and a point inside."""
    known = 0
    with mpmath.workprec(ORACLE_BITS):
        for case in cases:
            arrays = [BallArray(np.array([number], dtype=object)) for number, _ in case]
            try:
                result = function(*arrays).elements.ravel()[0]
            except Undecided:  # whether it is above a threshold
                continue
            if isinstance(result, fmpq) or result.is_finite():
                known += 1
                value = oracle(*(to_mpf(point) for _, point in case))
                assert contains(result, value), (case, result)
    assert known > least


UNARY = {
    "exp": (mpmath.exp, None),
    "expm1": (mpmath.expm1, None),
    "log": (mpmath.log, lambda t: t > 0),
    "log2": (lambda t: mpmath.log(t, 2), lambda t: t > 0),
    "log10": (mpmath.log10, lambda t: t > 0),
    "log1p": (mpmath.log1p, lambda t: t > -1),
    "sqrt": (mpmath.sqrt, lambda t: t >= 0),
    "rsqrt": (lambda t: 1 / mpmath.sqrt(t), lambda t: t > 0),
    "square": (lambda t: t * t, None),
    "reciprocal": (lambda t: 1 / t, lambda t: t != 0),
    "abs": (abs, None),
    "neg": (lambda t: -t, None),
    "relu": (lambda t: max(t, 0), None),
    "sin": (mpmath.sin, None),
    "cos": (mpmath.cos, None),
    "tan": (mpmath.tan, None),
    "asin": (mpmath.asin, lambda t: abs(t) <= 1),
    "acos": (mpmath.acos, lambda t: abs(t) <= 1),
    "atan": (mpmath.atan, None),
    "sinh": (mpmath.sinh, None),
    "cosh": (mpmath.cosh, None),
    "tanh": (mpmath.tanh, None),
    "erf": (mpmath.erf, None),
    "sigmoid": (lambda t: 1 / (1 + mpmath.exp(-t)), None),
    "lgamma": (mpmath.loggamma, lambda t: t > 0),
}


@pytest.mark.parametrize("name", UNARY)
def test_functions_enclose_their_values(name):
    oracle, domain = UNARY[name]
    cases = [case for case in random_cases(name, 80) if domain is None or domain(case[1])]
    assert_encloses(getattr(torch, name), oracle, zip(cases), 10)


@pytest.mark.parametrize("name", ["log", "sqrt", "rsqrt", "log1p", "asin", "acos", "lgamma"])
def test_outside_of_its_domain_a_function_knows_nothing(name):
    for outside in (fmpq(-5, 2), arb(-2.5, 0.25), arb(-1, 3)):
        result = getattr(torch, name)(BallArray(np.array([outside], dtype=object)))
        with pytest.raises(Undecided):
            _ = result < 10**9
        with pytest.raises(Undecided):
            _ = result == 0


BINARY = {
    "maximum": max,
    "minimum": min,
    "add": lambda s, t: s + t,
    "sub": lambda s, t: s - t,
    "mul": lambda s, t: s * t,
    "div": lambda s, t: s / t,
}


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_numbers_enclose_their_values(name):
    cases = zip(random_cases(name, 120), random_cases(name + "!", 120), strict=True)
    assert_encloses(getattr(torch, name), BINARY[name], cases, 60)


EXPONENTS = [0, 1, 2, 3, 7, -1, -2, Fraction(1, 2), Fraction(2, 3), Fraction(-3, 2), Fraction(9, 4)]


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_powers_enclose_their_values(exponent):
    whole = Fraction(exponent).denominator == 1
    cases = [
        case
        for case in random_cases(str(exponent), 120)
        if (whole or case[1] >= 0) and (exponent >= 0 or case[1] != 0)
    ]

    def oracle(t):
        return mpmath.power(t, mpmath.mpf(exponent.numerator) / exponent.denominator)

    assert_encloses(lambda x: x**exponent, oracle, zip(cases), 20)


def test_powers_with_ball_exponents():
    cases = zip(random_cases(1, 100, low=0), random_cases(2, 100, -2, 3), strict=True)
    defined = [(base, e) for base, e in cases if base[1] > 0 or (base[1] == 0 and e[1] > 0)]
    assert_encloses(torch.pow, mpmath.power, defined, 50)


def test_even_powers_and_roots_of_balls_around_zero_stay_nonnegative():
    around_zero = BallArray(np.array([arb(0, 1), arb(0.25, 0.5), arb(-3, 5)], dtype=object))
    for nonnegative in (
        around_zero**2,
        around_zero.abs(),
        around_zero.relu(),
        around_zero.square(),
    ):
        assert (nonnegative >= 0).all()
        for root in (nonnegative.sqrt(), nonnegative ** Fraction(2, 5)):
            assert (root >= 0).all()
            assert (root <= 10).all()
    cubes = zip((around_zero**3).elements, [(-1, 1), (-(0.25**3), 0.75**3), (-512, 8)], strict=True)
    for cube, (low, high) in cubes:
        assert numbers.bounds(cube)[0] <= low < high <= numbers.bounds(cube)[1]


def test_up_to_contains_its_bound_at_less_precision():
    """[0, u] for a u of more bits than balls have."""
    for upper in (fmpq(1), fmpq(3), fmpq(2, 7)):
        with precision(400):
            bound = arb(upper) + arb(2) ** -300
            bound = bound.upper()
        low, high = numbers.bounds(numbers.up_to(bound))
        assert low >= 0
        assert Fraction(int(upper.p), int(upper.q)) + Fraction(1, 2**301) <= high


@pytest.mark.parametrize("exponent", [Fraction(2, 3), 0.9, Fraction(-1, 2), -1, -2])
def test_powers_outside_of_their_domain_know_nothing(exponent):
    bases = [arb(-1, 3), arb(0, 1), fmpq(0)] + [fmpq(-2), arb(-2, 1)] * (exponent not in (-1, -2))
    for base in bases:
        if exponent > 0 and base == 0:
            continue
        power = BallArray(np.array([base], dtype=object)) ** exponent
        with pytest.raises(Undecided):
            _ = power < 10**9


def test_rational_arithmetic_is_exact():
    x = BallArray.exact([Fraction(1, 3), Fraction(4, 9), 0, 2])
    assert (x + x).elements.tolist() == [fmpq(2, 3), fmpq(8, 9), 0, 4]
    assert (x * Fraction(3, 4) / 7 - 1).is_exact()
    assert (x**3).elements.tolist() == [fmpq(1, 27), fmpq(64, 729), 0, 8]
    assert BallArray.exact([Fraction(4, 9), 0, 1]).sqrt().elements.tolist() == [fmpq(2, 3), 0, 1]
    root = BallArray.exact([Fraction(8, 27), 0, 1]) ** Fraction(2, 3)
    assert root.elements.tolist() == [fmpq(4, 9), 0, 1]
    assert not x.sqrt().is_exact()
    assert BallArray.exact(1).log().is_exact()


def test_huge_powers_become_balls():
    assert isinstance(numbers.integer_power(fmpq(3, 2), 10**7), arb)
    assert numbers.integer_power(fmpq(3, 2), 10**7) > 10**6
    assert numbers.integer_power(fmpq(-3, 2), 10**7 + 1) < -(10**6)


@pytest.mark.oracle("rankcheck.balls.exact", "fractions.Fraction")
@pytest.mark.parametrize(
    "value",
    [0, 3, -7, True, Fraction(2, 3), 0.5, -1.375, 2.0**-20, 2.0**900, 1 - 2.0**-20],
)
def test_exact_numbers(value):
    number = exact(value)
    assert isinstance(number, fmpq)
    assert Fraction(int(number.p), int(number.q)) == Fraction(value)


def test_single_precision_is_never_exact():
    for x in (0, -1.5, 2.0**-20, 16777216.0):
        low, high = numbers.bounds(exact(np.float32(x)))
        assert low < Fraction(x) < high
        # It may be any number that rounds to it, and is no further off than half a unit.
        assert (high - low) * 999 <= 1000 * max(abs(Fraction(x)) / 2**23, Fraction(1, 2**149))
    low, high = numbers.bounds(exact(np.float32(16777217.0)))
    assert low <= 16777217 <= high


def test_of_large_integers_of_numpy_nothing_is_known():
    assert exact(np.int64(12)) == 12
    for value in (np.arange(1, 22).prod(), np.int8(3), np.uint8(200), np.int64(2) ** 40):
        assert exact(value).is_nan()
    assert balls(np.arange(3)).is_exact()
    assert not balls(np.array([3, 2**40])).is_exact()
    assert balls(torch.tensor([3, 2**40])).is_exact()
    assert BallArray.exact(np.array([3, 4])).is_exact()


@pytest.mark.parametrize(
    "text",
    ["0.9", "-0.1", "1e-3", "1.5e300", "5e-324", "1e22", "123.456789012", "4097.25", "7.0"],
)
@pytest.mark.oracle("rankcheck.balls.exact", "the fractions that decimal literals stand for")
def test_a_written_float_is_its_decimal(text):
    for value in (float(text), np.float64(text), np.longdouble(text), np.longdouble(float(text))):
        assert exact(value) == fmpq(*Fraction(text).as_integer_ratio())


def repeated(value, times, start=1.0, by=float.__mul__):
    for _ in range(times):
        start = by(start, value)
    return start


S = np.float32
COMPUTED = [
    (2 / 3, Fraction(2, 3)),
    (0.1 + 0.2, Fraction(3, 10)),
    (0.1 + 0.2 - 0.3, Fraction(0)),
    (1 - 0.999, Fraction(1, 1000)),
    (1 - 0.999999999, Fraction(1, 10**9)),
    (1000000.1 - 1000000, Fraction(1, 10)),
    (repeated(1.1, 30), Fraction(11, 10) ** 30),
    (repeated(0.1, 10**6, 0.0, float.__add__), Fraction(10**5)),
    (1e11 / 3, Fraction(10**11, 3)),
    (-1e300 / 3, -Fraction(10**300, 3)),
    (2.0**-21, Fraction(1, 2**21)),
    (np.float64(1) / 3, Fraction(1, 3)),
    # More digits than a person writes without rounding.
    (3.14159265358979, Fraction(314159265358979, 10**14)),
    (3.14159265358979, Fraction(math.pi)),
    (np.longdouble(9) / 7, Fraction(9, 7)),
    (np.longdouble("1e400") / 3, Fraction(10**400, 3)),
    # Single precision, as it is and converted to a double.
    *((kind(x), Fraction(y)) for kind in (S, lambda x: float(S(x))) for x, y in (
        (0.9, "9/10"),
        (12.3, "123/10"),
        (1 / 3, "1/3"),
        (1e6 / 7, "1000000/7"),
        (S(1) - S(0.9999), "1/10000"),
        (S(1) - S(0.999999), "1/1000000"),
    )),
    (S(3e8 / 7), Fraction(3 * 10**8, 7)),
    (np.float16(0.9), Fraction(9, 10)),
]  # fmt: skip


@pytest.mark.parametrize(("value", "meant"), COMPUTED)
@pytest.mark.oracle("rankcheck.balls.exact", "the fractions that were meant")
def test_a_computed_float_covers_what_was_meant(value, meant):
    low, high = numbers.bounds(exact(value))
    held = Fraction(*value.as_integer_ratio())
    assert low < meant < high
    assert low < held < high
    # No wider than the rule says: a thousandth of the number for singles, and 2^-18.
    single = not isinstance(value, np.longdouble) and abs(held) < 2**99 and S(value) == value
    widest = Fraction(1, 2**18) if single else Fraction(1, 2**39)
    share = Fraction(1, 2**9) if single else Fraction(1, 2**19)
    if not isinstance(value, np.float16):
        assert high - low <= 2 * max(widest, share * abs(held)) * Fraction(101, 100)


@pytest.mark.parametrize("bits", [2, 24, 53, 128, 2048])
def test_the_ball_of_a_computed_float_holds_at_each_precision(bits):
    with precision(bits):
        low, high = numbers.bounds(exact(1 - 0.999))
    assert low < Fraction(1, 1000) < Fraction(1 - 0.999) < high


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_infinities_are_refused(value):
    with pytest.raises(ValueError, match="finite"):
        exact(value)
    with pytest.raises(ValueError, match="finite"):
        BallArray.exact([1.0, value])


def test_what_is_no_real_number_is_refused():
    for value in ("1", 1j, None):
        with pytest.raises(TypeError, match="expected"):
            exact(value)


def test_types_that_numpy_does_not_have():
    ball = balls(torch.tensor([1.0, -0.375], dtype=torch.bfloat16))
    half = [Fraction(1, 2**8), Fraction(3, 2**11)]
    for middle, end, unit in zip((1, Fraction(-3, 8)), ball.lower().tolist(), half, strict=True):
        assert unit <= middle - end < 1.001 * unit
    assert BallArray.exact(torch.tensor([0.375], dtype=torch.bfloat16)).is_exact()


def test_instance_data_is_taken_as_the_dyadic_numbers_it_is():
    for dtype in (torch.float64, torch.float32):
        data = torch.tensor([0.1, 0.9, 1e-30], dtype=dtype)
        x = BallArray.exact(data)
        assert x.is_exact()
        assert [Fraction(v) for v in data.tolist()] == x.lower().tolist() == x.upper().tolist()
    wide = np.array([np.longdouble(1) / 10])
    assert BallArray.exact(wide).lower().tolist() == [Fraction(*wide[0].as_integer_ratio())]
    assert balls(torch.tensor([0.1], dtype=torch.float64)).lower() == [Fraction(1, 10)]
    single = balls(torch.tensor([0.1], dtype=torch.float32))
    assert single.lower()[0] < Fraction(1, 10) < single.upper()[0]
    assert BallArray.exact(0.1).shape == ()
    assert BallArray.exact([[1, 2.5], [Fraction(1, 3), 0]]).shape == (2, 2)
    assert BallArray.exact(torch.zeros(2, 0, 3)).shape == (2, 0, 3)
    with pytest.raises(TypeError, match="object array"):
        BallArray(np.ones(2))


@pytest.mark.parametrize("bits", [2, 53, 128, 300])
@pytest.mark.oracle("rankcheck.balls.precision", "mpmath.pi")
@pytest.mark.oracle("rankcheck.balls.pi", "mpmath.pi")
def test_pi_at_each_precision_against_mpmath(bits):
    with precision(bits):
        number: Any = pi().elements[()]
    with mpmath.workprec(ORACLE_BITS):
        assert contains(number, +mpmath.pi)
    # About as many bits as were asked for: neither far fewer nor twice as many.
    assert 2.0 ** (-bits - 8) < float(number.rad()) <= 2.0 ** (4 - bits)


def test_precision_is_a_context():
    assert ctx.prec == 128
    coarse: Any = pi().elements[()]
    with precision(300):
        fine: Any = pi().elements[()]
    with pytest.raises(RuntimeError), precision(64):
        raise RuntimeError
    assert ctx.prec == 128
    assert fine.rad() < coarse.rad()
    assert coarse.contains(fine)
    with pytest.raises(ValueError, match="2 bits"), precision(1):
        pass


def test_sorted_numbers_enclose_the_order_statistics():
    rng = random.Random(5)
    for descending in (False, True):
        for size in (0, 1, 2, 3, 5, 8):
            for _ in range(8):
                cases = list(random_cases(rng.random(), size))
                row = [number for number, _ in cases]
                order = sorted((Fraction(int(t.p), int(t.q)) for _, t in cases), reverse=descending)
                for number, value in zip(
                    orders.sorted_numbers(row, descending), order, strict=True
                ):
                    low, high = numbers.bounds(number)
                    assert low <= value <= high


def test_floor_and_round_are_exact_or_undecided():
    x = BallArray.exact([Fraction(5, 2), Fraction(7, 2), Fraction(-5, 2), Fraction(-1, 3), 4])
    for name in ("floor", "ceil", "round", "trunc", "sign"):
        expected = getattr(torch, name)(torch.tensor([2.5, 3.5, -2.5, -1 / 3, 4]))
        assert (getattr(torch, name)(x) == expected).all()
    ball = BallArray(np.array([arb(2.25, 0.125)], dtype=object))
    assert (ball.floor() == 2).all()
    assert (ball.round() == 2).all()
    assert ball.floor().is_exact()
    straddling: Any = BallArray(np.array([arb(2, 0.125)], dtype=object))
    assert (straddling.round() == 2).all()
    for name in ("floor", "ceil"):
        with pytest.raises(Undecided, match="floor"):
            getattr(straddling, name)()
    with pytest.raises(Undecided, match="sign"):
        torch.sign(straddling - 2)
