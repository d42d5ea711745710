"""Limits of known sequences lie within the stated errors, and what grows is given none."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction

import mpmath
import pytest

from rankcheck.sharpen.trend import NOISE, Trend, trend

Sequence = Callable[[int], float]

LIMITS: dict[str, tuple[Sequence, float]] = {
    "kappa": (lambda L: (L / 2) * (4 ** (1 / L) - 1), math.log(2)),
    "e": (lambda n: (1 + 1 / n) ** n, math.e),
    "Wallis": (lambda n: math.prod(1 / (1 - 0.25 / k**2) for k in range(1, n + 1)), math.pi / 2),
    "a product": (lambda n: math.prod(1 - 1 / k**2 for k in range(2, n + 1)), 0.5),
    "Euler": (lambda n: math.prod(1 - 2.0**-k for k in range(1, n + 1)), 0.2887880950866024),
    "zeta(2)": (lambda n: sum(1 / k**2 for k in range(1, n + 1)), math.pi**2 / 6),
    "arctan": (math.atan, math.pi / 2),
    "geometric": (lambda n: 2 - 0.5**n, 2),
    "slowly geometric": (lambda n: 2 - 0.8**n, 2),
    "alternating": (lambda n: 1 + (-0.5) ** n, 1),
    "two rates": (lambda n: 1 - 0.5**n + 0.3 * 0.25**n, 1),
    "a root": (lambda n: 1 - n**-0.5, 1),
    "a square": (lambda n: 3 - n**-2, 3),
    "shifted": (lambda n: 1 - 1 / (n + 3), 1),
    "constant": (lambda n: 0.7, 0.7),
}  # fmt: skip
GROWING: dict[str, tuple[Sequence, str]] = {
    "n": (float, "as n "),
    "square root": (math.sqrt, "n^0.5"),
    "log": (math.log, "log n"),
    "1 + log": (lambda n: 1 + math.log(n), "log n"),
    "n²": (lambda n: float(n * n), "n^2"),
    "2ⁿ": (lambda n: 2.0**n, "a factor of 2 "),
    "a low power": (lambda n: n**0.3, "n^0.3"),
}
RUNS = [(1, 4), (2, 6), (1, 8), (3, 12)]


def along(f: Sequence, first: int, last: int, noise: float = 0.0, seed: int = 0):
    draw = random.Random(seed)
    return [(n, f(n) * (1 - noise * draw.random())) for n in range(first, last + 1)]


def bounded(found: Trend | None) -> tuple[float, float]:
    assert found is not None
    assert found.limit is not None
    assert found.error is not None
    return found.limit, found.error


@pytest.mark.parametrize("noise", [0.0, NOISE])
@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("name", LIMITS)
def test_the_error_covers_the_limit(name, run, noise):
    f, limit = LIMITS[name]
    for seed in range(5):
        found = trend(along(f, *run, noise, seed))
        if found is not None:
            said, error = bounded(found)
            assert abs(said - limit) <= error
            assert error < 0.5 * limit + 0.1


@pytest.mark.parametrize("name", sorted(set(LIMITS) - {"shifted"}))
def test_a_limit_is_found_from_five_values(name):
    f, limit = LIMITS[name]
    _, error = bounded(trend(along(f, 2, 6)))
    assert error < 0.1 * limit


def test_the_depth_of_the_two_jacobians():
    """κ_L = (L/2)(4^{1/L} − 1) from L = 2..6: log 2, and κ_7."""
    f, limit = LIMITS["kappa"]
    found = trend(along(f, 2, 6), by="depth")
    said, error = bounded(found)
    assert abs(said - limit) < 2e-4
    assert error < 1e-3
    assert found.model == "a polynomial of degree 3 in 1/depth"
    assert found.next[0] == 7
    assert found.next[1] == pytest.approx(f(7), abs=1e-4)


def test_richardson_against_mpmath():
    """One polynomial through all values, where it predicts best."""
    values = [sum(Fraction(1, k * k) for k in range(1, n + 1)) for n in range(2, 6)]
    said, _ = bounded(trend(list(zip(range(2, 6), values, strict=True))))
    nodes = [mpmath.mpf(1) / n for n in range(3, 6)]
    matrix = mpmath.matrix([[h**j for j in range(3)] for h in nodes])
    right = mpmath.matrix([mpmath.mpf(v.numerator) / v.denominator for v in values[1:]])
    assert said == pytest.approx(float(mpmath.lu_solve(matrix, right)[0]), rel=1e-12)


def test_shanks_against_mpmath():
    f, _ = LIMITS["Euler"]
    said, _ = bounded(trend(along(f, 2, 6)))
    table = mpmath.shanks([mpmath.mpf(f(n)) for n in range(4, 7)])
    assert said == pytest.approx(float(table[-1][-1]), rel=1e-9)


@pytest.mark.parametrize("noise", [0.0, NOISE])
@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("name", GROWING)
def test_what_grows_has_no_limit(name, run, noise):
    f, words = GROWING[name]
    found = trend(along(f, *run, noise))
    assert found is not None
    assert found.limit is found.error is None
    assert "it grows" in found.model
    assert words in f"{found.model} " or noise
    assert found.next[1] == pytest.approx(f(run[1] + 1), rel=1e-3)


@pytest.mark.parametrize("f", [lambda n: math.log(math.log(n + 2)), lambda n: math.log(n + 3)])
@pytest.mark.parametrize("run", RUNS)
def test_what_grows_too_slowly_is_given_no_limit(f, run):
    assert trend(along(f, *run)) is None


def test_a_sequence_that_becomes_constant():
    found = trend([(1, 0.1), (2, 0.5), (3, 1.0), (4, 1.0 - 1e-7), (5, 1.0)], by="width")
    limit, error = bounded(found)
    assert (limit, found.next, found.model) == (1.0, (6, 1.0), "constant from width = 3 on")
    assert 1e-7 <= error < 1e-5


def test_noise_is_not_taken_for_a_trend():
    """A polynomial of degree 4 would be exact, and wrong by a thousand times the noise."""
    limit, error = bounded(trend(along(lambda n: 1 + 1 / n, 4, 12, 1e-5)))
    assert abs(limit - 1) < error
    assert error > 1e-4


@pytest.mark.parametrize(
    "values",
    [
        [],
        [(1, 1.0), (2, 1.5), (3, 1.7)],
        [(1, 1.0), (2, 1.5), (4, 1.7), (5, 1.8), (6, 1.9)],  # a gap
        [(-1, 1.0), (0, 1.5), (1, 1.7), (2, 1.8), (3, 1.9)],  # sizes begin at 1
        [(1, 1.0), (2, math.inf), (3, 1.7), (4, 1.8), (5, 1.9)],
        [(1, 1.0), (2, 0.3), (3, 1.7), (4, 0.2), (5, 1.9), (6, 0.4)],
    ],
)
def test_nothing_is_said(values):
    assert trend(values) is None


def test_values_in_any_order():
    values = along(LIMITS["e"][0], 2, 6)
    assert trend(values[::-1]) == trend(values)
