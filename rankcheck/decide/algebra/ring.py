"""The polynomials of a proof: in the entries of an instance, and in roots and other constants.

The variables of a ring are ``x0, x1, …`` for the entries, and slots ``g0, g1, …`` for what a body
makes of them that is no rational function: roots, logarithms, and numbers of which a ball is known.
A slot is used once, and its definition holds on all paths, so that two paths agree on its name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, cast

from flint import Ordering, arb, fmpq, fmpz, fmpz_mpoly, fmpz_mpoly_ctx

from rankcheck.balls.formal import NoBallForm
from rankcheck.decide.algebra.polynomials import parse

#: So many roots, logarithms and constants may be defined in one proof.
SLOTS = 32
#: A polynomial of more terms than this ends a path.
TERMS = 4000


class TooLarge(NoBallForm):
    """A polynomial has too many terms, or a proof too many roots."""

    def __init__(self, what: str) -> None:
        super().__init__(what, "")
        self.args = (what,)


@dataclass(frozen=True)
class Generator:
    """What a slot stands for.

    Attributes:
        index: of its variable.
        of: the polynomial of a root or logarithm, in which later slots do not occur.
        degree: of a root; of an exponential, what `of` is divided by.
        ball: of a constant.
    """

    name: str
    index: int
    kind: Literal["root", "log", "exp", "ball"]
    of: fmpz_mpoly | None = None
    degree: int = 0
    ball: arb | None = None


class Ring:
    """Polynomials with integer coefficients in `entries` variables and `SLOTS` others."""

    def __init__(self, entries: int) -> None:
        self.entries = entries
        self.names = [f"x{i}" for i in range(entries)] + [f"g{i}" for i in range(SLOTS)]
        self.context = fmpz_mpoly_ctx.get(self.names, Ordering.degrevlex)
        self.variables: tuple[fmpz_mpoly, ...] = self.context.gens()
        self.index = {name: i for i, name in enumerate(self.names)}
        self.defined: list[Generator] = []
        #: By the text of an irreducible polynomial, the signs that it has everywhere, as somebody
        #: has proved; and what proves it, asked once for each.
        self.lemmas: dict[str, int] = {}
        self.prove: Callable[[fmpz_mpoly], int] | None = None
        self._by_key: dict[tuple[str, int, str], Generator] = {}
        self._read: dict[str, fmpz_mpoly] = {}
        self._factors: dict[str, tuple[fmpz, list[tuple[fmpz_mpoly, int]]]] = {}

    @cached_property
    def zero(self) -> fmpz_mpoly:
        return self.constant(0)

    @cached_property
    def one(self) -> fmpz_mpoly:
        return self.constant(1)

    def constant(self, value: int | fmpz) -> fmpz_mpoly:
        return self.context.constant(value)

    def read(self, text: str) -> fmpz_mpoly:
        """A polynomial that was written as `str` writes it."""
        known = self._read.get(text)
        if known is None:
            terms = {}
            for monomial, coefficient in parse(text).items():
                exponents = [0] * len(self.names)
                for name, power in monomial:
                    exponents[self.index[name]] = power
                terms[tuple(exponents)] = fmpz(int(coefficient))
            known = self._read[text] = self.context.from_dict(terms)
        return known

    def generator(self, index: int) -> Generator | None:
        """What the variable of that index stands for; None for an entry."""
        return self.defined[index - self.entries] if index >= self.entries else None

    def single(self, p: fmpz_mpoly) -> int | None:
        """The index of the variable that a polynomial is; None for any other polynomial."""
        return self.index.get(str(p))

    def occurring(self, p: fmpz_mpoly) -> list[int]:
        """The indices of the variables in a polynomial."""
        return [i for i, degree in enumerate(p.degrees()) if degree > 0]

    def factor(self, p: fmpz_mpoly) -> tuple[fmpz, list[tuple[fmpz_mpoly, int]]]:
        """The content with its sign, and the irreducible factors with their powers; p ≠ 0.

        Factors have a positive leading coefficient.
        """
        key = str(p)
        known = self._factors.get(key)
        if known is None:
            if len(p) > TERMS:
                raise TooLarge(f"a polynomial of {len(p)} terms; at most {TERMS} are factored")
            scale, factors = p.factor()
            found = []
            for f, power in factors:
                if f.leading_coefficient() < 0:
                    f, scale = -f, scale * (-1) ** int(power)
                found.append((f, int(power)))
            found.sort(key=lambda one: (len(one[0]), str(one[0])))
            known = self._factors[key] = (scale, found)
        return known

    def everywhere(self, f: fmpz_mpoly) -> int | None:
        """Ask once for the signs that a polynomial has everywhere; None if nobody can tell."""
        key = str(f)
        if key not in self.lemmas and self.prove is not None:
            self.lemmas[key] = self.prove(f)
        return self.lemmas.get(key)

    # Definitions.

    def _define(self, key: tuple[str, int, str], **fields: Any) -> Generator:
        known = self._by_key.get(key)
        if known is None:
            number = len(self.defined)
            if number == SLOTS:
                raise TooLarge(
                    f"more than {SLOTS} roots and constants; a proof has at most {SLOTS}"
                )
            known = Generator(f"g{number}", self.entries + number, **fields)
            self.defined.append(known)
            self._by_key[key] = known
        return known

    def log(self, of: fmpz_mpoly) -> fmpz_mpoly:
        """The logarithm of a polynomial that is positive wherever it is taken."""
        generator = self._define(("log", 0, str(of)), kind="log", of=of)
        return self.variables[generator.index]

    def exp(self, of: fmpz_mpoly, degree: int) -> Generator:
        """exp(of / degree)."""
        return self._define(("exp", degree, str(of)), kind="exp", of=of, degree=degree)

    def ball(self, value: arb, number: int) -> fmpz_mpoly:
        """The constant of that number among those of a path with the same ball."""
        key = ("ball", number, value.str(50, more=True))
        return self.variables[self._define(key, kind="ball", ball=value).index]

    def root(
        self, of: fmpz_mpoly, degree: int, bases: dict[str, tuple[Generator, int]]
    ) -> tuple[fmpz_mpoly, int]:
        """A variable and its power that is the root of that degree of a polynomial >= 0.

        All roots of one polynomial are powers of one another as far as the order of asking allows:
        if the square root is known, the cube root is the square of a new sixth root.

        Args:
            bases: of a path: by polynomial, the finest root so far and its degree.
        """
        text = str(of)
        base = bases.get(text)
        if base is None:
            generator = self._define(("root", degree, text), kind="root", of=of, degree=degree)
            bases[text] = (generator, degree)
            return self.variables[generator.index], 1
        generator, known = base
        if known % degree == 0:
            return self.variables[generator.index], known // degree
        common = _least_common_multiple(known, degree)
        finer = self._define(
            ("root", common // known, generator.name),
            kind="root",
            of=self.variables[generator.index],
            degree=common // known,
        )
        bases[text] = (finer, common)
        return self.variables[finer.index], common // degree

    def reduced(self, p: fmpz_mpoly) -> fmpz_mpoly:
        """The same number with no root to its degree or a higher one."""
        if not self.defined:
            return p
        degrees = p.degrees()
        for generator in reversed(self.defined):
            if generator.kind == "root" and degrees[generator.index] >= generator.degree:
                p = self._without(p, generator)
                degrees = p.degrees()
        return p

    def _without(self, p: fmpz_mpoly, generator: Generator) -> fmpz_mpoly:
        """p with each gᵈ replaced by what it is."""
        parts: dict[int, dict[tuple[int, ...], Any]] = {}
        for exponents, coefficient in p.to_dict().items():
            times, left = divmod(int(exponents[generator.index]), generator.degree)
            kept = list(exponents)
            kept[generator.index] = left
            parts.setdefault(times, {})[tuple(kept)] = coefficient
        result = self.zero
        of = cast(fmpz_mpoly, generator.of)
        for times, terms in parts.items():
            part = self.context.from_dict(terms)
            result = result + (part * of**times if times else part)
        return result

    def enclosure(self, p: fmpz_mpoly) -> arb | None:
        """A ball around a polynomial in constants; None if it has an entry."""
        values: dict[int, arb] = {}
        for index in self.occurring(p):
            value = self._constant(index)
            if value is None:
                return None
            values[index] = value
        total = arb(0)
        for exponents, coefficient in p.to_dict().items():
            term = arb(coefficient)
            for index, value in values.items():
                if exponents[index]:
                    term = term * value ** int(exponents[index])
            total = total + term
        return total

    def _constant(self, index: int) -> arb | None:
        generator = self.generator(index)
        if generator is None:
            return None
        if generator.kind == "ball":
            return generator.ball
        inside = self.enclosure(cast(fmpz_mpoly, generator.of))
        if inside is not None and generator.kind == "exp":
            return (inside / generator.degree).exp()
        if inside is None or not inside > 0:
            return None
        return inside.log() if generator.kind == "log" else inside.root(generator.degree)


def _least_common_multiple(a: int, b: int) -> int:
    return int(fmpz(a).lcm(b))


def rational(p: fmpz_mpoly, q: fmpz_mpoly) -> fmpq | None:
    """The number p/q of two constants; None for any other polynomials."""
    if p.is_constant() and q.is_constant():
        return fmpq(p.leading_coefficient() if p else 0, q.leading_coefficient())
    return None
