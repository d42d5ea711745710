"""Processes that are killed: nothing half-written, no orphans, no wrong verdict, one line.

The claim waits in its body until the blow has fallen, so that it falls in the middle of the work.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.claim_text import HEAD, claim

psutil = pytest.importorskip("psutil")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signals here"),
]

WAITS = "Path('begun').touch()\n    while not Path('struck').exists(): time.sleep(0.02)"
#: Exit codes after SIGTERM.
ENDED = (-15, 143, 4, 130)
VERIFY = "verify mine.py --workers 2 --json x.json"
HUNT = "hunt mine.py::test_slow --workers 2 --budget 3"
REPORT = "report mine.py --workers 2 --out x.html"


@pytest.fixture
def struck(request, mine, tmp_path):
    """What a command ended with that was struck itself, or its workers; and its descendants."""
    line, victim, blow = request.param
    mine(claim("slow", WAITS), claim("other"))
    with subprocess.Popen(
        [sys.executable, "-m", "rankcheck", *line.split()],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    ) as process:
        try:
            wait(lambda: Path("begun").exists() or process.poll() is not None)
            family = psutil.Process(process.pid).children(recursive=True)
            workers = [one for one in family if "spawn_main" in " ".join(one.cmdline())]
            for one in [process] if victim == "parent" else workers:
                one.send_signal(getattr(signal, blow))
            Path("struck").touch()
            out, err = process.communicate(timeout=120)
        finally:
            process.kill()
    return process.returncode, out, err, family


def wait(until):
    end = time.monotonic() + 120
    while not until() and time.monotonic() < end:
        time.sleep(0.02)
    assert until()


#: The rows of the nightly lane differ in the signal or in the command alone.
@pytest.mark.parametrize(
    ("struck", "codes"),
    [
        ((VERIFY, "parent", "SIGKILL"), (-9,)),
        ((VERIFY, "worker", "SIGKILL"), (0, 3)),
        pytest.param((VERIFY, "parent", "SIGTERM"), ENDED, marks=pytest.mark.nightly),
        pytest.param((HUNT, "parent", "SIGTERM"), ENDED, marks=pytest.mark.nightly),
        pytest.param((HUNT, "parent", "SIGKILL"), (-9,), marks=pytest.mark.nightly),
        pytest.param(
            ("certify mine.py::test_slow", "parent", "SIGTERM"), ENDED, marks=pytest.mark.nightly
        ),
        pytest.param((REPORT, "worker", "SIGKILL"), (0, 3), marks=pytest.mark.nightly),
    ],
    indirect=["struck"],
    ids=str,
)
def test_a_blow(struck, codes, tmp_path):
    code, out, err, family = struck
    assert code in codes, (code, out, err)
    assert "Traceback" not in out + err
    assert err.count("\n") <= 1, err
    _, alive = psutil.wait_procs(family, timeout=30)
    assert [one for one in alive if one.status() != psutil.STATUS_ZOMBIE] == []
    paths = [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    left = {path.name for path in paths} - {"mine.py", "begun", "struck"}
    assert left <= {"x.json", "x.html", "t.slow.hunt.jsonl"}, left
    if Path("x.html").exists():
        assert Path("x.html").read_text(encoding="utf-8").endswith("</html>\n")
    if Path("x.json").exists():
        # All workers are struck at once; a claim that loses its worker for good is undecided.
        assert set(verdicts().values()) <= {"guarded", "undecided"}
        assert (code == 0) == (set(verdicts().values()) == {"guarded"})
    assert "is false" not in out


def verdicts():
    rows = json.loads(Path("x.json").read_text())["claims"]
    return {row["id"]: row["verdict"] for row in rows}


def test_a_worker_of_xdist_that_is_killed(pytester):
    """The claim has not held: the run fails, and the ledger has no good row of it."""
    dies = claim("slow", "os.kill(os.getpid(), signal.SIGKILL)")
    pytester.makepyfile(test_mine=HEAD + dies + claim("other"))
    options = ("-n", "1", "-p", "no:cacheprovider", "--rankcheck-ledger", "x.json")
    done = pytester.runpytest_subprocess(*options, timeout=120)
    assert done.ret == 1
    done.stdout.fnmatch_lines(["*crashed*"])
    assert verdicts()["t.other"] == "guarded"
    assert verdicts().get("t.slow", "failed") in ("failed", "undecided")
