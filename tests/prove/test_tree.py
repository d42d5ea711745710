"""The tree of the paths through a body grows as long as paths stay what they were."""

from __future__ import annotations

import pytest

from rankcheck.algebra.cell import Fork
from rankcheck.algebra.ring import Ring
from rankcheck.algebra.signs import MINUS, NONE, PLUS
from rankcheck.catalogue.loader import load
from rankcheck.catalogue.selection import select
from rankcheck.instances.scope import shapes
from rankcheck.prove.checking import check
from rankcheck.prove.exact import algebra
from rankcheck.prove.exact.algebra import prove_shape
from rankcheck.prove.exact.faces import excepted
from rankcheck.prove.exact.tree import Growing
from rankcheck.prove.proof import Face, Leaf, Open, Proof
from rankcheck.prove.settings import Settings, Unproved

RING = Ring(2)
X, Y = RING.variables[:2]
END = Leaf(outcome="asserted")
#: A shape at which a sum of squares is proved to be one on the second path, after the first split.
CLAIM, SHAPE = "bottleneck.hessian-at-interpolation", (1, 1, 1, 1, 0, 2, 0)


def fork(of, taken, first=NONE | PLUS, second=MINUS):
    return Fork(of, (first, second), taken)


def test_a_tree_of_two_splits():
    growing = Growing()
    assert growing.add((), [fork(X, 0), fork(Y, 0)])
    assert growing.waiting == [(), (1,), (0, 1)]
    assert growing.add((0, 1), [fork(X, 0), fork(Y, 1)])
    assert growing.add((1,), [fork(X, 1)])
    growing.ends = {(0, 0): END, (0, 1): END, (1,): END}
    split, *_ = nodes = growing.tree()
    assert (split.of, [branch.signs for branch in split.branches]) == ("x0", ["0+", "-"])
    assert [node.node for node in nodes] == ["split", "split", "leaf", "leaf", "leaf"]


@pytest.mark.parametrize(
    "trail",
    [
        [fork(Y, 1)],
        [fork(X, 1, first=PLUS, second=MINUS | NONE)],
        [fork(X, 0)],
        [],
    ],
)
def test_a_path_that_is_another_one_than_before(trail):
    growing = Growing()
    assert growing.add((), [fork(X, 0)])
    assert not growing.add((1,), trail)


@pytest.fixture
def shape():
    [claim] = load(select([CLAIM]))
    [found] = [one for one in shapes(claim.instances, 4, runs=200).shapes if one.integers == SHAPE]
    return claim, found


@pytest.mark.slow
def test_a_tree_is_begun_anew_where_a_lemma_changes_it(shape, monkeypatch):
    claim, at = shape
    found = prove_shape(claim, at, Settings(seconds=600.0, paths=200))
    assert isinstance(found, Proof)
    assert check(claim, found).reached == 8
    monkeypatch.setattr(algebra, "AGAIN", 1)
    once = prove_shape(claim, at, Settings(seconds=600.0, paths=200))
    assert isinstance(once, Unproved)
    assert "do not stay the same" in once.reason


def test_what_is_excepted_of_a_face_that_is_linked_twice():
    """Each way to an open face has a zero on face 0, also through other faces."""
    closed, opened = Face(nodes=(END,)), Face(nodes=(Open(reason="?"),))
    links = [(0, "x0", 2), (0, "x1", 1), (1, "x2", 2), (2, "x3", 3), (0, "x4", 3)]
    assert sorted(excepted([closed, closed, opened, closed], links)) == ["x0", "x1"]
    assert excepted([opened, closed, closed, closed], links) == []
