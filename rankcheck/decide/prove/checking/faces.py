"""Faces and the links between them: an instance on a branch is an instance of the face."""

from __future__ import annotations

from dataclasses import dataclass

from rankcheck.decide.prove.checking.errors import UnsoundError, at
from rankcheck.decide.prove.checking.polynomials import Poly
from rankcheck.decide.prove.checking.signs import (
    NOT_NEGATIVE,
    NOT_ZERO,
    ZERO,
    Known,
    Signs,
    Variables,
    powered,
    product,
    signs_of,
    text_of,
)
from rankcheck.decide.prove.proof import Face, Link, Proof


@dataclass(frozen=True)
class ReadFace:
    """A face, read.

    Attributes:
        substitutions: by the number of an entry, its numerator and denominator.
        facts: what the face says is known, and that its denominators are not zero.
        known: what is known on all of it: the facts, and the ranges that are hypotheses.
    """

    number: int
    face: Face
    substitutions: dict[int, tuple[Poly, Poly]]
    facts: tuple[tuple[Poly, Signs], ...]
    known: Known


def read_faces(proof: Proof, everywhere: Known) -> tuple[ReadFace, ...]:
    """Read the faces of a proof.

    Args:
        everywhere: what is known without any fact.

    Raises:
        UnsoundError: if face 0 replaces something or knows more than the ranges; if what replaces
            an entry is no rational function of the free ones, with a denominator that is not zero.
    """
    faces = []
    for number, face in enumerate(proof.faces):
        with at(number):
            faces.append(_read(number, face, everywhere))
    if faces and faces[0].substitutions:
        raise UnsoundError("it replaces an entry; face 0 is about all instances", 0)
    for poly, signs in faces[0].facts if faces else ():
        if not everywhere.and_(ranges(everywhere.variables)).within(poly, signs):
            text = everywhere.variables.ring.text(poly)
            raise UnsoundError(
                f"it has the fact that {text} is {text_of(signs)}; face 0 is about all instances, "
                "so it knows only the ranges that are hypotheses",
                0,
            )
    return tuple(faces)


def _read(number: int, face: Face, everywhere: Known) -> ReadFace:
    variables, ring = everywhere.variables, everywhere.variables.ring
    replaced: dict[int, tuple[Poly, Poly]] = {}
    for one in face.substitutions:
        place = ring.index.get(one.variable, variables.entries)
        if place >= variables.entries or place in replaced:
            raise UnsoundError(f"{one.variable!r:.40} is replaced; each entry is replaced once")
        replaced[place] = ring.poly(one.by.num), ring.poly(one.by.den)
    for num, den in replaced.values():
        free(variables, num, den)
        if set(replaced) & (num.used | den.used):
            raise UnsoundError("an entry is replaced by a function of one that is replaced as well")
    facts = tuple((ring.poly(fact.of), signs_of(fact.signs)) for fact in face.facts)
    known = everywhere
    for poly, signs in facts:
        known.require_defined(poly)
        known = known.and_([(poly, signs)])
    dens = tuple((den, NOT_ZERO) for _, den in replaced.values() if den.constant is None)
    for num, den in replaced.values():
        known.require_defined(num, den)
        if not den:
            raise UnsoundError("an entry is replaced by a fraction with the denominator 0")
    facts = (*facts, *dens)
    known = known.and_((*dens, *ranges(variables)))
    for i, (num, den) in replaced.items():
        variable = variables.of[i]
        if variable.low is not None and variable.high is not None:
            inside = num - den * variable.low, den * variable.high - num
            known = known.and_((one * den, NOT_NEGATIVE) for one in inside)
    return ReadFace(number, face, replaced, facts, known)


def free(variables: Variables, *polys: Poly) -> None:
    """Check that polynomials are of entries and constants.

    Raises:
        UnsoundError: if one has a root or a logarithm of entries.
    """
    for poly in polys:
        for i in poly.used:
            if i >= variables.entries and variables.of[i].entries:
                raise UnsoundError(
                    f"an entry is replaced by a function of {variables.ring.names[i]}; it is "
                    "replaced by a rational function of entries"
                )


def ranges(variables: Variables) -> list[tuple[Poly, Signs]]:
    """The ranges that are hypotheses, as facts."""
    facts = []
    for i in range(variables.entries):
        one, x = variables.of[i], variables.ring.variable(i)
        if one.low is not None and one.high is not None:
            facts.append((x - variables.ring.number(1) * one.low, NOT_NEGATIVE))
            facts.append((variables.ring.number(1) * one.high - x, NOT_NEGATIVE))
    return facts


def check_link(link: Link, known: Known, source: ReadFace, faces: tuple[ReadFace, ...]) -> None:
    """Check that every instance on a path is one of the face that it links to.

    Args:
        known: what is known on the path.
        source: the face that the path is in.

    Raises:
        UnsoundError: if it does not follow.
    """
    variables, ring = known.variables, known.variables.ring
    if not isinstance(link.face, int) or not 0 <= link.face < len(faces):
        raise UnsoundError(f"it links to face {link.face!r:.20}; there are {len(faces)} faces")
    target = faces[link.face]
    v = ring.index.get(link.variable, variables.entries)
    if v >= variables.entries or v in source.substitutions:
        raise UnsoundError(f"it solves for {link.variable!r:.40}, which is no free entry")
    zero = ring.poly(link.zero)
    known.require_defined(zero)
    if not known.within(zero, ZERO):
        raise UnsoundError(
            f"it says that {ring.text(zero)} is zero, and the facts on the path do not"
        )
    refused: UnsoundError | None = None
    for num, den in _solved(zero, v, known):
        try:
            _check_composed(v, num, den, known, source, target)
        except UnsoundError as error:
            refused = error
        else:
            return
    assert refused is not None
    raise refused


def _check_composed(
    v: int, num: Poly, den: Poly, known: Known, source: ReadFace, target: ReadFace
) -> None:
    """Check that a face is another one with a fraction in the place of an entry.

    Raises:
        UnsoundError: if it replaces something else, or has a fact that the path does not.
    """
    variables, ring = known.variables, known.variables.ring
    wanted: dict[int, tuple[Poly, Poly]] = {v: (num, den)}
    for i, (n, d) in source.substitutions.items():
        (above, dn), (below, dd) = n.substituted(v, num, den), d.substituted(v, num, den)
        wanted[i] = above * den**dd, below * den**dn
    if set(wanted) != set(target.substitutions):
        raise UnsoundError(
            f"face {target.number} replaces {_names(ring.names, target.substitutions)}, and the "
            f"link goes to the one that replaces {_names(ring.names, wanted)}"
        )
    for i, (n, d) in wanted.items():
        above, below = target.substitutions[i]
        if variables.reduced(n * below - above * d):
            raise UnsoundError(
                f"face {target.number} replaces {ring.names[i]} by ({ring.text(above)}) / "
                f"({ring.text(below)}), and the path by ({ring.text(n)}) / ({ring.text(d)})"
            )
    there = _after(known, v, num, den)
    for poly, signs in target.facts:
        if not there.within(poly, signs) and not known.within(poly, signs):
            raise UnsoundError(
                f"face {target.number} has the fact that {ring.text(poly)} is {text_of(signs)}, "
                "which the facts on the path to it do not say"
            )


def _names(names: tuple[str, ...], chosen: object) -> str:
    return ", ".join(names[i] for i in sorted(chosen)) or "nothing"  # type: ignore[call-overload]


def _solved(zero: Poly, v: int, known: Known) -> list[tuple[Poly, Poly]]:
    """The entry as a fraction, where the polynomial is zero, in the ways in which that is known.

    Raises:
        UnsoundError: if it cannot be solved for the entry.
    """
    ring, variables = known.variables.ring, known.variables
    name = ring.names[v]
    parts = zero.by_powers(v)
    inside = any(i >= variables.entries and v in variables.of[i].entries for i in zero.used)
    why = f"{ring.text(zero)} is not linear in {name}"
    found = []
    if max(parts, default=0) == 1 and not inside:
        factor, rest = parts[1], parts.get(0, ring.number(0))
        free(variables, factor, rest)
        if known.within(factor, NOT_ZERO):
            found.append((rest * -1, factor))
        why = (
            f"the factor {ring.text(factor)} of {name} in {ring.text(zero)} may be zero on the path"
        )
    if _vanishes(zero, v, known):
        found.append((ring.number(0), ring.number(1)))
    if not found:
        raise UnsoundError(
            f"{why}; a link solves for an entry with a factor that is known not to be zero, or "
            "takes a sum of monomials apart that are known not to be negative"
        )
    return found


def _vanishes(zero: Poly, v: int, known: Known) -> bool:
    """Whether an entry is zero because no monomial of a sum that is zero has the other sign."""
    signs, pure = [], False
    for exponents, coefficient in zero.terms.items():
        monomial = Poly({exponents: coefficient}, zero.variables)
        signs.append(known.sign(monomial))
        others = [i for i, power in enumerate(exponents) if power and i != v]
        if exponents[v] and all(known.of_variable(i) <= NOT_ZERO for i in others):
            pure = True
    one_sided = any(all(one <= {0, side} for one in signs) for side in (-1, 1))
    return pure and (one_sided or len(zero.terms) == 1)


def _after(known: Known, v: int, num: Poly, den: Poly) -> Known:
    """The facts on a path, with a fraction in the place of an entry."""
    facts = list(known.facts)
    den_signs = known.deduced(den)
    for poly, signs in known.facts:
        if v in poly.used:
            above, degree = poly.substituted(v, num, den)
            facts.append((above, product(signs, powered(den_signs, degree))))
    return Known(known.variables, (*facts, (den, den_signs)))
