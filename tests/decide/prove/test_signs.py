"""What the second checker says of signs is so at every point where its facts hold."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pytest
from flint import fmpq

from rankcheck.decide.prove.checking import UnsoundError
from rankcheck.decide.prove.checking.points import NotKnown, Values
from rankcheck.decide.prove.checking.polynomials import Poly, Ring, rational
from rankcheck.decide.prove.checking.signs import (
    ANY,
    Known,
    Variables,
    powered,
    product,
    signs_of,
    summed,
    text_of,
)
from rankcheck.decide.prove.proof import Definition, Entry
from tests.decide.prove import by_hand as made

RING = Ring(("x0", "x1", "g0"))
SIGNS = [signs_of(text) for text in ("-", "0", "+", "-0", "-+", "0+", "-0+")]


def poly(text: str) -> Poly:
    return RING.poly(text)


def variables(*, bounded: bool) -> Variables:
    """Those of two numbers, of which one may be in [1, 8], with a root, a logarithm and a ball."""
    low = "1" if bounded else "-8"
    proof = made.proof(
        low=low,
        bounded=bounded,
        definitions=(
            Definition(name="g0", kind="root", of="x0^2 + x1^2", degree=2),
            Definition(name="g1", kind="root", of="2", degree=2),
            Definition(name="g2", kind="ball", low="-1/8", high="1/4"),
            Definition(name="g3", kind="log", of="g1"),
        ),
    )
    return Variables(proof)


def test_polynomials_are_read_and_written():
    for text in ("0", "1", "-1/2", "x0", "-x0^2*x1 + 3*g0 - 1/2", "x0*x1^3 - x1"):
        assert poly(RING.text(poly(text))) == poly(text)
    assert poly("x0 - x0") == poly("0")
    assert poly("2*x0*3 - x0 * x1^0") == poly("5*x0")
    assert RING.text(poly(" + ".join(f"x0^{n}" for n in range(60)))).endswith("…")
    assert rational("-3/4") == Fraction(-3, 4)


@pytest.mark.parametrize("text", ["", "x0 +", "x0 ** 2", "2x0", "x0^-1", "1/0", "(x0)", "x9", 3])
def test_other_texts_are_no_polynomials(text):
    with pytest.raises(UnsoundError):
        RING.poly(text)


@pytest.mark.parametrize("text", ["1/0", "0.5", "1e3", "", "--1", 1])
def test_other_texts_are_no_numbers(text):
    with pytest.raises(UnsoundError, match="is no rational number"):
        rational(text)


def test_what_is_too_large_is_refused():
    with pytest.raises(UnsoundError, match="has the power 1001"):
        poly("x0 + 1") ** 1001
    with pytest.raises(UnsoundError, match="has a monomial of degree 1000000001"):
        poly("x0*x1^1000000000")
    with pytest.raises(UnsoundError, match="two variables have one name"):
        Ring(("x0", "x0"))
    with pytest.raises(UnsoundError, match="is no name"):
        Ring(("x0", "x 1"))


def some_poly(draw: random.Random, ring: Ring, terms: int = 3, degree: int = 2) -> Poly:
    made_up = {}
    for _ in range(draw.randint(1, terms)):
        exponents = tuple(draw.choice((0, 0, 1, degree)) for _ in range(ring.size))
        made_up[exponents] = draw.choice((-2, -1, 1, 1, 3, Fraction(1, 2)))
    return Poly(made_up, ring.size)


def test_arithmetic_is_that_of_values():
    draw = random.Random(1)
    for _ in range(200):
        a, b = some_poly(draw, RING), some_poly(draw, RING)
        point = [fmpq(draw.randint(-5, 5), draw.randint(1, 4)) for _ in range(3)]
        x, y = a.at(point), b.at(point)
        assert ((a + b).at(point), (a - b).at(point), (a * b).at(point)) == (x + y, x - y, x * y)
        assert (a**3).at(point) == x**3
        assert (a * b).divided(b) == a
        assert (a * b + poly("1")).divided(b * poly("x0 + x1")) is None
        assert (a * 3).multiple_of(a * -2) == Fraction(-3, 2)
        if y:
            above, power = a.substituted(0, poly("x1 + 1"), b)
            assert above.at(point) / y**power == a.at([(point[1] + 1) / y, *point[1:]])


def test_signs_of_sums_products_and_powers():
    for one in SIGNS:
        for two in SIGNS:
            assert product(one, two) == {a * b for a in one for b in two}
            every = {(x > 0) - (x < 0) for a in one for b in two for x in (a + b, a + 2 * b)}
            assert every <= summed([one, two]) or a_difference(one, two)
        assert powered(one, 2) == {abs(a) for a in one}
        assert signs_of(text_of(one)) == one
    assert summed([]) == signs_of("0")


def a_difference(one: frozenset[int], two: frozenset[int]) -> bool:
    """Numbers of both signs may have any sum."""
    return summed([one, two]) == ANY


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("bounded", [False, True])
def test_what_follows_is_so(seed, bounded):
    """Facts that hold at a point never exclude the sign that a polynomial has there."""
    draw = random.Random(f"{seed} {bounded}")
    of = variables(bounded=bounded)
    decided = 0
    for _ in range(25):
        x0 = draw.choice((1, 2, 3)) if bounded else draw.choice((-2, -1, 0, 1, 2, 3))
        entries = (fmpq(x0), fmpq(draw.choice((-2, -1, 0, 1, 3)), draw.choice((1, 2))))
        values = Values(of, entries)
        factors = [some_poly(draw, of.ring, 2) for _ in range(4)]
        facts = []
        for fact in [*factors[:3], factors[0] * factors[1]]:
            try:
                sign = values.sign(fact)
            except NotKnown:
                continue
            facts.append((fact, draw.choice([one for one in SIGNS if sign in one])))
        known = Known(of, tuple(facts))
        asked = [*factors, factors[0] * factors[1] * factors[2], factors[1] * factors[3]]
        asked += [factors[0] * factors[0], some_poly(draw, of.ring), factors[2] * -2]
        for one in asked:
            try:
                sign = values.sign(one)
            except NotKnown:
                continue
            assert sign in known.sign(one)
            assert sign in known.deduced(one)
            assert not known.impossible(one)
            assert sign == values.sign(of.reduced(one))
            decided += len(known.deduced(one)) == 1
    assert decided > 12


def test_bounds_of_roots_logarithms_and_constants():
    of = variables(bounded=False)
    known = Known(of)
    for text, signs in {
        "g1 - 7/5": "+", "g1 - 3/2": "-", "3*g3 - 1": "+", "g2 - 1/4": "-0", "g2": "-0+",
        "g1*g2 - 1/2": "-", "g0": "0+", "x0^2 + g1": "+", "g0 + x0": "-0+",
    }.items():  # fmt: skip
        assert text_of(known.deduced(of.ring.poly(text))) == signs, text


def test_entries_have_ranges():
    proof = made.proof()
    empty = Entry(name="x0", low="1", high="-1")
    with pytest.raises(UnsoundError, match="which is empty"):
        Variables(replace(proof, entries=(empty, proof.entries[1])))
