"""One path through a body: what it has learnt of signs, and where it branches.

A comparison of rational functions asks for the sign of a polynomial. If what is known does not
decide it, the path splits on the sign of an irreducible factor. A path follows a script of
decisions, takes the first branch where the script ends, and leaves the others to whoever runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from flint import arb, fmpq, fmpz_mpoly

from rankcheck.decide.algebra.ring import Generator, Ring
from rankcheck.decide.algebra.signs import ANY, MINUS, NONE, PLUS, Known, product, raised


@dataclass(frozen=True)
class Fork:
    """A path split here.

    Attributes:
        of: the irreducible polynomial whose sign was asked for.
        options: its sets of signs, one for each branch.
        taken: which branch the path took.
    """

    of: fmpz_mpoly
    options: tuple[int, int]
    taken: int


class Stopped(Exception):
    """A path ends before its body does."""


class Empty(Stopped):
    """No instance is on the path: the signs that a polynomial may have exclude one another."""

    def __init__(self, of: fmpz_mpoly) -> None:
        super().__init__(f"{of} has no sign")
        self.of = of


class Linked(Stopped):
    """A polynomial is zero on the path, and an entry has been solved for: variable = num/den.

    Attributes:
        zero: the polynomial.
        nonzero: the factors of the denominator, which are not zero on the path.
    """

    def __init__(
        self,
        zero: fmpz_mpoly,
        variable: int,
        num: fmpz_mpoly,
        den: fmpz_mpoly,
        nonzero: tuple[fmpz_mpoly, ...] = (),
    ) -> None:
        super().__init__(f"{zero} = 0")
        self.zero, self.variable, self.num, self.den = zero, variable, num, den
        self.nonzero = nonzero


class Cell(Known):
    """What is known on a path.

    Args:
        facts: known from the beginning.
        script: by fork, which branch to take.
        ranges: see `Known`.

    Attributes:
        trail: where it split.
        look: called where the script ends; it may end the path.
    """

    def __init__(
        self,
        ring: Ring,
        facts: dict[str, int],
        script: Sequence[int] = (),
        ranges: Mapping[int, tuple[fmpq, fmpq]] | None = None,
    ) -> None:
        super().__init__(ring, facts, ranges)
        self.trail: list[Fork] = []
        self.look: Callable[[Cell], object] | None = None
        self._bases: dict[str, tuple[Generator, int]] = {}
        self._balls: dict[int, tuple[arb, fmpz_mpoly]] = {}
        self._alike: dict[str, int] = {}
        self._script = tuple(script)

    def root(self, of: fmpz_mpoly, degree: int) -> tuple[fmpz_mpoly, int]:
        """A variable and its power that is the root of a polynomial >= 0; see `Ring.root`."""
        return self.ring.root(of, degree, self._bases)

    def exp(self, of: fmpz_mpoly, degree: int) -> fmpz_mpoly:
        """exp(of / degree), which is at least 1 + of / degree."""
        g = self.ring.variables[self.ring.exp(of, degree).index]
        scale, [(f, _)] = self.ring.factor(degree * (g - 1) - of)  # linear in g
        self.learn(f, NONE | PLUS if scale > 0 else MINUS | NONE)
        return g

    def ball(self, value: arb) -> fmpz_mpoly:
        """A real number in a ball; each ball object is a number of its own on a path."""
        known = self._balls.get(id(value))
        if known is None:
            text = value.str(50, more=True)
            number = self._alike.get(text, 0)
            self._alike[text] = number + 1
            known = self._balls[id(value)] = (value, self.ring.ball(value, number))
        return known[1]

    def ask(self, p: fmpz_mpoly, yes: int) -> bool:
        """Whether the sign of a polynomial is one of these; the path splits until that is known.

        Raises:
            Stopped: the path ends here.
        """
        while True:
            signs = self.of(p)
            if not signs:
                raise Empty(p)
            if not signs & ~yes:
                return True
            if not signs & yes:
                return False
            self._split(p, yes)

    def _split(self, p: fmpz_mpoly, yes: int) -> None:
        """Split on a factor whose sign is needed."""
        scale, factors = self.ring.factor(p)
        rest = PLUS if scale > 0 else MINUS
        only_zero = yes in (NONE, MINUS | PLUS)
        open_ = []
        for f, power in factors:
            signs = self.of_factor(f)
            if not signs:
                raise Empty(f)
            if only_zero and not signs & NONE:
                continue
            if signs in (MINUS, NONE, PLUS) or (power % 2 == 0 and not signs & NONE):
                rest = product(rest, signs if power % 2 else PLUS)
            else:
                open_.append((f, power, signs))
        if rest in (MINUS, PLUS) and len(open_) == 1:
            f, power, signs = open_[0]
            wanted = sum(
                bit
                for bit in (MINUS, NONE, PLUS)
                if signs & bit and product(rest, raised(bit, power)) & yes
            )
            self._decide(f, wanted, signs & ~wanted)
            return
        f, _, signs = open_[0]
        if only_zero:
            self._decide(f, signs & ~NONE, NONE)
        elif signs & MINUS and signs & ~MINUS:
            self._decide(f, signs & ~MINUS, MINUS)
        else:
            self._decide(f, signs & ~NONE, NONE)

    def _decide(self, f: fmpz_mpoly, first: int, second: int) -> None:
        root = self.ring.single(f)
        generator = None if root is None else self.ring.generator(root)
        if generator is not None and generator.kind == "root":
            # A root is zero where its radicand is, and positive elsewhere.
            assert generator.of is not None
            self.ask(generator.of, PLUS)
            self._variables.clear()
            return
        if not first or not second:
            raise AssertionError(f"a split of {f} has one branch")
        if self.ring.everywhere(f) not in (None, ANY) and self.of_factor(f) != first | second:
            return  # it has a sign everywhere
        place = len(self.trail)
        taken = self._script[place] if place < len(self._script) else 0
        self.trail.append(Fork(f, (first, second), taken))
        self.assume(f, (first, second)[taken])
        if place == len(self._script) - 1 and self.look is not None:
            self.look(self)

    def assume(self, f: fmpz_mpoly, signs: int) -> None:
        """Learn what an irreducible polynomial is; where it is zero, solve for an entry."""
        learnt = self.learn(f, signs)
        if not learnt & self.by_monomials(f):
            raise Empty(f)
        if learnt & self.by_monomials(f) == NONE:
            self._vanishes(f)

    def _vanishes(self, f: fmpz_mpoly) -> None:
        """Solve f = 0 for an entry, if it is linear in one, and go on in another face.

        Raises:
            Linked: if that can be done.
        """
        occurring = self.ring.occurring(f)
        if not occurring or occurring[-1] >= self.ring.entries:
            return
        candidates = []
        for index in occurring:
            if f.degrees()[index] == 1:
                factor = f.derivative(index)
                candidates.append((not factor.is_constant(), len(factor), str(factor), index))
        candidates.sort()
        for *_, index in candidates:
            factor = f.derivative(index)
            if not self.of(factor) & NONE:
                self._solve(f, factor, index)
        if self._signs_of_monomials(f) & (MINUS | PLUS) in (MINUS, PLUS):
            self._all_vanish(f)
        if candidates:
            index = candidates[0][-1]
            factor = f.derivative(index)
            if not self.ask(factor, NONE):
                self._solve(f, factor, index)

    def _solve(self, f: fmpz_mpoly, factor: fmpz_mpoly, index: int) -> None:
        rest = f - factor * self.ring.variables[index]
        nonzero = () if factor.is_constant() else self.ring.factor(factor)[1]
        raise Linked(f, index, -rest, factor, tuple(g for g, _ in nonzero))

    def _all_vanish(self, f: fmpz_mpoly) -> None:
        """End a path where monomials of one sign add up to zero: each of them is zero."""
        occurring = [[i for i, power in enumerate(one) if power] for one in f.monoms()]
        for indices in occurring:
            if len(indices) == 1:
                raise Linked(f, indices[0], self.ring.zero, self.ring.one)
        for index in (i for indices in occurring for i in indices):
            self.ask(self.ring.variables[index], NONE)
        raise Empty(f)

    def _signs_of_monomials(self, f: fmpz_mpoly) -> int:
        """The union of the signs of all monomials."""
        union = 0
        for exponents, coefficient in f.to_dict().items():
            signs = PLUS if coefficient > 0 else MINUS
            for index, power in enumerate(exponents):
                if power:
                    signs = product(signs, raised(self.of_variable(index), int(power)))
            union |= signs
        return union
