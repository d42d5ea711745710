from __future__ import annotations

import time
from dataclasses import replace

import pytest
import torch

from rankcheck.engine.counterexamples.judge import judge
from rankcheck.engine.hunt.arena import KEPT, Arena, HuntError, Shape
from rankcheck.engine.hunt.shard import Shard, rounded, run_shard
from rankcheck.engine.hunt.strategies import STANDARD
from rankcheck.theory.instances.choices import read_choices

HERE = Shape("instances", ())


def shard(strategy="descend", seed=0, shape=HERE):
    return Shard(1, 2, strategy, shape, seed)


def test_a_shard_is_a_function_of_its_key(hunted):
    def found(**changes):
        outcome = run_shard(hunted("generic"), STANDARD, shard(**changes))
        return replace(outcome, seconds=0.0)

    assert found() == found()
    assert found() != found(seed=1)


def test_the_key_says_all_of_a_shard():
    assert shard(shape=Shape("tight", (3, 1)), seed=5).key == "1.2 descend tight(3,1) 5"


def test_a_proved_finding_holds_when_it_is_judged_again(hunted):
    claim = hunted("generic")
    outcome = run_shard(claim, STANDARD, shard())
    assert outcome.found.proved
    record = read_choices(claim.instances, outcome.found.choices)
    judgement = judge(claim, record)
    assert judgement.finding == "refuted"
    assert float(judgement.relative_excess) == outcome.found.violation > 0
    assert outcome.least[0] >= -1e-12  # a violation counts as a finding, not as a margin


def test_rounding_counts_as_equality_and_is_not_found(hunted):
    outcome = run_shard(hunted("careless"), STANDARD, shard("screen"))
    assert outcome.found is None
    assert outcome.counts.rounding > 0
    assert outcome.least[0] == 0


def test_a_shard_that_is_cut_off_says_so(hunted):
    outcome = run_shard(hunted("true"), STANDARD, shard(), until=time.monotonic() - 1)
    assert outcome.cut
    assert outcome.counts.evaluated == 0
    assert not run_shard(hunted("true"), STANDARD, shard("screen"), until=time.monotonic() + 60).cut


def test_a_shard_searches_on_the_device_that_is_named(hunted):
    class Notes:
        name, stage, visits = "notes", "scout", 0

        def search(self, arena, seed):
            devices.append(arena.device)

    devices: list[str] = []
    run_shard(hunted("true"), [Notes()], shard("notes"), device="meta")
    assert devices == ["meta"]


def test_an_unknown_strategy_is_an_error(hunted):
    with pytest.raises(
        HuntError, match=r"the strategy 'guess' is unknown; this hunt has corpus, screen"
    ):
        run_shard(hunted("true"), STANDARD, shard("guess"))


def test_instances_are_rounded_while_they_keep_their_violation(hunted):
    claim = hunted("no-ball")
    arena = Arena(claim, HERE)
    record = arena.sample(0, 1).record.instance(0)

    def kept(x):
        one = record.with_tensors([torch.tensor(x, dtype=torch.float64)])
        return float(rounded(arena, one, 1 - 1 / x).tensors[0])

    assert kept(3.141592) == 3.0
    assert kept(1.3) == pytest.approx(1.296875)  # a multiple of 1/64
    assert kept(1 + 1e-8) == 1 + 1e-8  # no grid keeps it


def test_a_strategy_that_raises_ends_its_search_alone(hunted):
    class Clumsy:
        name, stage, visits = "clumsy", "scout", 0

        def search(self, arena, seed):
            arena.offer(arena.sample(seed))
            raise IndexError("too far, at 3 of 17")

    outcome = run_shard(
        hunted("easy"), [Clumsy()], shard("clumsy", shape=Shape("instances", (2, 2)))
    )
    assert outcome.troubles == {"clumsy raised IndexError: too far, at N of N": 1}
    assert outcome.found.proved


@pytest.mark.parametrize("sizes", [[3.0], [1.5, 2.0], [1.5, 2.0, 2.5, 3.0, 3.5]])
def test_the_worst_offers_are_judged_however_few(hunted, monkeypatch, sizes):
    claim = hunted("no-ball")
    record = Arena(claim, HERE).sample(0, len(sizes)).record
    record = record.with_tensors([torch.tensor(sizes, dtype=torch.float64)])

    class Offers:
        name, stage, visits = "offers", "scout", 0

        def search(self, arena, seed):
            assert arena.offer(arena.at(record)) == len(sizes)

    judged = []

    def counted(claim, record, **how):
        judged.append(record)
        return judge(claim, record, **how)

    monkeypatch.setattr("rankcheck.engine.counterexamples.instance.judge", counted)
    outcome = run_shard(claim, [Offers()], shard("offers"))
    assert len(judged) == len(sizes) <= KEPT
    assert outcome.found is not None
