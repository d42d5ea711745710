"""The file of proofs: it keeps those that say most, and notices what is not its own."""

import json
from pathlib import Path

import pytest

import rankcheck
from rankcheck.claims.catalogue.loader import load
from rankcheck.claims.catalogue.selection import select
from rankcheck.decide.prove import file
from rankcheck.decide.prove.file import FORM, ProofError, Proofs, keep
from rankcheck.decide.prove.settings import Unproved

BODY = '''
@conjecture("t.squares", instances=vectors(), mutants={"less": {"by": 1}})
def test_squares(x, *, by=0):
    """A sum of squares is not negative."""
    return leq(0 * x.sum(-1) + by, (x * x).sum(-1))
'''
VECTORS = """
@instances
def vectors(source):
    return source.tensor(source.integer(1, 6))
"""


@pytest.fixture
def claim(mine, engine):
    mine(VECTORS, BODY)
    [claim] = load(select(["mine.py"]))
    return claim


def test_what_is_kept_is_read_again(claim, engine, monkeypatch):
    monkeypatch.setattr(file, "MOST", 4)
    engine.left = {2: {"less": "false"}}
    result = rankcheck.prove(claim, entries=6)
    path = keep(claim, result)
    assert path == Path("proofs/t.squares.json").resolve()
    found = Proofs.of(claim)
    assert [one.entries for one in found.proofs] == [2, 6, 5, 4]  # at most so many
    assert found.proofs[0].proof == result.proofs[0]
    assert dict(found.shapes) == {"algebra": 6}
    assert (found.facts().number, found.facts().open, found.facts().mutants) == (6, 1, 1)


def test_a_later_run_adds_and_loses_nothing(claim, engine, monkeypatch):
    monkeypatch.setattr(file, "MOST", 4)
    keep(claim, rankcheck.prove(claim, entries=3))
    engine.left = {5: {"less": "open"}}
    keep(claim, rankcheck.prove(claim, shape={"entries": (5,)}))
    found = Proofs.of(claim)
    assert [one.entries for one in found.proofs] == [5, 3, 2, 1]
    assert (dict(found.shapes), found.largest.entries) == ({"algebra": 4}, 5)


def test_proofs_of_another_text_make_way(claim, engine, mine):
    keep(claim, rankcheck.prove(claim, entries=3))
    mine(VECTORS, BODY.replace("A sum of", "The sum of"))
    [changed] = load(select(["mine.py"]))
    assert Proofs.of(changed).statement_sha256 != changed.statement_hash
    keep(changed, rankcheck.prove(changed, entries=1))
    assert [one.entries for one in Proofs.of(changed).proofs] == [1]


def test_nothing_is_kept_of_nothing(claim, engine):
    engine.unproved = dict.fromkeys(range(9), Unproved("no"))
    result = rankcheck.prove(claim, entries=2)
    assert keep(claim, result) is None
    assert file.leave(claim, result) is None
    assert not Path("proofs").exists()


@pytest.mark.parametrize(
    "fields", [{"claim": "t.other"}, {"schema": 9}, {"shapes": {"algebra": 1}}, {"proofs": []}]
)
def test_files_that_are_none(claim, engine, fields):
    path = keep(claim, rankcheck.prove(claim, entries=2))
    data = json.loads(path.read_text("utf-8"))
    del data["sha256"]
    FORM.write(path, data | fields)
    with pytest.raises(ProofError):
        Proofs.of(claim)
