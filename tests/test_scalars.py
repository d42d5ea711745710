"""Constants in doubles against mpmath; on balls they are exact or enclosed."""

import math
from fractions import Fraction

import mpmath
import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.theory.scalars import constant, pi, scalar, square_root

LIKE = torch.zeros(2, 3, dtype=torch.float64)


@pytest.mark.oracle("rankcheck.linalg.scalar", "Python")
@pytest.mark.oracle("rankcheck.linalg.pi", "math.pi")
def test_scalars_have_no_axes():
    assert scalar(Fraction(1, 3), LIKE).item() == 1 / 3
    assert scalar(2, LIKE).shape == ()
    assert pi(LIKE).item() == math.pi


@pytest.mark.parametrize("value", [0, 1, -0.5, Fraction(1, 3)])
@pytest.mark.oracle("rankcheck.linalg.constant", "Python")
def test_constants_have_the_shape_of_like(value):
    array = constant(value, LIKE)
    assert array.shape == LIKE.shape
    assert array.dtype == torch.float64
    assert bool((array == float(value)).all())
    assert constant(value, LIKE[0, 0]).shape == ()


@pytest.mark.parametrize("value", [0, 1, -0.5, Fraction(1, 3), 10**400])
def test_constants_are_exact_on_balls(value):
    array = constant(value, BallArray.exact(LIKE))
    assert array.shape == LIKE.shape
    assert array.is_exact()
    assert bool((array == value).all())


def test_constants_ignore_the_entries():
    assert constant(1, torch.tensor([math.inf, math.nan])).tolist() == [1, 1]
    counts = constant(1, torch.tensor([3, 4]))
    assert counts.dtype == torch.int64
    with pytest.raises(TypeError, match=r"received 1\.5 beside a tensor of integers"):
        constant(1.5, counts)


@pytest.mark.parametrize("number", [0, 2, 10**30, 2**120 - 1, 2**120 + 1, 7**500])
@pytest.mark.oracle("rankcheck.linalg.square_root", "mpmath.sqrt")
def test_square_roots_of_any_size(number):
    with mpmath.workdps(60):
        gap = abs(square_root(number, LIKE).item() - mpmath.sqrt(number))
        assert gap <= 2e-16 * mpmath.sqrt(number)


def test_errors():
    with pytest.raises(ValueError, match="received -1; the number is an integer >= 0"):
        square_root(-1, LIKE)
    with pytest.raises(OverflowError):
        scalar(10**400, LIKE)
    with pytest.raises(OverflowError):
        constant(10**400, LIKE)
