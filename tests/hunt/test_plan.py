from __future__ import annotations

import math
from collections import Counter

import pytest

from rankcheck import leq
from rankcheck.hunt import HuntError
from rankcheck.hunt import plan as plan_
from rankcheck.hunt.arena import Shape
from rankcheck.hunt.plan import Arm, Plan
from rankcheck.hunt.shard import Finding, Outcome
from rankcheck.hunt.strategies import STANDARD
from rankcheck.instances.networks import networks_at_points
from rankcheck.instances.source import instances
from rankcheck.verification.counts import Counts

from .test_strategies import claim_of


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


@pytest.mark.slow
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


@pytest.mark.parametrize(("name", "margin"), [("deep", by_depth), ("whole", lambda shape: 0.5)])
def test_a_strategy_visits_a_shape_once_a_round(hunted, unfitted, name, margin):
    _, shards = played(hunted(name), 0, 6, margin)
    visited = Counter((s.round, s.strategy, s.shape) for s in shards)
    assert set(visited.values()) == {1}


def test_a_family_of_few_shapes_is_scouted_again_a_few_at_a_time(unfitted):
    @instances
    def twelve(source):
        source.integer(0, 11)
        return source.tensor()

    _, shards = played(claim_of(lambda x: leq(x, 9 + 0 * x), twelve()), 0, 4, lambda shape: 0.5)
    scouted = Counter(s.round for s in shards if s.strategy == "screen")
    assert len({s.shape for s in shards if s.round < 2}) == 12
    assert all(0 < scouted[number] <= plan_.NEW for number in (2, 3))


def test_a_shape_with_an_unproved_violation_is_visited_before_others(hunted, unfitted):
    plan = Plan(hunted("whole"), STANDARD, 0)
    shards = plan.round(0)
    suspect = shards[-1].shape
    for size, shard in enumerate(shards):
        worse = 0.5 if shard.shape == suspect else 0.0
        found = Finding([], False, worse) if worse else None
        plan.take(shard, Outcome(Counts(evaluated=1), (0.25 + size / 1000,), found))
        plan.take(shard, Outcome(Counts(evaluated=1), (0.25 + size / 1000,)))
    deep = [s for s in plan.round(1) if s.strategy in ("descend", "perturb")]
    first = {s.strategy: s.shape for s in reversed(deep)}
    assert set(first.values()) == {suspect}


def test_a_shape_keeps_the_least_margin_of_each_relation(hunted):
    plan = Plan(hunted("whole"), STANDARD, 0)
    shard = plan.round(0)[0]
    for least in ((0.5, 0.25), (0.75, 0.125)):
        plan.take(shard, Outcome(Counts(evaluated=1), least))
    (arm,) = plan._arms.values()
    assert arm.least == [0.5, 0.125]
    assert arm.promise == -(0.5 + 0.125) / 2
    with pytest.raises(HuntError, match=r"margins of 1 relations, an earlier one of 2; for one"):
        plan.take(shard, Outcome(Counts(evaluated=1), (0.5,)))


@pytest.mark.slow
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


@instances
def many(source):
    source.integer(0, 10**6)
    return source.tensor()


def test_later_rounds_scout_neighbours_and_random_shapes_that_are_new(unfitted):
    _, shards = played(claim_of(lambda x: leq(x, 9 + 0 * x), many()), 0, 3, lambda shape: 0.5)
    known = {s.shape.integers[0] for s in shards if s.round == 0}
    for number in (1, 2):
        scouted = [s.shape.integers[0] for s in shards if s.round == number]
        new = {n for n in scouted if n not in known}
        near = {n for n in new if {n - 1, n + 1} & known}
        assert (len(near), len(new - near)) == (plan_.NEW // 2, plan_.NEW - plan_.NEW // 2)
        known |= new


def test_known_shapes_are_not_scouted_while_others_are_new(hunted, unfitted):
    for seed in range(4):
        _, shards = played(hunted("whole"), seed, 5, lambda shape: 0.5)
        scouted = [s.shape for s in shards if s.strategy == "screen"]
        assert len(scouted) > 30
        assert len(set(scouted)) == len(scouted)


def test_what_a_generator_raises_at_a_shape_is_kept():
    @instances
    def picky(source):
        n = source.integer(0, 9)
        x = source.tensor()
        if n:
            raise ValueError(f"not {n}")
        return x

    claim = claim_of(lambda x: leq(x, 9 + 0 * x), picky())
    plan = Plan(claim, STANDARD, 0)
    plan.round(0)
    first = plan.raised
    assert "the generator of hunted.local raised ValueError at the shape (" in first
    plan.round(1)
    assert plan.raised == first


def test_shapes_of_single_instances_are_drawn_without_a_batch():
    @instances
    def singles(source):
        n = source.integer(1, 9)
        x = source.tensor(n)
        assert x.shape == (n,)
        return x

    claim = claim_of(lambda x: leq(x, 9 + 0 * x), singles(), no_batch="for the test")
    plan = Plan(claim, STANDARD, 0)
    assert len({shard.shape for shard in plan.round(0)}) == 9
    assert plan.raised == ""


def test_margins_are_cut_off_before_their_mean_is_taken():
    shape = Shape("instances", ())
    assert Arm(shape, [math.inf, -3.0]).promise == 0
    assert Arm(shape, [2.0, 0.5]).promise == -0.75
    assert Arm(shape, [0.5], violation=7.0).promise == 0.5


def test_neighbours_of_the_best_shapes_are_one_larger_or_one_smaller():
    plan = Plan(claim_of(lambda x: leq(x, 9 + 0 * x), many()), STANDARD, 0)
    shards = plan.round(0)
    for shard in shards:
        plan.take(shard, Outcome(Counts(evaluated=1), (shard.shape.integers[0] / 10**6,)))
    best = sorted({shard.shape.integers[0] for shard in shards})[:4]
    steps = set()
    for number in range(1, 6):
        for shape in plan._neighbours(3, number):
            (near,) = {shape.integers[0] - n for n in best} & {-1, 1}
            steps.add(near)
    assert steps == {-1, 1}


@pytest.mark.slow
def test_shapes_that_tight_instances_fit_into_are_scouted(hunted):
    plan = Plan(hunted("deep"), STANDARD, 0)
    for shard in plan.round(0):
        plan.take(shard, Outcome(Counts(evaluated=1), least=(0.5,)))
    fits = plan._fitted(1)
    assert fits
    scouted = [s.shape for s in Plan(hunted("deep"), STANDARD, 0).round(0)]
    assert not set(fits) & set(scouted)
    assert plan.round(1)[0].shape in fits


@pytest.fixture
def fits(monkeypatch):
    """What shapes are fitted to, with the function that does it."""
    asked = []

    def fitting(answer):
        def fitted(claim, tight, seed):
            asked.append(tight)
            return answer()

        monkeypatch.setattr(plan_, "fitted", fitted)
        return asked

    return fitting


def test_the_tight_family_is_sampled_and_fitted_now_and_then(hunted, fits):
    asked = fits(lambda: None)
    _, shards = played(hunted("deep"), 0, 7, by_depth)
    tight = [s for s in shards if s.shape.family == "tight"]
    assert {s.round for s in tight} == {0, plan_.TIGHT_AGAIN}
    # The latest one of the first round, then that of the fifth.
    assert asked == [[s.shape for s in tight if s.round == number][-1] for number in (0, 4)]


def test_a_shape_that_is_known_is_not_scouted_because_a_tight_one_fits(hunted, fits):
    plan = Plan(hunted("deep"), STANDARD, 0)
    known = plan.round(0)[-1]
    fits(lambda: known.shape)
    for shard in plan.round(0):
        plan.take(shard, Outcome(Counts(evaluated=1), (0.5,)))
    assert known.shape not in [s.shape for s in plan.round(1) if s.strategy == "screen"]


def test_a_search_for_shapes_that_raises_is_told(hunted, fits):
    fits(lambda: [][3])
    plan, _ = played(hunted("deep"), 0, 2, by_depth)
    said = "the search for shapes like the tight ones raised IndexError: list index out of range"
    assert plan.troubles == {said: 1}


def test_shapes_are_fitted_to_batches_alone(fits):
    asked = fits(lambda: None)
    family = networks_at_points(depth=(1, 2), width=(1, 2))
    claim = claim_of(lambda net, x: (), family, tight=family, no_batch="for the test")
    plan, shards = played(claim, 0, 2, lambda shape: 0.5)
    assert {s.shape.family for s in shards} == {"tight", "instances"}
    assert not asked
    assert not plan.troubles


@pytest.mark.parametrize("name", ["single", "empty", "whole"])
def test_any_kind_of_claim_can_be_planned(hunted, name):
    plan = Plan(hunted(name), STANDARD, 0)
    for number in range(3):
        for shard in plan.round(number):
            plan.take(shard, Outcome(Counts(rejected=1)))
    assert plan.shapes >= 1
