"""Processes that are killed. Nothing half-written, no orphans, no wrong verdict, one line.

A row of the table is a command, a victim and a signal. The claim waits in its body until the blow
has fallen, so that it falls in the middle of the work. `table.py` names the faults of this kind
that are tested in other rooms.
"""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

psutil = pytest.importorskip("psutil")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signals here"),
]

CLAIM = """
import time
from pathlib import Path
from rankcheck import conjecture, leq
from rankcheck.instances import instances

@instances
def numbers(source):
    return source.tensor()

@conjecture("t.slow", instances=numbers())
def test_slow(x):
    '''x is at most 9.'''
    Path("begun").touch()
    while not Path("struck").exists():
        time.sleep(0.02)
    return leq(x, 9.0)

@conjecture("t.other", instances=numbers())
def test_other(x):
    '''x is at most 8.'''
    return leq(x, 8.0)
"""


#: Exit codes after SIGTERM.
ENDED = (-15, 143, 4, 130)


@dataclass(frozen=True)
class Fault:
    """A command, who is struck and by what, and the exit codes that are right then."""

    line: str
    victim: str
    signal: str
    codes: tuple[int, ...]


#: The rows of the nightly lane differ in the signal or the command alone.
TABLE = [
    Fault("verify mine.py --workers 2 --json x.json", "parent", "SIGKILL", (-9,)),
    Fault("verify mine.py --workers 2 --json x.json", "worker", "SIGKILL", (0, 3)),
]
NIGHTLY = [
    Fault("hunt mine.py::test_slow --workers 2 --budget 3", "parent", "SIGTERM", ENDED),
    Fault("certify mine.py::test_slow", "parent", "SIGTERM", ENDED),
    Fault("verify mine.py --workers 2 --json x.json", "parent", "SIGTERM", ENDED),
    Fault("hunt mine.py::test_slow --workers 2 --budget 3", "parent", "SIGKILL", (-9,)),
    Fault("certify mine.py::test_slow", "parent", "SIGKILL", (-9,)),
    Fault("report mine.py --workers 2 --out x.html", "parent", "SIGKILL", (-9,)),
    Fault("report mine.py --workers 2 --out x.html", "worker", "SIGKILL", (0, 3)),
]


def named(fault):
    return f"{fault.line.split()[0]}-{fault.victim}-{fault.signal}"


@pytest.fixture(
    params=[*TABLE, *(pytest.param(fault, marks=pytest.mark.nightly) for fault in NIGHTLY)],
    ids=named,
)
def struck(request, tmp_path):
    """A row: the folder, what the command ended with, and its descendants before the blow."""
    fault = request.param
    (tmp_path / "mine.py").write_text(CLAIM)
    with subprocess.Popen(
        [sys.executable, "-m", "rankcheck", *fault.line.split()],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    ) as process:
        try:
            wait(lambda: (tmp_path / "begun").exists() or process.poll() is not None)
            family = psutil.Process(process.pid).children(recursive=True)
            workers = [one for one in family if "spawn_main" in " ".join(one.cmdline())]
            blow = getattr(signal, fault.signal)
            if fault.victim == "parent":
                process.send_signal(blow)
            for worker in workers if fault.victim == "worker" else []:
                worker.send_signal(blow)
            (tmp_path / "struck").touch()
            out, err = process.communicate(timeout=120)
        finally:
            process.kill()
    return fault, tmp_path, process.returncode, out, err, family


def wait(until):
    end = time.monotonic() + 120
    while not until() and time.monotonic() < end:
        time.sleep(0.02)
    assert until()


def test_a_blow(struck):
    fault, folder, code, out, err, family = struck
    assert code in fault.codes, (code, out, err)
    assert "Traceback" not in out + err
    assert err.count("\n") <= 1, err
    _, alive = psutil.wait_procs(family, timeout=30)
    assert [one for one in alive if one.status() != psutil.STATUS_ZOMBIE] == []
    for path in folder.rglob("*"):
        if path.suffix == ".json":
            json.loads(path.read_text())
        if path.suffix == ".jsonl":
            [json.loads(line) for line in path.read_text().splitlines(keepends=True)
             if line.endswith("\n")]  # fmt: skip
    left = {path.name for path in folder.rglob("*") if path.is_file()} - {"begun", "struck"}
    assert left <= {"mine.py", "x.json", "x.html", "t.slow.hunt.jsonl"} | compiled(folder), left
    if (folder / "x.html").exists():
        assert (folder / "x.html").read_text(encoding="utf-8").endswith("</html>\n")
    if (folder / "x.json").exists():
        rows = verdicts(folder / "x.json")
        # All workers are struck at once; a claim that loses its worker for good is undecided.
        assert set(rows.values()) <= {"guarded", "undecided"}
        assert (code == 0) == (set(rows.values()) == {"guarded"})
    assert "is false" not in out


def verdicts(ledger):
    return {row["id"]: row["verdict"] for row in json.loads(ledger.read_text())["claims"]}


def compiled(folder):
    return {path.name for path in folder.rglob("__pycache__/*")}


def test_a_worker_of_xdist_that_is_killed(pytester):
    """The claim has not held: the run fails, and the ledger has no good row of it."""
    body = CLAIM.replace('    Path("begun").touch()\n', "    import os, signal\n"
                         "    os.kill(os.getpid(), signal.SIGKILL)\n")  # fmt: skip
    pytester.makepyfile(test_mine=body)
    done = pytester.runpytest_subprocess(
        "-n", "1", "-p", "no:cacheprovider", "--rankcheck-ledger", "x.json", timeout=120
    )
    assert done.ret == 1
    done.stdout.fnmatch_lines(["*crashed*"])
    rows = verdicts(Path("x.json"))
    assert rows["t.other"] == "guarded"
    assert rows.get("t.slow", "failed") in ("failed", "undecided")
