"""Experiments that are killed or interrupted: the result is that of a quiet run."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial

import pytest

from rankcheck.experiments import known
from rankcheck.experiments.run import run_experiment
from tests.experiments import toy

psutil = pytest.importorskip("psutil")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signals here"),
]


#: How often the experiment is killed.
KILLS = 10 if os.environ.get("RANKCHECK_PROFILE") == "deep" else 2


@pytest.fixture(scope="module")
def quiet():
    """The runs of an experiment that nothing disturbs, as JSON."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(known._MODULES, toy.NAME, toy.__name__)
        return run_experiment(toy.NAME, "small").to_json()["runs"]


@pytest.fixture
def command(tmp_path):
    """`command(every)`: the experiment with two workers, in a process of its own."""
    started = []

    def start(every, *options):
        line = [
            sys.executable,
            "-m",
            toy.__name__,
            str(every),
            "--workers=2",
            f"--out={tmp_path}/x",
        ]
        started.append(
            subprocess.Popen(
                [*line, "--workers=2", *options],
                cwd=toy.__file__.partition("tests")[0],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
                env=os.environ | {"OMP_NUM_THREADS": "1"},
                # Where the tests run in the background, children would ignore the signal.
                preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
            )
        )
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def workers(process):
    """The worker processes of a command."""
    family = psutil.Process(process.pid).children(recursive=True)
    return [one for one in family if "spawn_main" in " ".join(one.cmdline())]


def until(process, condition):
    """Wait until a condition holds; whether it does, and the command still runs."""
    end = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.005)
    return False


def written(folder):
    """The files of the parts with the times at which they were written."""
    found = set()
    for path in (folder / "x" / "parts").glob("*"):
        with suppress(OSError):  # it was just replaced
            found.add((path.name, path.stat().st_mtime_ns))
    return found


def gone(family):
    _, alive = psutil.wait_procs(family, timeout=30)
    return [one for one in alive if one.status() != psutil.STATUS_ZOMBIE] == []


def test_an_experiment_that_is_killed_again_and_again(tmp_path, monkeypatch, command, quiet):
    """SIGKILL for the command, or for its workers first, at random moments of the training."""
    draw = random.Random(0)
    kills = 0
    for number in range(KILLS):
        before = written(tmp_path)
        process = command(0.0, "--scale=small")
        if not until(process, lambda before=before: written(tmp_path) - before):
            break  # it was faster
        time.sleep(draw.uniform(0, 0.2))
        family = workers(process) if process.poll() is None else []
        for one in family if number % 2 else []:
            one.kill()
        process.kill()
        process.communicate()
        assert gone(family)
        kills += 1
        for path in (tmp_path / "x").rglob("*.json"):
            json.loads(path.read_text(encoding="utf-8"))
    assert kills
    monkeypatch.setitem(known._MODULES, toy.NAME, toy.__name__)
    found = run_experiment(toy.NAME, "small", folder=tmp_path / "x")
    assert found.to_json()["runs"] == quiet
    assert sorted(name for name, _ in written(tmp_path)) == ["a.json", "b.json", "c.json"]
    assert not list((tmp_path / "x").rglob(".*"))


def test_ctrl_c_keeps_checkpoints(tmp_path, command):
    """No checkpoint is due: the workers write theirs because they are told to end."""
    process = command(3600.0, "--scale=paper")
    running = [process.stdout.readline() for _ in range(2)][-1]
    assert "0 of 3 parts" in running
    assert written(tmp_path) == set()
    family = workers(process)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, (out, err)
    assert out.endswith("interrupted: 0 of 3 parts are done; the same command goes on from there\n")
    assert err == "rankcheck: interrupted\n"
    assert gone(family)
    kept = {name for name, _ in written(tmp_path)}
    assert kept
    assert kept <= {f"{name}.first.safetensors" for name in "abc"}
