from __future__ import annotations

import errno
import io
import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from rich.console import Console

from rankcheck.commands.cli import main
from rankcheck.hunt import Progress
from rankcheck.hunt import journal as journal_
from rankcheck.terminal import display, hunting
from rankcheck.verification.counts import Counts

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
    kept = {p.name for p in Path(".rankcheck").iterdir()}
    assert kept == {".gitignore", "hunted.generic.json"}  # no journal


SEVERAL = """
from rankcheck import conjecture, leq
from rankcheck.instances import matrices
from rankcheck.linalg import rank

@conjecture("t.a-list", instances=matrices())
def test_a_list(A):
    \"\"\"Ranks are small.\"\"\"
    return [leq(rank(A), 9)]

@conjecture("t.branches", instances=matrices())
def test_branches(A):
    \"\"\"Ranks are small.\"\"\"
    return leq(rank(A), 9) if (A > 0).all() else leq(rank(A), 8)

@conjecture("t.mixes", instances=matrices())
def test_mixes(A):
    \"\"\"Sums are small.\"\"\"
    return leq(A.sum(), 1e9)

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
    for line, name in zip(said, ("a-list", "branches", "mixes", "two"), strict=True):
        assert line.startswith(f"rankcheck: t.{name}")
    assert "at mine.py:6, the body returned a list" in said[0]
    (found,) = json.loads(Path("found.json").read_text())["hunts"]
    assert found["claim"] == "t.wrong"
    assert main(["hunt", "mine.py::test_two", "--json", "found.json"]) == 2
    assert json.loads(Path("found.json").read_text())["error"].startswith("t.two")


def test_a_full_disk_ends_a_hunt_with_what_it_has_found(capsys, monkeypatch):
    """The journal is written after each shard; its head still finds a place."""
    written = []

    def fsync(handle):
        written.append(handle)
        if len(written) > 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(journal_.os, "fsync", fsync)
    line = ["hunt", selector("true"), "--budget", "30", "--limit", "0", "--json", "found.json"]
    assert main(line) == 2
    out, err = capsys.readouterr()
    assert err.count("\n") == 1
    assert "hunt.jsonl cannot be written: No space left on device" in err
    assert "hunted.true: no counterexample in " in out
    (found,) = json.loads(Path("found.json").read_text())["hunts"]
    assert found["counts"]["evaluated"] > 0
    assert found["seconds"] < 20
    assert main(line[:4]) == 2
    assert "cannot be used: No space left on device" in capsys.readouterr().err


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
        (
            [selector("easy"), "--resume"],
            "journal .rankcheck/hunted.easy.hunt.jsonl does not exist",
        ),
        ([str(STATEMENTS), "--journal", "j"], "claims; a journal is kept for one"),
        ([selector("broken")], "hunted.broken: its body raised TypeError"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(capsys, arguments, said):
    assert main(["hunt", *arguments]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_a_named_journal_is_kept_and_only_resumed_on_request(capsys):
    assert main(["hunt", selector("easy"), "--journal", "j.jsonl"]) == 1
    assert Path("j.jsonl").exists()
    assert main(["hunt", selector("easy"), "--journal", "j.jsonl"]) == 2
    assert "j.jsonl already exists; pass --resume to continue it" in capsys.readouterr().err
    assert main(["hunt", selector("easy"), "--journal", "j.jsonl", "--resume"]) == 1
    assert main(["hunt", selector("true"), "--journal", "j.jsonl", "--resume"]) == 2
    assert "j.jsonl is the journal of another hunt" in capsys.readouterr().err


def test_the_journal_of_an_interrupted_hunt_is_kept(capsys):
    """A new hunt of the same claim begins anew, and says where the old journal is now."""
    assert main(["hunt", selector("easy"), "--journal", "j.jsonl"]) == 1
    Path("j.jsonl").rename(".rankcheck/hunted.easy.hunt.jsonl")
    assert main(["hunt", selector("easy")]) == 1
    aside = ".rankcheck/hunted.easy.hunt.jsonl.1"
    assert f"the journal of an interrupted hunt is now {aside}; --resume --journal {aside}" in (
        capsys.readouterr().err
    )
    assert main(["hunt", selector("easy"), "--resume", "--journal", aside]) == 1


def begun():
    """A hunt as a process of its own that has finished some shards."""
    process = subprocess.Popen(
        [sys.executable, "-m", "rankcheck", "hunt", selector("true"), "--budget", "300"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        # Where the tests run in the background, children would ignore the signal.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    journal = Path(".rankcheck/hunted.true.hunt.jsonl")
    end = time.monotonic() + 300
    while not journal.exists() or len(journal.read_bytes().splitlines()) < 6:
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.05)
    return process, journal


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "code"),
    [
        (signal.SIGINT, 130),
        pytest.param(signal.SIGKILL, -signal.SIGKILL, marks=pytest.mark.nightly),
    ],
)
def test_a_hunt_that_is_stopped_goes_on_where_it_stopped(how, code, capsys):
    process, journal = begun()
    process.send_signal(how)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == code
    if how == signal.SIGINT:
        assert "interrupted; the same command with --resume continues the hunt" in out
        assert "Traceback" not in out
    lines = journal.read_bytes().splitlines()
    budget = str(json.loads(lines[-1])["seconds"] + 0.3)
    assert main(["hunt", selector("true"), "--budget", budget, "--resume", "--json", "r.json"]) == 0
    (found,) = json.loads(Path("r.json").read_text())["hunts"]
    finished = [json.loads(line)["outcome"]["counts"]["evaluated"] for line in lines[1:]]
    assert found["counts"]["evaluated"] >= sum(finished)
    assert not journal.exists()


def test_a_line_is_printed_now_and_then(capsys, monkeypatch):
    monkeypatch.setattr(display, "PAUSE", 0.0)
    shown = hunting.HuntDisplay(sys.stdout)
    counts = Counts(123456, 7, 2)
    shown.progress(Progress("descend", 3, 12, counts, -1e-15, 8.0, 60.0, "undecided"))
    assert capsys.readouterr().out == (
        "  seconds 8 of 60, round 3, strategy descend, shapes 12, instances 123k, a second 15432, "
        "least margin -1e-15, rounding 2, found undecided\n"
    )


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_is_redrawn(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    shown = hunting.HuntDisplay(Terminal())
    assert shown.live
    console = Console(width=100, record=True, file=io.StringIO())
    with shown:
        console.print(shown.render())
        shown.progress(Progress("evolve", 3, 12, Counts(5, 7, 2), 0.25, 8.0, None))
        console.print(shown.render())
    text = console.export_text()
    assert all(fact in text for fact in ("the first round", "evolve", "0.25"))
