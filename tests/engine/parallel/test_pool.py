"""The pool of worker processes: events, deaths, and that nothing is left behind."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from rankcheck.engine.parallel import pool as pool_
from rankcheck.engine.parallel.events import Died, Done, Lost, Started, Told
from rankcheck.engine.parallel.pool import Pool, PoolError

from .tasks import dies, numbers, one_of_two, refuses

pytestmark = pytest.mark.slow  # processes


@pytest.fixture(scope="module")
def pool():
    with Pool[Any](numbers, 2) as pool:
        yield pool


def events(pool, *tasks):
    for task in tasks:
        pool.submit(task)
    return list(pool.events())


def gone(pid: int) -> bool:
    """Whether a process ends within some seconds."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def test_every_task_starts_tells_and_is_done(pool):
    seen = events(pool, *range(5))
    for number in range(5):
        mine = [event for event in seen if event.task == number]
        assert mine == [
            Started(number),
            Told(number, number + 100),
            Done(number, number**2),
        ]
    assert events(pool) == []


def test_a_worker_has_one_thread_and_nothing_it_did_not_ask_for(pool):
    assert events(pool, "threads")[-1] == Done("threads", "1")
    assert events(pool, "torch")[-1] == Done("torch", False)


def test_a_death_is_an_event_and_another_worker_goes_on(pool):
    before = set(pool.pids)
    seen = events(pool, "kill", 1, ["exit", 5], 2, 3)
    assert Died("kill", "SIGKILL, out of memory?") in seen
    assert Died(["exit", 5], "exit code 5") in seen
    assert {event.answer for event in seen if isinstance(event, Done)} == {1, 4, 9}
    assert before - set(pool.pids)
    assert len(pool.pids) <= 2


def test_closing_the_events_stops_the_workers():
    with Pool[Any](numbers, 2) as pool:
        pids = pool.pids
        pool.submit(["sleep", 600])
        running = pool.events()
        assert isinstance(next(running), Started)
        running.close()
        assert pool.pids == []
        assert all(gone(pid) for pid in pids)


def test_workers_end_with_a_parent_that_is_killed():
    code = (
        "from rankcheck.engine.parallel.events import Told\n"
        "from rankcheck.engine.parallel.pool import Pool\n"
        "from tests.engine.parallel.tasks import numbers\n"
        "if __name__ == '__main__':\n"
        "    pool = Pool(numbers, 1)\n"
        "    pool.submit(['sleep', 600])\n"
        "    for event in pool.events():\n"
        "        if isinstance(event, Told): print(event.value, flush=True)\n"
    )
    root = Path(__file__).parents[3]
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=root
    ) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        os.kill(parent.pid, signal.SIGKILL)
    assert gone(worker)


@pytest.mark.parametrize(
    ("prepare", "fact"), [(refuses, "these files are no good"), (dies, r"\(exit code 3\)")]
)
def test_a_worker_that_cannot_be_prepared_is_an_error(prepare, fact):
    with Pool[int](prepare, 1) as pool:
        pool.submit(1)
        with pytest.raises(PoolError, match=fact):
            list(pool.events())
        assert pool.pids == []


def test_a_worker_that_dies_while_it_prepares_stops_no_other(tmp_path):
    with Pool[Any](partial(one_of_two, tmp_path), 2) as pool:
        seen = events(pool, *range(6), ["sleep", 0.5], *range(6, 9))
    lost = [event.how for event in seen if isinstance(event, Lost)]
    assert lost
    assert set(lost) == {"a worker process ended before it was prepared (exit code 3)"}
    done = [event.task for event in seen if isinstance(event, Done)]
    assert len(done) == 10
    assert not any(isinstance(event, Died) for event in seen)


def test_a_task_that_was_not_begun_goes_to_another_worker(monkeypatch):
    """The worker dies between two tasks, and the pool has not yet noticed."""
    sent: list[int] = []
    with Pool[Any](numbers, 1) as pool:
        events(pool, 1)
        hand_out = pool._hand_out

        def kill_first():
            [pid] = pool.pids or [0]
            if not sent and pid:
                sent.append(pid)
                os.kill(pid, signal.SIGKILL)
                assert gone(pid)
            hand_out()

        monkeypatch.setattr(pool, "_hand_out", kill_first)
        seen = events(pool, 7)
    assert seen == [
        Lost(
            "a worker process ended before it had begun its task (SIGKILL, out of memory?)",
        ),
        Started(7),
        Told(7, 107),
        Done(7, 49),
    ]


def test_a_task_that_is_never_begun_is_given_up(monkeypatch):
    monkeypatch.setattr(pool_, "TRIES", 1)
    with Pool[Any](numbers, 1) as pool:
        events(pool, 1)
        os.kill(pool.pids[0], signal.SIGKILL)
        assert gone(pool.pids[0])
        assert events(pool, 7) == [Died(7, "SIGKILL, out of memory?, before it had begun")]


def test_what_a_task_prints_is_not_lost_nor_missed(capfd):
    with Pool[Any](numbers, 1) as pool:
        seen = events(pool, "print", "mute", 3)
    assert [event.task for event in seen if isinstance(event, Done)] == ["print", "mute", 3]
    assert capfd.readouterr().out == "printed"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits")
def test_a_task_that_sets_a_limit_of_its_process_is_the_last_one_there():
    with Pool[Any](numbers, 1) as pool:
        seen = events(pool, "pid", "limit", "pid", "pid")
    first, limited, *others = [event.answer for event in seen if isinstance(event, Done)]
    assert first == limited
    assert len(others) == 2
    assert others[0] == others[1] != first
    assert not any(isinstance(event, Lost) for event in seen)
