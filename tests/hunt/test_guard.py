from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rankcheck.hunt import guard
from rankcheck.verification.check import ClaimFalse

HEAD = """
import torch
from rankcheck import claim, conjecture, leq, paper
from rankcheck.instances.source import instances

@instances
def points(source):
    return source.tensor(5, low=-4.0, high=4.0)
"""
DEEP = '''
@conjecture("guarded.deep", instances=points())
def test_deep(x):
    """At a point that no random one is near to, this is false."""
    d = x - (x.new_zeros(5) + torch.sin(1 + torch.arange(5, dtype=torch.float64)))
    return leq(0 * d.sum(-1) + 0.00001, (d * d).sum(-1))
'''
STANDS = '''
@conjecture("guarded.stands", instances=points())
def test_stands(x):
    """A square is not negative."""
    return leq(0 * x, x * x)
'''


def test_a_conjecture_that_stands_has_a_row(hunted, tmp_path):
    row = guard(hunted("true"), 0.5, folder=tmp_path)
    assert row.verdict == "guarded"
    assert row.expected
    assert row.swept > 0
    assert row.messages == ()


@pytest.mark.parametrize(
    ("name", "said"),
    [("generic", "hunted.generic is false: lhs"), ("no-ball", "undecided"), ("empty", "gave up")],
)
def test_a_conjecture_that_falls_or_says_nothing_is_an_error(hunted, tmp_path, name, said):
    with pytest.raises(ClaimFalse, match=said):
        guard(hunted(name), 30, folder=tmp_path)


def run(tmp_path, text, *arguments):
    (tmp_path / "test_mine.py").write_text(HEAD + text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)


def test_pytest_hunts_conjectures_on_request(tmp_path):
    done = run(tmp_path, DEEP + STANDS, "--hunt", "2", "--ledger", "ledger.json")
    assert done.returncode == 1
    assert "guarded.deep is false: lhs" in done.stdout
    assert "rankcheck replay .rankcheck/guarded.deep.json" in done.stdout
    assert (tmp_path / ".rankcheck" / "guarded.deep.json").exists()
    deep, stands = json.loads(Path(tmp_path / "ledger.json").read_text())["claims"]
    assert (deep["verdict"], stands["verdict"]) == ("failed", "guarded")
    assert deep["drawn"] > 0  # it was verified before it was hunted, and not found false
    assert stands["swept"] > 15_000


def test_a_hunt_of_no_seconds_is_refused(tmp_path):
    done = run(tmp_path, STANDS, "--hunt", "0")
    assert done.returncode == 4
    assert "a hunt takes some seconds; received --hunt 0.0" in done.stderr
