"""`rankcheck record` and `rankcheck replay` of records: from given instances to what is kept."""

import json
from pathlib import Path

import pytest

from rankcheck.claims.catalogue.kept import digest
from tests.claim_text import HEAD as NUMBERS

HEAD = (
    NUMBERS
    + '''
from rankcheck import Reference, bound, refuted
from rankcheck.claims.erratum import Erratum

@instances
def positive(source):
    x = source.tensor(low=-8, high=8)
    source.require(x >= 0, "x is not negative")
    return x

@bound("t.bump", Reference("Me 2027", "p. 3"), instances=positive(), loose="a factor of two")
def test_bump(x, *, peak=1):
    r"""$2x \\le 2(1 + x^2)$"""
    return leq(2 * x, 2 * (peak + x * x))
'''
)
CLAIM, STORED = "mine.py::test_bump", Path("records/t.bump.json")


@pytest.fixture
def run(mine, command):
    """Run a command line on `mine.py`, which is imported anew, as from a shell."""
    mine(head=HEAD)

    def run(name, *arguments, text=None):
        mine(head=Path("mine.py").read_text("utf-8") if text is None else text)
        return command(name, *arguments)

    return run


def test_a_better_instance_is_kept(run):
    code, out, err = run("record", CLAIM, "--instance", "[4]")
    assert (code, err) == (0, "")
    assert out.startswith("relation 1: 0.23529… (new), on x = 4\n")
    code, out, _ = run("record", CLAIM, "--instance", "[3]")
    assert (code, out.splitlines()[0]) == (0, "relation 1: 0.3 (was 0.23529…), on x = 3")
    before = STORED.read_text()
    code, out, _ = run("record", CLAIM, "--instance", "[4]")
    assert (code, STORED.read_text()) == (1, before)
    assert "relation 1 has lhs / rhs 0.2352941176 (0.3 on record)" in out
    assert run("verify", CLAIM, "--workers", 1)[0] == 1
    code, out, _ = run("record", CLAIM, "--instance", ".rankcheck/records/t.bump.json")
    assert (code, out.splitlines()[0]) == (0, "relation 1: 0.5 (was 0.3), on x = 1")
    assert run("verify", CLAIM, "--workers", 1)[0] == 0


def test_other_ways_to_give_an_instance(run):
    Path("list.json").write_text("[4]")
    assert run("record", CLAIM, "--instance", "list.json")[0] == 0
    Path("object.json").write_text('{"family": "positive()", "choices": [2], "ratio": "0.4"}')
    assert run("record", CLAIM, "--instance", "object.json")[0] == 0
    assert json.loads(STORED.read_text())["relations"][0]["best"]["ratio"] == "0.4"
    assert run("record", CLAIM, "--instance", '{"choices": [1]}')[0] == 0
    assert json.loads(STORED.read_text())["relations"][0]["best"]["ratio"] == "0.5"


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ("[-1]", 2, "does not satisfy the hypotheses of t.bump: x is not negative"),
        ("[9]", 2, "the instance does not fit positive()"),
        ("[1, 2]", 2, "received 2 choices, but positive() draws 1"),
        ('{"x": 1}', 2, "an instance is a JSON list of what the generator draws"),
        ('{"choices": [1], "family": "circles()"}', 2, "of 'circles()'; those of t.bump are from"),
        ("mine.py", 2, "'mine.py' is not JSON"),
        ("[0]", 1, "relation 1 has lhs / rhs 0 (0 on record)"),
    ],
)
def test_wrong_input(run, given, code, said):
    if given == "[0]":
        assert run("record", CLAIM, "--instance", given)[0] == 0
    ended, out, err = run("record", CLAIM, "--instance", given)
    assert (ended, said in out + err) == (code, True), (out, err)


def test_what_is_no_claim_with_a_bound(run):
    code, _, err = run("record", "mine.py", "--instance", "[1]", text=HEAD + CITED)
    assert (code, "selects t.bump, t.cited; one claim is taken at a time" in err) == (2, True)
    code, _, err = run("record", "mine.py::test_cited", "--instance", "[1]")
    assert (code, "is cited and has no instances" in err) == (2, True)
    code, _, err = run("record", CLAIM, "--again")
    assert (code, "no record of t.bump at records/t.bump.json" in err) == (2, True)
    wrong = HEAD.replace("@bound", "@refuted").replace('loose="a factor of two"', MORE)
    code, _, err = run("record", CLAIM, "--instance", "[1]", text=wrong)
    assert (code, "t.bump is declared as false" in err) == (2, True), err


CITED = '''
@cited("t.cited", Reference("Me 2027", "p. 4"), reason="too long")
def test_cited():
    """A fact."""
'''
MORE = 'errata=Erratum(printed="a", right="b", survives="c", weight="theorem"), readings={"x": "y"}'


def test_an_instance_that_refutes_the_claim(run):
    false = HEAD.replace("2 * (peak + x * x)", "peak + x * x - 1 / 4")
    code, out, _ = run("record", CLAIM, "--instance", "[1]", text=false)
    assert code == 1
    assert "nothing is kept: relation 1 has lhs / rhs 1.142857143, which refutes t.bump" in out
    assert not STORED.exists()


def test_nothing_is_certified(run):
    floats = HEAD.replace("2 * (peak", "torch.special.i0e(x) * 2 * (peak")
    code, out, err = run("record", CLAIM, "--instance", "[1]", text=floats)
    assert (code, err) == (3, "")
    assert "nothing is kept: nothing is certified at this instance of t.bump" in out


def changed(text, peak):
    return text.replace("peak=1", f"peak={peak}")


def test_records_of_a_claim_that_has_changed(run):
    run("record", CLAIM, "--instance", "[4]")
    code, out, _ = run("record", CLAIM, "--again")
    assert (code, out) == (0, "records: records/t.bump.json (up to date)\n")
    code, out, _ = run("verify", CLAIM, "--workers", 1, text=changed(HEAD, 9))
    assert (code, "does not stand: it says that lhs / rhs is 0.23529…" in out) == (1, True)
    code, out, _ = run("replay", STORED)
    assert (code, "not proved: the record of relation 1" in out) == (1, True)
    code, out, _ = run("record", CLAIM, "--again")
    assert (code, "relation 1: 0.16 (was 0.23529…)" in out) == (0, True)
    assert run("replay", STORED)[0] == 0
    run("record", CLAIM, "--instance", "[3]")
    narrow = changed(HEAD, 9).replace("x >= 0", "x >= 4")
    code, out, _ = run("record", CLAIM, "--again", text=narrow)
    dropped = "dropped from relation 1, 0.16666…: the instance does not satisfy"
    assert (code, dropped in out) == (0, True)
    false = changed(HEAD, 9).replace("2 * (peak + x * x)", "1")
    run("record", CLAIM, "--instance", "[3]", text=changed(HEAD, 9))
    code, out, _ = run("record", CLAIM, "--again", text=false)
    assert (code, "relation 1 has lhs / rhs 6 on x = 3, which refutes t.bump" in out) == (1, True)


def test_records_are_replayed(run):
    run("record", CLAIM, "--instance", "[2]")
    code, out, err = run("replay", STORED)
    assert (code, err) == (0, "")
    assert "t.bump: relation 1 has lhs / rhs 0.4 (proved again, 128-bit balls)\n  x = 2\n" in out
    code, out, _ = run("replay", STORED, text=HEAD.replace("peak + x * x", "x * x + peak"))
    assert (code, "the text of the claim (mine.py:" in out) == (0, True)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("ratio", "0.45", "it says that lhs / rhs is 0.45, and its instance gives 0.4"),
        ("description", "x = 3", "it says description 'x = 3', and its instance gives 'x = 2'"),
        ("lhs", "5", "it says lhs '5', and its instance gives '4'"),
        ("choices", [3], "it says that lhs / rhs is 0.4, and its instance gives 0.3"),
        ("choices", [-2], "does not satisfy the hypotheses"),
        ("family", "circles()", "those of t.bump are from positive()"),
    ],
)
def test_a_record_that_does_not_prove_what_it_says(run, field, value, said):
    run("record", CLAIM, "--instance", "[2]")
    data = json.loads(STORED.read_text())
    data["relations"][0]["best"][field] = value
    STORED.write_text(json.dumps(data))
    code, _, err = run("replay", STORED)
    assert (code, "has been changed since it was written" in err) == (2, True)
    del data["sha256"]
    STORED.write_text(json.dumps({**data, "sha256": digest(data)}))
    code, out, _ = run("replay", STORED)
    assert (code, said in out) == (1, True), out
