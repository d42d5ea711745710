"""Decimal enclosures of the named numbers, each from those of the numbers in its expression.

A checker proves them one by one, with no more knowledge than they hold. So they are computed from
each other here too, and not from the sharper balls of the trace.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil, floor

from flint import arb, fmpq

from rankcheck import balls
from rankcheck.balls import numbers
from rankcheck.claims.signs import SIGNS
from rankcheck.faces.exports.evaluate import NotExportable
from rankcheck.faces.exports.plan import Plan
from rankcheck.faces.exports.traced import Traced

DIGITS = (20, 40, 80)
"""Significant digits of enclosures; the first number that decides everything is taken."""

FINEST = Fraction(1, 10**120)
"""Enclosures are multiples of this, or of a larger power of ten."""

Enclosure = tuple[Fraction, Fraction]


def enclosures(plan: Plan) -> tuple[dict[Traced, Enclosure], int]:
    """Of every irrational number with a name, and of the sides; and the digits that they have.

    Raises NotExportable if a branch or the violation is not decided by them.
    """
    why = ""
    for digits in DIGITS:
        known: dict[Traced, Enclosure] = {}
        with balls.precision(8 * digits + 128):
            sides = plan.account.violation.lhs, plan.account.violation.rhs
            for x in (*plan.steps, *sides):
                if not x.rational and x not in known:
                    known[x] = _outward(_ball(x, known, top=True), digits)
            why = _undecided(plan, known)
        if not why:
            return known, digits
    raise NotExportable(f"{why} at {DIGITS[-1]} digits")


def _undecided(plan: Plan, known: Mapping[Traced, Enclosure]) -> str:
    """What the enclosures leave open; empty if that is nothing."""
    for branch, _ in plan.branches:
        low, high = _ball(branch.left, known), _ball(branch.right, known)
        if not {"<": low < high, "<=": low <= high, "=": low == high, "<>": low != high}[
            branch.relation
        ]:
            return (
                f"the enclosures do not prove {branch.left.describe()} {branch.relation} "
                f"{branch.right.describe()}"
            )
    one = plan.account.violation
    lhs, rhs = _ball(one.lhs, known), _ball(one.rhs, known)
    strict = SIGNS[one.kind].strict
    if not (lhs != rhs if one.kind == "eq" else lhs >= rhs if strict else lhs > rhs):
        return "the enclosures of the two sides overlap"
    return ""


def _ball(x: Traced, known: Mapping[Traced, Enclosure], *, top: bool = False) -> arb:
    """The number from enclosures of the named numbers in its expression."""
    if x.rational:
        return arb(x.value)
    if not top and x in known:
        low, high = known[x]
        return arb(_fmpq(low)).union(arb(_fmpq(high)))
    values = [_ball(part, known) for part in x.parts]
    match x.operation:
        case "add":
            return values[0] + values[1]
        case "sub":
            return values[0] - values[1]
        case "mul":
            return values[0] * values[1]
        case "div":
            return values[0] / values[1]
        case "neg":
            return -values[0]
        case "pow":
            return arb(numbers.integer_power(values[0], x.operands[1]))
        case "root":
            return values[0] ** arb(x.operands[1])
        case "power":
            return values[0] ** values[1]
        case "pi":
            return arb.pi()
    return getattr(values[0], x.operation)()


def _outward(x: arb, digits: int) -> Enclosure:
    """Decimals below and above, a unit further than rounding takes them."""
    if not x.is_finite():
        raise NotExportable("a step is not enclosed by decimals")
    low, high = numbers.bounds(x)
    size = max(abs(low), abs(high))
    unit = Fraction(1)
    while unit * 10**digits > size and unit > FINEST:
        unit /= 10
    while unit * 10**digits <= size:
        unit *= 10
    return (floor(low / unit) - 1) * unit, (ceil(high / unit) + 1) * unit


def _fmpq(x: Fraction) -> fmpq:
    return fmpq(x.numerator, x.denominator)
