"""The executors: one interface, whatever runs the tasks."""

from __future__ import annotations

import os
import signal
import time
from contextlib import closing
from functools import partial

import distributed
import pytest

from rankcheck.engine.parallel import (
    Alone,
    Done,
    Limits,
    Lost,
    PoolError,
    Processes,
    Started,
    Stopped,
    Told,
    Unfinished,
    Work,
    executor_for,
)
from rankcheck.engine.parallel.dask import Dask, connect
from rankcheck.errors import InputError
from tests.clusters import cluster_of_two

from . import tasks
from .tasks import files_of, numbers, refuses, slow

WORK = Work(numbers, files_of(tasks))


@pytest.fixture(scope="module")
def cluster():
    with cluster_of_two() as client:
        yield client


@pytest.fixture(scope="module")
def processes():
    with closing(Processes(WORK, 2)) as executor:
        yield executor


@pytest.fixture(
    params=[
        None,
        pytest.param(2, marks=pytest.mark.slow),
        pytest.param("dask", marks=pytest.mark.slow),
    ]
)
def executor(request):
    """Each of the executors, doing the tasks of `numbers`."""
    match request.param:
        case None:
            yield executor_for(None, WORK)
        case 2:
            yield request.getfixturevalue("processes")
        case "dask":
            client = request.getfixturevalue("cluster")
            address = client.scheduler.address.replace("tcp://", "dask://")
            with closing(executor_for(address, WORK)) as executor:
                yield executor


def test_every_task_ends_once(executor):
    assert sorted(end.answer for end in executor.run(range(9))) == [n * n for n in range(9)]
    assert list(executor.run([])) == []


def test_what_raises_is_raised(executor):
    with pytest.raises(InputError, match="no good"):
        list(executor.run(["refuse"]))


def test_what_the_code_of_a_claim_raises_is_wrong_input_that_names_its_line(executor):
    with pytest.raises(InputError, match=r"tasks\.py:\d+: the code of a claim raised KeyError"):
        list(executor.run(["raise"]))


def test_a_task_without_memory_costs_no_other(executor):
    ends = {end.task: end for end in executor.run(["memory", 3])}
    assert ends[3] == Done(3, 9)
    assert ends["memory"].why().startswith("ran out of memory at ")
    assert ends["memory"].seconds == 0


def test_progress_in_this_process():
    seen: list = []
    assert list(executor_for(None, WORK).run([3], progress=seen.append)) == [Done(3, 9)]
    assert seen == [Started(3), Told(3, 103)]


@pytest.mark.parametrize("name", ["nonsense", 0, -1, True, 1.5, "nope://here", "pool://here"])
def test_there_is_no_such_executor(name):
    with pytest.raises(InputError, match="the executor is"):
        executor_for(name, WORK)


def test_an_executor_of_another_kind_is_a_function_of_the_work():
    executor = executor_for(partial(executor_for, None), WORK)
    assert list(executor.run([2])) == [Done(2, 4)]


def test_what_cannot_be_sent_is_refused():
    with pytest.raises(InputError, match=r"cannot be sent to workers"):
        executor_for(1, Work(lambda: numbers()))


def test_tasks_are_taken_as_they_are_handed_out():
    taken = []

    def tasks():
        for number in range(4):
            taken.append(number)
            yield number

    ends = executor_for(None, WORK).run(tasks())
    next(ends)
    assert taken == [0]


@pytest.mark.slow
def test_progress_and_deaths_in_processes(processes, tmp_path):
    seen: list = []
    once = ["once", str(tmp_path / "begun")]
    ends = list(processes.run([3, once], Limits(deaths=2), seen.append))
    assert {str(end.task): end.answer for end in ends} == {"3": 9, str(once): "at last"}
    assert Told(3, 103) in seen
    assert [event.how for event in seen if isinstance(event, Lost)] == [
        "a worker process ended (exit code 7)"
    ]
    seen.clear()
    [end] = processes.run(["kill"], progress=seen.append)
    assert not any(isinstance(event, Lost) for event in seen)  # it is not run again
    assert end == Unfinished("kill", "lost its process (SIGKILL, out of memory?)")


@pytest.mark.slow
def test_limits_in_processes(processes):
    """What has not begun at the end has no end of its own."""
    ends = {str(end.task): end for end in processes.run([["sleep", 60], 3], Limits(0.3))}
    assert ends["3"] == Done(3, 9)
    end = ends["['sleep', 60]"]
    assert (end.seconds, end.how) == (0.3, "did not end within 0.3 s")
    assert end.why(WORK.files).startswith("did not end within 0.3 s; it was at ")
    limits = Limits(until=time.monotonic() + 0.2, grace=0.2)
    ends = {str(end.task): end for end in processes.run([["sleep", 60]] * 2 + [3], limits)}
    assert set(ends) == {"['sleep', 60]"}
    assert 0.2 <= ends["['sleep', 60]"].seconds <= 0.4


@pytest.mark.slow
def test_workers_that_are_not_prepared():
    with (
        closing(Processes(Work(slow, files_of(tasks), 0.3), 1)) as executor,
        pytest.raises(PoolError, match=r"tasks\.py:\d+: the import did not end within 0\.3 s"),
    ):
        list(executor.run([1]))


@pytest.mark.slow
def test_a_question_has_a_limit():
    with closing(Alone(numbers, 60.0)) as alone:
        told: list = []
        assert alone.ask(3, told.append) == 9
        assert told == [103]
        with pytest.raises(Stopped, match=r"did not end within 0\.2 s \(--limit") as stopped:
            alone.ask(["sleep", 60], limit=0.2)
        assert stopped.value.seconds == 0.2
        assert "; it was at " in stopped.value.how(files_of(tasks))
        assert alone.ask(4) == 16


# Dask


@pytest.mark.nightly
def test_a_cluster_worker_that_is_killed_loses_nothing(cluster):
    victims = list(cluster.run(os.getpid).values())[:1]
    with closing(executor_for(cluster, WORK)) as executor:
        ends = executor.run([["nap", n] for n in range(12)])
        answers = [next(ends).answer]
        os.kill(victims.pop(), signal.SIGKILL)
        answers += [end.answer for end in ends]
    assert sorted(answers) == list(range(12))


@pytest.mark.nightly
def test_a_work_that_cannot_be_prepared_on_a_cluster(cluster):
    with (
        closing(executor_for(cluster, Work(refuses))) as executor,
        pytest.raises(InputError, match="these files are no good"),
    ):
        list(executor.run([1]))


class Answered:
    """A future of a cluster that answers at once, or never."""

    def __init__(self, answer):
        self.answer = answer

    def add_done_callback(self, call):
        if self.answer is not None:
            call(self)

    def result(self):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Cluster:
    """A client of a cluster with one thread; `answers` has what it answers to a task."""

    def __init__(self, answers):
        self.answers = answers
        self.cancelled: list = []

    def nthreads(self):
        return {"tcp://one": 1}

    def submit(self, run, *arguments, **options):
        return Answered(self.answers.get(arguments[-1]))

    def cancel(self, futures):
        self.cancelled += futures


@pytest.mark.parametrize(
    ("limits", "how"),
    [
        (lambda: Limits(0.1), "did not end within 0.2 s"),
        (lambda: Limits(until=time.monotonic(), grace=0.2), "did not end in time"),
    ],
)
def test_a_cluster_gives_up_a_task_that_does_not_answer(limits, how):
    killed = distributed.KilledWorker("key", None, 3)
    client = Cluster({"fine": 1, "deadly": killed, "after": 2})
    executor = Dask(WORK, client)
    ends = {end.task: end for end in executor.run(["fine", "a", "deadly", "after", "b"], limits())}
    assert (ends["fine"], ends["after"]) == (Done("fine", 1), Done("after", 2))
    assert ends["deadly"].how == "ended its workers on the cluster again and again"
    assert (ends["a"].how, ends["b"].how) == (how, how)
    assert len(client.cancelled) == 2


def test_a_cluster_that_loses_a_task_for_no_known_reason_is_an_error():
    with pytest.raises(PoolError, match="lost on the cluster: OSError: the worker is gone"):
        list(Dask(WORK, Cluster({1: OSError("the worker is gone")})).run([1]))


def test_no_scheduler_is_an_error():
    with pytest.raises(InputError, match=r"no scheduler answers at 'dask://127\.0\.0\.1:9'"):
        connect(WORK, "dask://127.0.0.1:9", timeout=0.5)
