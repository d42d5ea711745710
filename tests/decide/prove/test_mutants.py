"""Mutants of the ledger's claims that are false at a shape: none of them is ever proved there.

A proof ends where it has taken its seconds or its paths. No test rests on when that is: a mutant
that is not proved by then is not proved, which is all that is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from rankcheck.claims.catalogue.loader import load
from rankcheck.claims.catalogue.selection import select
from rankcheck.claims.claim import Claim
from rankcheck.claims.variants import mutant
from rankcheck.decide.prove.checking import UnsoundError, check
from rankcheck.decide.prove.controls import denies, refutation
from rankcheck.decide.prove.exact.algebra import prove_shape
from rankcheck.decide.prove.proof import Proof
from rankcheck.decide.prove.settings import Settings
from rankcheck.theory.instances.scope import ScopeShape, shapes
from tests.decide.prove import by_hand

#: Shapes have at most so many entries; of each claim this many are looked at.
ENTRIES, SHAPES, RUNS = 4, 3, 200
SETTINGS = Settings(seconds=1.0, paths=64)
#: So many (mutant, shape) that are false are wanted; they are tried in so many tests.
WANTED, PARTS = 200, 12
#: Claims whose mutants are tried with every change.
FEW = ("bottleneck.identity-nonnegative", "linear.nuclear-norm", "rank.jacobian-bounds-cost")


def some(claim: Claim) -> list[ScopeShape]:
    """The smallest shape of a claim, the largest, and one between."""
    known = [one for one in shapes(claim.instances, ENTRIES, runs=RUNS).shapes if one.entries]
    if len(known) <= SHAPES:
        return known
    return [known[0], known[len(known) // 2], known[-1]]


@cache
def claims() -> tuple[Claim, ...]:
    """The claims of the ledger that have mutants and a ball form."""
    return tuple(
        claim
        for claim in load(select())
        if claim.mutants
        and claim.instances is not None
        and claim.instances.recording is None
        and claim.no_ball is None
    )


def false(claim: Claim) -> Iterator[tuple[str, ScopeShape]]:
    """The mutants of a claim, each with the shapes at which an instance refutes it."""
    for shape in some(claim):
        for name in claim.mutants:
            if refutation(mutant(claim, name), shape) is not None:
                yield name, shape


def proved(claim: Claim) -> list[str]:
    """The mutants of a claim that are proved at a shape at which they are false."""
    found = []
    for name, shape in false(claim):
        variant = mutant(claim, name)
        proof = prove_shape(variant, shape, SETTINGS)
        if not isinstance(proof, Proof):
            continue
        wrong = refutation(variant, shape, proof)
        if wrong is not None and denies(proof, wrong):
            found.append(f"{claim.id}, {name}, {shape.integers}")
    return found


def accepted(claim: Claim) -> list[str]:
    """The false mutants of which the second checker takes a proof of the claim for theirs."""
    found, proofs = [], {}
    for name, shape in false(claim):
        if shape not in proofs:
            proofs[shape] = prove_shape(claim, shape, SETTINGS)
        proof = proofs[shape]
        if isinstance(proof, Proof) and not proof.exceptions:
            try:
                check(mutant(claim, name), proof)
            except UnsoundError:
                continue
            found.append(f"{claim.id}, {name}, {shape.integers}")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", FEW)
def test_no_false_mutant_of_a_few_claims_is_proved(name):
    [claim] = load(select([name]))
    assert any(true for true in false(claim))
    assert proved(claim) == []
    assert accepted(claim) == []


@pytest.mark.nightly
def test_there_are_enough_false_mutants():
    assert sum(1 for claim in claims() for _ in false(claim)) >= WANTED


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(PARTS))
def test_no_false_mutant_is_proved(part):
    some_claims = claims()[part::PARTS]
    assert [one for claim in some_claims for one in proved(claim)] == []
    assert [one for claim in some_claims for one in accepted(claim)] == []


@pytest.mark.parametrize("claim", [by_hand.thin_and_false, by_hand.false_on_a_curve])
def test_what_is_false_on_a_thin_cell_is_not_proved(claim):
    """Nothing is said of the cell: it is excepted, or there is no proof."""
    [shape] = shapes(claim.instances, 2).shapes
    found = prove_shape(claim, shape, Settings(seconds=600.0, paths=64))
    if isinstance(found, Proof):
        assert found.exceptions
        assert check(claim, found).open > 0
        wrong = refutation(claim, shape, found)
        assert wrong is None or not denies(found, wrong)
