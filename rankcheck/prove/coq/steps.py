"""Steps of a proof in Coq: each says which signs an expression may have, by one rule.

The rules are the lemmas of `prelude`. What a rule gives is computed here as Coq computes it, so a
step never says more than coqc accepts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from rankcheck.prove.checking.polynomials import Poly, Ring
from rankcheck.prove.checking.signs import ANY, NOT_ZERO, ZERO, Signs, powered

__all__ = [
    "RELATIONS",
    "Step",
    "Texts",
    "among",
    "any_sign",
    "as_factor",
    "both",
    "constant",
    "given",
    "literal",
    "opposite",
    "plus",
    "power",
    "product",
    "quotient",
    "same",
    "times",
]

#: By the signs of a fact, its relation to 0 and the lemma that reads it.
RELATIONS: dict[str, tuple[str, str]] = {
    "-": ("{} < 0", "negative"),
    "0": ("{} = 0", "vanishing"),
    "+": ("0 < {}", "above"),
    "-0": ("{} <= 0", "not_above"),
    "0+": ("0 <= {}", "not_negative"),
    "-+": ("{} <> 0", "not_vanishing"),
}


@dataclass(frozen=True, eq=False)
class Step:
    """``among … of``, and why.

    Attributes:
        of: an expression of Coq.
        why: a term, with ``{0}``, ``{1}``, … for the steps before it; with `script`, tactics.
        before: the steps that it rests on.
    """

    signs: Signs
    of: str
    why: str
    before: tuple[Step, ...] = ()
    script: bool = False

    @property
    def statement(self) -> str:
        return f"{among(self.signs)} ({self.of})"


def among(signs: Signs) -> str:
    """The beginning of a statement on signs.

    >>> among(frozenset((0, 1)))
    'among false true true'
    """
    return "among " + " ".join(str(one in signs).lower() for one in (-1, 0, 1))


def any_sign(of: str) -> Step:
    return Step(ANY, of, f"any ({of})")


def given(signs: Signs, of: str, text: str, hypothesis: str) -> Step:
    """A hypothesis in the words of `RELATIONS`."""
    return Step(signs, of, f"{RELATIONS[text][1]} _ {hypothesis}")


def constant(value: Fraction) -> Step:
    signs = frozenset(((value > 0) - (value < 0),))
    if value.denominator != 1:
        why = f"ratio ({value.numerator}) {value.denominator}"
    elif value:
        why = f"{'minus_' if value < 0 else ''}natural {abs(value)}"
    else:
        why = "vanishing 0 eq_refl"
    return Step(signs, literal(value), why)


def both(one: Step, two: Step) -> Step:
    """What two steps about one expression say together."""
    if one.signs <= two.signs:
        return one
    if two.signs <= one.signs:
        return two
    return Step(one.signs & two.signs, one.of, "both {0} {1}", (one, two))


def times(one: Step, two: Step) -> Step:
    signs = product(one.signs, two.signs)
    return Step(signs, f"{as_factor(one.of)} * {as_factor(two.of)}", "times {0} {1}", (one, two))


def opposite(one: Step) -> Step:
    signs = frozenset(-sign for sign in one.signs)
    return Step(signs, f"- ({one.of})", "opposite {0}", (one,))


def plus(steps: Sequence[Step]) -> Step:
    """The sum, in its order."""
    total, *others = steps
    for one in others:
        signs = _sum(total.signs, one.signs)
        of = f"{total.of} + {as_factor(one.of)}"
        total = Step(signs, of, "plus {0} {1}", (total, one))
    return total


def power(one: Step, exponent: int) -> Step:
    if exponent == 1:
        return one
    of = f"{as_factor(one.of)} ^ {exponent}"
    rule = "odd" if exponent % 2 else "even"
    signs = powered(one.signs, exponent)
    return Step(signs, of, f"{rule} {exponent} eq_refl {{0}}", (one,))


def quotient(of_product: Step, factor: Step, of: str) -> Step:
    """The sign of the other factor; the first step is about ``factor * of``."""
    signs = {sign for sign in (-1, 1) for one in factor.signs if sign * one in of_product.signs}
    signs |= ZERO & of_product.signs
    return Step(frozenset(signs), of, "quotient {0} {1}", (of_product, factor))


def same(one: Step, of: str, *, whole: bool = True) -> Step:
    """The step about another expression of the same polynomial.

    Args:
        whole: whether all coefficients are integers.
    """
    if of == one.of:
        return one
    by = "ring" if whole else "field"
    return Step(one.signs, of, f"apply (same {{0}}); {by}", (one,), script=True)


def _sum(one: Signs, two: Signs) -> Signs:
    """The signs of a sum, by the rule `plus`, also where no sign is possible."""
    found = (one | two) & NOT_ZERO
    if any(-sign in two for sign in one):
        found |= ZERO
    return found


def product(one: Signs, two: Signs) -> Signs:
    """The signs of a product, by the rule `times`, also where no sign is possible."""
    return frozenset(a * b for a in one for b in two if a * b) | ((one | two) & ZERO)


def as_factor(of: str) -> str:
    """An expression as a factor."""
    return of if of.replace("_", "a").isalnum() else f"({of})"


def literal(value: Fraction) -> str:
    """A number as Coq reads it.

    >>> literal(Fraction(-3, 4))
    '-3 / 4'
    """
    text = str(value.numerator)
    return text if value.denominator == 1 else f"{text} / {value.denominator}"


class Texts:
    """Polynomials of a proof as expressions of Coq; of one polynomial there is one text."""

    def __init__(self, ring: Ring) -> None:
        self.ring = ring

    def __call__(self, poly: Poly) -> str:
        if poly.constant is not None:
            return literal(poly.constant)
        text = ""
        for exponents in sorted(poly.terms, reverse=True):
            c = Fraction(poly.terms[exponents])
            monomial = self.monomial(exponents, abs(c))
            if text:
                text += f" {'-' if c < 0 else '+'} {monomial}"
            else:
                text = f"- ({monomial})" if c < 0 else monomial
        return text

    def ratio(self, num: Poly, den: Poly) -> str:
        if den.constant == 1:
            return self(num)
        return f"{as_factor(self(num))} / {as_factor(self(den))}"

    def monomial(self, exponents: tuple[int, ...], coefficient: Fraction) -> str:
        parts = [
            name if exponent == 1 else f"{name} ^ {exponent}"
            for name, exponent in zip(self.ring.names, exponents, strict=True)
            if exponent
        ]
        if coefficient != 1 or not parts:
            parts.insert(0, literal(coefficient))
        return " * ".join(parts)
