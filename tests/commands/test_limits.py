"""Code of a claim that does not end is stopped, and the rest goes on."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from rankcheck.catalogue.selection import select
from rankcheck.commands import cli, limits
from rankcheck.hunt import apart
from rankcheck.parallel import arithmetic, executors
from rankcheck.parallel.executors import Unfinished
from rankcheck.verification import run
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
        claim("fine", effort=0.1),
    )
    arguments = ["verify", "mine.py", "--workers", "2", "--limit", "3", "--json", "x.json"]
    assert cli.main(arguments) == 3
    out = capsys.readouterr().out
    lines = path.read_text().splitlines()
    for name, code in (("generator", "while True:"), ("frozen", FROZEN)):
        number = next(n for n, line in enumerate(lines, 1) if code in line)
        said = f"t.{name} is undecided: its check did not end within 3 s; it was at mine.py:"
        assert re.search(rf"{said}({number}|{number + 1}) \(--limit gives it longer\)", out)
    rows = {row["id"]: row for row in json.loads(Path("x.json").read_text())["claims"]}
    assert [rows[name]["verdict"] for name in ("t.frozen", "t.fine")] == ["undecided", "guarded"]
    assert rows["t.frozen"]["seconds"] == 3.0


@pytest.mark.slow
@pytest.mark.parametrize("command", ["verify", "hunt"])
def test_an_import_without_end_is_wrong_input(mine, capsys, monkeypatch, command):
    # The loop comes before anything that imports torch, which is not limited.
    monkeypatch.setattr(run, "_warm", int)
    monkeypatch.setattr(apart, "_warm", int)
    path = mine(claim("body"))
    path.write_text("while True: pass\n" + path.read_text())
    assert cli.main([command, "mine.py", "--limit", "0.5"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(
        r"rankcheck: mine\.py:1: the import did not end within 0\.5 s "
        r"\(--limit gives it longer\)\n",
        err,
    )


@pytest.mark.slow
def test_a_hunt_without_end_is_undecided_and_the_others_go_on(mine, capsys):
    mine(claim("body", "while True: pass"), claim("fine", effort=0.1))
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
    """Shrinking meets an instance on which the body does not end, in ball arithmetic."""
    mine(
        '@conjecture("t.deep", instances=numbers())\n'
        "def test_deep(x):\n"
        '    """x is at most 2."""\n'
        "    while hasattr(x, 'midpoints') and (x > 2) & (x <= 3): pass\n"
        "    return leq(x, 2.0)\n"
    )
    arguments = ["--budget", "3", "--shrink", "0.5", "--limit", "0.5", "--scope", "0"]
    assert cli.main(["hunt", "mine.py", *arguments]) == 1
    assert "t.deep is false: lhs" in capsys.readouterr().out


@pytest.mark.parametrize("seconds", ["inf", "nan", "-1"])
@pytest.mark.parametrize("name", ["verify", "hunt", "certify", "replay", "doctor"])
def test_a_limit_is_finite(mine, capsys, name, seconds):
    mine(claim("fine"))
    files = [] if name == "doctor" else ["mine.py"]
    assert cli.main([name, *files, "--limit", seconds]) == 2
    assert (
        f"--limit is {seconds}; it is a finite number of seconds, or 0" in capsys.readouterr().err
    )


def test_every_profile_has_a_limit():
    assert set(limits.DEFAULTS) == {*PROFILES, "hunt", "replay", "doctor"}


@pytest.mark.slow
def test_a_certificate_of_a_body_without_end_is_undecided(mine, capsys):
    """The others are replayed; the files are as they were."""
    path = mine(
        claim("stuck", "while __import__('os').path.exists('stuck'): pass"),
        claim("fine"),
    )
    path.write_text(path.read_text().replace("9.0", "3.0"))
    stored = []
    for name in ("stuck", "fine"):
        assert cli.main(["certify", f"mine.py::t.{name}", "--instance", "[4]"]) == 0
        stored.append(f".rankcheck/t.{name}.json")
    before = [Path(file).read_bytes() for file in stored]
    Path("stuck").touch()
    capsys.readouterr()
    assert cli.main(["replay", *stored, "--limit", "4"]) == 3
    out = capsys.readouterr().out
    said = (
        r"t\.stuck is undecided: the replay of \S+\.json did not end within 4 s; it was at mine\.py"
    )
    assert re.search(said, out)
    assert "t.fine is false: lhs 4 > rhs 3" in out
    assert [Path(file).read_bytes() for file in stored] == before


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (
            ["doctor"],
            4,
            "rankcheck: this installation cannot be trusted: the check of the canaries {}\n",
        ),
        (["certify", "mine.py"], 3, "not certified: t.fine: its certification {}\n"),
    ],
)
def test_what_is_not_answered(mine, capsys, monkeypatch, arguments, code, said):
    class Slow(executors.Inline):
        """A worker process that does not answer."""

        def __init__(self, work, workers):
            super().__init__(work)

        def run(self, tasks, *options):
            for task in tasks:
                yield Unfinished(task, "did not end within 9 s", 9.0)

    monkeypatch.setattr(executors, "Processes", Slow)
    mine(claim("fine"))
    assert cli.main([*arguments, "--limit", "9"]) == code
    out, err = capsys.readouterr()
    assert (err or out).endswith(said.format("did not end within 9 s (--limit gives it longer)"))


@pytest.mark.slow
def test_a_hunt_in_this_process_has_the_arithmetic_of_a_worker(mine, monkeypatch, capsys):
    """The right side depends on the variables that fix it; a worker sets them."""
    # Of torch's threads and paths, which are chosen when it is imported, nothing is seen here.
    mine(
        "@conjecture('t.fixed', instances=numbers())\n"
        "def test_fixed(x):\n"
        '    """x is at most a number."""\n'
        "    from os import environ\n"
        "    names = 'OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS', 'MKL_CBWR'\n"
        "    return leq(x, 3.0 + sum(environ.get(name) in ('1', 'AUTO') for name in names))\n"
    )
    found = []
    for limit in ("0", "60"):
        for name in (*arithmetic._THREADS, arithmetic._PATH):
            monkeypatch.setenv(name, "2")
            monkeypatch.delenv(name)
        arguments = ["--budget", "30", "--shrink", "0", "--limit", limit, "--json", "x.json"]
        assert cli.main(["hunt", "mine.py", *arguments]) == 1
        [data] = json.loads(Path("x.json").read_text())["hunts"]
        found.append({k: v for k, v in data.items() if k not in ("seconds", "stages")})
    assert found[0] == found[1]
    assert found[0]["smallest"]["relative_excess"] == (8 - 7) / 8


def test_a_limit_is_positive(mine):
    mine(claim("fine"))
    with pytest.raises(ValueError, match="the limit is 0; it is a positive number of seconds"):
        verify_claims(select(["mine.py"]), Settings(), limit=0)
