"""Sums of squares: certificates that a polynomial is not negative where facts hold.

What is accepted is evaluated here at rational points, both sides, in other code.
"""

from fractions import Fraction
from random import Random

import pytest

from rankcheck.decide.algebra.polynomials import parse
from rankcheck.decide.prove.proof import Definition, Fact
from rankcheck.decide.prove.sums.ring import known_signs
from rankcheck.decide.prove.sums.squares import squares

NO_FACTS = ()
NOT_NEGATIVE = tuple(Fact(of=f"x{i}", signs="0+") for i in range(4))
ORDERED = (
    Fact(of="x0", signs="0+"),
    Fact(of="x1 - x0", signs="0+"),
    Fact(of="x2 - x1", signs="0+"),
)
MOTZKIN = "x0^4*x1^2 + x0^2*x1^4 - 3*x0^2*x1^2 + 1"
SCHUR = (
    "x0^3 + x1^3 + x2^3 + 3*x0*x1*x2 - x0^2*x1 - x0^2*x2 - x1^2*x0 - x1^2*x2 - x2^2*x0 - x2^2*x1"
)
NORM = Definition(name="r0", kind="root", of="x0^2 + x1^2", degree=2)
OTHER = Definition(name="r1", kind="root", of="x2^2 + x3^2", degree=2)
NESTED = Definition(name="r2", kind="root", of="r0^2*x2^2 + r1^2", degree=2)

PROVED = {
    "AM-GM, 2": ("x0^2 - 2*x0*x1 + x1^2", NO_FACTS, ()),
    "AM-GM, 3": ("x0^3 + x1^3 + x2^3 - 3*x0*x1*x2", NOT_NEGATIVE, ()),
    "AM-GM, 3, even": ("x0^6 + x1^6 + x2^6 - 3*x0^2*x1^2*x2^2", NO_FACTS, ()),
    "AM-GM, 4": ("x0^4 + x1^4 + x2^4 + x3^4 - 4*x0*x1*x2*x3", NO_FACTS, ()),
    "Cauchy-Schwarz": ("x0^2*x3^2 + x1^2*x2^2 - 2*x0*x1*x2*x3", NO_FACTS, ()),
    "Motzkin": (MOTZKIN, (), ()),
    "Motzkin, off 0": (MOTZKIN, (Fact(of="x0^2 + x1^2", signs="+"),), ()),
    "Schur": (SCHUR, ORDERED, ()),
    "a root": ("x0^2 + x1^2 + 1 - 2*r0", NO_FACTS, (NORM,)),
    "a root, known": ("r0*x0^2 + r0*x1^2 - 2*r0*x0*x1 + r0^3", NO_FACTS, (NORM,)),
    "roots": ("r0^2 + x2^2 + x3^2 - 2*r0*r1", NO_FACTS, (NORM, OTHER)),
    "nested roots": ("r2^2 + r0^2*x2^2 + r1^2 - 2*r2*r0*x2", NO_FACTS, (NORM, OTHER, NESTED)),
    "irrational zeros": ("x0^4 - 4*x0^2*x1^2 + 4*x1^4", NO_FACTS, ()),
    "two facts": (
        "x0*x1 - 1",
        (Fact(of="x0 - 1", signs="+"), Fact(of="-x1 + 1", signs="-0")),
        (),
    ),
    "a zero": ("x0*x1", (Fact(of="x0 - x1", signs="0"),), ()),
    "on a circle": ("-x0^2*x1^2 + 1/4", (Fact(of="x0^2 + x1^2 - 1", signs="0"),), ()),
    "three facts": (
        "x3^2 + x0*x1*x2 - x0*x1^2",
        (
            Fact(of="x0", signs="0+"),
            Fact(of="x1", signs="0+"),
            Fact(of="x1 - x2", signs="-0"),
        ),
        (),
    ),
    "0": ("0", NO_FACTS, ()),
}
STRICT = {
    "a number": ("1/3", NO_FACTS, ()),
    "completed square": ("x0^2 - 2*x0 + 2", NO_FACTS, ()),
    "with facts": ("-x0*x1 + 1", (Fact(of="x0", signs="0+"), Fact(of="x1", signs="-")), ()),
}
FALSE = {
    "indefinite": ("x0^2 - 2*x0*x1", NO_FACTS, ()),
    "AM-GM, 4, constant 1.01": ("x0^4 + x1^4 + x2^4 + x3^4 - 101/25*x0*x1*x2*x3", NO_FACTS, ()),
    "AM-GM without facts": ("x0^3 + x1^3 + x2^3 - 3*x0*x1*x2", NO_FACTS, ()),
    "-1e-9": ("x0^2 - 2*x0*x1 + x1^2 - 1/1000000000", NO_FACTS, ()),
    "(1 - 1e-9) x0^4": (
        "999999999/1000000000*x0^4 + x1^4 + x2^4 + x3^4 - 4*x0*x1*x2*x3",
        NO_FACTS,
        (),
    ),
    "Motzkin - 1e-9": (f"{MOTZKIN} - 1/1000000000", NO_FACTS, ()),
    "root": ("x0^2 + x1^2 + 99/100 - 2*r0", NO_FACTS, (NORM,)),
    "a fact on others": ("x0", (Fact(of="x1", signs="0+"),), ()),
    "not zero": ("x0", (Fact(of="x0", signs="-+"),), ()),
    "negative": ("-1/1000000000", NO_FACTS, ()),
}


def value(text, point):
    total = Fraction(0)
    for monomial, coefficient in parse(text).items():
        for name, power in monomial:
            coefficient *= point[name] ** power
        total += coefficient
    return total


def assert_is_right(goal, facts, definitions, found, *, strict):
    """The identity at random points (roots are variables of their own), and why its terms count."""
    names = {f"x{i}" for i in range(6)} | {made.name for made in definitions}
    random = Random(1)
    for _ in range(20):
        point = {name: Fraction(random.randint(-99, 99), random.randint(1, 9)) for name in names}
        right = Fraction(found.constant)
        for term in found.terms:
            part = Fraction(term.weight) * value(term.square, point) ** 2
            for known in term.known:
                part *= value(known, point)
            right += part
        right += sum(value(m.cofactor, point) * value(m.zero, point) for m in found.zeros)
        assert value(found.multiplier, point) * value(goal, point) == right
    roots = {made.name for made in definitions}
    signs = known_signs(facts)
    assert {known for term in found.terms for known in term.known} <= roots | {
        of for sign, of in signs if sign in {">", ">="}
    }
    zeros = [parse(of) for sign, of in signs if sign == "0"]
    for made in definitions:
        relation = {m: -c for m, c in parse(made.of).items()}
        zeros.append({**relation, ((made.name, made.degree),): Fraction(1)})
    assert all(parse(multiple.zero) in zeros for multiple in found.zeros)
    positive = {of for sign, of in signs if sign == ">"}
    multiplier = parse(found.multiplier)
    even = all(power % 2 == 0 for monomial in multiplier for _, power in monomial)
    assert found.multiplier in positive or (
        even and multiplier[()] > 0 and min(multiplier.values()) > 0
    )
    assert all(Fraction(term.weight) > 0 for term in found.terms)
    assert Fraction(found.constant) >= 0
    assert not strict or Fraction(found.constant) > 0


@pytest.mark.parametrize("name", sorted(PROVED))
def test_what_is_a_sum_of_squares_is_proved(name):
    goal, facts, definitions = PROVED[name]
    found = squares(goal, facts, definitions, strict=False)
    assert found is not None
    assert_is_right(goal, facts, definitions, found, strict=False)


@pytest.mark.parametrize("name", sorted(STRICT))
def test_strict_goals_have_a_positive_constant(name):
    goal, facts, definitions = STRICT[name]
    found = squares(goal, facts, definitions, strict=True)
    assert found is not None
    assert_is_right(goal, facts, definitions, found, strict=True)


@pytest.mark.parametrize("name", sorted(FALSE))
def test_what_is_false_is_not_proved(name):
    goal, facts, definitions = FALSE[name]
    assert squares(goal, facts, definitions, strict=False) is None


@pytest.mark.parametrize("name", ["0", "AM-GM, 2", "AM-GM, 4", "a root"])
def test_what_has_equality_is_not_strict(name):
    goal, facts, definitions = PROVED[name]
    assert squares(goal, facts, definitions, strict=True) is None
