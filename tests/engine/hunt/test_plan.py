from __future__ import annotations

import math
from collections import Counter

import pytest

from rankcheck import leq
from rankcheck.engine.hunt import plan as plan_
from rankcheck.engine.hunt.arena import Shape
from rankcheck.engine.hunt.plan import Arm, Plan
from rankcheck.engine.hunt.shard import Finding, Outcome
from rankcheck.engine.hunt.strategies import STANDARD, Descend, Perturb
from rankcheck.engine.hunt.turns import Turns
from rankcheck.engine.verification.counts import Counts
from rankcheck.theory.instances.source import instances

from .test_strategies import claim_of


@pytest.fixture
def unfitted(monkeypatch):
    """Without shapes that tight instances fit into, which take their time to find."""
    monkeypatch.setattr(plan_, "fitted", lambda claim, tight, seed: None)


#: Without surveys, whose many shapes take their time to draw.
UNSURVEYED = [strategy for strategy in STANDARD if strategy.stage != "survey"]


DEEP = ("descend", "perturb", "evolve")


def played(claim, seed, rounds, margin, strategies=UNSURVEYED):
    """The shards of some rounds, where shapes have the margins that a function gives them."""
    plan, shards = Plan(claim, strategies, seed), []
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
    shards = Plan(hunted("deep"), UNSURVEYED, 0).round(0)
    assert {shard.strategy for shard in shards} == {"corpus", "screen"}
    families = [shard.shape.family for shard in shards]
    assert families == sorted(families, reverse=True)
    assert 0 < families.count("tight") < len(families)
    assert {s.shape.family for s in Plan(hunted("easy"), STANDARD, 0).round(0)} == {"instances"}


def test_every_strategy_has_its_turn_and_the_costly_one_comes_late(hunted, unfitted):
    _, shards = played(hunted("deep"), 0, 4, by_depth)
    turns = [{s.strategy for s in shards if s.round == number} for number in range(4)]
    stages = {
        stage: {s.name for s in UNSURVEYED if s.stage == stage}
        for stage in ("scout", "deepen", "late")
    }
    assert turns[0] == stages["scout"]
    assert turns[1] == stages["scout"] | stages["deepen"]
    # One of them sits out a round, since nothing lowers a margin here.
    assert turns[plan_.LATE] > stages["late"]
    assert turns[plan_.LATE] | turns[plan_.LATE + 1] == {s.name for s in UNSURVEYED}


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
    suspect = [shard for shard in shards if shard.strategy == "screen"][-1].shape
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
    plan.take(shard, Outcome(Counts(evaluated=1), (0.25,)))  # of instances without the other
    assert arm.least == [0.25, 0.125]


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
    plan = Plan(hunted("deep"), UNSURVEYED, 0)
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
    assert {s.strategy for s in shards if s.round > 3} == {s.name for s in UNSURVEYED}


def by_depth_or_one(shape):
    return by_depth(shape) if shape.integers else 1.0


@instances
def many(source):
    source.integer(0, 10**6)
    return source.tensor()


def counted(body=lambda x: leq(x, 9 + 0 * x)):
    """A claim about a million shapes."""
    return claim_of(body, many())


def integers_of(shards, strategy, number):
    """The first integers of the shapes that a strategy visits in a round."""
    return [s.shape.integers[0] for s in shards if (s.strategy, s.round) == (strategy, number)]


def away(shape):
    """A margin that is least in the middle of the range."""
    return abs(shape.integers[0] - 500_000) / 10**6


def test_later_rounds_scout_neighbours_the_best_of_the_surveys_and_random_shapes():
    third = plan_.NEW // 3
    _, shards = played(counted(), 0, 3, away, STANDARD)
    known: set[int] = set()
    surveyed: set[int] = set()
    for number in range(3):
        scouted = set(integers_of(shards, "screen", number))
        if number:
            best = set(sorted(surveyed - known, key=lambda n: abs(n - 500_000))[:third])
            near = {n for n in scouted - best if {n - 1, n + 1} & known}
            assert best < scouted
            assert len(near) == third
            assert len(scouted - best - near) == plan_.NEW - 2 * third
            assert not scouted & known
        known |= scouted
        surveyed |= set(integers_of(shards, "survey", number))


def test_the_first_round_surveys_many_shapes_once_the_simplest_and_random_ones():
    _, shards = played(counted(), 0, 1, away, STANDARD)
    surveyed = integers_of(shards, "survey", 0)
    assert len(set(surveyed)) == len(surveyed) > 100
    assert not set(surveyed) & set(integers_of(shards, "screen", 0))
    assert set(surveyed) > set(range(30))
    assert sum(n > 1000 for n in surveyed) > 50
    # It comes after the scouts, so that it delays nothing that they find.
    assert [s.strategy for s in shards][-len(surveyed) :] == ["survey"] * len(surveyed)


def test_every_round_surveys_shapes_that_are_new():
    _, shards = played(counted(), 0, 4, away, STANDARD)
    surveyed = [integers_of(shards, "survey", number) for number in range(4)]
    assert {len(each) for each in surveyed} == {len(surveyed[0])}
    everywhere = [n for each in surveyed for n in each]
    assert len(set(everywhere)) == len(everywhere)


def test_every_shape_is_visited_before_a_survey_ends():
    """One of 300 integers is not missed, however the others are drawn."""

    @instances
    def few(source):
        return source.integer(1, 300) + source.tensor()

    _, shards = played(claim_of(lambda x: leq(x, 400 + 0 * x), few()), 0, 4, away, STANDARD)
    surveyed = [n for number in range(4) for n in integers_of(shards, "survey", number)]
    assert len(set(surveyed)) == len(surveyed)
    assert {shard.shape.integers[0] for shard in shards} == set(range(1, 301))


@pytest.mark.parametrize("margin", [0.0, 1.0, math.inf])
def test_surveys_are_wider_where_margins_rank_nothing(margin):
    _, shards = played(counted(), 0, 2, lambda shape: margin, STANDARD)
    first, second = (len(integers_of(shards, "survey", number)) for number in (0, 1))
    assert second == plan_.WIDER * first
    _, shards = played(counted(), 0, 2, lambda s: margin if s.integers[0] else 0.5, STANDARD)
    assert len(integers_of(shards, "survey", 1)) == first


def test_surveys_of_bodies_that_take_long_are_smaller():
    def surveyed(**attributes):
        claim = claim_of(lambda x: leq(x, 9 + 0 * x), many(), **attributes)
        return sum(shard.strategy == "survey" for shard in Plan(claim, STANDARD, 0).round(0))

    assert 0 < surveyed(effort=0.25) < surveyed() / 2


def test_only_shapes_that_were_scouted_are_searched_deeply():
    _, shards = played(counted(), 0, 4, away, STANDARD)
    scouted: set = set()
    for number in range(4):
        deep = {s.shape for s in shards if s.round == number and s.strategy in DEEP}
        assert deep <= scouted
        scouted |= {s.shape for s in shards if (s.round, s.strategy) == (number, "screen")}
    assert scouted


def visits_of(improves, rounds=9):
    """By strategy and round, its visits; `improves(strategy)` says whether it lowers margins."""
    plan = Plan(counted(), UNSURVEYED, 0)
    visits: Counter[tuple[str, int]] = Counter()
    least: Counter[Shape] = Counter()
    for number in range(rounds):
        for shard in plan.round(number):
            visits[shard.strategy, number] += 1
            if improves(shard.strategy):
                least[shard.shape] += 1
            size = {"descend": 100_000, "perturb": 10_000}.get(shard.strategy, 1000)
            plan.take(shard, Outcome(Counts(evaluated=size), (0.5 / (1 + least[shard.shape]),)))
    return visits


def test_a_strategy_that_has_stalled_yields_every_other_round_to_those_that_had_least():
    visits = visits_of(lambda strategy: False)
    deep = {s.name: s.visits for s in STANDARD if s.name in DEEP}
    for number in range(2, 9):
        turns = {name: visits[name, number] for name in DEEP}
        if number % 2:
            assert turns == deep
        else:
            assert turns["descend"] == 0
            assert turns["perturb"] + turns["evolve"] == sum(deep.values())
            assert turns["perturb"] > deep["perturb"]
            assert turns["evolve"] > deep["evolve"]


def test_a_strategy_that_lowers_margins_keeps_its_visits():
    fruitful = visits_of(lambda strategy: strategy == "descend")
    assert all(fruitful["descend", number] == 5 for number in range(1, 9))


def test_a_margin_that_converges_is_not_lowered():
    turns, (descend, perturb) = Turns(), (Descend(), Perturb())
    turns.take("descend", 1, 100, -0.5, -0.25)
    assert turns.visits([descend, perturb], 2) == {"descend": 5, "perturb": 3}
    turns.take("descend", 2, 100, -0.25, -0.24)
    assert turns.visits([descend, perturb], 3) == {"perturb": 8}
    assert turns.visits([descend], 3) == {"descend": 5}
    turns.take("descend", 4, 100, -1e-14, 0.0)
    assert turns.visits([descend, perturb], 5) == {"perturb": 8}
    turns.take("descend", 6, 100, 0.0, 0.001)  # a violation that is not proved
    assert turns.visits([descend, perturb], 7) == {"descend": 5, "perturb": 3}


def test_the_visits_of_a_stalled_strategy_go_to_the_only_shape_again(hunted):
    plan = Plan(hunted("generic"), UNSURVEYED, 0)
    visits: Counter[tuple[str, int]] = Counter()
    for number in range(4):
        for shard in plan.round(number):
            visits[shard.strategy, number] += 1
            size = 10**6 if shard.strategy == "descend" else 1
            plan.take(shard, Outcome(Counts(evaluated=size), (0.5,)))
    assert [visits["descend", number] for number in range(4)] == [0, 1, 0, 1]
    assert visits["perturb", 2] > 1
    assert visits["evolve", 2] > 1


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


def test_shapes_are_drawn_of_one_instance():
    @instances
    def singles(source):
        n = source.integer(1, 9)
        x = source.tensor(n)
        assert x.shape == (n,)
        return x

    claim = claim_of(lambda x: leq(x, 9 + 0 * x), singles())
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
    scouted = [shard for shard in shards if shard.strategy == "screen"]
    best = sorted({shard.shape.integers[0] for shard in scouted})[:4]
    steps = set()
    for number in range(1, 6):
        for shape in plan._neighbours(3, number):
            (near,) = {shape.integers[0] - n for n in best} & {-1, 1}
            steps.add(near)
    assert steps == {-1, 1}


@pytest.mark.slow
def test_shapes_that_tight_instances_fit_into_are_scouted(hunted):
    fitted = 0
    for seed in range(4):  # some tight instances fit into no shape of the family
        plan = Plan(hunted("deep"), UNSURVEYED, seed)
        scouted = plan.round(0)
        for shard in scouted:
            plan.take(shard, Outcome(Counts(evaluated=1), least=(0.5,)))
        for shape in plan._fitted(1):
            fitted += 1
            assert shape not in [shard.shape for shard in scouted]
            assert plan.round(1)[0].shape == shape
    assert fitted


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
    plan = Plan(hunted("deep"), UNSURVEYED, 0)
    shards = plan.round(0)
    known = shards[-1]
    fits(lambda: known.shape)
    for shard in shards:
        plan.take(shard, Outcome(Counts(evaluated=1), (0.5,)))
    assert known.shape not in [s.shape for s in plan.round(1) if s.strategy == "screen"]


def test_a_search_for_shapes_that_raises_is_told(hunted, fits):
    fits(lambda: [][3])
    plan, _ = played(hunted("deep"), 0, 2, by_depth)
    said = "the search for shapes like the tight ones raised IndexError: list index out of range"
    assert plan.troubles == {said: 1}


@pytest.mark.parametrize("name", ["single", "empty", "whole"])
def test_any_kind_of_claim_can_be_planned(hunted, name):
    plan = Plan(hunted(name), STANDARD, 0)
    for number in range(3):
        for shard in plan.round(number):
            plan.take(shard, Outcome(Counts(rejected=1)))
    assert plan.shapes >= 1
