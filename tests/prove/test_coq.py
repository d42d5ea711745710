"""Proofs as files for Coq: what stands in them, and what coqc accepts and refuses."""

import dataclasses
import functools
import itertools
import json
import re
from fractions import Fraction

import pytest
from flint import fmpq

from rankcheck.catalogue.loader import load_each
from rankcheck.catalogue.selection import select
from rankcheck.instances.scope import shapes
from rankcheck.prove import coq as room
from rankcheck.prove.checking.errors import UnsoundError
from rankcheck.prove.checking.polynomials import Ring
from rankcheck.prove.coq import NotWritten, coq, steps
from rankcheck.prove.coq.prelude import LOGARITHMS, ROOTS, SIGNS
from rankcheck.prove.exact.algebra import prove_shape
from rankcheck.prove.proof import Boxes, Definition, Leaf, Link, Multiple, Open, Proof, Squares
from rankcheck.prove.settings import Settings
from rankcheck.stored import build
from tests.docs.pages import DOCS, blocks
from tests.exports.made import coqc, needs_coq
from tests.exports.test_coq import AXIOMS
from tests.prove import by_hand
from tests.prove import made as simple
from tests.prove.by_hand import face, factors, goal, leaf, plain, proof, split, term

BOXED = simple.proof(
    faces=(face(leaf(goal("x0", "0+", Boxes(subdivision=".", boxes=1), "0", "x0"))),),
    method="boxes",
)


def of_branches():
    """Three branches; a root of degree 3 of a power; a sign that is known everywhere."""
    root = Definition(name="g0", kind="root", of="x0^2", degree=3)
    made = goal("x0^2 + g0", "+", factors("x0^2 + g0"), "0", "x0^2 + g0")
    other = goal("x1^2 + 1 + g0", "0+", factors("x1^2 + g0 + 1"), "0", "x1^2 + 1 + g0")
    first = split("x0", ("-", 1), ("0", 2), ("+", 3))
    lemma = plain(
        "x0^2 - x0*x1 + x1^2",
        "0+",
        Squares(terms=(term("x0 - 1/2*x1"), term("x1", weight="3/4"))),
    )
    third = goal(
        "2*x0^2 - 2*x0*x1 + 2*x1^2",
        "0+",
        factors("x0^2 - x0*x1 + x1^2", scale="2"),
        "2*x0*x1",
        "2*x0^2 + 2*x1^2",
    )
    nodes = (first, leaf(made), leaf(other), leaf(made, other, third))
    return proof(face(*nodes), definitions=(root,), lemmas=(lemma,), method="squares")


def of_exponentials():
    """A third of the exponent; the exponential is positive and lies above its tangent."""
    exp = Definition(name="g0", kind="exp", of="x0 - x1", degree=3)
    first = goal("3*g0 - x0 + x1 - 3", "0+", factors("3*g0 - x0 + x1 - 3"), "x0 - x1 + 3", "3*g0")
    other = goal("x1^2 + 1", "+", factors("x1^2 + 1"), "0", ("x1^2 + 1", "g0"))
    return proof(face(leaf(first, other)), definitions=(exp,))


def of_constants():
    """The signs of polynomials of roots of constants, by what these lie between."""
    roots = [Definition(name=f"g{n}", kind="root", of=str(n + 2), degree=2) for n in (0, 1)]
    first = goal("g1 - g0", "+", factors("g1 - g0"), "g0", "g1")
    other = goal("g0*g1 - 2", "0+", factors("g0*g1 - 2"), ("2", "g0"), "g1")
    return proof(face(leaf(first, other)), definitions=tuple(roots))


def of_multiplied():
    """A multiplier, a zero, and a path that is empty because of a goal."""
    sharp = Squares(
        multiplier="x0^2 + 1",
        terms=(term("x0^2 - 1", "x1", weight="2/3"),),
        zeros=(Multiple(cofactor="1/2*x0", zero="x0*x1 - 3"),),
    )
    made = goal(
        "2/3*x0^4*x1 - 4/3*x0^2*x1 + 2/3*x1 + 1/2*x0^2*x1 - 3/2*x0",
        "0+",
        dataclasses.replace(sharp, multiplier="1"),
        "0",
        "2/3*x0^4*x1 - 4/3*x0^2*x1 + 2/3*x1 + 1/2*x0^2*x1 - 3/2*x0",
    )
    absurd = plain(
        "-1",
        "0+",
        Squares(
            terms=(term("1", "-x1 - 1"), term("1", "x1")),
        ),
    )
    nodes = (
        split("x0*x1 - 3", ("-+", 1), ("0", 2)),
        leaf(),
        split("x1", ("-", 3), ("0+", 4)),
        leaf(),
        split("-x1 - 1", ("-", 5), ("0+", 6)),
        leaf(made),
        Leaf(outcome="empty", goals=(absurd,)),
    )
    return proof(face(*nodes), method="squares")


#: Proofs made by hand, with their claims.
PROOFS = {
    "squares": (by_hand.squares, by_hand.of_squares()),
    "thin": (by_hand.thin, by_hand.of_thin()),
    "hyperbola": (by_hand.hyperbola, by_hand.of_hyperbola()),
    "quotients": (by_hand.quotients, by_hand.of_quotients()),
    "strict": (by_hand.strict, by_hand.of_strict()),
    "roots": (by_hand.roots, by_hand.of_roots()),
    "logarithms": (by_hand.logarithms, by_hand.of_logarithms()),
    "differences": (by_hand.differences, by_hand.of_differences()),
    "three branches": (by_hand.squares, of_branches()),
    "exponentials": (by_hand.squares, of_exponentials()),
    "constants": (by_hand.squares, of_constants()),
    "multiplied": (by_hand.squares, of_multiplied()),
}


@functools.cache
def written(name):
    return coq(*PROOFS[name])


@functools.cache
def of_ledger(claim_id, number):
    """The file of a proof that the engine finds, at the shape of that number."""
    [claim] = load_each(select([claim_id]))
    shape = shapes(claim.instances, 8).shapes[number]
    return coq(claim, prove_shape(claim, shape, Settings(seconds=30)))


def outside(text):
    """What of a file is no comment."""
    return re.sub(r"\(\*.*?\*\)", "", text, flags=re.S)


@pytest.mark.parametrize("name", PROOFS)
def test_every_path_is_a_lemma_and_nothing_is_assumed(name):
    text, (_, one) = outside(written(name)), PROOFS[name]
    ends = [
        node
        for face_ in one.faces
        for node in face_.nodes
        if isinstance(node, Link)
        or (isinstance(node, Leaf) and (node.goals or node.outcome == "empty"))
    ]
    assert len(re.findall(r"^Lemma leaf_\d+_\d+ ", text, re.M)) == len(ends)
    assert len(re.findall(r"^Theorem ", text, re.M)) == len(one.faces)
    assert text.count("Qed.") == len(re.findall(r"^(?:Lemma|Theorem) ", text, re.M))
    assert not re.search(r"Admitted|Axiom|Parameter|Hypothesis|Variable|admit|Abort", text)


def test_the_file_says_what_it_says_and_what_not():
    text = " ".join(written("differences").split())
    assert text.startswith("(* A proof of proved.differences for its only shape. The claim says:")
    assert "all real numbers x0, ..., x1, which are the entries" in text
    assert "In a case without a relation nothing is asserted" in text
    assert "That the body has these sides on such a path is not in this file" in text
    assert "x0 - x1 <> 0 /\\ 0 < x0 ^ 2 - 2 * x0 * x1 + x1 ^ 2;" in text
    assert "x0 - x1 = 0 /\\ on_face_1 x0 x1 /\\ face_1 x0 x1]." in text
    assert "Definition on_face_1 (x0 x1 : R) : Prop := x0 = x1." in text
    assert "Definition given (x0 x1 : R) : Prop := 1 <= x0 <= 8." in written("quotients")
    assert "x1 / x0 <= (x1 ^ 2 + 1) / x0]." in written("quotients")
    assert "in their ranges" in written("quotients")
    assert "root 2 (x0 ^ 2 + x1 ^ 2) g0." in written("roots")


@pytest.mark.parametrize(
    "text",
    ["0", "-3/4", "x0", "-x0", "-x0^3*x1 - 1/2*x1^2 + 7", "2/3*x0*x1 - x0 + 1", "-5*x0 + x1^4"],
)
def test_texts_are_the_polynomials(text):
    poly = Ring(["x0", "x1"]).poly(text)
    shown = steps.Texts(Ring(["x0", "x1"]))(poly).replace("^", "**")
    shown = re.sub(r"(?<!\w)(\d+)", r"Fraction(\1)", shown)
    point = {"x0": Fraction(-5, 7), "x1": Fraction(3, 2)}
    value = Fraction(str(poly.at([fmpq(x.numerator, x.denominator) for x in point.values()])))
    assert eval(shown, {"Fraction": Fraction}, point) == value


def test_what_is_open_is_marked():
    nodes = (split("x0", ("-+", 1), ("0", 2)), leaf(by_hand.ABSOLUTE), Open(reason="why"))
    text = coq(by_hand.squares, proof(face(*nodes), exceptions=("x0",)))
    assert "x0 = 0 (* nothing is proved here *)]." in text
    assert "In a case that is marked so nothing is proved; there x0 = 0." in " ".join(text.split())


def changed(one, **fields):
    return dataclasses.replace(one, **fields)


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (BOXED, "boxes of entries have no form in it"),
        (changed(BOXED, method="range"), "is proved instance by instance"),
        (changed(by_hand.of_squares(), paths=2_000), "has 2 000 paths, and would make a file"),
        (by_hand.of_slack(), "what is proved up to a factor has no form in it"),
        (by_hand.of_squares(by_hand.SIGNS, plain("0", "0", by_hand.ZERO)), "has no sides"),
        (by_hand.of_quotients(bounded=False), "the reason why x0 is not negative"),
        (by_hand.of_logarithms(bounded=False), "the reason why g0 is defined"),
        (proof(face(by_hand.SIGNS, Leaf(outcome="empty", of="x1"), leaf())), "a path is empty"),
        (by_hand.of_roots(rational="x0"), "are not the same polynomial"),
        (by_hand.of_squares(by_hand.SIGNS, changed(by_hand.SQUARE, signs="+")), "is positive"),
    ],
)  # fmt: skip
def test_no_file_and_why(one, why):
    with pytest.raises(NotWritten, match=why):
        coq(by_hand.squares, one)


def test_a_file_that_is_too_large(monkeypatch):
    monkeypatch.setattr(room, "LARGEST", 100)
    with pytest.raises(NotWritten, match="more than 100 characters, for which coqc takes minutes"):
        coq(*PROOFS["squares"])


def test_names_that_coq_knows_are_refused():
    text = json.dumps(dataclasses.asdict(by_hand.of_thin()))
    names = build(Proof, json.loads(text.replace("x1", "exp")))
    with pytest.raises(NotWritten, match="a variable has the name 'exp'"):
        coq(by_hand.thin, names)


def test_a_tree_that_does_not_cover_is_refused():
    with pytest.raises(UnsoundError, match="no branch has the sign"):
        coq(by_hand.squares, by_hand.of_squares(split("x0", ("0", 1), ("-", 2))))


@needs_coq
@pytest.mark.slow
@pytest.mark.parametrize("name", PROOFS)
def test_coqc_accepts(name, tmp_path):
    assert coqc(written(name), tmp_path) == (0, "")


@needs_coq
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("squares", "2 * x0 * x1 <= x0 ^ 2 + x1 ^ 2", "3 * x0 * x1 <= x0 ^ 2 + x1 ^ 2"),
        ("squares", "2 * x0 * x1 <= x0 ^ 2 + x1 ^ 2", "2 * x0 * x1 < x0 ^ 2 + x1 ^ 2"),
        ("squares", "0 <= x0 /\\", "0 < x0 /\\"),  # a case that does not cover
        ("squares", "x0 ^ 2 - 2 * x0 * x1 + x1 ^ 2", "x0 ^ 2 - 2 * x0 * x1 - x1 ^ 2"),
        ("thin", "x0 = 0.", "x0 = 1."),
        ("hyperbola", "x0 = 1 / x1", "x0 = 2 / x1"),
        ("quotients", "1 <= x0 <= 8", "-1 <= x0 <= 8"),
        ("quotients", "x1 / x0 <= (x1 ^ 2 + 1) / x0", "x1 / x0 <= (x1 ^ 2 - 1) / x0"),
        ("roots", "x0 <= g0", "g0 <= x0"),
        ("roots", "root 2 (x0 ^ 2 + x1 ^ 2) g0.", "root 2 (x0 ^ 2 - x1 ^ 2) g0."),
        ("logarithms", "g0 <= x0 - 1", "g0 <= x0 - 2"),
        ("logarithms", "g0 <= x0 - 1", "x0 - 1 <= g0"),
        ("differences", "x0 - x1 <> 0", "x0 + x1 <> 0"),
        ("three branches", "0 < x0 ^ 2 + g0", "0 < - (x0 ^ 2) + g0"),
        ("three branches", "2 * x0 * x1 <= 2", "4 * x0 * x1 <= 2"),
        ("exponentials", "x0 - x1 + 3 <= 3 * g0", "x0 - x1 + 4 <= 3 * g0"),
        ("exponentials", "g0 = exp ((x0 - x1) / 3)", "g0 = exp ((x0 - x1) / 4)"),
        ("constants", "2 / g0 <= g1", "3 / g0 <= g1"),
        ("constants", "root 2 (3) g1", "root 2 (2) g1"),
        ("multiplied", "2 / 3", "1 / 3"),
    ],
)
def test_coqc_refuses_what_is_wrong(name, right, wrong, tmp_path):
    text = written(name)
    assert right in text
    status, _ = coqc(text.replace(right, wrong), tmp_path)
    assert status == 1


ALL = [frozenset(some) for n in range(4) for some in itertools.combinations((-1, 0, 1), n)]


@needs_coq
@pytest.mark.slow
def test_rules_give_the_signs_that_coq_computes(tmp_path):
    lines = []

    def check(made, **before):
        premises = [f"{steps.among(signs)} ({of})" for of, signs in before.items()]
        names = ["x", "y", "k", "l"]
        arrows = " -> ".join([*premises, made.statement.replace("k * l", "x * y")])
        given = " ".join(("hx", "hy")[: len(premises)])
        term_ = made.why.format("hx", "hy")
        lines.append(f"Goal forall {' '.join(names[:2])} : R, {arrows}.")
        lines.append(f"Proof. intros x y {given}. exact ({term_}). Qed.")

    for one in ALL:
        x = steps.Step(one, "x", "hx")
        check(steps.opposite(x), x=one)
        check(steps.power(x, 4), x=one)
        check(steps.power(x, 3), x=one)
        for two in ALL:
            y = steps.Step(two, "y", "hy")
            check(steps.plus([x, y]), x=one, y=two)
            check(steps.times(x, y), x=one, y=two)
            factor = steps.Step(two, "x", "hy")
            of_product = steps.Step(one, "x * y", "hx")
            made = steps.quotient(of_product, factor, "y")
            check(made, **{"x * y": one, "x": two})
            narrowed = steps.both(x, steps.Step(two, "x", "hy"))
            if narrowed.before:
                premises = f"{steps.among(one)} x -> {steps.among(two)} x"
                lines.append(f"Goal forall x : R, {premises} -> {narrowed.statement}.")
                lines.append("Proof. intros x hx hy. exact (both hx hy). Qed.")
    text = "\n".join([SIGNS, ROOTS, LOGARITHMS, *lines])
    assert coqc(text, tmp_path) == (0, "")
    wrong = text.replace("among true true false (x + y)", "among true false false (x + y)", 1)
    assert wrong != text
    assert coqc(wrong, tmp_path)[0] == 1


#: Claims of the ledger, with the number of a shape: leaky and linear networks, matrices, links,
#: logarithms, squares, identities, ranges, maxima.
LEDGER = [
    ("bottleneck.amgm", 3),
    ("bottleneck.chained-projections", 1),
    ("bottleneck.hidden-lipschitz", 2),
    ("bottleneck.mirsky", 2),
    ("bottleneck.ntk-derivative-leaky", 0),
    ("bottleneck.ntk-on-a-segment", 5),
    ("bottleneck.ntk-trace", 5),
    ("bottleneck.nuclear-product", 5),
    ("bottleneck.preactivation-singular-values", 2),
    ("bottleneck.regularity-on-a-domain", 0),
    ("bottleneck.singular-value-gap", 3),
    ("field.max-of-five", 0),
    ("field.max-of-six-by-pairs", 0),
    ("rank.jacobian-bounds-cost", 5),
]


@needs_coq
@pytest.mark.nightly
@pytest.mark.parametrize(("claim_id", "number"), LEDGER)
def test_coqc_accepts_proofs_of_the_ledger(claim_id, number, tmp_path):
    text = of_ledger(claim_id, number)
    status, said = coqc(text + "Print Assumptions proved.\n", tmp_path)
    assert status == 0
    assert set(re.findall(r"^([\w.]+) ?:", said, re.M)) <= {"Axioms", *AXIOMS}


def test_the_page_shows_a_file():
    text = of_ledger("bottleneck.singular-value-gap", 0)
    shown = [
        block
        for language, block in blocks((DOCS / "inside-proofs.md").read_text("utf-8"))
        if language == "coq"
    ]
    assert len(shown) == 2
    for block in shown:
        assert block in text
