"""What becomes of the mutants of a claim at a shape."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from rankcheck.claims.variants import mutant
from rankcheck.instances.scope import shapes
from rankcheck.prove.controls import ProvedFalseError, controls, denies, refutation
from rankcheck.prove.settings import Unproved
from tests.prove import by_hand as made
from tests.prove.by_hand import NOTHING, face, leaf, proof

SHAPES = {shape.integers: shape for shape in shapes(made.vectors(), 3).shapes}
PROOF = proof(face(leaf(NOTHING)))


def within(low, high, slack="0"):
    """A proof that is about entries in a range, up to a slack."""
    entries = tuple(
        replace(one, low=str(low), high=str(high), bounded=True) for one in PROOF.entries
    )
    return replace(PROOF, entries=entries, slack=slack)


def only(name):
    return replace(made.controlled, mutants={name: made.controlled.mutants[name]})


def open_(claim):
    return Unproved("it is open")


def test_mutants_that_are_not_proved_are_false_or_open():
    found = controls(made.controlled, SHAPES[1,], PROOF, open_)
    assert found == {"less": "false", "more": "open", "at two entries": "open"}
    third = replace(PROOF, entries=(*PROOF.entries, replace(PROOF.entries[0], name="x2")))
    assert controls(made.controlled, SHAPES[2,], third, open_)["at two entries"] == "false"


def test_what_a_prover_is_asked():
    asked: list[str] = []

    def ask(one):
        asked.append(one.title)
        return Unproved("")

    controls(made.controlled, SHAPES[1,], PROOF, ask)
    assert [title.partition("(")[2] for title in asked] == [
        "mutant 'less')", "mutant 'more')", "mutant 'at two entries')",
    ]  # fmt: skip


def test_a_false_mutant_that_is_proved_stops():
    with pytest.raises(ProvedFalseError, match=r"'less' of proved\.controlled is proved"):
        controls(made.controlled, SHAPES[1,], PROOF, lambda one: PROOF)
    other = replace(made.controlled, mutants={"more": made.controlled.mutants["more"]})
    assert controls(other, SHAPES[1,], PROOF, lambda one: PROOF) == {"more": "proved"}


def test_instances_that_refute_have_the_shape():
    found = refutation(mutant(made.controlled, "less"), SHAPES[1,])
    assert found.record.integers == (1,)
    assert found.proved
    assert refutation(made.controlled, SHAPES[2,]) is None
    alone = replace(mutant(made.controlled, "less"), no_batch="for the test")
    assert refutation(alone, SHAPES[1,]).proved


def test_a_proof_denies_what_it_is_about():
    """Not what it excepts, and not what holds up to its slack."""
    less = refutation(mutant(made.controlled, "less"), SHAPES[1,])
    _, y = (float(tensor) for tensor in less.record.tensors)
    assert denies(PROOF, less)
    assert not denies(
        replace(PROOF, exceptions=(f"x1 - {Fraction(y)}".replace("- -", "+ "),)), less
    )
    assert denies(replace(PROOF, exceptions=("x1",)), less)
    assert not denies(replace(PROOF, slack="1/2"), less)
    assert denies(replace(PROOF, slack="1/1000"), less)


@pytest.mark.parametrize(
    "about",
    [within(-1, 1, "1/20"), within(-1, 1, "1/1000"), within(Fraction(1, 2), 1), within(2, 3),
     within(Fraction(1, 64), Fraction(1, 32), "1/1000")],
)  # fmt: skip
def test_a_false_mutant_that_is_proved_in_a_box_stops(about):
    """9/10 y² + |x|² is less than y² by more than a twentieth of it."""
    if Fraction(about.entries[0].low) > 0:  # there |x|² is in the way, but for small x
        about = replace(about, entries=(replace(about.entries[0], low="-1"), about.entries[1]))
    with pytest.raises(ProvedFalseError, match=r"'less' of proved\.controlled is proved"):
        controls(only("less"), SHAPES[1,], about, lambda one: about)
    assert controls(only("less"), SHAPES[1,], about, open_) == {"less": "false"}


@pytest.mark.parametrize("about", [within(-1, 1, "1/2"), within(0, 0), within(0, 0, "1/100")])
def test_a_mutant_that_is_false_elsewhere_is_proved_like_its_claim(about):
    assert controls(only("less"), SHAPES[1,], about, lambda one: about) == {"less": "proved"}
    assert controls(only("less"), SHAPES[1,], about, open_) == {"less": "open"}


def test_what_refutes_a_mutant_off_its_exceptions_is_looked_for():
    """The first one that refutes it is where the exception is zero."""
    first = refutation(mutant(made.controlled, "less"), SHAPES[1,])
    _, y = (Fraction(float(tensor)) for tensor in first.record.tensors)
    excepted = replace(PROOF, exceptions=(f"x1 - {y}".replace("- -", "+ "),))
    assert not denies(excepted, first)
    with pytest.raises(ProvedFalseError):
        controls(only("less"), SHAPES[1,], PROOF, lambda one: excepted)
    thin = replace(PROOF, exceptions=("0",))
    assert controls(only("less"), SHAPES[1,], PROOF, lambda one: thin) == {"less": "false"}


def test_a_refutation_is_looked_for_in_the_whole_scope():
    assert refutation(made.late, SHAPES[2,]).record.tensors[1] == -1
