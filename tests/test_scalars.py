"""Constants in doubles against mpmath; on balls they are exact or enclosed."""

import math
from fractions import Fraction

import mpmath
import pytest
import torch

from rankcheck.scalars import pi, scalar, square_root

LIKE = torch.zeros(2, 3, dtype=torch.float64)


def test_scalars_have_no_axes():
    assert scalar(Fraction(1, 3), LIKE).item() == 1 / 3
    assert scalar(2, LIKE).shape == ()
    assert pi(LIKE).item() == math.pi


@pytest.mark.parametrize("number", [0, 2, 10**30, 2**120 - 1, 2**120 + 1, 7**500])
def test_square_roots_of_any_size(number):
    with mpmath.workdps(60):
        gap = abs(square_root(number, LIKE).item() - mpmath.sqrt(number))
        assert gap <= 2e-16 * mpmath.sqrt(number)


def test_errors():
    with pytest.raises(ValueError, match="integer >= 0; got -1"):
        square_root(-1, LIKE)
    with pytest.raises(OverflowError):
        scalar(10**400, LIKE)
