"""Integers that wrap and reals that lose bits, in floats and on balls, beside Python's numbers."""

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankcheck.balls import (
    BallArray,
    NoBallForm,
    balls,
    computed_constants,
    conventions,
    noted_wraps,
    widths,
    wraps,
)

THIS = __file__


@pytest.fixture(autouse=True)
def _singles(_doubles):
    """torch's own default, as for the bodies of claims."""
    torch.set_default_dtype(torch.float32)


def in_floats(function, *arguments):
    with noted_wraps(THIS) as found, widths():
        return function(*arguments), list(found)


def exactly(function, *arguments):
    with conventions(), widths():
        return function(*arguments)


def factorial(n):
    return torch.arange(1, n + 1).prod()


def loop(n, of=torch.int64):
    p = torch.tensor(1, dtype=of)
    for k in range(1, n + 1):
        p *= k
    return p


def summed(n):
    return torch.full((n,), 2**61).sum()


def running(n):
    return torch.arange(1, n + 1).cumprod(0)[-1]


def multiplied(n):
    A = torch.tensor([[2**32, n], [0, 1]])
    B = A @ A
    return (B @ B)[0, 0]


#: What is computed in integers, and what it is.
COMPUTED = [
    (factorial, math.factorial),
    (loop, math.factorial),
    (running, math.factorial),
    (lambda n: loop(n, torch.int32), math.factorial),
    (lambda n: torch.tensor(3) ** n, lambda n: 3**n),
    (lambda n: 3 ** torch.tensor(n), lambda n: 3**n),
    (lambda n: torch.tensor(3).pow(n), lambda n: 3**n),
    (lambda n: torch.tensor(5) << n, lambda n: 5 << n),
    (lambda n: torch.tensor(n, dtype=torch.uint8) * 10, lambda n: 10 * n),
    (lambda n: torch.tensor(3, dtype=torch.uint8) - n, lambda n: 3 - n),
    (lambda n: torch.tensor([n, 100], dtype=torch.int8).amax() + 100, lambda n: 100 + max(n, 100)),
    (lambda n: (torch.tensor(n) * 100).to(torch.int8), lambda n: 100 * n),
    (lambda n: torch.full((), n * 1e18, dtype=torch.float64).long(), lambda n: n * 10**18),
    (summed, lambda n: n * 2**61),
    (multiplied, lambda n: 2**128),
    (lambda n: torch.tensor(2**62) + n * torch.tensor(2**62), lambda n: (n + 1) * 2**62),
    (lambda n: -torch.tensor(-(2**63)) * n, lambda n: n * 2**63),
    (lambda n: torch.tensor(2**53 + 1).double() + n, lambda n: 2**53 + 1 + n),
]


@pytest.mark.parametrize("n", [1, 5, 13, 21, 40])
@pytest.mark.parametrize(("function", "meant"), COMPUTED)
@pytest.mark.oracle("rankcheck.balls.widths", "Python's integers")
def test_integers_are_exact_whatever_tensor_carries_them(function, meant, n):
    near, _ = in_floats(function, n)
    assert float(near) == pytest.approx(meant(n), rel=1e-12)
    assert balls(exactly(function, n)).lower() == meant(n)
    assert balls(exactly(function, n)).is_exact()


def test_what_fits_stays_an_integer_tensor():
    for function in (in_floats(factorial, 20)[0], exactly(factorial, 20)):
        assert function.dtype is torch.int64
        assert int(function) == math.factorial(20)
    product = exactly(lambda: torch.tensor(2**31) * (2**32 - 1))
    assert product.dtype is torch.int64
    assert exactly(lambda: torch.tensor(2**62) + (2**62 - 1)).item() == 2**63 - 1
    assert exactly(lambda: ~torch.tensor([1, 2]) & 3).tolist() == [2, 1]
    assert exactly(lambda: torch.tensor([3, 1, 2]).sort().values).tolist() == [1, 2, 3]


@pytest.mark.oracle("rankcheck.balls.noted_wraps", "the line of the call")
@pytest.mark.oracle("rankcheck.balls.wraps", "the number of calls that wrap")
def test_the_line_that_wraps_is_noted():
    line = sys._getframe().f_lineno + 1
    _, found = in_floats(lambda: torch.arange(1, 30).prod())
    assert found == [f"line {line} (prod of torch.int64)"]
    assert in_floats(factorial, 20)[1] == []
    before = wraps()
    in_floats(factorial, 21)
    assert wraps() == before + 1


def test_in_place_and_not_bound_is_refused():
    """Nobody can put another tensor into the place of one that is changed."""

    def squared():
        x = torch.tensor(2**40)
        x.mul_(2**40)
        return x

    def written():
        x = torch.zeros(2, dtype=torch.int64)
        x[1] = torch.tensor(2**40) * 2**40
        return x

    for function in (squared, written):
        with pytest.raises(OverflowError, match="int64"):
            in_floats(function)
    assert in_floats(lambda: torch.ones(2, dtype=torch.float64).mul_(3))[0].tolist() == [3, 3]


def test_what_balls_have_no_form_for_is_named():
    with pytest.raises(NoBallForm, match="bitwise"):
        exactly(lambda: torch.bitwise_and(torch.tensor(2**62) * 4, 1))


def test_large_integers_of_numpy_are_noted():
    line = sys._getframe().f_lineno + 1
    _, found = in_floats(lambda: torch.as_tensor(np.arange(1, 22).prod()))
    assert found == [f"line {line} (int64 of numpy, which may wrap unseen)"]
    assert not exactly(lambda: torch.as_tensor(np.arange(1, 22).prod())).is_exact()
    assert exactly(lambda: torch.as_tensor(np.arange(1, 12))).dtype is torch.int64


NARROW = (torch.float16, torch.bfloat16, torch.float32)


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(
    st.fractions(-60000, 60000, max_denominator=10**6),
    st.sampled_from(NARROW),
    st.sampled_from(["tensor", "method", "sum"]),
)
def test_a_number_that_went_through_a_narrow_type_is_known_to_half_a_unit(meant, kind, how):
    x = BallArray.exact([meant])

    def went():
        if how == "tensor":
            return torch.tensor([float(meant)], dtype=kind)
        return x.to(kind) if how == "method" else x.sum(0, keepdim=True, dtype=kind)

    ball = balls(exactly(went))
    rounded = Fraction(torch.tensor(float(meant), dtype=kind).double().item())
    low, high = ball.lower()[0], ball.upper()[0]
    assert low <= meant <= high
    assert low <= rounded <= high
    # What is no decimal of 12 digits is a computed float before, known to 2⁻¹⁹.
    width = max(Fraction(torch.finfo(kind).eps), Fraction(how == "tensor", 2**18))
    assert high - low <= 2.001 * max(abs(meant) * width, Fraction(1, 2**24))
    if rounded == meant:
        assert ball.is_exact()
    else:
        assert not ball.is_exact()


def test_what_loses_nothing_is_exact():
    for made in (
        lambda: torch.eye(3),
        lambda: torch.tensor([0.5, 3.0]),
        lambda: torch.linspace(0, 1, 3),
        lambda: torch.tensor(6) / torch.tensor(3),
        lambda: torch.where(torch.tensor([True, False]), 1.0, 0.5),
        lambda: torch.ones(2, dtype=torch.bfloat16).cumsum(0),
    ):
        assert balls(exactly(made)).is_exact()
    low = exactly(lambda: torch.ones(1) + 1e-9).lower()[0]
    assert 1 - Fraction(1, 2**24) < low < 1 + Fraction(1, 10**9)


def test_what_fits_a_narrow_type_stays_a_tensor_of_it():
    def buffer():
        b = torch.zeros(3)
        b[0] = 1
        b[1:] = torch.tensor([0.5, 2.0])
        return b

    def lossy():
        b = torch.zeros(3)
        b[0] = 16777217.0
        return b

    assert exactly(buffer).dtype is torch.float32
    assert balls(exactly(lambda: 1 * buffer())).is_exact()
    assert exactly(lambda: float(torch.tensor(2.0)) + torch.linspace(0, 2, 3).tolist()[1]) == 3
    x = BallArray.exact([1 + 2.0**-12])
    assert not exactly(lambda: x.to(torch.tensor(1.0, dtype=torch.float16))).is_exact()
    assert not exactly(lambda: 2 * lossy()[0]).is_exact()
    assert exactly(lambda: 1 / torch.tensor(2)).item() == 0.5


def test_constants_from_outside_are_never_exact():
    outside = torch.tensor(16777217.0)
    ball = exactly(lambda: outside.double() * 1)
    assert ball.lower() <= 16777217 <= ball.upper()
    for reader in (float, torch.Tensor.item, torch.Tensor.tolist):
        with pytest.raises(NoBallForm, match="lost bits"):
            exactly(lambda reader=reader: reader(outside))


def test_what_torch_has_no_doubles_for():
    """Scattered sums, shifts of Python's integers, sums of truth values in narrow types."""
    big = torch.full((2,), 2**62)
    place = torch.zeros(2, dtype=torch.int64)
    added = in_floats(lambda: torch.zeros(1, dtype=torch.int64).scatter_add(0, place, big))[0]
    assert added.isnan().all()
    small = in_floats(lambda: torch.zeros(1, dtype=torch.int64).scatter_add(0, place, place + 3))
    assert small[0].tolist() == [6]
    assert in_floats(lambda: torch.tensor([5, 2**62]).gather(0, place))[0].tolist() == [5, 5]
    assert in_floats(lambda: 1 << torch.tensor(70))[0] == 2.0**70
    assert balls(exactly(lambda: 3 << torch.tensor(70))).lower() == 3 * 2**70
    truths = torch.ones(300, dtype=torch.bool)
    assert in_floats(lambda: truths.sum(dtype=torch.uint8))[0] == 300
    assert in_floats(lambda: torch.tensor(-3, dtype=torch.uint8))[0] == -3
    assert in_floats(lambda: torch.func.vmap(lambda n: n * 2)(torch.arange(3)))[0].tolist() == [
        0,
        2,
        4,
    ]


def test_what_loses_bits_is_named_with_its_line():
    line = sys._getframe().f_lineno + 2
    with computed_constants(THIS) as found:
        ball = exactly(lambda: torch.tensor(16777217.0))
    assert ball.lower() <= 16777217 <= ball.upper()
    assert not ball.is_exact()
    [one] = found.values()
    assert one.line == line
    assert "float32" in one.what


def test_quotients_of_integers_are_known_to_half_a_unit_of_single_precision():
    ball = exactly(lambda: torch.tensor(1) / torch.tensor(3))
    assert ball.lower() < Fraction(1, 3) < ball.upper()
    assert ball.lower() <= Fraction(np.float32(1 / 3).item()) <= ball.upper()
    assert ball.upper() - ball.lower() < Fraction(1, 2**24)


def test_beyond_the_range_of_a_narrow_type_nothing_is_known():
    with pytest.raises(ArithmeticError):
        exactly(lambda: torch.tensor(1e6, dtype=torch.float16)).lower()


def test_doubles_are_as_before():
    def body(x):
        return (x.new_tensor([0.1]) + torch.tensor(1 / 3, dtype=torch.float64)).sum()

    x = torch.ones(1, dtype=torch.float64)
    assert in_floats(body, x)[0].dtype is torch.float64
    assert not exactly(body, BallArray.exact([1])).is_exact()
