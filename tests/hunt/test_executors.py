"""Workers: local processes and a Dask cluster, also when one of them is killed in the middle."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from rankcheck.hunt import STANDARD, HuntError, executors, hunt
from rankcheck.hunt.executors import Dask, Inline, Job, Processes, run_for
from rankcheck.hunt.plan import Plan
from rankcheck.hunt.shard import Target
from rankcheck.hunt.strategies import Screen

from .deadly import Deadly
from .test_run import told


def job_of(claim, strategies=STANDARD):
    return Job(Target.of(claim), tuple(strategies))


def by_key(pairs):
    return {shard.key: replace(outcome, seconds=0.0) for shard, outcome in pairs}


@pytest.fixture(scope="module")
def processes(hunted):
    team = Processes(job_of(hunted("true")), 2)
    yield team
    team.close()


@pytest.fixture(scope="module")
def cluster():
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
            silence_logs=50,
        ) as local,
        distributed.Client(local, set_as_default=False) as client,
    ):  # fmt: skip
        yield client


def test_processes_find_what_one_process_finds(hunted, processes):
    claim = hunted("true")
    shards = Plan(claim, STANDARD, 0).round(0)
    job = job_of(claim)
    assert by_key(processes.run(shards, None)) == by_key(Inline(claim, job).run(shards, None))


def test_a_worker_that_is_killed_is_replaced_and_nothing_is_lost(hunted, processes):
    claim = hunted("true")
    plan = Plan(claim, STANDARD, 0)
    for shard, outcome in Inline(claim, job_of(claim)).run(plan.round(0), None):
        plan.take(shard, outcome)
    shards = plan.round(1)
    running = processes.run(shards, None)
    outcomes = [next(running)]
    victim = processes._team[0].process.pid
    os.kill(victim, signal.SIGKILL)
    outcomes += running
    assert victim not in [worker.process.pid for worker in processes._team]
    assert by_key(outcomes) == by_key(Inline(claim, job_of(claim)).run(shards, None))


def test_a_hunt_does_not_depend_on_the_number_of_workers(hunted, tmp_path):
    one, two = (
        hunt(hunted("patient"), None, 3, workers, rounds=4, folder=tmp_path) for workers in (1, 2)
    )
    assert told(one) == told(two)
    assert one.message == two.message
    assert one.verdict == "refuted"
    assert one.rounds > 1


def test_a_shard_that_kills_every_worker_ends_the_hunt(hunted, monkeypatch):
    monkeypatch.setattr(executors, "DEATHS", 1)
    claim = hunted("true")
    strategies = (Deadly(), *STANDARD)
    team = Processes(job_of(claim, strategies), 1)
    try:
        shards = Plan(claim, strategies, 0).round(0)
        with pytest.raises(HuntError, match=r"0\.0 deadly .* its worker down 1 times \(SIGKILL\)"):
            list(team.run(shards, None))
    finally:
        team.close()


def test_a_worker_refuses_a_claim_that_has_changed(hunted):
    target = replace(Target.of(hunted("true")), statement_hash="0")
    shard = Plan(hunted("true"), STANDARD, 0).round(0)[0]
    refusal = run_for(Job(target, STANDARD), shard, None)
    assert refusal.startswith("a worker hunts the claim of its parent; hunted.true in ")


def test_a_body_that_raises_in_a_worker_says_so(hunted):
    shard = Plan(hunted("broken"), [Screen()], 0).round(0)[0]
    said = run_for(job_of(hunted("broken"), [Screen()]), shard, None)
    assert "hunted.broken raised TypeError" in said


def test_stopping_leaves_no_process_behind(hunted):
    team = Processes(job_of(hunted("true")), 1)
    pids = [worker.process.pid for worker in team._team]
    assert all(Path(f"/proc/{pid}").exists() for pid in pids)
    team.close()
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


# Dask


def test_a_cluster_finds_what_one_process_finds(hunted, cluster, tmp_path):
    claim = hunted("true")
    one = hunt(claim, None, 3, rounds=2, folder=tmp_path)
    assert told(hunt(claim, None, 3, executor=cluster, rounds=2, folder=tmp_path)) == told(one)


def test_a_cluster_worker_that_is_killed_loses_nothing(hunted, cluster, tmp_path):
    claim = hunted("true")
    one = hunt(claim, None, 4, rounds=3, folder=tmp_path)
    before = set(cluster.scheduler_info()["workers"])
    pid = next(iter(cluster.run(os.getpid).values()))
    killed = threading.Timer(0.4, os.kill, (pid, signal.SIGKILL))
    killed_before = []

    def begin(progress):
        killed_before.append(killed.finished.is_set())
        if progress.round == 1 and not killed.is_alive() and killed.ident is None:
            killed.start()

    many = hunt(claim, None, 4, executor=cluster, rounds=3, folder=tmp_path, on_progress=begin)
    killed.join()
    assert killed_before[-1]
    assert not killed_before[len(killed_before) // 3]
    assert told(many) == told(one)
    end = time.monotonic() + 30
    while set(cluster.scheduler_info()["workers"]) == before and time.monotonic() < end:
        time.sleep(0.1)  # the nanny has started another one in the place of the killed one
    assert set(cluster.scheduler_info()["workers"]) != before


def test_an_address_is_a_scheduler(hunted, cluster, tmp_path):
    address = cluster.scheduler.address.replace("tcp://", "dask://")
    found = hunt(hunted("patient"), 60, 3, executor=address, folder=tmp_path)
    assert found.verdict == "refuted"


def test_no_scheduler_is_an_error(hunted):
    with pytest.raises(HuntError, match=r"none answers at 'dask://127\.0\.0\.1:9'"):
        Dask(job_of(hunted("true")), "dask://127.0.0.1:9", timeout=0.5)
