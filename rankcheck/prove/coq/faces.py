"""What is known on a face and on a path of it, and why an instance on a link is on its face."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rankcheck.prove.checking.faces import ReadFace
from rankcheck.prove.checking.polynomials import Poly
from rankcheck.prove.checking.signs import (
    ANY,
    NOT_NEGATIVE,
    NOT_ZERO,
    ZERO,
    Signs,
    Variables,
    text_of,
)
from rankcheck.prove.coq.deduced import Deduced, Known, Zero
from rankcheck.prove.coq.errors import NotWritten
from rankcheck.prove.coq.steps import (
    RELATIONS,
    Step,
    Texts,
    any_sign,
    as_factor,
    both,
    given,
    opposite,
    plus,
    power,
    quotient,
    times,
)
from rankcheck.prove.proof import Link

__all__ = ["Hypotheses", "Hypothesis", "everywhere", "fact_text", "linked", "of_face", "of_path"]

#: By the signs of a fact, the lemma that gives its proposition.
_ENDS = {
    "-": "below",
    "0": "exactly",
    "+": "strictly",
    "-0": "not_positive",
    "0+": "nonnegative",
    "-+": "nonzero",
}


@dataclass(frozen=True)
class Hypothesis:
    """A hypothesis: a fact, or what an entry is replaced by.

    Attributes:
        of, signs: of a fact; of an entry, the polynomial that is zero.
        solves: the number of the entry.
    """

    name: str
    text: str
    of: Poly
    signs: Signs
    solves: int | None = None


@dataclass
class Hypotheses:
    """What is known: hypotheses, and steps that follow from them alone."""

    items: list[Hypothesis] = field(default_factory=list)
    known: list[Known] = field(default_factory=list)

    def add(self, letter: str, texts: Texts, poly: Poly, signs: Signs) -> None:
        """Add a fact, unless it says nothing."""
        if signs == ANY:
            return
        name = f"{letter}{len(self.items) + 1}"
        self.items.append(Hypothesis(name, fact_text(texts, poly, signs), poly, signs))
        self.known.append((poly, given(signs, texts(poly), text_of(signs), name)))


def fact_text(texts: Texts, poly: Poly, signs: Signs) -> str:
    """A fact as a proposition."""
    return RELATIONS[text_of(signs)][0].format(texts(poly))


def of_path(texts: Texts, path: Sequence[tuple[Poly, Signs]]) -> Hypotheses:
    """The facts on a path, as hypotheses h1, h2, …"""
    found = Hypotheses()
    for poly, signs in path:
        found.add("h", texts, poly, signs)
    return found


def everywhere(variables: Variables, texts: Texts) -> list[Known]:
    """The ranges of entries that are hypotheses, and that exponentials lie above their tangents."""
    ring = variables.ring
    found: list[Known] = []
    for i, variable in enumerate(variables.of):
        name, x = ring.names[i], ring.variable(i)
        if variable.kind == "exp":
            tangent = (x - ring.number(1)) * variable.degree - variable.of
            of = f"{variable.degree} * ({name} - 1) - ({texts(variable.of)})"
            step = Step(NOT_NEGATIVE, of, f"above_tangent {variable.degree} _ _ is_{name}")
            found.append((tangent, Deduced(variables, texts, ()).same_text(step, texts(tangent))))
        if variable.kind != "entry":
            continue
        for end, sign in ((variable.low, 1), (variable.high, -1)):
            if end is not None:
                inside = (x - ring.number(1) * end) * sign
                script = "apply not_negative; lra"
                found.append((inside, Step(NOT_NEGATIVE, texts(inside), script, script=True)))
    return found


def of_face(face: ReadFace, variables: Variables, texts: Texts) -> Hypotheses:
    """The facts of a face and what its entries are replaced by, as hypotheses f1, f2, …"""
    found = Hypotheses()
    if face.number:  # those of face 0 are ranges
        for poly, signs in dict.fromkeys(face.facts):
            found.add("f", texts, poly, signs)
    deduced = Deduced(variables, texts, (*found.known, *everywhere(variables, texts)))
    for i, (num, den) in sorted(face.substitutions.items()):
        x, name = variables.ring.variable(i), f"f{len(found.items) + 1}"
        zero = den * x - num
        found.items.append(Hypothesis(name, _solution(texts, i, num, den), zero, ZERO, i))
        step = _unsolved(i, num, den, name, deduced)
        found.known.append((zero, step))
        for end in (variables.of[i].low, variables.of[i].high):
            if end is None:
                continue
            sign = 1 if end == variables.of[i].low else -1
            inside = (x - variables.ring.number(1) * end) * sign
            near = times(deduced.require(inside, NOT_NEGATIVE), power(any_sign(texts(den)), 2))
            change = Zero(den * -sign, zero, step)
            fact = (num - den * end) * den * sign
            found.known.append((fact, deduced.moved(fact, near, inside * den * den, [change])))
    return found


def _unsolved(i: int, num: Poly, den: Poly, name: str, deduced: Deduced) -> Step:
    """``den x - num`` is zero, as x is num / den."""
    x = deduced.ring.names[i]
    equation = f"(eq_trans {name} (over_one _))" if den.constant == 1 else name
    why = f"vanishing _ (unsolved _ _ _ (nonzero _ _ _ {{0}}) {equation})"
    of = f"({deduced.texts(den)}) * {x} - ({deduced.texts(num)})"
    step = Step(ZERO, of, why, (deduced.require(den, NOT_ZERO),))
    return deduced.same_text(step, deduced.texts(den * deduced.ring.variable(i) - num))


def _solution(texts: Texts, i: int, num: Poly, den: Poly) -> str:
    right = (
        texts(num) if den.constant == 1 else f"{as_factor(texts(num))} / {as_factor(texts(den))}"
    )
    return f"{texts.ring.names[i]} = {right}"


def linked(
    link: Link, source: ReadFace, target: ReadFace, there: Hypotheses, deduced: Deduced
) -> list[Step]:
    """Why the hypotheses of a face hold on a path that links to it: steps with their proofs.

    Raises:
        NotWritten: if the reason is not found.
    """
    ring = deduced.ring
    v = ring.index[link.variable]
    num, den = target.substitutions[v]
    zero = ring.poly(link.zero)
    solved = den * ring.variable(v) - num
    step = _solved(zero, v, num, den, deduced)
    after = _after(v, num, den, solved, step, deduced)
    proofs: list[Step] = []
    for one in there.items:
        if one.solves is None:
            proofs.append(_fact(one, after, deduced))
            continue
        i = one.solves
        num, den = target.substitutions[i]
        equation = step if i == v else _composed(i, v, source, target, after)
        proofs.append(_equation(i, num, den, equation, after))
    return proofs


def _fact(one: Hypothesis, after: Deduced, before: Deduced) -> Step:
    """The proposition of a fact of the face, as a step whose expression is not looked at."""
    step = after.deduce(one.of)
    if not step.signs <= one.signs:
        step = before.require(one.of, one.signs)
    count = {"below": 2, "exactly": 2, "strictly": 2, "not_positive": 3, "nonnegative": 3,
             "nonzero": 3}  # fmt: skip
    lemma = _ENDS[text_of(one.signs)]
    return Step(one.signs, one.text, f"{lemma} {'_ ' * count[lemma]}{{0}}", (step,))


def _equation(i: int, num: Poly, den: Poly, zero: Step, after: Deduced) -> Step:
    x, texts = after.ring.names[i], after.texts
    if den.constant == 1:
        of = f"{x} - ({texts(num)})"
        why = "eq_sym (equal _ _ _ {0})"
        return Step(ZERO, _solution(texts, i, num, den), why, (after.same_text(zero, of),))
    of = f"({texts(den)}) * {x} - ({texts(num)})"
    why = "solved _ _ _ (nonzero _ _ _ {0}) (exactly _ _ {1})"
    before = (after.require(den, NOT_ZERO), after.same_text(zero, of))
    return Step(ZERO, _solution(texts, i, num, den), why, before)


def _after(v: int, num: Poly, den: Poly, solved: Poly, step: Step, deduced: Deduced) -> Deduced:
    """What is known with the fraction in place of the entry, too."""
    more: list[Known] = [(solved, step)]
    below = deduced.deduce(den)
    for poly, known in deduced.known:
        if v not in poly.used:
            continue
        above, degree = poly.substituted(v, num, den)
        near = times(power(below, degree), known)
        if near.signs == ANY:
            continue
        made = den**degree * poly
        cofactor = (above - made).divided(solved)
        if cofactor is not None:
            zeros = [Zero(cofactor, solved, step)]
            more.append((above, deduced.moved(above, near, made, zeros)))
    return Deduced(deduced.variables, deduced.texts, (*deduced.known, *more))


def _composed(i: int, v: int, source: ReadFace, target: ReadFace, after: Deduced) -> Step:
    """``below x - above`` is zero for another entry, which was replaced before."""
    ring, texts = after.ring, after.texts
    (num, den), (above, below) = target.substitutions[v], target.substitutions[i]
    n, d = source.substitutions[i]
    x = ring.variable(i)
    equation = d * x - n
    cleared, degree = equation.substituted(v, num, den)
    factor, own = d.substituted(v, num, den)
    factor = factor * den ** (degree - own)
    wanted = below * x - above
    zero = after.require(cleared, ZERO)
    made = times(any_sign(texts(below)), zero)
    made = after.moved(factor * wanted, made, below * cleared)
    made = after.same_text(made, f"({texts(factor)}) * ({texts(wanted)})")
    return quotient(made, after.require(factor, NOT_ZERO), texts(wanted))


def _solved(zero: Poly, v: int, num: Poly, den: Poly, deduced: Deduced) -> Step:
    """``den x - num`` is zero, as another polynomial is."""
    ring, texts = deduced.ring, deduced.texts
    x = ring.variable(v)
    wanted = den * x - num
    known = deduced.require(zero, ZERO)
    parts = zero.by_powers(v)
    if max(parts, default=0) == 1:
        factor, rest = parts[1], parts.get(0, ring.number(0))
        step = deduced.deduce(factor)
        if step.signs <= NOT_ZERO and not deduced.variables.reduced(num * factor + rest * den):
            made = times(any_sign(texts(den)), known)
            made = deduced.moved(factor * wanted, made, den * zero)
            made = deduced.same_text(made, f"({texts(factor)}) * ({texts(wanted)})")
            return quotient(made, step, texts(wanted))
    if num or den.constant != 1:
        raise NotWritten(f"it does not find how {ring.text(zero)} is solved for {texts(x)}")
    return _vanishing(zero, v, known, deduced)


def _vanishing(zero: Poly, v: int, known: Step, deduced: Deduced) -> Step:
    """An entry is zero, as each monomial of a sum without negative ones is."""
    ring, texts = deduced.ring, deduced.texts
    for exponents, c in zero.terms.items():
        one = Poly({exponents: c}, zero.variables)
        others = Poly({(*exponents[:v], 0, *exponents[v + 1 :]): c}, zero.variables)
        if not exponents[v] or not deduced.deduce(others).signs <= NOT_ZERO:
            continue
        step = known
        if rest := zero - one:
            made = plus([known, opposite(deduced.deduce(rest))])
            step = both(deduced.deduce(one), deduced.moved(one, made, zero - rest))
        if step.signs != ZERO:
            continue
        raised = power(any_sign(texts(ring.variable(v))), exponents[v]).of
        step = deduced.same_text(step, f"({texts(others)}) * ({raised})")
        step = quotient(step, deduced.deduce(others), raised)
        if exponents[v] > 1:
            why = f"base {exponents[v]} _ _ {{0}}"
            step = Step(ZERO, texts(ring.variable(v)), why, (step,))
        return step
    raise NotWritten(f"it does not find why {texts(ring.variable(v))} is zero")
