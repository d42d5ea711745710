from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from rankcheck.engine.hunt import Progress
from rankcheck.engine.hunt.arena import Shape
from rankcheck.engine.hunt.shard import Finding, Shard
from rankcheck.engine.verification.counts import Counts
from rankcheck.faces.commands.cli import main
from rankcheck.faces.terminal import display

STATEMENTS = Path(__file__).with_name("statements.py")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def selector(name):
    return f"{STATEMENTS}::hunted.{name}"


def test_a_proved_counterexample_exits_with_one_and_leaves_its_certificate(capsys):
    assert main(["hunt", selector("generic"), "--json", "-"]) == 1
    out, err = capsys.readouterr()
    (found,) = json.loads(out)["hunts"]
    assert found["verdict"] == "refuted"
    assert found["certificate"] == ".rankcheck/hunted.generic.json"
    assert "hunting hunted.generic for 60 s, seed 0" in err
    assert "hunted.generic is false: lhs" in err
    assert f"refuted by {found['strategy']}  hunted.generic  (" in err


SEVERAL = """
import torch
from rankcheck import conjecture, leq
from rankcheck.instances import matrices
from rankcheck.linalg import rank

SEEN = []

@conjecture("t.a-list", instances=matrices())
def test_a_list(A):
    \"\"\"Ranks are small.\"\"\"
    return [leq(rank(A), 9)]

@conjecture("t.memory", instances=matrices())
def test_memory(A):
    \"\"\"Ranks are small.\"\"\"
    SEEN.append(A)
    return leq(rank(A), 9 + len(SEEN))

@conjecture("t.random", instances=matrices())
def test_random(A):
    \"\"\"Sums are small.\"\"\"
    return leq(A.sum(), 1e9 + torch.rand(()).item())

@conjecture("t.two", instances=matrices())
def test_two(A, B):
    \"\"\"Ranks are small.\"\"\"
    return leq(rank(A), 9)

@conjecture("t.wrong", instances=matrices())
def test_wrong(A):
    \"\"\"Ranks are small.\"\"\"
    return leq(rank(A), 0)
"""


def test_claims_that_cannot_be_hunted_do_not_end_the_hunt_of_a_file(capsys):
    Path("mine.py").write_text(SEVERAL)
    assert main(["hunt", "mine.py", "--budget", "1", "--json", "found.json"]) == 2
    out, err = capsys.readouterr()
    assert "t.wrong is false: lhs 1 > rhs 0" in out
    said = err.splitlines()
    assert len(said) == 4
    for line, name in zip(said, ("a-list", "memory", "random", "two"), strict=True):
        assert line.startswith(f"rankcheck: t.{name}")
    assert "at mine.py:9, the body returned list" in said[0]
    (found,) = json.loads(Path("found.json").read_text())["hunts"]
    assert found["claim"] == "t.wrong"
    assert main(["hunt", "mine.py::test_two", "--json", "found.json"]) == 2
    assert json.loads(Path("found.json").read_text())["error"].startswith("t.two")


@pytest.mark.parametrize(
    ("name", "code", "verdict"),
    [("true", 0, "survived"), ("no-ball", 3, "undecided"), ("empty", 3, "gave_up")],
)
def test_only_a_proof_exits_with_one(capsys, name, code, verdict):
    assert main(["hunt", selector(name), "--budget", "0.5", "--json", "found.json"]) == code
    data = json.loads(Path("found.json").read_text())
    assert data["hunts"][0]["verdict"] == verdict
    assert data["budget"] == 0.5
    assert verdict in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing.like.it"], "'nothing.like.it' selects no claim"),
        ([selector("easy"), "--device", "warp"], "cannot use the device 'warp'"),
        ([selector("easy"), "--executor", "slurm"], "dask://host:port"),
        ([selector("easy"), "--json", "no/such/folder.json"], "no/such/folder.json"),
        ([selector("broken")], "hunted.broken: its body raised TypeError"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(capsys, arguments, said):
    assert main(["hunt", *arguments]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


#: Of the first instance balls decide; of the second one that they meet, nothing is known for long.
BEGUN = """
import time
from rankcheck import conjecture, leq
from rankcheck.theory.instances.source import instances

SEEN = []

@instances
def numbers(source):
    return source.tensor(3, low=-4.0, high=4.0)

@conjecture("t.small", instances=numbers(), no_ball="for the test")
def test_small(x):
    \"\"\"No number is large.\"\"\"
    return leq(x.sum(-1), 3 + 0 * x.sum(-1))

@conjecture("t.proved", instances=numbers())
def test_proved(x):
    \"\"\"No number is large.\"\"\"
    if hasattr(x, "midpoints"):
        SEEN.append(x.midpoints().tolist())
        if SEEN[-1] != SEEN[0]:
            time.sleep(600)
    return leq(x.sum(-1), 3 + 0 * x.sum(-1))
"""


def begun(name, *options):
    """A hunt as a process of its own, and the first line that says what it has found."""
    Path("mine.py").write_text(BEGUN)
    process = subprocess.Popen(
        [sys.executable, "-m", "rankcheck", "hunt", f"mine.py::t.{name}", "--budget", "300",
         "--scope", "0", *options],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        # Where the tests run in the background, children would ignore the signal.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    for line in process.stdout:
        if "found a violation" in line:
            return process, line
    raise AssertionError("the hunt has found nothing")


STOPS = [
    (signal.SIGINT, 130),
    pytest.param(signal.SIGKILL, -signal.SIGKILL, marks=pytest.mark.nightly),
]


@pytest.mark.slow
@pytest.mark.parametrize(("how", "code"), STOPS)
def test_a_proof_outlives_a_hunt_that_is_stopped(how, code, capsys):
    """It is stopped while it makes its counterexample small."""
    process, line = begun("proved", "--shrink", "200", "--limit", "300")
    assert "(proved)" in line
    process.send_signal(how)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in out
    assert (how != signal.SIGINT) or "rankcheck replay .rankcheck/t.proved.json" in out
    assert main(["replay", ".rankcheck/t.proved.json", "--claims", "mine.py"]) == 0


@pytest.mark.slow
@pytest.mark.parametrize(("how", "code"), STOPS)
def test_a_suspicion_is_written_when_it_is_found(how, code, capsys):
    process, line = begun("small")
    process.send_signal(how)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in out
    [numbers] = json.loads(line.partition("excluded): instances ")[2])
    assert sum(map(float, numbers)) > 3


def test_a_line_is_printed_now_and_then(capsys, monkeypatch):
    monkeypatch.setattr(display, "PAUSE", 0.0)
    shown = display.HuntDisplay(sys.stdout)
    counts = Counts(123456, 7, 2)
    best = Shard(3, 1, "descend", Shape("instances", (4,)), 5), Finding([4, [0.5]], False, 1e-15)
    shown.progress(Progress("descend", 3, 12, counts, -1e-15, 8.0, 60.0, best))
    found, line = capsys.readouterr().out.splitlines()
    assert (
        found == "  descend found a violation (neither proved nor excluded): instances [4, [0.5]]"
    )
    assert all(fact in line for fact in ("undecided", "descend", "123k", "-1e-15"))
