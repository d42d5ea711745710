"""Hunts on workers: what they find does not depend on who runs the shards. See tests/parallel."""

from __future__ import annotations

import pickle
import re
from contextlib import closing
from dataclasses import replace

import distributed
import pytest

from rankcheck.errors import InputError
from rankcheck.hunt import HuntError, hunt, job
from rankcheck.hunt.job import Target, inline, limits_of, workers_for
from rankcheck.hunt.journal import Journal
from rankcheck.hunt.plan import Plan
from rankcheck.hunt.settings import Settings
from rankcheck.hunt.strategies import Corpus, Screen
from rankcheck.parallel import Unfinished

from .deadly import Deadly, Sleeps
from .test_run import head_of, told


@pytest.mark.slow
def test_a_hunt_does_not_depend_on_the_number_of_workers(hunted, tmp_path):
    one, two = (
        hunt(hunted("patient"), None, 3, workers=workers, rounds=4, folder=tmp_path)
        for workers in (1, 2)
    )
    assert told(one) == told(two)
    assert one.message == two.message
    assert one.verdict == "refuted"
    assert one.rounds > 1


@pytest.mark.slow
def test_a_shard_that_kills_its_workers_or_hangs_is_lost(hunted, monkeypatch):
    monkeypatch.setattr(job, "DEATHS", 1)
    monkeypatch.setattr(job, "SHARD", 2.0)
    claim = hunted("true")
    settings = Settings(strategies=(Deadly(), Sleeps(600.0)), workers=2, limit=0.5)
    tasks = [(shard, None) for shard in Plan(claim, settings.strategies, 0).round(0)]
    with closing(workers_for(claim, settings)) as workers:
        ends = list(workers.run(tasks, limits_of(settings, float("inf"))))
    assert {end.task[0].strategy: end.how for end in ends if isinstance(end, Unfinished)} == {
        "deadly": "lost its process (SIGKILL, out of memory?)",
        "sleeps": "did not end within 1 s",
    }


def test_a_strategy_that_cannot_be_sent_is_refused(hunted):
    class Local(Screen):
        """Workers cannot import it."""

    with pytest.raises(InputError, match=r"cannot be sent to workers.*top level of a module"):
        workers_for(hunted("true"), Settings(strategies=[Local()], workers=2))


def test_a_body_that_raises_in_a_worker_says_so(hunted):
    claim = hunted("broken")
    settings = Settings(strategies=[Screen()])
    shard = Plan(claim, settings.strategies, 0).round(0)[0]
    [end] = inline(claim, settings).run([(shard, None)])
    assert "hunted.broken raised TypeError" in end.answer.raised


@pytest.mark.parametrize("place", [{"workers": 2}, {"executor": "dask://127.0.0.1:9"}])
def test_a_claim_without_a_file_is_not_sent_to_workers(at_a_prompt, place):
    with pytest.raises(
        HuntError, match=r"prompt\.easy is declared in <stdin>, which is not a file"
    ):
        workers_for(at_a_prompt, Settings(**place))


def test_a_target_finds_its_claim_in_this_process_or_in_its_file(hunted):
    claim = hunted("easy")
    sent = pickle.loads(pickle.dumps(Target.of(claim)))
    assert sent.claim is None
    assert sent.load() is claim
    with pytest.raises(HuntError, match=r"has another text in"):
        replace(sent, statement_hash="0").load()
    with pytest.raises(HuntError, match=r"does not declare hunted\.unknown"):
        replace(sent, id="hunted.unknown").load()
    with pytest.raises((InputError, OSError)):
        replace(sent, id="hunted.unknown", file="/nowhere/at_all.py").load()


@pytest.fixture(scope="module")
def cluster():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
            silence_logs=50,
        ) as local,
        distributed.Client(local, set_as_default=False) as client,
    ):  # fmt: skip
        yield client


@pytest.mark.slow
def test_a_cluster_finds_what_one_process_finds(hunted, cluster, tmp_path):
    claim = hunted("sums")
    one = hunt(claim, None, 3, rounds=2, folder=tmp_path)
    address = cluster.scheduler.address.replace("tcp://", "dask://")
    assert told(hunt(claim, None, 3, executor=address, rounds=2, folder=tmp_path)) == told(one)


@pytest.mark.nightly
def test_a_hunt_on_a_cluster_ends_when_shards_hang(hunted, cluster, tmp_path):
    """It ends shortly after its budget, keeps what is finished, and says how many were lost."""
    path, strategies = tmp_path / "j.jsonl", [Corpus(), Sleeps(9.0, "deepen", 2)]
    found = hunt(
        hunted("true"), 1.0, executor=cluster, strategies=strategies, limit=1.0, journal=path,
        folder=tmp_path,
    )  # fmt: skip
    assert found.verdict == "undecided"
    assert found.seconds < 9
    assert found.lost  # on a busy machine the other shard of the round, too
    assert re.match(
        rf"hunted\.true is undecided: {found.lost} shards? did not end with the budget\n",
        found.message,
    )
    with closing(Journal(path, head_of(hunted("true"), strategies))) as journal:
        assert len(journal)
