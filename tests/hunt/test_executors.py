"""Workers: local processes and a Dask cluster, also when one of them is killed in the middle."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import distributed
import pytest

from rankcheck.catalogue.entry import shown_path
from rankcheck.hunt import STANDARD, HuntError, executors, hunt
from rankcheck.hunt import cluster as cluster_
from rankcheck.hunt.cluster import Dask
from rankcheck.hunt.executors import Inline, Processes, executor_for
from rankcheck.hunt.job import Job, Target, run_for, run_within
from rankcheck.hunt.plan import Plan
from rankcheck.hunt.shard import Lost, Outcome
from rankcheck.hunt.strategies import Corpus, Screen
from rankcheck.parallel.pool import Done, Overran, Started

from .deadly import Deadly, Sleeps
from .test_run import told

pytestmark = pytest.mark.slow  # worker processes and a cluster


def job_of(claim, strategies=STANDARD):
    return Job(Target.of(claim), tuple(strategies))


def by_key(pairs):
    return {shard.key: replace(outcome, seconds=0.0) for shard, outcome in pairs}


@pytest.fixture(scope="module")
def cluster():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
            silence_logs=50,
        ) as local,
        distributed.Client(local, set_as_default=False) as client,
    ):  # fmt: skip
        client.run(import_module, "rankcheck.hunt.run")  # torch takes seconds
        yield client


def test_a_worker_that_is_killed_is_replaced_and_nothing_is_lost(hunted):
    claim = hunted("sums")
    strategies = [Corpus(), Screen()]
    shards = Plan(claim, strategies, 0).round(0) * 12
    shards = [replace(shard, index=index) for index, shard in enumerate(shards)]
    team = Processes(job_of(claim, strategies), 2)
    try:
        running = team.run(shards, None)
        outcomes = [next(running)]
        victim = team.pids[0]
        os.kill(victim, signal.SIGKILL)
        outcomes += running
        pids = team.pids
        assert victim not in pids
    finally:
        team.close()
    assert by_key(outcomes) == by_key(Inline(claim, job_of(claim, strategies)).run(shards, None))
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_a_hunt_does_not_depend_on_the_number_of_workers(hunted, tmp_path):
    one, two = (
        hunt(hunted("patient"), None, 3, workers, rounds=4, folder=tmp_path) for workers in (1, 2)
    )
    assert told(one) == told(two)
    assert one.message == two.message
    assert one.verdict == "refuted"
    assert one.rounds > 1


def test_a_shard_that_kills_its_workers_or_hangs_is_lost(hunted, monkeypatch):
    monkeypatch.setattr(executors, "DEATHS", 1)
    monkeypatch.setattr(executors, "SHARD", 2.0)
    claim = hunted("true")
    strategies = (Deadly(), Sleeps(600.0))
    dies, hangs = Plan(claim, strategies, 0).round(0)
    team = Processes(job_of(claim, strategies), 1, limit=0.5)
    try:
        assert dict(team.run([dies, hangs], None)) == {
            dies: Lost("ended its worker 1 times (SIGKILL, out of memory?)"),
            hangs: Lost("did not end within 1 s"),
        }
    finally:
        team.close()


class Scripted:
    """A pool in which things happen as they are written."""

    def __init__(self, happens):
        self.happens = happens
        self.submitted = []

    def submit(self, task, **limits):
        self.submitted.append((task, limits))

    def events(self):
        yield from self.happens([task for task, _ in self.submitted])

    def withdraw(self):
        return [task for task, _ in self.submitted[3:]]


def test_the_end_of_the_budget_is_a_limit_of_shards(hunted):
    """Those that have begun are lost; those that have not are as at any end of a budget."""
    claim = hunted("true")
    strategies = (Corpus(), *(Sleeps(0.0, name=name) for name in "abc"))
    fine, hangs, other, waits = Plan(claim, strategies, 0).round(0)
    outcome = Outcome(seconds=0.25)
    frame = f'  File "{claim.file}", line 7 in test_true'
    until = time.monotonic() - 1.0

    def happens(tasks):
        for task in tasks[:3]:
            yield Started(task)
        yield Done(tasks[0], outcome)
        yield Overran(tasks[1], 30.0, frame)
        yield Overran(tasks[2], 1.0, "")

    team = Processes.__new__(Processes)
    team._limit, team._file = 1.0, claim.file
    team._pool = pool = Scripted(happens)  # type: ignore[assignment]
    late = "did not end with the budget"
    assert dict(team.run([fine, hangs, other, waits], until)) == {
        fine: outcome,
        hangs: Lost(f"{late}; it was at {shown_path(claim.file)}:7"),
        other: Lost(late),
        waits: Outcome(cut=True),
    }
    assert pool.submitted[3][1]["limit"]() == 1.0  # if it began now, after the end


def test_a_strategy_that_cannot_be_sent_is_refused(hunted):
    class Local(Screen):
        """Workers cannot import it."""

    with pytest.raises(HuntError, match=r"cannot be sent to workers.*top level of a module"):
        Processes(job_of(hunted("true"), [Local()]), 1)


def test_a_worker_refuses_a_claim_that_has_changed(hunted):
    target = replace(Target.of(hunted("true")), statement_hash="0")
    shard = Plan(hunted("true"), STANDARD, 0).round(0)[0]
    refusal = run_for(Job(target, STANDARD), shard, None)
    assert refusal.startswith("hunted.true has another text in ")


def test_a_body_that_raises_in_a_worker_says_so(hunted):
    shard = Plan(hunted("broken"), [Screen()], 0).round(0)[0]
    outcome = run_for(job_of(hunted("broken"), [Screen()]), shard, None)
    assert "hunted.broken raised TypeError" in outcome.raised


def test_a_worker_on_another_machine_gets_the_seconds_that_are_left(hunted):
    claim = hunted("true")
    shard = Plan(claim, [Screen()], 0).round(0)[0]
    job = job_of(claim, [Screen()])
    assert run_within(job, shard, -1.0).cut
    assert not run_within(job, shard, 60.0).cut
    assert not run_within(job, shard, None).cut


@pytest.mark.parametrize("place", [{"workers": 2}, {"executor": "dask://127.0.0.1:9"}])
def test_a_claim_without_a_file_is_not_sent_to_workers(at_a_prompt, place):
    arguments = {"workers": 1, "executor": None} | place
    with pytest.raises(
        HuntError, match=r"prompt\.easy is declared in <stdin>, which is not a file"
    ):
        executor_for(at_a_prompt, job_of(at_a_prompt), **arguments)


# Dask


def test_a_cluster_finds_what_one_process_finds(hunted, cluster, tmp_path):
    claim = hunted("sums")
    one = hunt(claim, None, 3, rounds=2, folder=tmp_path)
    address = cluster.scheduler.address.replace("tcp://", "dask://")
    assert told(hunt(claim, None, 3, executor=address, rounds=2, folder=tmp_path)) == told(one)


def test_a_budget_ends_a_hunt_on_a_cluster(hunted, cluster, tmp_path):
    found = hunt(hunted("true"), 1.0, executor=cluster, folder=tmp_path)
    assert found.verdict == "survived"
    assert 1.0 <= found.seconds < 20


def test_a_cluster_worker_that_is_killed_loses_nothing(hunted, cluster, tmp_path):
    claim = hunted("sums")
    one = hunt(claim, None, 4, rounds=2, folder=tmp_path)
    before = set(cluster.scheduler_info()["workers"])
    victims = list(cluster.run(os.getpid).values())[:1]

    def kill(progress):
        if progress.round == 1 and victims:  # the other shards of the round are on the cluster
            os.kill(victims.pop(), signal.SIGKILL)

    many = hunt(claim, None, 4, executor=cluster, rounds=2, folder=tmp_path, on_progress=kill)
    assert not victims
    assert told(many) == told(one)
    end = time.monotonic() + 30
    while set(cluster.scheduler_info()["workers"]) == before and time.monotonic() < end:
        time.sleep(0.1)  # the nanny has started another one in the place of the killed one
    assert set(cluster.scheduler_info()["workers"]) != before


def test_a_hunt_on_a_cluster_ends_when_shards_hang(hunted, cluster, tmp_path):
    """It ends shortly after its budget, keeps what is finished, and says how many were lost."""
    journal = tmp_path / "j.jsonl"
    found = hunt(
        hunted("true"), 1.0, executor=cluster, strategies=[Corpus(), Sleeps(9.0, "deepen", 2)],
        limit=1.0, journal=journal, folder=tmp_path,
    )  # fmt: skip
    assert found.verdict == "undecided"
    assert found.seconds < 9
    assert found.lost  # on a busy machine the other shard of the round, too
    assert re.match(
        rf"hunted\.true is undecided: {found.lost} shards? did not end with the budget\n",
        found.message,
    )
    kept = [json.loads(line)["shard"].split() for line in journal.read_text().splitlines()[1:]]
    assert {name for _, name, *_ in kept} == {"corpus"}


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
    """A client of a cluster with one thread; `answers` has what it answers to a strategy."""

    def __init__(self, answers):
        self.answers = answers
        self.cancelled = []

    def nthreads(self):
        return {"tcp://one": 1}

    def submit(self, run, job, shard, seconds, **options):
        return Answered(self.answers.get(shard.strategy))

    def cancel(self, futures):
        self.cancelled += futures


@pytest.mark.parametrize(
    ("end", "shard", "said"),
    [
        (None, 0.5, "did not end within 0.2 s"),
        (0.0, 500.0, "did not end with the budget"),
    ],
)
def test_a_cluster_gives_up_a_shard_that_does_not_answer(hunted, monkeypatch, end, shard, said):
    monkeypatch.setattr(cluster_, "SHARD", shard)
    killed = distributed.KilledWorker("key", None, 3)
    client = Cluster({"corpus": Outcome(seconds=1.0), "b": killed, "c": Outcome(seconds=2.0)})
    strategies = (Corpus(), *(Sleeps(0.0, name=name) for name in "abcd"))
    claim = hunted("true")
    fine, never, deadly, after, last = Plan(claim, strategies, 0).round(0)
    dask = Dask(job_of(claim, strategies), client, limit=0.2)
    until = None if end is None else time.monotonic() + end
    ended = dict(dask.run([fine, never, deadly, after, last], until))
    assert ended == {
        fine: Outcome(seconds=1.0),
        never: Lost(said),
        deadly: Lost("ended its workers on the cluster again and again"),
        after: Outcome(seconds=2.0),
        last: Lost(said),
    }
    assert len(client.cancelled) == 2


def test_no_scheduler_is_an_error(hunted):
    with pytest.raises(HuntError, match=r"no scheduler answers at 'dask://127\.0\.0\.1:9'"):
        Dask(job_of(hunted("true")), "dask://127.0.0.1:9", timeout=0.5)
