"""Code of a claim that does not end is stopped, and the rest goes on."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from rankcheck.catalogue.selection import select
from rankcheck.commands import cli, limits
from rankcheck.verification.profiles import PROFILES, Settings
from rankcheck.verification.run import verify_claims

HEAD = """
import time
from rankcheck import conjecture, leq
from rankcheck.instances import instances

@instances
def numbers(source):
    return source.tensor()

@instances
def endless(source):
    while True:
        x = source.batch

"""
CLAIM = '''
@conjecture("t.{name}", instances={family}(), effort={effort})
def test_{name}(x):
    """x is at most 9."""
    {line}
    return leq(x, 9.0)
'''
#: It holds the interpreter's lock, so that no handler of a signal runs.
FROZEN = "'a' * 3 and __import__('re').match('(a*)*b', 'a' * 99)"


def claim(name: str, line: str = "", family: str = "numbers", effort: float = 1.0) -> str:
    return CLAIM.format(name=name, line=line, family=family, effort=effort)


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """Write `mine.py` in an empty working directory."""
    monkeypatch.chdir(tmp_path)

    def write(*parts: str) -> Path:
        path = tmp_path / "mine.py"
        path.write_text(HEAD + "".join(parts), encoding="utf-8")
        return path

    return write


@pytest.mark.slow
def test_a_claim_without_end_is_undecided_and_the_others_go_on(mine, capsys):
    path = mine(
        claim("generator", family="endless", effort=3.0),
        claim("frozen", FROZEN, effort=2.0),
        claim("fine"),
    )
    arguments = ["verify", "mine.py", "--workers", "2", "--limit", "5", "--json", "x.json"]
    assert cli.main(arguments) == 3
    out = capsys.readouterr().out
    lines = path.read_text().splitlines()
    for name, code in (("generator", "while True:"), ("frozen", FROZEN)):
        number = next(n for n, line in enumerate(lines, 1) if code in line)
        said = f"t.{name} is undecided: its check did not end within 5 s; it was at mine.py:"
        assert re.search(rf"{said}({number}|{number + 1}) \(--limit gives it longer\)", out)
    rows = {row["id"]: row for row in json.loads(Path("x.json").read_text())["claims"]}
    assert [rows[name]["verdict"] for name in ("t.frozen", "t.fine")] == ["undecided", "guarded"]
    assert rows["t.frozen"]["seconds"] == 5.0


@pytest.mark.slow
@pytest.mark.parametrize("command", ["verify", "hunt"])
def test_an_import_without_end_is_wrong_input(mine, capsys, command):
    mine("while True: pass\n", claim("body"))
    assert cli.main([command, "mine.py", "--limit", "0.5"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(
        r"rankcheck: mine\.py:\d+: the import did not end within 0\.5 s "
        r"\(--limit gives it longer\)\n",
        err,
    )


@pytest.mark.slow
def test_a_hunt_without_end_is_undecided_and_the_others_go_on(mine, capsys):
    mine(claim("body", "while True: pass"), claim("fine"))
    arguments = ["--budget", "0.5", "--shrink", "0", "--limit", "4.5", "--scope", "0"]
    assert cli.main(["hunt", "mine.py", *arguments, "--json", "x.json"]) == 3
    out = capsys.readouterr().out
    assert "t.body is undecided: the hunt did not end within 5 s; it was at mine.py:" in out
    hunts = {each["claim"]: each for each in json.loads(Path("x.json").read_text())["hunts"]}
    assert hunts["t.body"]["verdict"] == "undecided"
    assert hunts["t.fine"]["verdict"] == "survived"
    assert set(hunts["t.body"]) == set(hunts["t.fine"])


@pytest.mark.slow
def test_a_counterexample_that_cannot_be_made_small_is_reported(mine, capsys):
    """Shrinking meets an instance on which the body does not end."""
    mine(
        '@conjecture("t.deep", instances=numbers())\n'
        "def test_deep(x):\n"
        '    """x is at most 2."""\n'
        "    while x.ndim == 0 and (x > 2) & (x <= 3): pass\n"
        "    return leq(x, 2.0)\n"
    )
    arguments = ["--budget", "5", "--shrink", "1", "--limit", "1", "--scope", "0"]
    assert cli.main(["hunt", "mine.py", *arguments]) == 1
    assert "t.deep is false: lhs" in capsys.readouterr().out


@pytest.mark.parametrize("seconds", ["inf", "nan", "-1"])
@pytest.mark.parametrize("name", ["verify", "hunt"])
def test_a_limit_is_finite(mine, capsys, name, seconds):
    mine(claim("fine"))
    assert cli.main([name, "mine.py", "--limit", seconds]) == 2
    assert (
        f"--limit is {seconds}; it is a finite number of seconds, or 0" in capsys.readouterr().err
    )


def test_every_profile_has_a_limit():
    assert set(limits.DEFAULTS) == {*PROFILES, "hunt"}


def test_a_limit_is_positive(mine):
    mine(claim("fine"))
    with pytest.raises(ValueError, match="the limit is 0; it is a positive number of seconds"):
        verify_claims(select(["mine.py"]), Settings(), limit=0)
