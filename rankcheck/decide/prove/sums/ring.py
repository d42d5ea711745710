"""Polynomials on one path: its roots are reduced, and what is not negative there is listed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

from flint import Ordering, fmpq, fmpq_mpoly_ctx

from rankcheck.decide.algebra.polynomials import Coefficients, Monomial, in_order, parse, text
from rankcheck.decide.prove.proof import Definition, Fact, Polynomial

#: A `flint.fmpq_mpoly`, which has no type.
Element: TypeAlias = Any
Exponents: TypeAlias = tuple[int, ...]

#: What is known of a polynomial on a path, and its text where it has this sign: ">=", ">" or "0".
Sign: TypeAlias = tuple[str, Polynomial]


class Ring:
    """Polynomials in the entries and definitions of a path, modulo the relations of its roots.

    Args:
        names: the variables that occur.
        definitions: those of the path; roots whose name is among `names` are reduced.

    Attributes:
        names: the variables: what is defined last comes first.
        relations: by the name of a root r of f: r^k − f.
    """

    def __init__(self, names: Iterable[str], definitions: Sequence[Definition]) -> None:
        wanted = set(names)
        defined = [made.name for made in reversed(definitions) if made.name in wanted]
        entries = sorted(wanted - set(defined), key=in_order)
        self.names = (*defined, *entries)
        self._context = fmpq_mpoly_ctx.get(self.names, Ordering.lex)
        self.one = self._context.constant(1)
        self.relations: dict[str, Element] = {}
        self.degrees: dict[str, int] = {}
        for made in reversed(definitions):
            if made.kind == "root" and made.name in wanted:
                root = self.monomial(self.exponents(((made.name, 1),)))
                self.relations[made.name] = root**made.degree - self.read(made.of)
                self.degrees[made.name] = made.degree

    def exponents(self, monomial: Monomial) -> Exponents:
        """A monomial as the exponents of all variables."""
        powers = dict(monomial)
        return tuple(powers.get(name, 0) for name in self.names)

    def monomial(self, exponents: Exponents) -> Element:
        return self._context.term(exp_vec=exponents)

    def read(self, written: Polynomial) -> Element:
        """The polynomial that a text is; its variables are those of the ring."""
        return self._context.from_dict(
            {
                self.exponents(monomial): fmpq(value.numerator, value.denominator)
                for monomial, value in parse(written).items()
            }
        )

    def coefficients(self, polynomial: Element) -> Coefficients:
        found: Coefficients = {}
        for exponents, value in polynomial.to_dict().items():
            powers = sorted(
                ((name, int(e)) for name, e in zip(self.names, exponents, strict=True) if e),
                key=lambda power: in_order(power[0]),
            )
            found[tuple(powers)] = Fraction(int(value.p), int(value.q))
        return found

    def write(self, polynomial: Element) -> Polynomial:
        return text(self.coefficients(polynomial))

    def reduce(self, polynomial: Element) -> tuple[Element, dict[str, Element]]:
        """Without powers of roots from their degree on; and what each relation was taken times."""
        cofactors: dict[str, Element] = {}
        for name, relation in self.relations.items():
            quotient, polynomial = divmod(polynomial, relation)
            if quotient != 0:
                cofactors[name] = quotient
        return polynomial, cofactors


def variables(*texts: Polynomial) -> set[str]:
    """The names in polynomials."""
    return {name for written in texts for name in _variables(written)}


@lru_cache(maxsize=4096)
def _variables(written: Polynomial) -> frozenset[str]:
    return frozenset(name for monomial in parse(written) for name, _ in monomial)


def negated(written: Polynomial) -> Polynomial:
    return text({monomial: -value for monomial, value in parse(written).items()})


def known_signs(facts: Sequence[Fact]) -> list[Sign]:
    """What facts say, as polynomials that are zero, not negative or positive; each once."""
    found: dict[Polynomial, str] = {}
    for fact in facts:
        of = text(parse(fact.of))
        if set(fact.signs) <= {"-", "0"} and "-" in fact.signs:
            of = negated(of)
        signs = set(fact.signs.replace("-", "+") if of != text(parse(fact.of)) else fact.signs)
        if signs == {"0"}:
            found[of] = "0"
        elif signs == {"+"} and found.get(of) != "0":
            found[of] = ">"
        elif signs == {"0", "+"}:
            found.setdefault(of, ">=")
    return [(sign, of) for of, sign in found.items() if variables(of)]


def closed(names: Iterable[str], definitions: Sequence[Definition]) -> set[str]:
    """Names, and those that they are defined by."""
    of = {made.name: variables(made.of) if made.of else set() for made in definitions}
    found, waiting = set(names), list(names)
    while waiting:
        more = of.get(waiting.pop(), set()) - found
        found |= more
        waiting += more
    return found


def relevant(
    goal: Polynomial, signs: Sequence[Sign], definitions: Sequence[Definition]
) -> list[Sign]:
    """The signs of polynomials that share variables with a goal, or with one that does."""
    names = closed(variables(goal), definitions)
    found: list[Sign] = []
    left = list(signs)
    while more := [sign for sign in left if variables(sign[1]) & names]:
        found += more
        left = [sign for sign in left if sign not in more]
        names = closed(names | variables(*(written for _, written in more)), definitions)
    return found
