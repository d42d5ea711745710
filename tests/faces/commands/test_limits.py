"""Code of a claim that does not end is stopped, and the rest goes on."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path

import pytest

from rankcheck.claims.catalogue.selection import select
from rankcheck.engine.parallel import arithmetic, executors
from rankcheck.engine.parallel.executors import Unfinished
from rankcheck.engine.verification import run
from rankcheck.engine.verification.profiles import Settings
from rankcheck.engine.verification.run import verify_claims
from rankcheck.faces.commands import hunt as hunting
from rankcheck.faces.commands import replay
from tests.claim_text import HEAD, claim

#: It holds the interpreter's lock, so that no handler of a signal runs.
FROZEN = "'a' * 3 and __import__('re').match('(a*)*b', 'a' * 99)"

#: The first instance that is judged is, and another one takes for ever, or ends the process. What
#: is never decided ends it after many questions.
JUDGED = """
from rankcheck.balls import Undecided
SEEN = []

def first_alone(x, then):
    if hasattr(x, "midpoints"):
        SEEN.append(float(x.midpoints()))
        if SEEN[-1] != SEEN[0]:
            then()

def never(x):
    if hasattr(x, "midpoints"):
        SEEN.append(x)
        if len(SEEN) > 99:
            dies()
        raise Undecided("nothing is known of it")

def dies():
    os.kill(os.getpid(), signal.SIGKILL)

def sleeps():
    time.sleep(600)
"""


@pytest.mark.slow
def test_a_claim_without_end_is_undecided_and_the_others_go_on(mine, command):
    path = mine(claim("frozen", FROZEN, options="effort=2.0"), claim("fine", options="effort=0.1"))
    arguments = ("--workers", 1, "--limit", 3, "--json", "x.json")
    code, out, _ = command("verify", "mine.py", *arguments)
    assert code == 3
    lines = path.read_text().splitlines()
    number = next(n for n, line in enumerate(lines, 1) if FROZEN in line)
    assert re.search(rf"t.frozen is undecided: .*mine\.py:{number}\b", out)
    rows = {row["id"]: row for row in json.loads(Path("x.json").read_text())["claims"]}
    assert [rows[name]["verdict"] for name in ("t.frozen", "t.fine")] == ["undecided", "guarded"]
    assert rows["t.frozen"]["seconds"] == 3.0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["verify", "hunt"])
def test_an_import_without_end_is_wrong_input(mine, command, monkeypatch, name):
    # The loop comes before anything that imports torch, which is not limited.
    monkeypatch.setattr(run, "_warm", int)
    monkeypatch.setattr(hunting, "_warm", int)
    mine(claim("body"), head=f"while True: pass\n{HEAD}")
    code, out, err = command(name, "mine.py", "--limit", 0.5)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert re.match(r"rankcheck: mine\.py:1: .*0\.5 s .*--limit", err)


@pytest.mark.slow
def test_a_hunt_without_end_is_undecided_and_the_others_go_on(mine, command):
    mine(claim("body", "time.sleep(600)"), claim("fine", options="effort=0.1"))
    arguments = ("--budget", 0.5, "--shrink", 0, "--limit", 2.5, "--scope", 0, "--json", "x.json")
    code, out, _ = command("hunt", "mine.py", *arguments)
    assert code == 3
    assert re.search(r"t.body is undecided: .* 3 s; .*mine\.py:", out)
    hunts = {each["claim"]: each for each in json.loads(Path("x.json").read_text())["hunts"]}
    assert hunts["t.body"]["verdict"] == "undecided"
    assert hunts["t.fine"]["verdict"] == "survived"
    assert set(hunts["t.body"]) == set(hunts["t.fine"])


@pytest.mark.slow
def test_a_counterexample_that_cannot_be_made_small_is_reported(mine, command):
    """Shrinking meets an instance on which the body does not end, in ball arithmetic."""
    mine(claim("deep", "while hasattr(x, 'midpoints') and (x > 2) & (x <= 3): pass", most="2.0"))
    arguments = ("--budget", 3, "--shrink", 0.5, "--limit", 0.5, "--scope", 0)
    code, out, _ = command("hunt", "mine.py", *arguments)
    assert code == 1
    assert "t.deep is false: lhs" in out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("then", "how"),
    [
        ("sleeps", r"did not end within 20 s; it was at .*mine\.py"),
        ("dies", "lost its process"),
    ],
)
def test_a_counterexample_that_was_proved_is_in_the_ledger_whatever_follows(
    mine, command, then, how
):
    """Shrinking meets an instance on which the body does not end, or ends its process."""
    mine(claim("deep", f"first_alone(x, {then})", most="2.0"), head=f"{HEAD}{JUDGED}")
    arguments = ("--workers", 1, "--limit", 20, "--json", "x.json")
    code, out, _ = command("verify", "mine.py", *arguments)
    assert code == 1
    assert re.search(rf"not made small: its check {how}", out)
    [row] = json.loads(Path("x.json").read_text())["claims"]
    assert (row["verdict"], row["certificate"]) == ("refuted", ".rankcheck/t.deep.json")
    assert command("replay", row["certificate"], "--limit", 60)[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "line", ["verify mine.py --workers 1", "hunt mine.py --budget 1 --shrink 0 --scope 0"]
)
def test_a_violation_that_is_not_judged_in_time_is_said(mine, command, line):
    mine(claim("body", "while hasattr(x, 'midpoints'): pass", most="2.0"))
    code, out, _ = command(*line.split(), "--limit", 4)
    assert code == 3
    assert "judging a violation in floats, which is neither proved nor excluded" in out


@pytest.mark.slow
def test_a_suspicion_that_a_hunt_had_is_reported_when_its_process_dies(mine, command):
    """Balls decide nothing, and the process ends in some later shard."""
    mine(claim("deep", "never(x)", most="2.0"), head=f"{HEAD}{JUDGED}")
    arguments = ("--budget", 60, "--shrink", 1, "--scope", 0, "--limit", 60, "--json", "x.json")
    code, out, _ = command("hunt", "mine.py", *arguments)
    assert code == 3
    assert re.search(r"t\.deep is undecided.*lhs.*the hunt lost its process", out, re.DOTALL)
    [found] = json.loads(Path("x.json").read_text())["hunts"]
    assert found["smallest"]["finding"] == "undecided"


@pytest.mark.nightly
def test_a_certificate_of_a_body_without_end_is_undecided(mine, command):
    """The others are replayed; the files are as they were."""
    mine(
        claim("stuck", "while Path('stuck').exists(): pass", most="3.0"),
        claim("fine", most="3.0"),
    )
    stored = []
    for name in ("stuck", "fine"):
        assert command("certify", f"mine.py::t.{name}", "--instance", "[4]")[0] == 0
        stored.append(f".rankcheck/t.{name}.json")
    before = [Path(file).read_bytes() for file in stored]
    Path("stuck").touch()
    code, out, _ = command("replay", *stored, "--limit", 2)
    assert code == 3
    assert re.search(r"t\.stuck is undecided: .*t\.stuck\.json .* 2 s; .*mine\.py", out)
    assert "t.fine is false: lhs 4 > rhs 3" in out
    assert [Path(file).read_bytes() for file in stored] == before


@pytest.mark.parametrize(
    "end", [("did not end within 9 s", 9.0), ("lost its process (SIGKILL, out of memory?)",)]
)
@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("certify mine.py", 3),
        ("hunt mine.py --budget 1", 3),
        ("replay .rankcheck/t.fine.json", 3),
        ("doctor", 4),
    ],
)
def test_a_process_that_does_not_answer(mine, command, tmp_path, monkeypatch, line, code, end):
    class Lost(executors.Inline):
        """A worker process that imports the files, and is stopped or killed then."""

        def __init__(self, work, workers):
            super().__init__(work)

        def run(self, tasks, *options):
            for task in tasks:
                # What is known of a claim before its hunt, and which claim a file is about.
                if task == (0, None) or isinstance(task, replay._Find):
                    yield from super().run([task], *options)
                else:
                    yield Unfinished(task, *end)

    mine(claim("fine", most="3.0"))
    assert command("certify", "mine.py", "--instance", "[4]")[0] == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.json*")}
    monkeypatch.setattr(executors, "Processes", Lost)
    ended, out, err = command(*line.split(), "--limit", 9)
    assert ended == code
    assert end[0] in out + err
    assert ("t.fine" in out + err) == (code == 3)
    assert ("--limit" in out + err) == (len(end) == 2)
    assert "Traceback" not in out + err
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.json*")} == before


@pytest.mark.slow
def test_a_hunt_in_this_process_has_the_arithmetic_of_a_worker(mine, command, monkeypatch):
    """The right side depends on the variables that fix it; a worker sets them."""
    # Of torch's threads and paths, which are chosen when it is imported, nothing is seen here.
    names = (*arithmetic._THREADS, arithmetic._PATH)
    fixed = f"3.0 + sum(os.environ.get(name) in ('1', 'AUTO') for name in {names})"
    mine(claim("fixed", most=fixed))
    hunts = []
    for limit in ("0", "60"):
        for name in names:
            monkeypatch.setenv(name, "2")
            monkeypatch.delenv(name)
        arguments = ("--budget", 30, "--shrink", 0, "--limit", limit, "--json", "x.json")
        assert command("hunt", "mine.py", *arguments)[0] == 1
        [data] = json.loads(Path("x.json").read_text())["hunts"]
        hunts.append({k: v for k, v in data.items() if k not in ("seconds", "stages")})
    assert hunts[0] == hunts[1]
    assert hunts[0]["smallest"]["relative_excess"] == (8 - 3 - len(names)) / 8


def test_the_row_of_a_worker_is_read_without_torch(mine):
    mine(claim("false", most="3.0"))
    [row] = verify_claims(select(["mine.py"]), Settings(shrink=0.0))
    assert row.counterexample is not None
    assert b"rankcheck.engine.counterexamples" not in pickle.dumps(row)  # which imports torch
