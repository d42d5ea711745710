from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rankcheck.commands.cli import main
from rankcheck.hunt.run import Progress
from rankcheck.terminal import hunting

STATEMENTS = Path(__file__).with_name("statements.py")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def selector(name):
    return f"{STATEMENTS}::hunted.{name}"


def test_a_genuine_counterexample_exits_with_one_and_leaves_its_certificate(capsys):
    assert main(["hunt", selector("generic"), "--json", "-"]) == 1
    out, err = capsys.readouterr()
    (found,) = json.loads(out)["hunts"]
    assert found["verdict"] == "refuted"
    assert found["certificate"] == ".rankcheck/hunted.generic.json"
    assert "hunting hunted.generic for 60 s, seed 0" in err
    assert "hunted.generic is false: lhs" in err
    assert "refuted by descend  hunted.generic  (" in err
    assert [p.name for p in Path(".rankcheck").iterdir()] == ["hunted.generic.json"]  # no journal


def test_a_certificate_of_a_hunt_replays(capsys):
    assert main(["hunt", selector("easy")]) == 1
    replayed = ["replay", ".rankcheck/hunted.easy.json", "--claims", str(STATEMENTS)]
    assert main(replayed) in (0, 1)  # which of the two says "refuted" is for replay to know
    assert "hunted.easy" in capsys.readouterr().out


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


def test_a_proof_among_several_hunts_counts(tmp_path, capsys):
    Path("two.py").write_text(
        "from rankcheck import conjecture, leq\n"
        "from rankcheck.instances.matrices import matrices\n"
        "from rankcheck.linalg import nuclear_norm, frobenius_squared\n"
        "@conjecture('two.a', instances=matrices(), no_ball='for the test')\n"
        "def test_a(A):\n    'A statement.'\n    return leq(nuclear_norm(A), 0 * nuclear_norm(A))\n"
        "@conjecture('two.b', instances=matrices())\n"
        "def test_b(A):\n    'A statement.'\n    return leq(nuclear_norm(A), 0 * nuclear_norm(A))\n"
    )
    assert main(["hunt", "two.py", "--budget", "5"]) == 1
    assert main(["hunt", "two.py::test_a", "--budget", "5"]) == 3
    assert "two.a is undecided: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing.like.it"], "'nothing.like.it' selects no claim"),
        ([selector("easy"), "--budget", "0"], "positive number of seconds"),
        ([selector("easy"), "--workers", "0"], "at least one worker"),
        ([selector("easy"), "--device", "warp"], "received 'warp'"),
        ([selector("easy"), "--executor", "slurm"], "dask://host:port"),
        ([selector("easy"), "--executor", "dask://h:1", "--workers", "2"], "received both"),
        ([selector("easy"), "--json", "no/such/folder.json"], "the folder no/such does not exist"),
        ([selector("easy"), "--resume"], "a journal that exists; received .rankcheck"),
        ([str(STATEMENTS), "--journal", "j"], "a journal is kept for one claim"),
        ([selector("broken")], "hunted.broken raised TypeError"),
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
    assert main(["hunt", selector("easy"), "--journal", "j.jsonl", "--resume"]) == 1
    assert main(["hunt", selector("true"), "--journal", "j.jsonl", "--resume"]) == 2
    assert "a hunt goes on from its own journal" in capsys.readouterr().err


def begun():
    """A hunt as a process of its own that has finished some shards."""
    process = subprocess.Popen(
        [sys.executable, "-m", "rankcheck", "hunt", selector("true"), "--budget", "60"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    journal = Path(".rankcheck/hunted.true.hunt.jsonl")
    end = time.monotonic() + 60
    while not journal.exists() or len(journal.read_bytes().splitlines()) < 6:
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.05)
    return process, journal


@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_a_hunt_that_is_stopped_goes_on_where_it_stopped(how, code, capsys):
    process, journal = begun()
    process.send_signal(how)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == code
    if how == signal.SIGINT:
        assert f"interrupted; rankcheck hunt {selector('true')} --resume goes on" in out
        assert "Traceback" not in out
    lines = journal.read_bytes().splitlines()
    budget = str(json.loads(lines[-1])["seconds"] + 0.3)
    assert main(["hunt", selector("true"), "--budget", budget, "--resume", "--json", "r.json"]) == 0
    (found,) = json.loads(Path("r.json").read_text())["hunts"]
    finished = [json.loads(line)["outcome"]["evaluated"] for line in lines[1:]]
    assert found["instances"] >= sum(finished)
    assert not journal.exists()


def test_a_line_is_printed_now_and_then(capsys, monkeypatch):
    monkeypatch.setattr(hunting, "PAUSE", 0.0)
    shown = hunting.display(sys.stdout)
    shown.advance(Progress("descend", 3, 12, 123456, 7, 2, -1e-15, 8.0, 60.0, "undecided"))
    assert capsys.readouterr().out == (
        "  seconds 8 of 60, round 3, strategy descend, shapes 12, instances 123k, a second 15432, "
        "least margin -1e-15, rounding 2, found undecided\n"
    )


def test_a_terminal_is_redrawn(monkeypatch):
    from rich.console import Console

    class Terminal:
        def __init__(self):
            self.written = []

        def isatty(self):
            return True

        def write(self, text):
            self.written.append(text)

        def flush(self):
            pass

    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    shown = hunting.display(stream)  # type: ignore[arg-type]
    assert type(shown) is hunting.LiveDisplay
    console = Console(width=100, record=True, file=open(os.devnull, "w"))  # noqa: SIM115, PTH123
    with shown:
        console.print(shown._render())
        shown.advance(Progress("evolve", 3, 12, 5, 7, 2, 0.25, 8.0, None))
        console.print(shown._render())
    console.file.close()
    text = console.export_text()
    assert "the first round" in text
    assert "evolve" in text
    assert "0.25" in text
