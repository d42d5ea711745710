"""The shapes of a claim are gone through, and a proof is believed after its second check alone."""

import dataclasses
from pathlib import Path

import pytest

import rankcheck
from rankcheck import leq
from rankcheck.decide.prove.checking import UnsoundError
from rankcheck.decide.prove.controls import ProvedFalseError
from rankcheck.decide.prove.file import Proofs, keep, leave
from rankcheck.errors import InputError, InstallationError
from rankcheck.linalg import rank
from rankcheck.theory.instances.source import instances


@instances
def boxes(source, *, rows=(1, 3)):
    m = source.integer(*rows)
    return source.tensor(m, source.integer(1, 2))


def body(A):
    return leq(A.sum((-2, -1)), A.abs().sum((-2, -1)))


@pytest.fixture
def claim(declare):
    return declare(body, boxes(), mutants={})


def test_all_shapes_are_tried_the_smallest_first(claim, engine):
    result = rankcheck.prove(claim, entries=4)
    assert engine.shapes == [(1, 1), (1, 2), (2, 1), (3, 1), (2, 2)]
    assert [one.target.entries for one in result.proved] == [4, 3, 2, 2, 1]
    assert result.proofs[0].integers == (2, 2)
    assert result.proofs[0].sizes == {"rows of A": 2, "columns of A": 2}


def test_what_is_proved_with_exceptions_is_not_proved(claim, engine):
    engine.fields = {"exceptions": ("x0 - 1",)}
    result = rankcheck.prove(claim, entries=2)
    assert (len(result.proved), len(result.nearly)) == (0, 3)
    assert leave(claim, result) is None


def test_shapes_are_selected_by_their_sizes(claim, engine):
    rankcheck.prove(claim, shape={"rows": (2, 3), "columns of A": (1,)}, entries=6)
    assert engine.shapes == [(2, 1), (3, 1)]


@pytest.mark.parametrize(
    ("changes", "settings"),
    [
        ({"kind": "refuted"}, {}),
        ({"kind": "cited", "instances": None}, {}),
        ({}, {"shape": {"rows": (9,)}}),
        ({}, {"shape": {"depth": (1,)}}),
        ({}, {"shape": {"rows": ()}}),
        ({}, {"seconds": float("inf")}),
        ({}, {"entries": -1}),
    ],
)
def test_nothing_is_tried_of_what_does_not_fit(claim, engine, changes, settings):
    with pytest.raises(InputError):
        rankcheck.prove(dataclasses.replace(claim, **changes), **settings)
    assert engine.shapes == []


def test_a_proof_that_the_second_checker_refuses_is_never_shown(claim, engine):
    engine.refused = UnsoundError("node 3: no")
    with pytest.raises(InstallationError, match=r"A of size 1 × 1: the second checker refuses"):
        rankcheck.prove(claim)


def test_a_false_mutant_that_is_proved_stops_the_run(claim, engine):
    engine.false = ProvedFalseError("the mutant 'm'")
    with pytest.raises(InstallationError, match="A of size 1 × 1: the mutant 'm'"):
        rankcheck.prove(claim)


def test_an_error_ends_a_shape_and_not_the_run(claim, engine):
    engine.unproved = {1: ZeroDivisionError("division by zero")}
    result = rankcheck.prove(claim, entries=2)
    first, *others = [one.reason for one in result.outcomes]
    assert "ZeroDivisionError" in first
    assert others == ["", ""]


def test_ctrl_c_leaves_what_was_proved(claim, engine):
    engine.unproved = {3: KeyboardInterrupt()}
    result = rankcheck.prove(claim, entries=4)
    assert (result.interrupted, len(result.proved)) == (True, 3)


def test_proofs_are_left_and_read(claim, engine):
    result = rankcheck.prove(claim, entries=2)
    assert result.left == ".rankcheck/proofs/t.made-up.json"
    found = Proofs.read(Path(result.left))
    assert found.shapes == {"algebra": 3}
    assert len(found.proofs) == 3


@instances
def squares(source):
    n = source.integer(1, 3)
    if source.choice(("dense", "rank one", "zero")) == "rank one":
        return source.tensor(n, 1) @ source.tensor(1, n)
    return source.tensor(n, n)


def test_what_is_decided_of_a_part_is_told_so_and_not_kept(declare, engine, tmp_path):
    """The dense matrices of size 3 × 3 have more entries than the shapes that are tried."""
    claim = declare(lambda A: leq(rank(A), 1), squares(), file=tmp_path / "claims.py", mutants={})
    result = rankcheck.prove(claim, entries=6, shape={"rows": (3,)})
    [one] = result.proved
    assert "integers of the generator: 3, 1" in one.text
    assert keep(claim, result) is None
    whole = rankcheck.prove(declare(body, boxes(), mutants={}, file=claim.file), entries=2)
    assert keep(claim, whole) is not None
