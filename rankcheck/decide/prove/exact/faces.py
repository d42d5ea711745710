"""The faces of a proof: the statement with some entries replaced by functions of the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flint import fmpq, fmpz_mpoly

from rankcheck.decide.algebra.cell import Cell, Linked
from rankcheck.decide.algebra.quotient import made
from rankcheck.decide.algebra.ring import Ring
from rankcheck.decide.algebra.signs import ANY, MINUS, NONE, PLUS, flipped, signs_text
from rankcheck.decide.prove.proof import Face, Fact, Open, Polynomial, Ratio, Substitution

NONZERO = MINUS | PLUS

#: By the index of an entry, its range.
Ranges = Mapping[int, tuple[fmpq, fmpq]]


@dataclass(frozen=True)
class Plane:
    """A face while it is being proved.

    Attributes:
        solved: by the index of an entry, the numerator and denominator that replace it.
        nonzero: the texts of irreducible polynomials that are not zero on it.
        because: the polynomial that was zero where it was first linked from face 0; empty for that.
    """

    solved: tuple[tuple[int, fmpz_mpoly, fmpz_mpoly], ...] = ()
    nonzero: tuple[str, ...] = ()
    because: Polynomial = ""

    @property
    def key(self) -> str:
        """Equal for the same substitutions and facts."""
        written = [f"{index}:{num}/{den}" for index, num, den in self.solved]
        return ";".join([*written, *self.nonzero])

    def values(self, cell: Cell) -> list[Any]:
        """The entries on this face, as numbers of a path."""
        ring = cell.ring
        values = [made(cell, ring.variables[i], ring.one) for i in range(ring.entries)]
        for index, num, den in self.solved:
            values[index] = made(cell, num, den)
        return values

    def facts(self) -> dict[str, int]:
        return dict.fromkeys(self.nonzero, NONZERO)

    def beyond(self, ring: Ring, link: Linked) -> Plane | None:
        """The face on which the link's entry is replaced, too.

        None if an entry that was solved for before has no value there.
        """
        num, den = _lowest(link.num, link.den)
        solved = [
            (index, *_substituted(ring, p, q, link.variable, num, den))
            for index, p, q in self.solved
        ]
        if any(q.is_zero() for _, _, q in solved):
            return None
        solved.append((link.variable, num, den))
        nonzero = {str(f) for f in link.nonzero}
        for text in self.nonzero:
            f = ring.read(text)
            degree = int(f.degrees()[link.variable])
            there = _homogeneous(ring, f, link.variable, num, den, degree)
            nonzero |= {str(g) for g, _ in ring.factor(there)[1]} if not there.is_zero() else set()
        because = self.because or str(link.zero)
        return Plane(tuple(sorted(solved, key=lambda s: s[0])), tuple(sorted(nonzero)), because)

    def substitutions(self, ring: Ring) -> tuple[Substitution, ...]:
        return tuple(
            Substitution(variable=ring.names[index], by=Ratio(num=str(num), den=str(den)))
            for index, num, den in self.solved
        )


def _lowest(num: fmpz_mpoly, den: fmpz_mpoly) -> tuple[fmpz_mpoly, fmpz_mpoly]:
    """A fraction in lowest terms, whose denominator has a positive leading coefficient."""
    if den.is_zero():
        return num, den
    common = num.gcd(den) if not num.is_zero() else den
    num, den = num / common, den / common
    return (-num, -den) if den.leading_coefficient() < 0 else (num, den)


def _substituted(
    ring: Ring,
    p: fmpz_mpoly,
    q: fmpz_mpoly,
    index: int,
    num: fmpz_mpoly,
    den: fmpz_mpoly,
) -> tuple[fmpz_mpoly, fmpz_mpoly]:
    """p/q with the variable of that index replaced by num/den."""
    degree = max(int(p.degrees()[index]), int(q.degrees()[index]))
    if not degree:
        return p, q
    return _lowest(
        _homogeneous(ring, p, index, num, den, degree),
        _homogeneous(ring, q, index, num, den, degree),
    )


def _homogeneous(
    ring: Ring, p: fmpz_mpoly, index: int, num: fmpz_mpoly, den: fmpz_mpoly, degree: int
) -> fmpz_mpoly:
    """den^degree · p(variable = num/den)."""
    by_power: dict[int, dict[tuple[int, ...], Any]] = {}
    for exponents, coefficient in p.to_dict().items():
        rest = list(exponents)
        power, rest[index] = int(rest[index]), 0
        by_power.setdefault(power, {})[tuple(rest)] = coefficient
    total = ring.zero
    for power, terms in by_power.items():
        part = ring.context.from_dict(terms)
        total = total + part * num**power * den ** (degree - power)
    return total


def excepted(faces: Sequence[Face], links: Sequence[tuple[int, str, int]]) -> list[Polynomial]:
    """The polynomials that are zero where some path of a face other than face 0 is open.

    A face may be linked to from several places, and each of them has a zero of its own.

    Args:
        links: from which face, where which polynomial is zero, to which face.
    """
    waiting = [
        number
        for number, face in enumerate(faces)
        if number and any(isinstance(node, Open) for node in face.nodes)
    ]
    found, seen = [], set(waiting)
    while waiting:
        number = waiting.pop()
        for source, zero, target in links:
            if target == number and not source:
                found.append(zero)
            elif target == number and source not in seen:
                seen.add(source)
                waiting.append(source)
    return found


def stated(ring: Ring, plane: Plane, ranges: Ranges) -> dict[str, int]:
    """What a face says is known of all its instances.

    Args:
        ranges: those of its free entries that are hypotheses.
    """
    known = plane.facts()
    for index, (low, high) in ranges.items():
        for text, signs in _range_facts(ring, index, low, high).items():
            known[text] = signs & known.get(text, ANY)
    return known


def implied(
    ring: Ring, plane: Plane, known: Mapping[str, int], ranges: Ranges
) -> tuple[dict[str, int], fmpz_mpoly | None]:
    """What is known with the ranges of the entries that a face replaces, too.

    Where ``low <= num/den``, ``(num − low · den) · den`` is not negative. The second checker adds
    the same to what a face says.

    Returns:
        What is known, and a polynomial that can have no sign, if no instance is in the ranges.
    """
    facts = dict(known)
    for index, num, den in plane.solved:
        low, high = ranges.get(index, (None, None))
        for end, sign in ((low, 1), (high, -1)):
            if end is None:
                continue
            off = sign * den * (num * int(end.q) - den * int(end.p))
            if off.is_zero():
                continue
            if off.is_constant():
                if off.leading_coefficient() < 0:
                    return facts, off
                continue
            scale, factors = ring.factor(off)
            if len(factors) == 1 and factors[0][1] == 1:
                f = factors[0][0]
            else:
                f = off / abs(scale)
                scale, f = (1, f) if f.leading_coefficient() > 0 else (-1, -f)
            signs = NONE | PLUS if scale > 0 else flipped(NONE | PLUS)
            facts[str(f)] = facts.get(str(f), ANY) & signs
            if not facts[str(f)]:
                return facts, f
    return facts, None


def _range_facts(ring: Ring, index: int, low: fmpq, high: fmpq) -> dict[str, int]:
    """What low <= entry <= high says of the entry, and of its distance to the ends and to ±1.

    A fact is about a polynomial with positive leading coefficient.
    """
    x = ring.variables[index]
    known: dict[str, int] = {}
    for mark in sorted({(one.p, one.q) for one in (low, high, fmpq(-1), fmpq(0), fmpq(1))}):
        at = fmpq(*mark)
        signs = MINUS * (low < at) | NONE * (low <= at <= high) | PLUS * (high > at)
        if signs != ANY:
            known[str(x * at.q - at.p)] = signs
    return known


def as_facts(known: dict[str, int]) -> tuple[Fact, ...]:
    """Facts as a proof has them."""
    return tuple(Fact(of=text, signs=signs_text(signs)) for text, signs in known.items())
