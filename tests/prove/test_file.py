"""The file of proofs: it keeps those that say most, and notices what is not its own."""

import json
from pathlib import Path

import pytest

import rankcheck
from rankcheck.catalogue.loader import load
from rankcheck.catalogue.selection import select
from rankcheck.prove import file
from rankcheck.prove.file import FORM, ProofError, Proofs, keep
from rankcheck.prove.settings import Unproved

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


def changed(path, **fields):
    """The file with other fields, and the checksum of these."""
    data = json.loads(path.read_text("utf-8"))
    del data["sha256"]
    FORM.write(path, data | fields)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"proofs": []}, "it has no proof"),
        ({"shapes": {"algebra": 1}}, "it has more proofs than shapes"),
        ({"shapes": {"guess": 9}}, "'guess' is no way to prove"),
        ({"claim": "../t"}, "the id of a claim is lower-case"),
        ({"schema": 9}, "of schema 9; this version reads schema 1"),
        ({"more": 1}, "more is unknown"),
        ({"claim": "t.other"}, "has the proofs of t.other, not of t.squares"),
    ],
)
def test_files_that_are_none(claim, engine, fields, said):
    path = keep(claim, rankcheck.prove(claim, entries=2))
    changed(path, **fields)
    with pytest.raises(ProofError, match=said):
        Proofs.of(claim)


def test_a_file_that_was_changed(claim, engine):
    path = keep(claim, rankcheck.prove(claim, entries=2))
    path.write_text(path.read_text("utf-8").replace('"entries": 2', '"entries": 3'), "utf-8")
    with pytest.raises(ProofError, match="has been changed since it was written"):
        Proofs.of(claim)
