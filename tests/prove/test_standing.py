"""Proofs that are kept beside a claim: in its verification, its page, its table, its replay."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import rankcheck
from rankcheck.catalogue.loader import load
from rankcheck.catalogue.selection import select
from rankcheck.claims.proved import Proved
from rankcheck.prove import standing
from rankcheck.prove.checking import UnsoundError
from rankcheck.prove.file import keep
from rankcheck.terminal import table
from rankcheck.verification.ledger import Row
from rankcheck.verification.profiles import Profile, Settings

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
    assert row.proved.sentence.startswith(
        "For x of 2 entries: true whatever numbers the generator draws, on its path"
    )
    assert (row.proved.number, row.proved.open, row.proved.mutants) == (3, 1, 1)
    assert Row.from_json(row.to_json()) == row
    assert "proved 3 (1/1)" in table.sentence(row)
    assert any(
        line.startswith("proved: at 3 shapes (exact algebra: 3)") for line in table.facts(row)
    )
    assert verify(loaded()).proved is None
    small = Settings(Profile("small", drawn=5, batches=2, size=16, single=4), shrink=0)
    assert rankcheck.verify_claim(loaded(), small).proved == row.proved


def test_without_a_file_nothing_is_proved(mine, verify):
    mine(VECTORS, BODY)
    assert verify(loaded(), prover=standing.standing).proved is None


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
    assert (
        "the proof for x of 2 entries (proofs/t.squares.json) does not stand: face 0, node 3"
        in (row.messages[0])
    )


def test_a_file_that_was_changed_fails_the_claim(kept, verify):
    path = Path("proofs/t.squares.json")
    path.write_text(path.read_text("utf-8").replace('"entries": 2', '"entries": 3'), "utf-8")
    row = verify(loaded(), prover=standing.standing)
    assert row.verdict == "failed"
    assert "has been changed since it was written" in row.messages[0]


def test_stale_proofs_are_said_to_be_stale(kept, engine, mine, verify):
    engine.checked.clear()
    mine(VECTORS, BODY.replace("0 * x.sum(-1) + by", "by + 0 * x.sum(-1)"))
    row = verify(loaded(), prover=standing.standing)
    assert (row.verdict, row.proved.stale, row.proved.short) == ("guarded", True, "stale")
    assert engine.checked == []
    assert "proved: of an older text of the claim, at 3 shapes" in "\n".join(table.facts(row))


def test_the_command_verify_shows_them(kept, command):
    code, out, _ = command("verify", "mine.py", "--json", "x.json")
    assert code == 0
    assert "proved 3 (1/1)" in out
    [row] = json.loads(Path("x.json").read_text("utf-8"))["claims"]
    assert row["proved"]["method"] == "algebra"
    code, out, _ = command("report", "--ledger", "x.json", "--out", "x.html")
    page = Path("x.html").read_text("utf-8")
    assert "Nothing is said of other shapes." in page
    assert ">3 (1/1)</span>" in page


def test_show_and_list_read_the_file_alone(kept, command):
    out = " ".join(command("show", "mine.py")[1].split())
    assert "proved: at 3 shapes (exact algebra: 3); the largest: x of 3 entries. For x of" in out
    [entry] = json.loads(command("list", "mine.py", "--json")[1])
    assert entry["proved"]["shapes"] == {"algebra": 3}


def test_replay_checks_all_of_them(kept, engine, command):
    engine.checked.clear()
    code, out, err = command("replay", "proofs/t.squares.json")
    assert (code, err) == (0, "")
    assert engine.checked == [(2,), (3,)]  # those that are kept in full
    assert "t.squares: For x of 2 entries: true whatever numbers the generator draws" in out
    assert "(checked again)\n  0 identities expanded; body and proof agree at 40 points" in out


def test_replay_says_what_is_refused(kept, engine, command):
    engine.refused = UnsoundError("no", 0, 3)
    code, out, _ = command("replay", "proofs/t.squares.json")
    assert code == 1
    assert "not proved: face 0, node 3: no" in out


def test_replay_says_that_the_text_has_changed(kept, mine, command):
    mine(VECTORS, BODY.replace("A sum of", "Any sum of"))
    code, out, _ = command("replay", "proofs/t.squares.json")
    assert code == 0
    assert "has changed since proofs/t.squares.json was written" in out


def test_a_file_of_another_kind_of_proofs(kept, command):
    data = json.loads(Path("proofs/t.squares.json").read_text("utf-8"))
    Path("proofs/t.squares.json").write_text(json.dumps(data | {"schema": 7}), "utf-8")
    code, _, err = command("replay", "proofs/t.squares.json")
    assert code == 2
    assert "file of proofs of schema 7" in err


def test_what_is_proved_in_a_cell():
    one = Proved(method="squares", shapes={"algebra": 2, "squares": 1}, open=0, mutants=2)
    assert one.short == "3 (0/2)"
    assert replace(one, mutants=0).short == "3"
    with pytest.raises(ValueError, match="'guess' is no way to prove"):
        Proved(method="guess")
    with pytest.raises(ValueError, match="3 of 2 mutants are open"):
        Proved(method="algebra", open=3, mutants=2)
