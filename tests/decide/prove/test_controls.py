"""What becomes of the mutants of a claim at a shape."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from rankcheck.claims.variants import mutant
from rankcheck.decide.prove.controls import ProvedFalseError, controls, denies, refutation
from rankcheck.decide.prove.settings import Unproved
from rankcheck.theory.instances.scope import shapes
from tests.decide.prove import by_hand as made
from tests.decide.prove.by_hand import NOTHING, face, leaf, proof

SHAPES = {shape.integers: shape for shape in shapes(made.vectors(), 3).shapes}
PROOF = proof(face(leaf(NOTHING)))


def only(name):
    return replace(made.controlled, mutants={name: made.controlled.mutants[name]})


def open_(claim):
    return Unproved("it is open")


def test_mutants_that_are_not_proved_are_false_or_open():
    found = controls(made.controlled, SHAPES[1,], open_)
    assert found == {"less": "false", "more": "open", "at two entries": "open"}
    assert controls(made.controlled, SHAPES[2,], open_)["at two entries"] == "false"


def test_a_false_mutant_that_is_proved_stops():
    with pytest.raises(ProvedFalseError, match=r"'less' of proved\.controlled is proved"):
        controls(made.controlled, SHAPES[1,], lambda one: PROOF)
    other = replace(made.controlled, mutants={"more": made.controlled.mutants["more"]})
    assert controls(other, SHAPES[1,], lambda one: PROOF) == {"more": "proved"}


def test_instances_that_refute_have_the_shape():
    found = refutation(mutant(made.controlled, "less"), SHAPES[1,])
    assert found.record.integers == (1,)
    assert found.proved
    assert refutation(made.controlled, SHAPES[2,]) is None


def test_a_proof_denies_what_it_is_about():
    """Not what it excepts."""
    less = refutation(mutant(made.controlled, "less"), SHAPES[1,])
    _, y = (float(tensor) for tensor in less.record.tensors)
    assert denies(PROOF, less)
    assert not denies(
        replace(PROOF, exceptions=(f"x1 - {Fraction(y)}".replace("- -", "+ "),)), less
    )
    assert denies(replace(PROOF, exceptions=("x1",)), less)


def test_what_refutes_a_mutant_off_its_exceptions_is_looked_for():
    """The first one that refutes it is where the exception is zero."""
    first = refutation(mutant(made.controlled, "less"), SHAPES[1,])
    _, y = (Fraction(float(tensor)) for tensor in first.record.tensors)
    excepted = replace(PROOF, exceptions=(f"x1 - {y}".replace("- -", "+ "),))
    assert not denies(excepted, first)
    with pytest.raises(ProvedFalseError):
        controls(only("less"), SHAPES[1,], lambda one: excepted)
    thin = replace(PROOF, exceptions=("0",))
    assert controls(only("less"), SHAPES[1,], lambda one: thin) == {"less": "false"}


def test_a_refutation_is_looked_for_in_the_whole_scope():
    assert refutation(made.late, SHAPES[2,]).record.tensors[1] == -1
