"""The second checker accepts proofs, and refuses each forgery for what is wrong with it."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from rankcheck.decide.prove import checking
from rankcheck.decide.prove.checking import UnsoundError, check
from rankcheck.decide.prove.exact.algebra import prove_shape
from rankcheck.decide.prove.proof import (
    Definition,
    Fact,
    Leaf,
    Link,
    Multiple,
    Open,
    Proof,
    Squares,
)
from rankcheck.decide.prove.settings import Settings
from rankcheck.theory.instances.scope import shapes
from tests.decide.prove import by_hand as made
from tests.decide.prove.by_hand import face, factors, goal, leaf, plain, proof, split, term

PROOFS = {
    "squares": (made.squares, made.of_squares()),
    "thin": (made.thin, made.of_thin()),
    "hyperbola": (made.hyperbola, made.of_hyperbola()),
    "quotients": (made.quotients, made.of_quotients()),
    "strict": (made.strict, made.of_strict()),
    "roots": (made.roots, made.of_roots()),
    "logarithms": (made.logarithms, made.of_logarithms()),
    "differences": (made.differences, made.of_differences()),
}


@pytest.mark.parametrize("name", list(PROOFS))
def test_a_proof_is_accepted(name):
    claim, made_by_hand = PROOFS[name]
    checked = check(claim, made_by_hand)
    assert checked.points > 0
    assert checked.reached == checked.leaves > 0


def test_all_instances_of_the_scope_are_compared():
    checked = check(*PROOFS["squares"])
    assert (checked.scope, checked.scope_of, checked.identities) == (9, 9, 8)
    fewer = check(*PROOFS["squares"], scope=4)
    assert (fewer.scope, fewer.scope_of) == (4, 9)


def with_node(one: Proof, number: int, node, *, number_of_face: int = 0) -> Proof:
    faces = list(one.faces)
    nodes = list(faces[number_of_face].nodes)
    nodes[number] = node
    faces[number_of_face] = replace(faces[number_of_face], nodes=tuple(nodes))
    return replace(one, faces=tuple(faces))


SQUARES = made.of_squares()
NEGATIVE = replace(made.SQUARE, certificate=Squares(terms=(
    term("x0 - x1", weight="2"), term("x0 - x1", weight="-1"))))  # fmt: skip
WRONG = replace(made.SQUARE, certificate=factors(("x0 + x1", 2)))
OTHER = replace(made.SQUARE, certificate=Squares(terms=(term("x0 + x1"),)))
#: x is not negative, as the path at the other branch says.
NOT_THERE = goal("x0", "0+", factors("x0"), "0", "x0")
FALSE_SIDE = goal("x0^2 + x1^2", "0+", Squares(terms=(term("x0"), term("x1"))), "0", "x0^2 + x1^2")
OPEN = with_node(made.of_thin(), 1, Open(reason="too hard"))
ROOTS = made.of_roots()

#: By what is forged: the claim, the forgery, and what is said of it.
FORGERIES = {
    # Trees.
    "a branch is left out": (
        made.squares,
        made.of_squares(split("x0", ("+", 1), ("-", 2))),
        "face 0, node 0: no branch has the sign 0; the branches of a split have all of -0+",
    ),
    "two branches have one sign": (
        made.squares, made.of_squares(split("x0", ("0+", 1), ("-0", 2))),
        "two branches have the sign 0",
    ),
    "a node is reached twice": (
        made.squares, made.of_squares(split("x0", ("0+", 1), ("-", 1))), "node 1 is reached twice",
    ),
    "a branch leads back": (
        made.squares, made.of_squares(split("x0", ("0+", 1), ("-", 0))), "node 0 is reached twice",
    ),
    "a branch leads nowhere": (
        made.squares, made.of_squares(split("x0", ("0+", 1), ("-", 7))),
        "a branch goes to node 7; there are 3 nodes",
    ),
    "a node is left over": (
        made.squares, made.of_squares(split("x0", ("-0+", 1))), "face 0: node 2 is not reached",
    ),
    "signs in another order": (
        made.squares, made.of_squares(split("x0", ("+0", 1), ("-", 2))), "'+0' are no signs",
    ),
    "a variable that nobody defines": (
        made.squares, made.of_squares(split("x7", ("0+", 1), ("-", 2))), "names x7, which",
    ),
    "a number of paths": (
        made.squares, replace(SQUARES, paths=12), "it says 12 paths, and its trees have 2 ends",
    ),
    "the method of a weaker proof": (
        made.squares, replace(SQUARES, method="algebra"),
        "its method is algebra, and a leaf of it needs squares",
    ),
    # Faces and links.
    "x0 p = 0 is read as x0 = 0": (
        made.thin_and_false,
        made.of_thin(zero="x0*x1 + x0"),
        "face 0, node 2: the factor x1 + 1 of x0 in x0*x1 + x0 may be zero on the path",
    ),
    "a link without its zero": (
        made.thin,
        with_node(made.of_thin(), 2, Link(zero="x0 - x1", variable="x0", face=1)),
        "it says that x0 - x1 is zero, and the facts on the path do not",
    ),
    "a link solves for what is not linear": (
        made.thin, made.of_thin(variable="x1", by=("0", "1")),
        "x0*x1^2 + x0 is not linear in x1",
    ),
    "a link to another face": (
        made.thin, made.of_thin(by=("x1", "1")),
        "face 1 replaces x0 by (x1) / (1), and the path by (0) / (x1^2 + 1)",
    ),
    "a link to its own face": (
        made.thin, made.of_thin(target=0), "face 0 replaces nothing, and the link goes to the one",
    ),
    "a link to no face": (made.thin, made.of_thin(target=5), "it links to face 5; there are 2"),
    "a face without a link": (
        made.squares, replace(SQUARES, faces=(*SQUARES.faces, *SQUARES.faces), paths=4),
        "face 1: no branch links to it",
    ),
    "a face with a fact that the path does not have": (
        made.hyperbola, made.of_hyperbola(facts=(("x1", "+"),)),
        "face 0, node 3: face 1 has the fact that x1 is +, which the facts on the path",
    ),
    "a link that drops what its path asked": (
        made.hyperbola, made.of_hyperbola(of="x0"),
        "face 0, node 3: the factor x1 of x0 in x0*x1 - 1 may be zero",
    ),
    "a face of another hyperbola": (
        made.hyperbola, made.of_hyperbola(by=("-1", "x1")), "face 1 replaces x0 by",
    ),
    "face 0 knows something": (
        made.squares,
        replace(SQUARES, faces=(replace(SQUARES.faces[0], facts=(Fact(of="x0", signs="+"),)),)),
        "face 0: it has the fact that x0 is +",
    ),
    "face 0 replaces something": (
        made.thin, proof(face(leaf(made.NOTHING), x0=("0", "1"))), "face 0: it replaces an entry",
    ),
    "an entry is replaced by itself": (
        made.thin, made.of_thin(by=("x0", "1")), "by a function of one that is replaced as well",
    ),
    "a branch that is not empty": (
        made.squares,
        with_node(SQUARES, 2, Leaf(outcome="empty", of="x0")),
        "face 0, node 2: no instance is said to be there, and what is known on the path does not "
        "exclude one: x0 may be -",
    ),
    # Goals and certificates.
    "a wrong factor": (
        made.squares,
        made.of_squares(made.SIGNS, WRONG, made.ABSOLUTE),
        "a product of factors, expanded, differs from",
    ),
    "a factor of unknown sign": (
        made.positive, proof(face(leaf(NOT_THERE))),
        "the factors give x0 the signs -0+, and its goal needs 0+; of x0 no more is known",
    ),
    "a fact of another path": (
        made.positive,
        proof(face(split("x0", ("0+", 1), ("-", 2)), leaf(NOT_THERE), leaf(NOT_THERE))),
        "face 0, node 2: the factors give x0 the signs -, and its goal needs 0+",
    ),
    "a square with a negative weight": (
        made.squares, made.of_squares(made.SIGNS, NEGATIVE, made.ABSOLUTE),
        "a square has the weight -1; weights are not negative",
    ),
    "other squares": (
        made.squares, made.of_squares(made.SIGNS, OTHER, made.ABSOLUTE),
        "a sum of squares, expanded, differs from x0^2 - 2*x0*x1 + x1^2 by 4*x0*x1",
    ),
    "a square times what may be negative": (
        made.squares,
        made.of_squares(made.SIGNS, replace(made.SQUARE, certificate=Squares(
            terms=(term("x0 - x1", "x1"),))), made.ABSOLUTE),
        "a square is multiplied by x1, and the facts on the path do not say",
    ),
    "a denominator that may be zero": (
        made.quotients, made.of_quotients(bounded=False), "it is not known that the denominator x0",
    ),
    "a multiple of what is not zero": (
        made.squares,
        made.of_squares(made.SIGNS, replace(made.SQUARE, certificate=Squares(
            zeros=(Multiple(cofactor="1", zero="x0^2 - 2*x0*x1 + x1^2"),))), made.ABSOLUTE),
        "is added as zero, and the facts on the path do not say",
    ),
    "a negative multiplier": (
        made.squares,
        made.of_squares(made.SIGNS, replace(made.SQUARE, certificate=Squares(
            multiplier="-1", terms=(term("x0 - x1"),))), made.ABSOLUTE),
        "it is not known that the multiplier -1 of a sum of squares is positive",
    ),
    "a wrong sign of a denominator": (
        made.quotients,
        made.of_quotients(polynomial="x0*x1 - x0*x1^2 - x0", signs="0+"),
        "a goal has the sign of lhs − rhs",
    ),
    "a goal of other sides": (
        made.squares,
        made.of_squares(made.SIGNS, replace(made.SQUARE, polynomial="x0^2"), made.ABSOLUTE),
        "the polynomial of a goal is x0^2, and its sides give x0^2 - 2*x0*x1 + x1^2",
    ),
    "a strict relation of a weaker goal": (
        made.strict, made.of_strict(signs="0+"), "is a lt, and its goal proves the signs 0+",
    ),
    "a strict goal by an elimination that is not": (
        made.roots, made.of_roots(signs="+"), "a goal needs + and rests on the elimination of g0",
    ),
    "a root eliminated by another case": (
        made.roots, made.of_roots(case="both"), "to eliminate g0, the sign of -x0 is needed",
    ),
    "a root eliminated by other parts": (
        made.roots, made.of_roots(made.ONE, plain("x0^2", "0+", factors(("x0", 2)))),
        "to eliminate g0, the sign of x1^2 is needed, and proved is that of x0^2",
    ),
    "a root of what may be negative": (
        made.positive, made.of_positive(), "face 0, node 0: g0 stands where the sign of x0 is not",
    ),
    "a root of itself": (
        made.roots,
        made.of_roots(definition=Definition(name="g0", kind="root", of="g0", degree=2)),
        "g0 is defined by itself",
    ),
    "a logarithm bounded from the wrong side": (
        made.logarithms, made.of_logarithms(case="lower"), "to eliminate g0, the sign of -1",
    ),
    "a logarithm bounded by another power": (
        made.logarithms, made.of_logarithms(power=2), "to eliminate g0, the sign of -x0^2",
    ),
    "a logarithm of what may be negative": (
        made.logarithms, made.of_logarithms(bounded=False), "g0 stands where the sign of x0",
    ),
    "a lemma that is a fact": (
        made.positive,
        proof(face(leaf(NOT_THERE)), lemmas=(plain("x0", "0+", factors("x0")),)),
        "the factors give x0 the signs -0+",
    ),
    "a constant that there is not": (
        made.positive,
        proof(face(leaf(NOT_THERE)),
              definitions=(Definition(name="g0", kind="ball", low="1", high="0"),)),
        "g0 is a number in [1, 0], and there is none",
    ),
    # What is open.
    "an open leaf": (made.thin, OPEN, "face 0, node 1: nothing is proved there (too hard"),
    "an open leaf beside the exception": (
        made.thin, replace(OPEN, exceptions=("x0*x1^2 + x0",)), "node 1: nothing is proved there",
    ),
    "an open leaf with a constant exception": (
        made.thin, replace(OPEN, exceptions=("0",)), "0 is an exception; what is proved except",
    ),
    "an exception that is zero everywhere": (
        made.roots,
        replace(with_node(ROOTS, 0, Open(reason="?")), exceptions=("g0^2 - x0^2 - x1^2",)),
        "is an exception; what is proved except where a constant",
    ),
    # The body.
    "the side of another formula": (
        made.squares, made.of_squares(made.SIGNS, FALSE_SIDE, made.ABSOLUTE),
        "the lhs of entry 0 of relation 0 is … , and the formula of the leaf gives 0",
    ),
    "a goal is missing": (
        made.squares, made.of_squares(made.SIGNS, made.SQUARE),
        "entry 0 of relation 1 is asserted at … , and no goal proves it",
    ),
    "nothing is asserted": (
        made.squares, proof(face(Leaf(outcome="asserted"))), "and no goal proves it",
    ),
    "all is outside": (
        made.squares, proof(face(Leaf(outcome="outside"))),
        "the path is outside, and the generator accepts",
    ),
    "nothing is outside": (
        made.differences, made.of_differences(outcome="asserted"),
        "the path is asserted, and the generator rejects",
    ),
    "another claim": (made.positive, SQUARES, "the lhs of entry 0 of relation 0 is 0 at"),
    "entries of a smaller range": (
        made.squares, made.of_squares(low="0", bounded=True),
        "x0 is in [0, 8], and the generator draws it from [-8, 8]",
    ),
    "a shape that there is not": (
        made.squares, replace(SQUARES, integers=(3,)), "the generator draws fewer integers",
    ),
    "an entry too many": (
        made.squares, replace(SQUARES, entries=(*SQUARES.entries,
                                                replace(SQUARES.entries[0], name="x2"))),
        "the generator draws 2 entries, and the proof has 3",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(FORGERIES))
def test_a_forgery_is_refused(name):
    claim, forged, says = FORGERIES[name]
    with pytest.raises(UnsoundError) as refused:
        check(claim, forged)
    for part in says.split(" … "):
        assert part in str(refused.value)


#: What x0 - x1 >= 1 and x1 - x0 >= 0 say together.
ABSURD = Squares(terms=(term("1", "x0 - x1 - 1"), term("1", "x1 - x0")))


def excluded(polynomial="-1", certificate=ABSURD, branch="0+"):
    """Of `squares`: no instance is on one of the branches, because of a goal."""
    rest = "-" if branch == "0+" else "0+"
    goals = made.SQUARE, made.ABSOLUTE
    empty = Leaf(outcome="empty", goals=(plain(polynomial, "0+", certificate),))
    first = split("x0 - x1 - 1", ("0+", 1), ("-", 2))
    second = split("x1 - x0", (branch, 3), (rest, 4))
    return proof(face(first, second, leaf(*goals), empty, leaf(*goals)), method="squares")


def test_a_path_may_be_empty_because_of_a_goal():
    assert check(made.squares, excluded()).reached == 2
    with pytest.raises(UnsoundError, match=r"a square is multiplied by -x0 \+ x1, and"):
        check(made.squares, excluded(branch="-"))
    with pytest.raises(UnsoundError, match="that excludes a path if it is a negative number"):
        check(made.squares, excluded("x0^2", Squares(terms=(term("x0"),))))
    with pytest.raises(UnsoundError, match="expanded, differs from -2 by 1"):
        check(made.squares, excluded("-2"))


def test_what_is_open_may_be_excepted():
    one = made.of_thin()
    open_there = with_node(one, 2, Open(reason="too hard"))
    excepted = replace(
        open_there, faces=open_there.faces[:1], exceptions=("x0*x1^2 + x0",), paths=2
    )
    assert check(made.thin, excepted).open == 1
    behind = with_node(one, 0, Open(reason="too hard"), number_of_face=1)
    assert check(made.thin, replace(behind, exceptions=("x0*x1^2 + x0",))).open == 1
    with pytest.raises(UnsoundError, match="face 1, node 0: nothing is proved there"):
        check(made.thin, replace(behind, exceptions=("x1",)))


def test_an_exception_may_not_be_zero_in_disguise():
    second = Definition(name="g1", kind="root", of="4*x0^2 + 4*x1^2", degree=2)
    nodes = split("2*g0 - g1", ("-+", 1), ("0", 2)), leaf(), Open(reason="?")
    disguised = proof(face(*nodes), definitions=(made.ROOT, second), exceptions=("2*g0 - g1",))
    with pytest.raises(UnsoundError, match="is zero at every point"):
        check(made.roots, disguised)


def of_range(paths):
    return Proof(integers=(), sizes={}, entries=(), method="range", paths=paths)


def test_ranges_are_decided_again():
    assert check(made.whole_numbers, of_range(36)).instances == 36
    assert check(made.whole_numbers, of_range(5)).instances == 5
    with pytest.raises(UnsoundError, match="37 instances, and the generator has 36"):
        check(made.whole_numbers, of_range(37))
    with pytest.raises(UnsoundError, match=r"the instance \(9, 8\) is not proved"):
        check(made.nearly_whole, of_range(36))
    assert check(made.nearly_whole, of_range(35)).instances == 35
    with pytest.raises(UnsoundError, match="a range has neither entries nor faces"):
        check(made.whole_numbers, replace(of_range(36), method="algebra"))


@pytest.mark.parametrize("name", ["squares", "thin", "hyperbola", "roots", "differences"])
def test_what_the_engine_proves_is_accepted(name):
    claim, _ = PROOFS[name]
    [shape] = shapes(claim.instances, 2).shapes
    found = prove_shape(claim, shape, Settings(seconds=600.0, paths=64))
    assert isinstance(found, Proof)
    assert check(claim, found).points > 0


def test_nothing_is_shared_with_what_makes_proofs():
    """Of the engine, the second checker imports what is written down of a proof, and no more."""
    folder = Path(checking.__file__).parent
    own = {f"rankcheck.decide.prove.checking.{file.stem}" for file in folder.glob("*.py")}
    for file in sorted(folder.glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [str(node.module)]
            for name in names:
                assert not name.startswith("rankcheck.decide.algebra"), file
                if name.startswith("rankcheck.decide.prove"):
                    assert name in own | {"rankcheck.decide.prove.proof"}, file
