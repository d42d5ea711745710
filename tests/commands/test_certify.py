"""`rankcheck certify`: from a search, given numbers or a certificate to one that replays."""

import json
import sys

import pytest

from rankcheck.catalogue.loader import load
from rankcheck.catalogue.selection import select
from rankcheck.claims import registry
from rankcheck.commands import cli
from rankcheck.commands.certify import _refuted
from rankcheck.counterexamples import Instance, write
from rankcheck.counterexamples.certificate import digest
from rankcheck.instances.choices import read_choices

HEAD = """
from rankcheck import Erratum, Reference, conjecture, leq, refuted
from rankcheck.instances.source import instances

WRONG = Erratum(printed="at most 3", right="at most 24", survives="all", weight="theorem")

@instances
def vectors(source):
    return source.tensor(source.integer(1, 3))
"""
MINE = (
    HEAD
    + '''
@refuted("t.printed", Reference("Me 2027", "p. 3"), instances=vectors(), errata=WRONG,
         readings={"x": "y"})
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
)


WRONG_ON_BALLS = '''
from rankcheck.balls import is_ball

@conjecture("t.wrong-on-balls", instances=vectors())
def test_wrong_on_balls(x):
    """$\\\\sum_i x_i \\\\le 24$, and balls add 100."""
    return leq(x.sum(-1) + (100 if is_ball(x) else 0), 24.0)
'''


@pytest.fixture
def certify(tmp_path, monkeypatch, capsys):
    """Run a command line in a folder with `mine.py`: exit code, standard output, and error."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE)

    def run(*arguments: object, command="certify"):
        forget(tmp_path / "mine.py")
        code = cli.main([command, *map(str, arguments)])
        out, err = capsys.readouterr()
        return code, out, err

    yield run
    forget(tmp_path / "mine.py")


def forget(path):
    """Have the file imported anew by the next command, as from a shell."""
    for name in ("t.printed", "t.true"):
        registry.forget(name)
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) == str(path):
            del sys.modules[name]


def test_a_refuted_claim_gets_the_certificate_that_its_test_replays(certify, tmp_path):
    assert certify("mine.py::test_printed", command="verify")[0] == 1
    code, out, err = certify("mine.py::test_printed")
    assert (code, err) == (0, "")
    assert out.startswith("t.printed is false: lhs ")
    path = tmp_path / "certificates" / "t.printed.json"
    assert f"rankcheck replay {path.relative_to(tmp_path)}" in out
    assert json.loads(path.read_text())["path"] == ""
    assert certify("mine.py::test_printed", command="verify")[0] == 0
    assert certify(path, command="replay")[0] == 0


def test_given_numbers_are_kept_as_they_are(certify, tmp_path):
    code, out, _ = certify("mine.py::t.printed", "--instance", '[2, [1.5, "7/2"]]')
    assert code == 0
    lines = out.splitlines()
    assert lines[:2] == [
        "t.printed is false: lhs 5 > rhs 3 by 2 (certified, 128-bit balls)",
        "  x = [3/2, 7/2]",
    ]
    assert lines[-1] == (
        '  typed: rankcheck certify mine.py::test_printed --instance \'[2, ["3/2", "7/2"]]\''
    )
    (tmp_path / "choices.json").write_text("[1, [4]]")
    code, out, _ = certify(
        "mine.py::t.printed", "--instance", "choices.json", "--folder", tmp_path / "there"
    )
    assert code == 0
    assert "x = [4]" in out
    assert (tmp_path / "there" / "t.printed.json").exists()


def test_a_certificate_is_an_instance(certify, tmp_path):
    certify("mine.py::t.printed", "--instance", "[1, [4]]", "--folder", "there")
    code, out, _ = certify("mine.py::t.printed", "--instance", "there/t.printed.json")
    assert code == 0
    assert "  x = [4]\n" in out
    assert (tmp_path / "certificates" / "t.printed.json").exists()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["mine.py"], "'mine.py' selects t.printed, t.true; one is certified at a time"),
        ([], "no CLAIM is given; one is certified at a time"),
        (["mine.py::test_printed", "--instance", "[1, [1]"], "; an instance is a JSON list"),
        (["mine.py::test_printed", "--instance", "nothing.json"], "; an instance is a JSON list"),
        (["mine.py::test_printed", "--instance", "[1, 1]"], "; choice 2 of vectors() is a tensor"),
        (["mine.py::test_printed", "--folder", "mine.py"], "a certificate cannot be written to"),
        (["mine.py::test_printed", "--profile", "fast"], "a profile is one of quick"),
        (["mine.py::test_printed", "--tight"], "--tight was given without --instance"),
        (["mine.py::test_printed", "--tight", "--instance", "[1, [4]]"], "has no tight family"),
        (["mine.py", "--again", "--instance", "[1, [4]]"], "leave out --instance"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(certify, arguments, error, tmp_path):
    code, out, err = certify(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("rankcheck: ")
    assert error in err
    assert err.count("\n") == 1
    assert not (tmp_path / "certificates").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mine.py::test_true"], r"instances refutes t.true (profile quick, seed 0)"),
        (["mine.py::test_printed", "--instance", "[1, [1]]"], "not refute t.printed: satisfied"),
        (["mine.py::test_true", "--tight", "--instance", "[1, [1]]"], "t.true: satisfied"),
        (["mine.py::test_printed", "--again"], "t.printed: no certificate at certificates"),
    ],
)
def test_without_a_counterexample_the_exit_code_is_1(certify, arguments, said, tmp_path):
    code, out, err = certify(*arguments)
    assert (code, err) == (1, "")
    assert out.startswith("not certified: ")
    assert said in out
    assert not (tmp_path / "certificates").exists()


# Again.


def test_all_refuted_claims_of_rankcheck_are_certified_again():
    entries = _refuted(select())
    assert {entry.kind for entry in entries} <= {"refuted", "step"}
    assert len(entries) >= 20


@pytest.mark.slow
def test_a_claim_that_has_changed_is_certified_again(certify, tmp_path):
    certify("mine.py::t.printed", "--instance", "[1, [4]]")
    mine = tmp_path / "mine.py"
    path = "certificates/t.printed.json"
    mine.write_text(MINE.replace("leq(x.sum(-1), 3.0)", "leq(x.sum(-1), 2.00)"))
    code, out, _ = certify(path, command="replay")
    assert code == 1
    assert "has changed since" in out
    code, out, err = certify("mine.py", "--again")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "t.printed is false: lhs 4 > rhs 2 by 2 (certified again, 128-bit balls)",
        f"  certificate: {path} (written)",
    ]
    assert certify(path, command="replay")[0] == 0
    assert certify("mine.py", "--again")[1].endswith("(up to date)\n")
    mine.write_text(MINE.replace("leq(x.sum(-1), 3.0)", "leq(x.sum(-1), 5.000)"))
    code, out, _ = certify("mine.py", "--again")
    assert code == 1
    assert out.startswith("not certified: t.printed: the smallest instance of certificates")
    code, out, _ = certify(path, command="replay")
    assert code == 1
    assert out.startswith("running mine.py\n" + "not proved: the text of t.printed (mine.py:")


BROKEN = (
    HEAD
    + '''
@conjecture("t.printed", Reference("Me 2027", "p. 3"), instances=vectors())
def test_printed(x):
    """$\\\\sum_i x_i \\\\le 3$"""
    return leq(x.sum(-1), 3.0)
'''
)


def test_a_broken_conjecture_becomes_a_refuted_claim(certify, tmp_path):
    """`verify` breaks it, a person declares it as refuted, and one command stores the proof."""
    mine = tmp_path / "mine.py"
    mine.write_text(BROKEN)
    assert certify("mine.py", command="verify")[0] == 1
    left = json.loads((tmp_path / ".rankcheck" / "t.printed.json").read_text())
    mine.write_text(
        BROKEN.replace('@conjecture("t.printed"', '@refuted("t.printed"').replace(
            "instances=vectors())", 'instances=vectors(), errata=WRONG, readings={"x": "y"})'
        )
    )
    code, out, _ = certify("mine.py", command="verify")
    assert code == 1
    assert "t.printed: no certificate at certificates/t.printed.json; to store .rankcheck/" in out
    assert "there: rankcheck certify mine.py::test_printed --again" in out
    code, out, _ = certify("mine.py", "--again")
    assert code == 0
    assert "certificates/t.printed.json (written, from .rankcheck/t.printed.json)" in out
    stored = json.loads((tmp_path / "certificates" / "t.printed.json").read_text())
    assert stored["smallest"] == left["smallest"]
    assert stored["worst"] == left["worst"]
    assert (stored["file"], stored["path"]) == ("../mine.py", "")
    assert certify("mine.py", command="verify")[0] == 0


def test_a_certificate_of_a_claim_at_a_prompt_cannot_be_replayed_from_the_shell(certify, tmp_path):
    certify("mine.py::t.printed", "--instance", "[1, [4]]")
    path = tmp_path / "certificates" / "t.printed.json"
    data = json.loads(path.read_text()) | {"file": ""}
    del data["sha256"]
    path.write_text(json.dumps({**data, "sha256": digest(data)}))
    code, out, err = certify(path, command="replay")
    assert (code, out) == (2, "")
    assert "was declared at a prompt or in a notebook and is not in a file; in Python" in err
    assert certify(path, "--claims", "mine.py", command="replay")[0] == 0


def test_what_floats_contradict_is_undecided(certify, tmp_path):
    """Neither certified nor replayed, with exit code 3; `verify` does not even see it."""
    file = tmp_path / "mine.py"
    file.write_text(MINE + WRONG_ON_BALLS)
    code, out, _ = certify(f"{file}::test_wrong_on_balls", "--instance", "[1, [2]]")
    assert code == 3
    assert "t.wrong-on-balls is undecided: floats and balls disagree: in balls lhs = 102" in out
    assert not (tmp_path / ".rankcheck").exists()
    [claim] = load(select([f"{file}::test_wrong_on_balls"]))
    record = read_choices(claim.instances, [1, [2]])
    wrong = Instance(claim, claim.instances, record)
    path = write(tmp_path, wrong)
    forget(file)
    code, out, _ = certify(path, command="replay")
    assert (code, "not proved: t.wrong-on-balls is undecided" in out) == (3, True)
    code, out, _ = certify(f"{file}::test_wrong_on_balls", command="verify")
    assert (code, "guarded" in out) == (0, True)


def test_what_the_code_of_a_claim_raises_is_no_internal_error(certify, tmp_path):
    """`reach` is called while a claim is searched."""
    (tmp_path / "mine.py").write_text(
        f"{HEAD}\n@conjecture('t.reach', instances=vectors(), reach=lambda x: {{'n': 1 // 0}})\n"
        "def test_reach(x):\n    'Numbers are small.'\n    return leq(x, 9.0)\n"
    )
    code, _, err = certify("mine.py::test_reach")
    assert code == 2
    assert "mine.py:11: the code of a claim raised ZeroDivisionError" in err
