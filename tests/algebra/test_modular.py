"""Values at random points, and the bounds that are kept of the polynomials behind them."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
import torch
from flint import arb, fmpq, fmpz_mpoly_ctx

import rankcheck.algebra.modular_matrices  # noqa: F401 -- functions of matrices
from rankcheck.algebra.modular import Modular, number
from rankcheck.algebra.points import PRIMES, BadPoint, Points, ThinCell, chance, random_primes
from rankcheck.algebra.sizes import log_sum
from rankcheck.balls import BallArray, NoBallForm, Undecided
from rankcheck.balls.numbers import maximum

RING = fmpz_mpoly_ctx.get([f"x{i}" for i in range(3)], "lex")


def points(rounds=2, seed=0):
    draw = random.Random(seed)
    return Points(random_primes(rounds, draw), draw)


def variables(at, *values):
    return [Modular.entry(at, fmpq(*value) if isinstance(value, tuple) else fmpq(value))
            for value in values]  # fmt: skip


class Exact:
    """A modular number beside the function that it is: num/den."""

    divisors: dict

    def __init__(self, modular, num, den=None):
        self.modular, self.num, self.den = modular, num, RING.constant(1) if den is None else den

    def __add__(self, other):
        return Exact(
            self.modular + other.modular,
            self.num * other.den + other.num * self.den,
            self.den * other.den,
        )

    def __sub__(self, other):
        return Exact(
            self.modular - other.modular,
            self.num * other.den - other.num * self.den,
            self.den * other.den,
        )

    def __mul__(self, other):
        return Exact(self.modular * other.modular, self.num * other.num, self.den * other.den)

    def __truediv__(self, other):
        quotient = self.modular / other.modular
        self.divisors[other.modular.as_divisor()] = other.numerator()
        return Exact(quotient, self.num * other.den, self.den * other.num)

    def numerator(self):
        """N, from the content and the atoms that the number says to be in the denominator."""
        product = RING.constant(self.modular.content)
        for atom, power in self.modular.atoms.items():
            product *= self.divisors[atom] ** power
        quotient, rest = divmod(self.num * product, self.den)
        assert rest == 0
        return quotient

    def within(self):
        """Whether N is within its bounds."""
        numerator = self.numerator()
        size = sum(abs(int(c)) for c in numerator.coeffs())
        degree = numerator.total_degree() if size else 0
        return degree <= self.modular.degree and math.log2(max(size, 1)) <= self.modular.bits


def grown(seed, steps=14):
    """Numbers that random operations make of three variables and of constants."""
    draw, at = random.Random(seed), points(seed=seed)
    Exact.divisors = {}
    made = [Exact(Modular.entry(at, fmpq(3 + i, 7)), RING.gen(i)) for i in range(3)]
    for constant in (Fraction(-5, 6), Fraction(7), Fraction(1, 1024)):
        held = Modular.constant(at, fmpq(constant.numerator, constant.denominator))
        made.append(Exact(held, RING.constant(constant.numerator),
                          RING.constant(constant.denominator)))  # fmt: skip
    for _ in range(steps):
        a, b = draw.choice(made), draw.choice(made)
        if a.modular.degree + b.modular.degree > 12:
            continue
        operation = draw.choice("++-**/")
        if operation == "/" and b.modular.value == 0:
            continue
        made.append(
            a + b if operation == "+"
            else a - b if operation == "-"
            else a * b if operation == "*"
            else a / b
        )  # fmt: skip
    return made


def within(seed):
    return all(one.within() for one in grown(seed))


@pytest.mark.parametrize("seed", range(30))
def test_degrees_and_coefficients_are_within_their_bounds(seed):
    assert within(seed)


def wrong_degrees(patch):
    times = Modular.__mul__

    def product(self, other):
        found = times(self, other)
        found.degree = max(self.degree, other.degree)
        return found

    patch.setattr(Modular, "__mul__", product)


def wrong_bits(patch):
    patch.setattr("rankcheck.algebra.modular.log_sum", max)


def wrong_contents(patch):
    patch.setattr("rankcheck.algebra.modular.ceil_log", lambda n: 0)


@pytest.mark.parametrize("wrong", [wrong_degrees, wrong_bits, wrong_contents])
def test_a_wrong_bound_is_seen(wrong, monkeypatch):
    wrong(monkeypatch)
    assert any(not within(seed) for seed in range(30))


@pytest.mark.parametrize("seed", range(10))
def test_residues_are_those_of_the_function(seed):
    """Where the random point is the sample, the residue of a number is that of its value there."""
    draw, at = random.Random(seed), points(seed=seed)
    made = [
        Modular(at, fmpq(p, q), at.rational(p, q), 1, 0.0) for p, q in ((3, 7), (-5, 2), (9, 8))
    ]
    for _ in range(40):
        a, b = draw.choice(made), draw.choice(made)
        if max(a.value.height_bits(), b.value.height_bits()) < 400 and b.value != 0:
            made.append(draw.choice((a + b, a - b, a * b, a / b, -a, 3 * a, a - fmpq(1, 3), 1 / b)))
            made.append(a**2)
    for one in made:
        assert one.residue == at.rational(int(one.value.p), int(one.value.q))


def test_a_sum_of_logarithms_is_rounded_up():
    assert log_sum(3.0, 3.0) > 4 > log_sum(3.0, 2.9)
    assert log_sum(0.0, -2000.0) > 0


def test_chances():
    primes = random_primes(3, random.Random(1))
    assert len(set(primes)) == 3
    assert all(2**60 < p < 2**61 for p in primes)
    assert chance(5, 59.0, primes[:1]) == Fraction(5, primes[0])
    assert chance(0, 121.0, primes[:1]) == Fraction(2, PRIMES)
    assert chance(5, 59.0, primes) == Fraction(125, math.prod(primes))
    assert chance(2**70, 0.0, primes) == 1


@pytest.mark.parametrize("degree", range(1, 7))
def test_polynomials_vanish_at_no_larger_share_of_the_points(degree):
    """All points modulo 7; a product of linear factors attains the bound."""
    draw = random.Random(degree)
    for _ in range(20):
        shifts = [draw.randrange(7) for _ in range(degree)]
        zeros = sum(math.prod(x - s for s in shifts) % 7 == 0 for x in range(7))
        assert Fraction(zeros, 7) <= chance(degree, 0.0, (7,))
    zeros = sum(math.prod(x - s for s in range(degree)) % 7 == 0 for x in range(7))
    assert Fraction(zeros, 7) == chance(degree, 0.0, (7,)) > chance(degree - 1, 0.0, (7,))


# Comparisons.


def test_the_sample_decides():
    x, y = variables(points(), (1, 3), (2, 3))
    assert [x < y, y > x, x != y, x > 0, x <= 1, x >= y, x == 2] == [True] * 5 + [False] * 2
    assert maximum(x, y) is y
    assert abs(-x).value == fmpq(1, 3)
    assert (x + y) * (x + y) == x * x + 2 * x * y + y * y


def test_what_is_equal_at_the_sample_alone_is_refused():
    at = points()
    x, y = variables(at, 2, 2)
    for compare in (lambda: x == y, lambda: x <= y, lambda: x < 2, lambda: (x - y) >= 0):
        with pytest.raises(ThinCell, match="holds at the sample and not around it"):
            compare()
    assert at.thin
    with pytest.raises(ThinCell):
        x.floor()
    with pytest.raises(ThinCell):
        (x / 4).round()
    assert at.missed == 0


def test_what_is_taken_to_be_zero_is_counted():
    at = points()
    x, y = variables(at, (1, 3), 5)
    assert (x + y) ** 2 - x**2 - y**2 == 2 * x * y
    assert at.missed == chance(2, 4.0, at.primes)


def test_rounding_to_integers():
    x, y = variables(points(), (7, 2), (-17, 5))
    assert [(x - 1).floor(), y.floor(), y.round(), (x - x + 2).floor()] == [2, -4, -3, 2]
    assert [(x + fmpq(1, 5)).round(), (x - fmpq(1, 5)).round()] == [4, 3]


def test_what_is_no_rational_function_is_lost_and_decides():
    at = points()
    x, y = variables(at, 2, (1, 2))
    root = x.sqrt()
    assert 1 < root < fmpq(3, 2) < 1 + root * y
    assert (root + root == 2 * root, root + root != 2 * root) == (False, False)  # undecided
    for lost in (
        root,
        y - root,
        root * root,
        x.power(fmpq(1, 3)),
        x.of("log"),
        x + arb("0.1 +/- 1e-9"),
    ):
        with pytest.raises(NoBallForm, match="rational functions alone"):
            number(at, lost)
    with pytest.raises(NoBallForm, match="sqrt has no ball form"):
        number(at, root)
    assert (x - x).sqrt() == 0
    assert number(at, fmpq(2)).residue == 2
    with pytest.raises(NoBallForm, match="floor of what sqrt made"):
        root.floor()


def test_the_unbounded_ball_remains_and_divisions_by_zero():
    at = points()
    [x] = variables(at, 2)
    assert (x + arb.nan()).is_nan()
    assert not x < arb.nan()
    with pytest.raises(ZeroDivisionError):
        x / (x - x)
    unbounded = (BallArray(np.array([x])) / BallArray(np.array([x - x]))).elements[0]
    assert isinstance(unbounded, arb)
    assert not unbounded.is_finite()
    bad = Modular(at, fmpq(1), at.primes[0], 1, 0.0)
    with pytest.raises(BadPoint, match="another seed"):
        1 / bad


# Matrices.


def matrix(rows):
    return np.array([[x if isinstance(x, (Modular, fmpq)) else fmpq(x) for x in row]
                     for row in rows], dtype=object)  # fmt: skip


def test_matrices():
    at = points()
    a, b, c, d = variables(at, 2, 3, 5, (1, 7))
    A = matrix([[a, b], [c, d]])
    of = Modular.linear_algebra
    determinant = of["determinant"](A)
    assert determinant == a * d - b * c
    assert determinant.degree == 2
    inverse = of["solve"](A, matrix([[1, 0], [0, 1]]))
    assert inverse[0, 1] * determinant == -b
    assert of["rank"](A) == 2
    assert of["rank"](np.outer(A[0], A[1])) == 1
    assert at.missed > 0
    with pytest.raises(torch.linalg.LinAlgError):
        of["solve"](np.outer(A[0], A[1]), A)
    values = of["singular_values"](A)
    assert values[0] > values[1] > 0
    assert values[0].lost == "singular values"


def test_a_rank_that_the_sample_alone_has_is_refused():
    at = points()
    a, b, c, d = variables(at, 1, 2, 2, 4)
    A = matrix([[a, b], [c, d]])
    for name in ("rank", "pseudo_inverse"):
        with pytest.raises(ThinCell, match="the rank of a 2 × 2 matrix, 1, holds"):
            Modular.linear_algebra[name](A)
    with pytest.raises(ThinCell, match="a determinant == 0"):
        Modular.linear_algebra["solve"](A, A)
    with pytest.raises(Undecided):
        Modular.linear_algebra["rank"](matrix([[a.sqrt(), 1], [1, 1]]))


def test_minors_are_within_their_bounds():
    """Of matrices with denominators, against the formula that expands them."""
    draw = random.Random(5)
    made = grown(3)[3:]
    for _ in range(20):
        rows = [[draw.choice(made) for _ in range(2)] for _ in range(2)]
        (a, b), (c, d) = rows
        if max(x.modular.degree for x in (a, b, c, d)) > 6:
            continue
        exact = a * d - b * c
        A = np.array([[x.modular for x in row] for row in rows], dtype=object)
        found = Modular.linear_algebra["determinant"](A)
        assert (found.residue, found.value) == (exact.modular.residue, exact.modular.value)
        assert Exact(found, exact.num, exact.den).within()


def test_a_pseudo_inverse_of_a_matrix_of_smaller_rank():
    at = points()
    entries = variables(at, *((i * i + 3, 7 + i) for i in range(10)))
    left = matrix([entries[:2], entries[2:4], entries[4:6]])
    A = left @ matrix([[*entries[6:8], 1], [*entries[8:], 2]])
    P = Modular.linear_algebra["pseudo_inverse"](A)
    for found, right in ((A @ P @ A, A), (P @ A @ P, P), ((A @ P).T, A @ P), ((P @ A).T, P @ A)):
        assert all(
            x.residue == y.residue for x, y in zip(found.ravel(), right.ravel(), strict=True)
        )
