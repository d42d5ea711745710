"""From the certificate of a goal to a step about its polynomial, and to a relation of its sides."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

from rankcheck.prove.checking.polynomials import Poly, rational
from rankcheck.prove.checking.signs import (
    NOT_NEGATIVE,
    NOT_ZERO,
    POSITIVE,
    ZERO,
    signs_of,
)
from rankcheck.prove.coq.deduced import Deduced, Zero
from rankcheck.prove.coq.errors import NotWritten
from rankcheck.prove.coq.steps import (
    Step,
    any_sign,
    both,
    constant,
    plus,
    power,
    product,
    quotient,
    times,
)
from rankcheck.prove.proof import Boxes, Factors, Goal, Leaf, Squares, Unlogged, Unrooted

__all__ = ["Relation", "impossible", "proved", "related"]

#: By the signs of a goal: the relation of its sides, and a term that gives it.
_RELATIONS = {
    "0+": ("<=", "(at_most _ _ _ _ {})"),
    "+": ("<", "(less _ _ _ {})"),
    "0": ("=", "(equal _ _ _ {})"),
}
_WORDS = {"0+": "not negative", "+": "positive", "0": "zero"}


@dataclass(frozen=True)
class Relation:
    """A relation between the sides of a goal.

    Attributes:
        lemma: a term for it, with `{}` for the step.
        step: that about their difference.
    """

    text: str
    lemma: str
    step: Step


def proved(goal: Goal, deduced: Deduced) -> Step:
    """The step that the polynomial of a goal has its sign.

    Raises:
        NotWritten: if its certificate has no form here, or something of it is not found.
    """
    poly = deduced.ring.poly(goal.polynomial)
    needed = signs_of(goal.signs)
    match goal.certificate:
        case Factors() as factors:
            step = _by_factors(poly, factors, deduced)
        case Squares() as squares:
            step = _by_squares(poly, squares, deduced)
        case Unrooted() as unrooted:
            step = _unrooted(poly, unrooted, deduced)
        case Unlogged() as unlogged:
            step = _unlogged(poly, unlogged, deduced)
        case Boxes():
            raise NotWritten("boxes of entries have no form in it")
    if not step.signs <= needed:
        raise NotWritten(
            f"it does not find the reason why {goal.polynomial:.80} is {_WORDS[goal.signs]}"
        )
    return step


def _by_factors(poly: Poly, certificate: Factors, deduced: Deduced) -> Step:
    made = deduced.ring.number(1) * rational(certificate.scale)
    step = constant(rational(certificate.scale))
    for factor in certificate.factors:
        one = deduced.ring.poly(factor.of)
        made = made * one**factor.power
        step = times(step, power(deduced.deduce(one), factor.power))
    return deduced.moved(poly, step, made)


def _by_squares(poly: Poly, certificate: Squares, deduced: Deduced) -> Step:
    """All of it is multiplied by a number, so that ring has integers to compare."""
    ring = deduced.ring
    rest, zeros = rational(certificate.constant), certificate.zeros
    squares = [_primitive(ring.poly(term.square)) for term in certificate.terms]
    weights = [
        rational(term.weight) * content**2
        for term, (_, content) in zip(certificate.terms, squares, strict=True)
    ]
    cofactors = [ring.poly(one.cofactor) for one in zeros]
    multiplier = ring.poly(certificate.multiplier)
    inside = [c for one in (*cofactors, multiplier) for c in one.terms.values()]
    by = lcm(*(Fraction(c).denominator for c in (rest, *weights, *inside)))
    total = ring.number(rest * by)
    parts = [constant(rest * by)] if rest or not weights else []
    for term, weight, (square, _) in zip(certificate.terms, weights, squares, strict=True):
        part = square * square * (weight * by)
        step = power(any_sign(deduced.texts(square)), 2)
        if weight * by != 1:
            step = times(constant(weight * by), step)
        for text in term.known:
            one = ring.poly(text)
            step = times(step, deduced.require(one, NOT_NEGATIVE))
            part = part * one
        parts.append(step)
        total = total + part
    added = [
        _zero(cofactor * by, ring.poly(one.zero), deduced)
        for cofactor, one in zip(cofactors, zeros, strict=True)
    ]
    if multiplier.constant == by == 1:
        return deduced.moved(poly, plus(parts), total, added)
    whole = deduced.moved(multiplier * poly * by, plus(parts), total, added)
    times_ = multiplier * by
    of = deduced.texts(poly)
    whole = deduced.same_text(whole, f"({deduced.texts(times_)}) * ({of})")
    return quotient(whole, deduced.require(times_, POSITIVE), of)


def _primitive(poly: Poly) -> tuple[Poly, Fraction]:
    """A multiple with integers that have no common factor, and what it is to be multiplied by."""
    values = [Fraction(c) for c in poly.terms.values()]
    if not values:
        return poly, Fraction(1)
    content = Fraction(
        gcd(*(value.numerator for value in values)), lcm(*(value.denominator for value in values))
    )
    return Poly({e: (Fraction(c) / content).numerator for e, c in poly.terms.items()},
                poly.variables), content  # fmt: skip


def _zero(cofactor: Poly, zero: Poly, deduced: Deduced) -> Zero:
    """A multiple of what a fact says is zero, or of the relation of a root."""
    for i, variable in enumerate(deduced.variables.of):
        if variable.kind == "root" and zero == deduced.relation(i):
            return Zero(cofactor, zero, deduced.relation_step(i))
    return Zero(cofactor, zero, deduced.require(zero, ZERO))


def _part(goal: Goal, of: Poly, text: str, deduced: Deduced) -> Step:
    """A part of another certificate, about an expression of the polynomial `of`."""
    found = deduced.moved(of, proved(goal, deduced), deduced.ring.poly(goal.polynomial))
    return deduced.same_text(found, text)


def _unrooted(poly: Poly, certificate: Unrooted, deduced: Deduced) -> Step:
    ring, texts = deduced.ring, deduced.texts
    i = ring.index[certificate.root]
    f, root = deduced.variables.of[i].of, ring.variable(i)
    a, b = ring.poly(certificate.rational), ring.poly(certificate.factor)
    a_text, b_text, f_text = f"({texts(a)})", f"({texts(b)})", f"({texts(f)})"
    first, second = certificate.parts
    if certificate.case == "both":
        parts = _part(first, a, texts(a), deduced), _part(second, b, texts(b), deduced)
        made = plus([parts[0], times(parts[1], deduced.deduce(root))])
        return deduced.moved(poly, made, a + b * root)
    if certificate.case == "rational":
        lemma, low, low_text = "rooted", a, texts(a)
        difference = a * a - b * b * f
        text = f"{a_text} * {a_text} - {b_text} * {b_text} * {f_text}"
    else:
        lemma, low, low_text = "rooted'", b, texts(b)
        difference = b * b * f - a * a
        text = f"{b_text} * {b_text} * {f_text} - {a_text} * {a_text}"
    before = (
        deduced.surely_defined(i),
        _part(first, low, low_text, deduced),
        _part(second, difference, text, deduced),
    )
    why = f"{lemma} _ _ _ _ _ _ _ _ _ _ is_{certificate.root} {{0}} {{1}} {{2}}"
    made = Step(
        before[2].signs | POSITIVE, f"{a_text} + {b_text} * {certificate.root}", why, before
    )
    return deduced.moved(poly, made, a + b * root)


def _unlogged(poly: Poly, certificate: Unlogged, deduced: Deduced) -> Step:
    ring, texts, k = deduced.ring, deduced.texts, certificate.power
    i = ring.index[certificate.log]
    f, log = deduced.variables.of[i].of, ring.variable(i)
    a, b = ring.poly(certificate.rest), ring.poly(certificate.factor)
    a_text, b_text, f_text = f"({texts(a)})", f"({texts(b)})", f"({texts(f)})"
    above = f**k - ring.number(1)
    first, second = certificate.parts
    if certificate.case == "upper":
        lemma, low, bound = "from_above", b * -1, a * k + b * above
        low_text = f"- {b_text}"
        text = f"{k} * {a_text} + {b_text} * ({f_text} ^ {k} - 1)"
    else:
        lemma, low, bound = "from_below", b, a * f**k * k + b * above
        low_text = b_text
        text = f"{k} * {f_text} ^ {k} * {a_text} + {b_text} * ({f_text} ^ {k} - 1)"
    before = (
        deduced.surely_defined(i),
        _part(first, low, low_text, deduced),
        _part(second, bound, text, deduced),
    )
    why = (
        f"{lemma} {k} _ _ _ _ _ _ _ _ _ (le_n_S _ _ (Nat.le_0_l _)) is_{certificate.log} "
        "{0} {1} {2}"
    )
    made = Step(before[2].signs | POSITIVE, f"{a_text} + {b_text} * {certificate.log}", why, before)
    return deduced.moved(poly, made, a + b * log)


def related(goal: Goal, deduced: Deduced) -> Relation:
    """The relation of the sides of a goal.

    Raises:
        NotWritten: if the certificate has no form here, or something of it is not found.
    """
    if goal.lhs is None or goal.rhs is None:
        raise NotWritten("a goal has no sides")
    if rational(goal.slack):
        raise NotWritten("what is proved up to a factor has no form in it")
    poly, texts = deduced.ring.poly, deduced.texts
    ln, ld, rn, rd = map(poly, (goal.lhs.num, goal.lhs.den, goal.rhs.num, goal.rhs.den))
    cross = _cross(goal, rn * ld - ln * rd, poly(goal.polynomial), deduced)
    lhs, rhs = texts.ratio(ln, ld), texts.ratio(rn, rd)
    difference = f"{rhs} - ({lhs})"
    if ld.constant == rd.constant == 1:
        step = deduced.same_text(cross, difference)
    else:
        text = f"({texts(rn)}) * ({texts(ld)}) - ({texts(ln)}) * ({texts(rd)})"
        cross = deduced.same_text(cross, text)
        dens = times(deduced.require(ld, NOT_ZERO), deduced.require(rd, NOT_ZERO))
        dens = deduced.same_text(dens, f"({texts(ld)}) * ({texts(rd)})")
        over = ["(over_one _)" if den.constant == 1 else "eq_refl" for den in (ld, rd)]
        why = f"sides _ _ _ _ _ _ _ _ _ _ _ {' '.join(over)} {{0}} {{1}}"
        step = Step(product(dens.signs, cross.signs), difference, why, (dens, cross))
    if not step.signs <= signs_of(goal.signs):
        raise NotWritten("it does not find the signs of the denominators of a goal")
    relation, lemma = _RELATIONS[goal.signs]
    return Relation(f"{lhs} {relation} {rhs}", lemma, step)


def impossible(leaf: Leaf, deduced: Deduced) -> Step:
    """A step that a polynomial has no sign at all where a leaf says that no instance is.

    Raises:
        NotWritten: if none is found.
    """
    for goal in leaf.goals:  # that a negative number is not negative
        value = deduced.ring.poly(goal.polynomial).constant
        step = proved(goal, deduced)
        if value is not None and not both(step, constant(value)).signs:
            return both(step, constant(value))
    facts = [poly for poly, _ in deduced.known]
    for poly in (*([deduced.ring.poly(leaf.of)] if leaf.of else []), *facts):
        if (found := deduced.impossible(poly)) is not None:
            return found
    raise NotWritten("it does not find why a path is empty")


def _cross(goal: Goal, cross: Poly, poly: Poly, deduced: Deduced) -> Step:
    """The step about ``rhs.num lhs.den - lhs.num rhs.den``, a multiple of the polynomial."""
    ring, step = deduced.ring, proved(goal, deduced)
    reduced, given = deduced.variables.reduced(cross), deduced.variables.reduced(poly)
    if not given or not reduced:
        if given or reduced:
            raise NotWritten("the sides of a goal have another polynomial than the goal")
        return deduced.moved(cross, constant(Fraction(0)), ring.number(0))
    if (number := reduced.multiple_of(given)) is not None:
        factor = ring.number(1) * number
    elif (rest := reduced.divided(given)) is not None:
        factor = rest
    else:
        raise NotWritten("the sides of a goal have another polynomial than the goal")
    if factor.constant == 1:
        return deduced.moved(cross, step, poly)
    return deduced.moved(cross, times(deduced.deduce(factor), step), factor * poly)
