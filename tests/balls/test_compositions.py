"""Compositions, transforms and convolutions: against mpmath, numpy, and exact arithmetic."""

import itertools
from fractions import Fraction
from typing import Any

import mpmath
import pytest
import torch
from flint import arb
from torch.nn import functional

from rankcheck.balls import Undecided, precision

from .cases import exact
from .test_agreement import assert_same, dyadics
from .test_numbers import assert_encloses, contains, random_cases


def softplus(t, beta=1, threshold=20):
    return t if beta * t > threshold else mpmath.log1p(mpmath.exp(beta * t)) / beta


def elu(t, alpha=1):
    return max(t, 0) + alpha * min(mpmath.expm1(t), 0)


OF_ONE: dict[str, tuple[Any, Any]] = {
    "softplus": (functional.softplus, softplus),
    "softplus, β": (
        lambda x: functional.softplus(x, beta=0.25),
        lambda t: softplus(t, mpmath.mpf(1) / 4),
    ),
    "softplus beyond its threshold": (
        lambda x: functional.softplus(x, beta=2, threshold=3),
        lambda t: softplus(t, 2, 3),
    ),
    "gelu": (functional.gelu, lambda t: t * mpmath.ncdf(t)),
    "gelu, tanh": (
        lambda x: functional.gelu(x, approximate="tanh"),
        lambda t: (
            t / 2 * (1 + mpmath.tanh(mpmath.sqrt(2 / mpmath.pi) * (t + t**3 * 44715 / 10**6)))
        ),
    ),
    "silu": (functional.silu, lambda t: t / (1 + mpmath.exp(-t))),
    "elu": (functional.elu, elu),
    "elu, α": (lambda x: functional.elu(x, 0.3), lambda t: elu(t, mpmath.mpf(3) / 10)),
    "logsigmoid": (functional.logsigmoid, lambda t: -softplus(-t, 1, mpmath.inf)),
    "erfc": (torch.erfc, mpmath.erfc),
    "asinh": (torch.asinh, mpmath.asinh),
    "atanh": (lambda x: torch.atanh(x / 16), lambda t: mpmath.atanh(t / 16)),
    "acosh": (lambda x: torch.acosh(x + 8), lambda t: mpmath.acosh(t + 8)),
    "atan2": (lambda x: torch.atan2(x, x - 1), lambda t: mpmath.atan2(t, t - 1)),
}


@pytest.mark.parametrize("name", OF_ONE)
def test_compositions_enclose_their_values(name):
    assert_encloses(*OF_ONE[name], zip(random_cases(name, 40)), 20)


def test_a_fourier_coefficient_to_fifty_digits():
    with precision(256), mpmath.workdps(60):
        values = [Fraction(k * k, 7) for k in range(5)]
        [found] = torch.fft.fft(exact(values))[2:3].elements
        oracle = sum(
            mpmath.mpf(v.numerator) / v.denominator * mpmath.expjpi(-mpmath.mpf(4 * k) / 5)
            for k, v in enumerate(values)
        )
        for part, other in ((found.real, oracle.real), (found.imag, oracle.imag)):
            assert contains(part, other, 180)
            assert part.rad() < arb("1e-50")


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel")
@pytest.mark.parametrize("dimension", [1, 2])
def test_convolutions_of_integers_are_exactly_those_of_torch(dimension):
    name = f"conv{dimension}d"
    function = getattr(functional, name)
    for seed, (stride, padding, dilation, groups) in enumerate(
        itertools.product((1, 2), (0, 2, "same", "valid"), (1, 2), (1, 2))
    ):
        if padding == "same" and stride > 1:
            continue
        x = dyadics(2, 4, *[6, 5][:dimension], seed=seed, scale=1)
        w = dyadics(6, 4 // groups, *[2, 3][:dimension], seed=seed + 99, scale=1)
        rest = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
        result = function(exact(x), exact(w), dyadics(6, scale=1), **rest)
        assert result.is_exact()
        assert_same(function(x, w, dyadics(6, scale=1), **rest), result)


VALUES = [Fraction(8), Fraction(1, 2), Fraction(1, 10**6), Fraction(0)]
"""Singular values that are exact."""
V = exact([Fraction(k, 3) for k in (1, 2, 2)] + [Fraction(0)])
REFLECTION = torch.diag(exact([1, 1, 1, 1])) - 2 * torch.outer(V, V)
KNOWN = REFLECTION @ torch.diag(exact(VALUES))


@pytest.mark.parametrize(
    ("tolerances", "count"),
    [
        ({}, 3),
        ({"atol": 1e-7}, 3),
        ({"atol": 1e-5}, 2),
        ({"rtol": 2e-7}, 2),
        ({"rtol": 1e-8}, 3),
        ({"rtol": 0.0625}, 1),
        ({"rtol": 0.0624}, 2),
        ({"atol": 0.5}, 1),
        ({"atol": 0.25, "rtol": 0.5}, 1),
        ({"atol": 8.0, "rtol": 0.5}, 0),
        ({"rtol": 0.0}, 3),
        ({"tol": 0.0}, 3),
        ({"tol": -1.0}, 3),
        ({"tol": 1e-5}, 2),
        ({"atol": -1.0}, 3),
        ({"atol": -1.0, "rtol": -1.0}, 4),
    ],
)
def test_ranks_with_a_tolerance_count_singular_values(tolerances, count):
    """Those above max(atol, rtol · the largest), and an equal one is not."""
    rank = torch.linalg.matrix_rank
    assert int(rank(KNOWN, **tolerances)) == count
    if "tol" not in tolerances:
        assert rank(torch.stack([KNOWN, KNOWN * 0]), **tolerances).shape == (2,)
    symmetric = KNOWN @ REFLECTION  # with the same numbers as eigenvalues
    assert int(rank(symmetric, hermitian=True, **tolerances)) == count
    below = symmetric + 5 * torch.triu(torch.ones(4, 4, dtype=torch.float64), 1)  # is not read
    assert int(rank(below, hermitian=True, **tolerances)) == count
    as_arrays = {name: exact([0]) + value for name, value in tolerances.items()}
    if tolerances and min(tolerances.values()) > 0:
        assert rank(KNOWN[None], **as_arrays).tolist() == [count]


def test_a_rank_is_open_where_a_ball_straddles_the_tolerance():
    root = torch.sqrt(exact([[2, 0], [0, 3]]))
    assert int(torch.linalg.matrix_rank(root, atol=1.5)) == 1
    with pytest.raises(Undecided):
        torch.linalg.matrix_rank(root @ root, atol=2.0)
