"""Hunts on workers: what they find does not depend on who runs the shards."""

from __future__ import annotations

import math
import pickle
import re
from dataclasses import replace

import pytest

from rankcheck.engine.hunt import HuntError, hunt
from rankcheck.engine.hunt.job import Target, limits_of, workers_for
from rankcheck.engine.hunt.settings import Settings
from rankcheck.engine.hunt.strategies import Corpus, Screen
from rankcheck.errors import InputError
from tests.clusters import cluster_of_two

from .sleeps import Sleeps
from .test_run import told


def test_a_strategy_that_cannot_be_sent_is_refused(hunted):
    class Local(Screen):
        """Workers cannot import it."""

    with pytest.raises(InputError, match=r"cannot be sent to workers.*top level of a module"):
        workers_for(hunted("true"), Settings(strategies=[Local()], workers=2))


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
    with pytest.raises(HuntError, match="or with another text than"):
        replace(sent, statement_hash="0").load()
    with pytest.raises(HuntError, match=r"does not declare hunted\.unknown"):
        replace(sent, id="hunted.unknown").load()
    with pytest.raises((InputError, OSError)):
        replace(sent, id="hunted.unknown", file="/nowhere/at_all.py").load()


@pytest.fixture(scope="module")
def cluster():
    with cluster_of_two() as client:
        yield client


@pytest.fixture(scope="module")
def in_one_process(hunted, tmp_path_factory):
    found = hunt(
        hunted("patient"), None, 3, rounds=3, scope=0, folder=tmp_path_factory.mktemp("one")
    )
    assert found.verdict == "refuted"
    assert found.rounds > 1  # the first one is run here in any case
    return found


@pytest.mark.slow
@pytest.mark.parametrize("place", ["workers", pytest.param("cluster", marks=pytest.mark.nightly)])
def test_a_hunt_does_not_depend_on_where_it_runs(hunted, in_one_process, place, request, tmp_path):
    """Of a claim without factorisations, whose last digits differ between processes in a nudge."""
    where = {"workers": 2}
    if place == "cluster":
        address = request.getfixturevalue("cluster").scheduler.address
        where = {"executor": address.replace("tcp://", "dask://")}
    found = hunt(hunted("patient"), None, 3, rounds=3, folder=tmp_path, **where)
    assert told(found) == told(in_one_process)


def test_shards_have_thirty_times_the_limit_and_the_limit_after_the_budget():
    limits = limits_of(Settings(limit=0.5), until=9.0)
    assert (limits.seconds, limits.until, limits.grace) == (15.0, 9.0, 0.5)
    assert limits_of(Settings(limit=None), until=9.0).seconds == math.inf


@pytest.mark.nightly
def test_a_hunt_on_a_cluster_ends_when_shards_hang(hunted, cluster, tmp_path):
    """It ends shortly after its budget, keeps what is finished, and says how many were lost."""
    strategies = [Corpus(), Sleeps(9.0, "deepen", 2)]
    found = hunt(
        hunted("true"), 1.0, executor=cluster, strategies=strategies, limit=1.0,
        folder=tmp_path,
    )  # fmt: skip
    assert found.verdict == "undecided"
    assert found.seconds < 9
    assert found.lost  # on a busy machine the other shard of the round, too
    assert re.match(
        rf"hunted\.true is undecided: {found.lost} shards? did not end with the budget\n",
        found.message,
    )
    assert found.counts.evaluated
