"""Proofs that are kept beside a claim: in its verification, its page, its table, its replay."""

from pathlib import Path

import pytest

import rankcheck
from rankcheck.claims.catalogue.loader import load
from rankcheck.claims.catalogue.selection import select
from rankcheck.decide.prove import standing
from rankcheck.decide.prove.checking import UnsoundError
from rankcheck.decide.prove.file import keep
from rankcheck.engine.verification.ledger import Row
from rankcheck.engine.verification.profiles import Profile, Settings

from .test_file import BODY, VECTORS


@pytest.fixture
def kept(mine, engine):
    """A claim with proofs beside it, in `mine.py`."""
    path = mine(VECTORS, BODY)
    engine.left = {2: {"less": "false"}}
    [claim] = load(select(["mine.py"]))
    keep(claim, rankcheck.prove(claim, entries=3))
    mine(VECTORS, BODY)  # to be imported anew
    return path


def loaded():
    [claim] = load(select(["mine.py"]))
    return claim


def test_a_verification_reads_them(kept, verify):
    row = verify(loaded(), prover=standing.standing)
    assert row.verdict == "guarded"
    assert (row.proved.number, row.proved.open, row.proved.mutants) == (3, 1, 1)
    assert Row.from_json(row.to_json()) == row
    assert verify(loaded()).proved is None
    small = Settings(Profile("small", drawn=5, batches=2, size=16, single=4), shrink=0)
    assert rankcheck.verify_claim(loaded(), small).proved == row.proved


def test_one_of_them_is_checked_again(kept, engine, verify, monkeypatch):
    engine.checked.clear()
    assert verify(loaded(), prover=standing.standing).verdict == "guarded"
    assert engine.checked == [(2,)]
    monkeypatch.setattr(standing, "QUICK", -1.0)
    assert verify(loaded(), prover=standing.standing).proved is not None
    assert engine.checked == [(2,)]  # it takes too long for a verification


def test_a_proof_that_does_not_stand_fails_the_claim(kept, engine, verify):
    engine.refused = UnsoundError("no", 0, 3)
    row = verify(loaded(), prover=standing.standing)
    assert (row.verdict, row.proved) == ("failed", None)
    assert "face 0, node 3" in row.messages[0]


def test_a_file_that_was_changed_fails_the_claim(kept, verify):
    path = Path("proofs/t.squares.json")
    path.write_text(path.read_text("utf-8").replace('"entries": 2', '"entries": 3'), "utf-8")
    row = verify(loaded(), prover=standing.standing)
    assert row.verdict == "failed"


def test_stale_proofs_are_said_to_be_stale(kept, engine, mine, verify):
    engine.checked.clear()
    mine(VECTORS, BODY.replace("0 * x.sum(-1) + by", "by + 0 * x.sum(-1)"))
    row = verify(loaded(), prover=standing.standing)
    assert (row.verdict, row.proved.stale) == ("guarded", True)
    assert engine.checked == []


def test_replay_checks_all_of_them(kept, engine, command):
    engine.checked.clear()
    assert command("replay", "proofs/t.squares.json")[0] == 0
    assert engine.checked == [(2,), (3,)]  # those that are kept in full


def test_replay_says_what_is_refused(kept, engine, command):
    engine.refused = UnsoundError("no", 0, 3)
    code, out, _ = command("replay", "proofs/t.squares.json")
    assert code == 1
    assert "not proved: face 0, node 3: no" in out
