"""rankcheck/prove/boxes/intervals.py: enclosures in floats contain what exact arithmetic finds."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from rankcheck.algebra.polynomials import parse
from rankcheck.prove.boxes import intervals
from rankcheck.prove.boxes.intervals import (
    Polynomials,
    enclosed,
    floored,
    plus,
    power,
    quotient,
    root,
    times,
)

COUNT = 400


def drawn(seed, *, positive=False):
    """Intervals, and a rational number in each: an end, 0, or something between."""
    random = Random(seed)
    low, high, inner = [], [], []
    for _ in range(COUNT):
        exponent = random.choice([0, 0, 1, 20, -20, -60])
        ends = sorted(random.choice([0.0, random.uniform(-1, 1)]) * 2.0**exponent for _ in "ab")
        if positive:
            ends = sorted(map(abs, ends))
        share = random.choice([Fraction(0), Fraction(1), Fraction(random.randint(0, 99), 99)])
        low.append(ends[0])
        high.append(ends[1])
        inner.append(Fraction(ends[0]) + (Fraction(ends[1]) - Fraction(ends[0])) * share)
    return (np.array(low), np.array(high)), inner


def outside(found, exact):
    """How many exact numbers are not between the ends."""
    return sum(
        not ((low == -np.inf or Fraction(low) <= value) and (high == np.inf or value <= high))
        for low, high, value in zip(*found, exact, strict=True)
    )


def wrong():
    """By operation, how many exact results are not enclosed."""
    (a, x), (b, y), (c, z) = drawn(1), drawn(2), drawn(3, positive=True)
    with np.errstate(all="ignore"):
        return {
            "plus": outside(plus(a, b), [p + q for p, q in zip(x, y, strict=True)]),
            "times": outside(times(a, b), [p * q for p, q in zip(x, y, strict=True)]),
            "square": outside(power(a, 2), [p**2 for p in x]),
            "power": outside(power(a, 5), [p**5 for p in x]),
            "quotient": sum(
                outside(([low], [high]), [p / q])
                for low, high, p, q in zip(*quotient(a, c), x, z, strict=True)
                if q
            ),
        }


def test_what_is_exact_is_enclosed():
    assert set(wrong().values()) == {0}


def test_without_outward_steps_it_would_not_be(monkeypatch):
    monkeypatch.setattr(intervals, "_STEP", 0.0)
    assert min(wrong().values()) > 0


def test_zeros_stay_exact():
    one, zero = (np.ones(1), np.ones(1)), (np.zeros(1), np.zeros(1))
    for found in (times(one, zero), plus(zero, zero), power(zero, 3), root(zero, 2)):
        assert (found[0][0], found[1][0]) == (0.0, 0.0)


@pytest.mark.parametrize("degree", [2, 3, 5])
def test_roots_are_verified(degree):
    a, x = drawn(4, positive=True)
    low, high = root(a, degree)
    for least, most, value in zip(low, high, x, strict=True):
        assert Fraction(least) ** degree <= value <= Fraction(most) ** degree
    assert np.all(high <= 1.0001 * np.power(a[1], 1 / degree))
    assert np.all(low >= 0.9999 * np.power(a[0], 1 / degree))


def test_roots_that_are_wrong_are_noticed(monkeypatch):
    monkeypatch.setattr(np, "sqrt", lambda a: a * 1.01)
    low, high = root((np.array([4.0]), np.array([4.0])), 2)
    assert low[0] == 0
    monkeypatch.setattr(np, "sqrt", lambda a: a * 0.01)
    low, high = root((np.array([4.0]), np.array([4.0])), 2)
    assert high[0] == np.inf


def test_small_ends_are_moved_outwards():
    a = np.array([-1e-30, 1e-30, 0.0, 1.0]), np.array([-1e-30, 1e-30, 0.0, 1.0])
    low, high = floored(a, 2.0**-80)
    assert low.tolist() == [-(2.0**-80), 0.0, 0.0, 1.0]
    assert high.tolist() == [0.0, 2.0**-80, 0.0, 1.0]


def test_rationals_are_enclosed():
    assert enclosed(Fraction(1, 2)) == (0.5, 0.5)
    low, high = enclosed(Fraction(1, 3))
    assert Fraction(low) < Fraction(1, 3) < Fraction(high)
    assert high == np.nextafter(low, 1)


TEXTS = ["x0^3*x1 - 2*x0*x1^2*x2 + 7*x2 - 3", "x0^2 - 2*x0*x1 + x1^2", "12345678901234567891*x0"]


def misses():
    a, b, c = drawn(5), drawn(6), drawn(7)
    table = (np.array([one[0][0] for one in (a, b, c)]), np.array([one[0][1] for one in (a, b, c)]))
    made = Polynomials([parse(text) for text in TEXTS], {"x0": 0, "x1": 1, "x2": 2})
    low, high = made.at(*table)
    count = 0
    for i, text in enumerate(TEXTS):
        exact = []
        for point in zip(a[1], b[1], c[1], strict=True):
            values = dict(zip(("x0", "x1", "x2"), point, strict=True))
            total = Fraction(0)
            for monomial, value in parse(text).items():
                for name, exponent in monomial:
                    value *= values[name] ** exponent
                total += value
            exact.append(total)
        count += outside((low[i], high[i]), exact)
    return count


def test_polynomials_are_enclosed(monkeypatch):
    assert misses() == 0
    monkeypatch.setattr(intervals, "_STEP", 0.0)
    right = Polynomials.__init__

    def without_error(self, *arguments):
        right(self, *arguments)
        self._error = 0.0

    monkeypatch.setattr(Polynomials, "__init__", without_error)
    assert misses() > 0
