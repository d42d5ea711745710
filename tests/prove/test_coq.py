"""The expansions of proofs, for Coq."""

import dataclasses

import pytest

from rankcheck.prove.coq import coq_file, identities
from rankcheck.prove.proof import (
    Boxes,
    Face,
    Factor,
    Factors,
    Goal,
    Leaf,
    Multiple,
    Proof,
    Squares,
    Term,
    Unrooted,
)
from tests.exports.made import coqc, needs_coq

from .made import proof


def goal(polynomial, certificate):
    return Goal(polynomial=polynomial, signs="0+", certificate=certificate)


PRODUCT = goal(
    "2*x0^3 - 2*x0^2*x1",
    Factors(scale="2", factors=(Factor(of="x0", power=2), Factor(of="x0 - x1"))),
)
SQUARES = goal(
    "x0^2 + x0*x1 + x1^2 + 1/3",
    Squares(
        terms=(Term(weight="1", square="x0 + 1/2*x1"), Term(weight="3/4", square="x1")),
        constant="1/3",
    ),
)
MULTIPLIED = goal(
    "x0 - x1",
    Squares(
        multiplier="x0 + 1",
        terms=(Term(weight="1", square="x0", known=("r0",)), Term(weight="1", square="1")),
        zeros=(Multiple(cofactor="-1", zero="r0*x0^2 + 1 - x0^2 + x0*x1 - x0 + x1"),),
    ),
)
ROOT = goal(
    "x0 + x1*r0",
    Unrooted(root="r0", rational="x0", factor="x1", case="both", parts=(PRODUCT,)),
)
TRIVIAL = goal("1", Factors(scale="1"))
BOXED = goal("x0", Boxes(subdivision=".", boxes=1))


def made(*goals) -> Proof:
    return proof(faces=(Face(nodes=(Leaf(outcome="asserted", goals=goals),)),))


@needs_coq
def test_coqc_accepts_them(tmp_path):
    text = coq_file(made(PRODUCT, SQUARES, MULTIPLIED, ROOT), 'a "proof" (* of *) t.x')
    assert text.count("Lemma") == 4
    assert coqc(text, tmp_path) == (0, "")


@needs_coq
@pytest.mark.parametrize(
    "wrong",
    [
        goal(PRODUCT.polynomial, Factors(scale="3", factors=PRODUCT.certificate.factors)),
        goal("x0^2 + x1", SQUARES.certificate),
        goal("x0", MULTIPLIED.certificate),
        goal("x0", ROOT.certificate),
    ],
)
def test_coqc_refuses_what_is_no_expansion(wrong, tmp_path):
    status, said = coqc(coq_file(made(wrong), "t.x"), tmp_path)
    assert status != 0
    assert "expansion_1" in said or "field" in said


def test_what_has_no_expansion_is_left_out():
    assert list(identities(made(TRIVIAL, BOXED))) == []
    assert coq_file(made(TRIVIAL), "t.x") is None
    assert coq_file(proof(method="range", faces=()), "t.x") is None


def test_an_expansion_stands_there_once():
    assert coq_file(made(PRODUCT, PRODUCT, ROOT), "t.x").count("Lemma") == 2


def test_lemmas_of_a_proof_are_among_them():

    with_lemma = dataclasses.replace(made(TRIVIAL), lemmas=(SQUARES,))
    [(polynomial, _)] = identities(with_lemma)
    assert polynomial == SQUARES.polynomial
