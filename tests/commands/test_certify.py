"""`rankcheck certify`: from a search or from given numbers to a certificate that replays."""

import json

import pytest

from rankcheck.claims import registry
from rankcheck.commands import cli

MINE = '''
from rankcheck import conjecture, leq, refuted
from rankcheck.claims.reference import Source
from rankcheck.instances.source import instances

@instances
def vectors(source):
    return source.tensor(source.integer(1, 3))

@refuted("t.printed", reference=Reference("Me 2027", "p. 3"), instances=vectors(), errata="3 is 24")
def test_printed(x):
    """$\\\\sum_i x_i \\\\le 3$"""
    return leq(x.sum(-1), 3.0)

@conjecture("t.true", instances=vectors())
def test_true(x):
    """$\\\\sum_i x_i \\\\le 24$"""
    return leq(x.sum(-1), 24.0)
'''


@pytest.fixture
def certify(tmp_path, monkeypatch, capsys):
    """Run a command line in a folder with `mine.py`: exit code, standard output, and error."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE)

    def run(*arguments: object, command="certify"):
        code = cli.main([command, *map(str, arguments)])
        out, err = capsys.readouterr()
        return code, out, err

    yield run
    for name in ("t.printed", "t.true"):
        registry.forget(name)


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


def test_numbers_given_by_hand_are_kept_as_they_are(certify, tmp_path):
    code, out, _ = certify("mine.py::t.printed", "--choices", '[2, [1.5, "7/2"]]')
    assert code == 0
    assert out.splitlines()[:2] == [
        "t.printed is false: lhs 5 > rhs 3 by 2 (certified, 128-bit balls)",
        "  x = [3/2, 7/2]",
    ]
    (tmp_path / "choices.json").write_text("[1, [4]]")
    code, out, _ = certify(
        "mine.py::t.printed", "--choices", "choices.json", "--folder", tmp_path / "there"
    )
    assert code == 0
    assert "x = [4]" in out
    assert (tmp_path / "there" / "t.printed.json").exists()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["mine.py"], "one claim is certified at a time; 'mine.py' selects t.printed, t.true"),
        (["mine.py::test_true"], "a certificate needs a counterexample; "),
        (["mine.py::test_printed", "--choices", "[1, [1]]"], "of t.printed is satisfied"),
        (["mine.py::test_printed", "--choices", "[1, [1]"], "choices are a JSON list, or a file"),
        (["mine.py::test_printed", "--choices", "nothing.json"], "choices are a JSON list"),
        (
            ["mine.py::test_printed", "--choices", "[1, 1]"],
            "choice 2 of vectors() is a tensor of shape (1,)",
        ),
        (["mine.py::test_printed", "--folder", "mine.py"], "a certificate cannot be written to"),
        (["mine.py::test_printed", "--profile", "survived"], "a profile is one of quick"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(certify, arguments, error, tmp_path):
    code, out, err = certify(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("rankcheck: ")
    assert error in err
    assert err.count("\n") == 1
    assert not (tmp_path / "certificates").exists()
