"""`rankcheck certify`: from a search, given numbers or a certificate to one that replays."""

import json
from pathlib import Path

import pytest

from rankcheck.claims.catalogue.kept import digest
from rankcheck.claims.catalogue.loader import load
from rankcheck.claims.catalogue.selection import select
from rankcheck.engine.counterexamples.certificate import write
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.faces.commands.certify import _refuted
from rankcheck.theory.instances.choices import read_choices

HEAD = """
from rankcheck import Erratum, Reference, conjecture, leq, refuted
from rankcheck.balls import is_ball
from rankcheck.theory.instances.source import instances

WRONG = Erratum(printed="at most 3", right="at most 24", survives="all", weight="theorem")

@instances
def vectors(source):
    return source.tensor(source.integer(1, 3))

"""
PRINTED = '''
def test_printed(x):
    """Sums are at most three.

    $\\\\sum_i x_i \\\\le 3$
    """
    return leq(x.sum(-1), 3.0)

@conjecture("t.true", instances=vectors(), tight=vectors())
def test_true(x):
    """$\\\\sum_i x_i \\\\le 24$"""
    return leq(x.sum(-1), 24.0)
'''
BROKEN = HEAD + '@conjecture("t.printed", instances=vectors())' + PRINTED
MINE = (
    HEAD
    + '@refuted("t.printed", Reference("Me 2027", "p. 3"), instances=vectors(), errata=WRONG,\n'
    + '         readings={"x": "y"})'
    + PRINTED
)
WRONG_ON_BALLS = '''
@conjecture("t.wrong-on-balls", instances=vectors())
def test_wrong_on_balls(x):
    """$\\\\sum_i x_i \\\\le 24$, and balls add 100."""
    return leq(x.sum(-1) + (100 if is_ball(x) else 0), 24.0)
'''
STORED = Path("certificates/t.printed.json")
SIDES = ["  lhs is x.sum(-1)", "  rhs is 3.0"]


@pytest.fixture
def run(mine, command):
    """Run a command line on `mine.py`, which is imported anew, as from a shell."""
    mine(head=MINE)

    def run(name, *arguments, text=None):
        mine(head=Path("mine.py").read_text("utf-8") if text is None else text)
        more = ("--workers", 1) if name == "verify" else ()
        return command(name, *arguments, *more)

    return run


def test_a_refuted_claim_gets_the_certificate_that_its_test_replays(run):
    assert run("verify", "mine.py::test_printed")[0] == 1
    code, out, err = run("certify", "mine.py::test_printed")
    assert (code, err) == (0, "")
    assert out.startswith("t.printed is false: lhs ")
    assert f"rankcheck replay {STORED}" in out
    assert json.loads(STORED.read_text())["path"] == ""
    assert run("verify", "mine.py::test_printed")[0] == 0
    assert run("replay", STORED)[0] == 0


def test_given_numbers_are_kept_as_they_are(run):
    code, out, _ = run("certify", "mine.py::t.printed", "--instance", '[2, [1.5, "7/2"]]')
    assert code == 0
    lines = out.splitlines()
    assert lines[0].startswith("t.printed is false: lhs 5 > rhs 3 by 2 (")
    assert lines[1:4] == [*SIDES, "  x = [3/2, 7/2]"]
    assert lines[-1].endswith('mine.py::test_printed --instance \'[2, ["3/2", "7/2"]]\'')
    Path("choices.json").write_text("[1, [4]]")
    for instance in ("choices.json", str(STORED)):  # a certificate is an instance, too
        code, out, _ = run("certify", "mine.py::t.printed", "--instance", instance)
        assert code == 0
        assert "x = [4]" in out
        assert STORED.exists()


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        ("mine.py", "t.printed, t.true"),
        ("mine.py::test_printed --instance [1,[1]", "a JSON list"),
        ("mine.py::test_printed --instance nothing.json", "nothing.json"),
        ("mine.py::test_printed --instance [1,1]", "choice 2 of vectors()"),
        ("mine.py --again --instance [1,[4]]", "--instance"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(run, arguments, fact):
    code, out, err = run("certify", *arguments.split())
    assert (code, out) == (2, "")
    assert err.startswith("rankcheck: ")
    assert fact in err
    assert err.count("\n") == 1
    assert not STORED.parent.exists()


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        ("mine.py::test_true", "t.true (profile quick, seed 0)"),
        ("mine.py::test_printed --instance [1,[1]]", "t.printed: satisfied"),
        ("mine.py::test_printed --again", str(STORED)),
    ],
)
def test_without_a_counterexample_the_exit_code_is_1(run, arguments, fact):
    code, out, err = run("certify", *arguments.split())
    assert (code, err) == (1, "")
    assert out.startswith("not certified: ")
    assert fact in out
    assert not STORED.parent.exists()


def test_all_refuted_claims_of_rankcheck_are_certified_again():
    entries = _refuted(select())
    assert {entry.kind for entry in entries} <= {"refuted", "step"}
    assert len(entries) >= 20


def test_a_claim_that_has_changed_is_certified_again(run):
    run("certify", "mine.py::t.printed", "--instance", "[1, [4]]")
    smaller, larger = (MINE.replace("x.sum(-1), 3.0", f"x.sum(-1), {n}") for n in ("2.00", "5.000"))
    code, out, _ = run("replay", STORED, text=smaller)
    assert code == 1
    assert "changed" in out
    code, out, err = run("certify", "mine.py", "--again")
    assert (code, err) == (0, "")
    assert "t.printed is false: lhs 4 > rhs 2 by 2" in out
    assert str(STORED) in out
    assert run("replay", STORED)[0] == 0
    assert "up to date" in run("certify", "mine.py", "--again")[1]
    code, out, _ = run("certify", "mine.py", "--again", text=larger)
    assert (code, out.partition(":")[0]) == (1, "not certified")
    code, out, _ = run("replay", STORED)
    assert code == 1
    assert "not proved" in out


def test_a_broken_conjecture_becomes_a_refuted_claim(run):
    """`verify` breaks it, a person declares it as refuted, and one command stores the proof."""
    assert run("verify", "mine.py", text=BROKEN)[0] == 1
    left = json.loads(Path(".rankcheck/t.printed.json").read_text())
    code, out, _ = run("verify", "mine.py", text=MINE)
    assert code == 1
    assert ".rankcheck/t.printed.json" in out
    assert "rankcheck certify mine.py::test_printed --again" in out
    code, out, _ = run("certify", "mine.py", "--again")
    assert code == 0
    assert ".rankcheck/t.printed.json" in out
    stored = json.loads(STORED.read_text())
    assert (stored["smallest"], stored["worst"]) == (left["smallest"], left["worst"])
    assert (stored["file"], stored["path"]) == ("../mine.py", "")
    assert run("verify", "mine.py::test_printed")[0] == 0


def test_a_certificate_of_a_claim_at_a_prompt_is_replayed_from_a_file_that_is_named(run):
    run("certify", "mine.py::t.printed", "--instance", "[1, [4]]")
    data = json.loads(STORED.read_text()) | {"file": ""}
    del data["sha256"]
    STORED.write_text(json.dumps({**data, "sha256": digest(data)}))
    code, out, err = run("replay", STORED)
    assert (code, out) == (2, "")
    assert "prompt" in err
    assert run("replay", STORED, "--claims", "mine.py")[0] == 0


def test_what_floats_contradict_is_undecided(run, tmp_path):
    """Neither certified nor replayed, with exit code 3; `verify` does not even see it."""
    selector = "mine.py::test_wrong_on_balls"
    code, out, _ = run("certify", selector, "--instance", "[1, [2]]", text=MINE + WRONG_ON_BALLS)
    assert code == 3
    assert "t.wrong-on-balls is undecided" in out
    assert "102" in out
    assert not Path(".rankcheck").exists()
    [claim] = load(select([selector]))
    record = read_choices(claim.instances, [1, [2]])
    path = write(tmp_path, Instance(claim, claim.instances, record))
    code, out, _ = run("replay", path)
    assert code == 3
    assert "t.wrong-on-balls is undecided" in out
    code, out, _ = run("verify", selector)
    assert (code, "guarded" in out) == (0, True)


def test_what_the_code_of_a_claim_raises_is_no_internal_error(run):
    """`reach` is called while a claim is searched."""
    raising = MINE.replace("tight=vectors()", "reach=lambda x: {'n': 1 // 0}")
    line = 1 + raising.partition("1 // 0")[0].count("\n")
    code, _, err = run("certify", "mine.py::test_true", text=raising)
    assert code == 2
    assert f"mine.py:{line}: " in err
    assert "ZeroDivisionError" in err
