"""Faces on which an entry would be outside of its range: no instance is there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rankcheck.decide.prove.checking import UnsoundError, check
from rankcheck.decide.prove.exact.algebra import prove_shape
from rankcheck.decide.prove.proof import Leaf, Link, Proof, Squares
from rankcheck.decide.prove.settings import Settings
from rankcheck.theory.instances.scope import shapes
from tests.decide.prove import by_hand as made
from tests.decide.prove.by_hand import face, goal, leaf, proof, split, term


def test_an_entry_is_in_its_range_where_it_is_solved_for():
    [shape] = shapes(made.never_opposite.instances, 2).shapes
    found = prove_shape(made.never_opposite, shape, Settings(seconds=600.0, paths=400))
    assert isinstance(found, Proof), found
    assert found.exceptions == ()
    check(made.never_opposite, found)


def nowhere(*goals):
    """Of `quotients`, whose x is at least 1: a face where it is 0."""
    first = split("x0", ("-+", 1), ("0", 2))
    usual = goal(**made.QUOTIENT)
    link = Link(zero="x0", variable="x0", face=1)
    faces = face(first, leaf(usual), link), face(*goals, x0=("0", "1"))
    return proof(*faces, method="squares", low="1", bounded=True)


POSITIVE = Squares(terms=(term("x1 - 1/2"),), constant="3/4")


@pytest.mark.parametrize("sign", ["", "-"])
def test_everything_follows_where_no_instance_is(sign):
    sides = ("x1", f"{sign}512"), ("x1^2 + 1", f"{sign}512")
    there = goal("x1^2 - x1 + 1", "0+", POSITIVE, *sides)
    check(made.quotients, nowhere(leaf(there)))
    check(made.quotients, nowhere(Leaf(outcome="empty", of="1")))


def test_nothing_follows_from_a_range_that_is_no_hypothesis():
    found = nowhere(Leaf(outcome="empty", of="1"))
    free = tuple(replace(one, bounded=False) for one in found.entries)
    with pytest.raises(UnsoundError):
        check(made.quotients, replace(found, entries=free))
