"""Goals: that a polynomial is the one of its sides, and that it has the sign that is claimed."""

from __future__ import annotations

from rankcheck.decide.prove.checking.errors import UnsoundError
from rankcheck.decide.prove.checking.polynomials import Poly, rational
from rankcheck.decide.prove.checking.signs import (
    NOT_NEGATIVE,
    NOT_ZERO,
    POSITIVE,
    ZERO,
    Known,
    Signs,
    Variable,
    powered,
    product,
    signs_of,
    text_of,
)
from rankcheck.decide.prove.proof import Factors, Goal, Ratio, Squares, Unlogged, Unrooted

#: Certificates stand in certificates so deep.
DEEPEST = 32


class GoalChecker:
    """Checks the goals of one path.

    Args:
        known: what is known on the path.

    Attributes:
        identities: how many identities were expanded.
        methods: the methods that certificates needed.
    """

    def __init__(self, known: Known) -> None:
        self._known = known
        self._variables = known.variables
        self._ring = known.variables.ring
        self.identities = 0
        self.methods: set[str] = set()

    def check(self, goal: Goal) -> None:
        """Check a goal of a leaf.

        Raises:
            UnsoundError: if its polynomial is not that of its sides, or its sign does not follow.
        """
        if goal.lhs is None or goal.rhs is None:
            raise UnsoundError("a goal has no sides; it is about the two sides of a relation")
        if min(goal.relation, goal.entry) < 0:
            raise UnsoundError("a goal is about a relation or entry below 0; there is none")
        if goal.signs not in ("0+", "+", "0"):
            raise UnsoundError(f"a goal needs the signs {goal.signs!r}; one needs 0+, + or 0")
        self._check_sides(goal, goal.lhs, goal.rhs)
        self._check_sign(goal, 0)

    def lemma(self, goal: Goal) -> tuple[Poly, Signs]:
        """Check a goal without sides; the fact that it proves.

        Raises:
            UnsoundError: if its sign does not follow.
        """
        if goal.lhs is not None or goal.rhs is not None:
            raise UnsoundError("a lemma has sides; it is about a polynomial")
        self._check_sign(goal, 0)
        return self._polynomial(goal.polynomial), signs_of(goal.signs)

    def _check_sides(self, goal: Goal, lhs: Ratio, rhs: Ratio) -> None:
        ln, ld, rn, rd = (self._ring.poly(text) for text in (lhs.num, lhs.den, rhs.num, rhs.den))
        self._known.require_defined(ln, ld, rn, rd)
        for den in (ld, rd):
            if not self._known.within(den, NOT_ZERO):
                raise UnsoundError(
                    f"it is not known that the denominator {self._ring.text(den)} of a side is not "
                    "zero; a side has a value on its whole path"
                )
        dens = product(self._known.deduced(ld), self._known.deduced(rd))
        wanted = self._variables.reduced(rn * ld - ln * rd)
        given = self._polynomial(goal.polynomial)
        self.identities += 1
        if not wanted or not given:
            factor = None if wanted or given else ZERO
        elif (number := wanted.multiple_of(given)) is not None:
            factor = POSITIVE if number > 0 else frozenset((-1,))
        elif (rest := wanted.divided(given)) is not None:
            factor = self._known.deduced(rest)
        else:
            factor = None
        if factor is None or (given and 0 in factor):
            raise UnsoundError(
                f"the polynomial of a goal is {self._ring.text(given)}, and its sides give "
                f"{self._ring.text(wanted)}; it is rhs.num·lhs.den − lhs.num·rhs.den"
            )
        signs = product(dens, factor)  # none where the facts exclude every instance
        if given and goal.signs != "0" and len(signs) > 1:
            raise UnsoundError(
                f"the signs of the denominators {self._ring.text(ld)} and {self._ring.text(rd)} "
                "are not known; the sign of rhs − lhs rests on them"
            )
        if given and goal.signs != "0" and not signs <= POSITIVE:
            raise UnsoundError(
                f"a goal has the sign of lhs − rhs: the denominators {self._ring.text(ld)} and "
                f"{self._ring.text(rd)} give the other one; its polynomial has that of rhs − lhs"
            )

    def _polynomial(self, text: str) -> Poly:
        poly = self._ring.poly(text)
        self._known.require_defined(poly)
        return self._variables.reduced(poly)

    def _check_sign(self, goal: Goal, depth: int) -> None:
        if depth > DEEPEST:
            raise UnsoundError(f"certificates stand in one another more than {DEEPEST} deep")
        needed = signs_of(goal.signs)
        poly = self._polynomial(goal.polynomial)
        match goal.certificate:
            case Factors() as factors:
                self._check_factors(poly, needed, factors)
            case Squares() as squares:
                self._check_squares(poly, needed, squares)
            case Unrooted() as unrooted:
                self._check_unrooted(poly, needed, unrooted, depth)
            case Unlogged() as unlogged:
                self._check_unlogged(poly, needed, unlogged, depth)
            case other:
                raise UnsoundError(f"a goal has a {type(other).__name__} in place of a certificate")

    def _expanded(self, what: str, poly: Poly, given: Poly) -> None:
        self.identities += 1
        difference = self._variables.reduced(given - poly)
        if difference:
            raise UnsoundError(
                f"{what}, expanded, differs from {self._ring.text(poly)} by "
                f"{self._ring.text(difference)}; the two are one polynomial"
            )

    def _check_factors(self, poly: Poly, needed: Signs, certificate: Factors) -> None:
        scale = rational(certificate.scale)
        expanded = self._ring.number(1) * scale
        signs: Signs = frozenset(((scale > 0) - (scale < 0),))
        unknown = []
        for factor in certificate.factors:
            if not isinstance(factor.power, int) or factor.power < 1:
                raise UnsoundError(f"a factor has the power {factor.power!r:.20}; powers are 1 up")
            one = self._ring.poly(factor.of)
            self._known.require_defined(one)
            expanded = expanded * one**factor.power
            known = self._known.deduced(one)
            unknown += [self._ring.text(one)] if len(known) > 1 else []
            signs = product(signs, powered(known, factor.power))
        self._expanded("a product of factors", poly, expanded)
        if not signs <= needed:
            why = f"; of {', '.join(unknown)} no more is known on the path" if unknown else ""
            raise UnsoundError(
                f"the factors give {self._ring.text(poly)} the signs {text_of(signs)}, and its "
                f"goal needs {text_of(needed)}{why}"
            )

    def _check_squares(self, poly: Poly, needed: Signs, certificate: Squares) -> None:
        self.methods.add("squares")
        if needed == ZERO:
            raise UnsoundError("a goal that a polynomial is zero rests on squares; no sum says so")
        ring = self._ring
        constant = rational(certificate.constant)
        if constant < 0 or (needed == POSITIVE and constant == 0):
            raise UnsoundError(
                f"the constant beside a sum of squares is {constant}; it is not negative, and "
                "positive for a strict goal"
            )
        multiplier = ring.poly(certificate.multiplier)
        self._known.require_defined(multiplier)
        if not self._known.within(multiplier, POSITIVE):
            raise UnsoundError(
                f"it is not known that the multiplier {ring.text(multiplier)} of a sum of squares "
                "is positive"
            )
        total = ring.number(1) * constant
        for term in certificate.terms:
            weight = rational(term.weight)
            if weight < 0:
                raise UnsoundError(f"a square has the weight {weight}; weights are not negative")
            square = ring.poly(term.square)
            self._known.require_defined(square)
            part = square * square * weight
            for text in term.known:
                factor = ring.poly(text)
                self._known.require_defined(factor)
                if not self._known.within(factor, NOT_NEGATIVE):
                    raise UnsoundError(
                        f"a square is multiplied by {ring.text(factor)}, and the facts on the path "
                        "do not say that this is not negative"
                    )
                part = part * factor
            total = total + part
        for multiple in certificate.zeros:
            zero, cofactor = ring.poly(multiple.zero), ring.poly(multiple.cofactor)
            self._known.require_defined(zero, cofactor)
            reduced = self._variables.reduced(zero)  # 0 of r^k - f
            if not any(self._known.within(one, ZERO) for one in (reduced, zero)):
                raise UnsoundError(
                    f"a multiple of {ring.text(zero)} is added as zero, and the facts on the path "
                    "do not say that this is zero"
                )
            total = total + cofactor * zero
        self._expanded("a sum of squares", multiplier * poly, total)

    def _check_unrooted(self, poly: Poly, needed: Signs, certificate: Unrooted, depth: int) -> None:
        root, variable = self._variable(certificate.root, "root")
        if variable.degree != 2:
            raise UnsoundError(f"{certificate.root} is eliminated; that is no square root")
        rest, factor = self._linear(
            poly, root, certificate.root, certificate.rational, certificate.factor
        )
        difference = rest * rest - factor * factor * variable.of
        wanted = {
            "both": (rest, factor),
            "rational": (rest, difference),
            "factor": (factor, -difference),
        }.get(certificate.case)
        strict = self._check_parts(certificate, certificate.root, wanted, depth)
        enough = strict[1]
        if certificate.case == "both":
            enough = strict[0] or (strict[1] and self._known.within(root, POSITIVE))
        self._require_strict(certificate.root, needed, enough)

    def _check_unlogged(self, poly: Poly, needed: Signs, certificate: Unlogged, depth: int) -> None:
        log, variable = self._variable(certificate.log, "log")
        power = certificate.power
        if not isinstance(power, int) or power < 1:
            raise UnsoundError(
                f"a logarithm is bounded by the power {power!r:.20}; powers are 1 up"
            )
        rest, factor = self._linear(
            poly, log, certificate.log, certificate.rest, certificate.factor
        )
        above = variable.of**power
        bound = factor * (above - self._ring.number(1))
        wanted = {
            "upper": (-factor, rest * power + bound),
            "lower": (factor, rest * above * power + bound),
        }.get(certificate.case)
        strict = self._check_parts(certificate, certificate.log, wanted, depth)
        self._require_strict(certificate.log, needed, strict[1])

    def _variable(self, name: str, kind: str) -> tuple[Poly, Variable]:
        """A root or a logarithm that is eliminated."""
        number = self._ring.index.get(name)
        if number is None or self._variables.of[number].kind != kind:
            raise UnsoundError(f"{name!r:.40} is eliminated as a {kind}, and is none")
        variable = self._ring.variable(number)
        self._known.require_defined(variable)
        return variable, self._variables.of[number]

    def _linear(
        self, poly: Poly, variable: Poly, name: str, rest: str, factor: str
    ) -> tuple[Poly, Poly]:
        """Check that a polynomial is ``rest + factor · variable``; both of them."""
        parts = self._polynomial(rest), self._polynomial(factor)
        if variable.used & (parts[0].used | parts[1].used):
            raise UnsoundError(f"{name} is eliminated, and stands in its own factor")
        self._expanded(f"what stands for {name}", poly, parts[0] + parts[1] * variable)
        return parts

    def _check_parts(
        self,
        certificate: Unrooted | Unlogged,
        name: str,
        wanted: tuple[Poly, Poly] | None,
        depth: int,
    ) -> list[bool]:
        """Check that the parts prove these polynomials not to be negative; which are strict."""
        if wanted is None or len(certificate.parts) != len(wanted):
            raise UnsoundError(
                f"{name} is eliminated by {certificate.case!r:.20} and {len(certificate.parts)} "
                "parts; it is by a known case, and two parts"
            )
        for one, part in zip(wanted, certificate.parts, strict=True):
            one = self._variables.reduced(one)
            given = self._polynomial(part.polynomial)
            multiple = one.multiple_of(given) if one and given else None
            if (one or given) and (multiple is None or multiple < 0):
                raise UnsoundError(
                    f"to eliminate {name}, the sign of {self._ring.text(one)} is needed, and "
                    f"proved is that of {self._ring.text(given)}"
                )
            if not signs_of(part.signs) <= NOT_NEGATIVE:
                raise UnsoundError("a part of an elimination is not said to be 0+, + or 0")
            self._check_sign(part, depth + 1)
        return [part.signs == "+" for part in certificate.parts]

    def _require_strict(self, name: str, needed: Signs, strict: bool) -> None:
        if needed == ZERO or (needed == POSITIVE and not strict):
            raise UnsoundError(
                f"a goal needs {text_of(needed)} and rests on the elimination of {name}, which "
                f"says {'+' if strict else '0+'}"
            )
