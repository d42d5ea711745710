from __future__ import annotations

from collections import Counter

import pytest

from rankcheck.hunt import plan as plan_
from rankcheck.hunt.plan import Plan
from rankcheck.hunt.shard import Outcome
from rankcheck.hunt.strategies import STANDARD
from rankcheck.verification.counts import Counts


@pytest.fixture
def unfitted(monkeypatch):
    """Without shapes that tight instances fit into, which take their time to find."""
    monkeypatch.setattr(plan_, "fitted", lambda claim, tight, seed: None)


def played(claim, seed, rounds, margin):
    """The shards of some rounds, where shapes have the margins that a function gives them."""
    plan, shards = Plan(claim, STANDARD, seed), []
    for number in range(rounds):
        for shard in plan.round(number):
            plan.take(shard, Outcome(Counts(evaluated=1), least=(margin(shard.shape),)))
            shards.append(shard)
    return plan, shards


def by_depth(shape):
    return 1 / (1 + shape.integers[0])


def test_rounds_depend_on_the_seed_and_the_outcomes_alone(hunted, unfitted):
    claim = hunted("deep")
    first = played(claim, 0, 6, by_depth)[1]
    assert first == played(claim, 0, 6, by_depth)[1]
    assert first != played(claim, 1, 6, by_depth)[1]
    assert first != played(claim, 0, 6, lambda shape: 1.0)[1]


def test_keys_and_seeds_of_a_hunt_differ(hunted, unfitted):
    _, shards = played(hunted("deep"), 0, 6, by_depth)
    assert len({shard.key for shard in shards}) == len(shards)
    assert len({shard.seed for shard in shards}) == len(shards)


def test_the_first_round_scouts_the_tight_family_first(hunted):
    shards = Plan(hunted("deep"), STANDARD, 0).round(0)
    assert {shard.strategy for shard in shards} == {"corpus", "screen"}
    families = [shard.shape.family for shard in shards]
    assert families == sorted(families, reverse=True)
    assert 0 < families.count("tight") < len(families)
    assert {s.shape.family for s in Plan(hunted("easy"), STANDARD, 0).round(0)} == {"instances"}


def test_every_strategy_has_its_turn_and_the_costly_one_comes_late(hunted, unfitted):
    _, shards = played(hunted("deep"), 0, 4, by_depth)
    turns = [{s.strategy for s in shards if s.round == number} for number in range(4)]
    stages = {
        stage: {s.name for s in STANDARD if s.stage == stage}
        for stage in ("scout", "deepen", "late")
    }
    assert turns[0] == stages["scout"]
    assert turns[1] == stages["scout"] | stages["deepen"]
    assert turns[plan_.LATE] == turns[3] == {s.name for s in STANDARD}


def test_a_strategy_visits_a_shape_once_a_round(hunted, unfitted):
    _, shards = played(hunted("deep"), 0, 4, by_depth)
    visited = Counter((s.round, s.strategy, s.shape) for s in shards)
    assert set(visited.values()) == {1}


def test_more_is_spent_where_margins_are_small_and_every_shape_gets_some(hunted, unfitted):
    _, shards = played(hunted("deep"), 0, 30, lambda s: 0.02 if s.integers[0] == 4 else 0.9)
    visits = Counter(s.shape for s in shards if s.strategy in ("descend", "perturb"))
    first = {s.shape for s in shards if s.round == 0 and s.shape.family == "instances"}
    promising = [visits[shape] for shape in first if shape.integers[0] == 4]
    others = [visits[shape] for shape in first if shape.integers[0] != 4]
    assert min(promising) > 2 * max(others) / 1.5
    assert min(others) >= 1


def test_a_shape_without_instances_is_not_searched_deeply_while_others_have_some(hunted, unfitted):
    plan = Plan(hunted("deep"), STANDARD, 0)
    for shard in plan.round(0):
        full = shard.shape.integers[0] < 3
        plan.take(shard, Outcome(Counts(9), (0.5,)) if full else Outcome(Counts(0, 9)))
    deep = [s for s in plan.round(1) if s.strategy == "descend"]
    assert deep
    assert all(shard.shape.integers[0] < 3 for shard in deep)


def test_the_tight_family_is_never_searched_deeply(hunted, unfitted):
    _, shards = played(hunted("deep"), 0, 8, lambda s: 0.0 if s.family == "tight" else 0.9)
    assert {s.strategy for s in shards if s.shape.family == "tight"} == {"corpus", "screen"}


def test_new_shapes_are_scouted_until_there_are_none(hunted, unfitted):
    plan, _ = played(hunted("deep"), 0, 6, by_depth)
    assert plan.shapes > 40
    plan, shards = played(hunted("generic"), 0, 6, by_depth_or_one)
    assert plan.shapes == 1
    assert {s.strategy for s in shards if s.round == 5} == {s.name for s in STANDARD}


def by_depth_or_one(shape):
    return by_depth(shape) if shape.integers else 1.0


def test_neighbours_of_the_best_shapes_are_one_larger_or_one_smaller(hunted):
    plan = Plan(hunted("whole"), STANDARD, 0)
    shards = plan.round(0)
    for shard in shards:
        plan.take(shard, Outcome(Counts(evaluated=1), (abs(shard.shape.integers[0] - 30) / 60,)))
    known = {shard.shape.integers[0] for shard in shards}
    best = sorted(known, key=lambda n: abs(n - 30))[:4]
    steps = set()
    for number in range(1, 6):
        for shape in plan._neighbours(3, number):
            near = {shape.integers[0] - n for n in best} & {-1, 1}
            assert near
            steps |= near
    assert steps == {-1, 1}


def test_shapes_that_tight_instances_fit_into_are_scouted(hunted):
    plan = Plan(hunted("deep"), STANDARD, 0)
    for shard in plan.round(0):
        plan.take(shard, Outcome(Counts(evaluated=1), least=(0.5,)))
    fits = plan._fitted(1)
    assert fits
    scouted = [s.shape for s in Plan(hunted("deep"), STANDARD, 0).round(0)]
    assert not set(fits) & set(scouted)
    assert plan.round(1)[0].shape in fits


@pytest.mark.parametrize("name", ["single", "empty", "whole"])
def test_any_kind_of_claim_can_be_planned(hunted, name):
    plan = Plan(hunted(name), STANDARD, 0)
    for number in range(3):
        for shard in plan.round(number):
            plan.take(shard, Outcome(Counts(rejected=1)))
    assert plan.shapes >= 1
