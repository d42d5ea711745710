from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
import pytest
import torch

from rankcheck import eq, leq
from rankcheck.claims.claim import Claim
from rankcheck.engine.hunt.arena import NOT_ASSERTED, Arena, Shape
from rankcheck.engine.hunt.margins import Margins
from rankcheck.engine.hunt.sample import Sample
from rankcheck.engine.hunt.strategies import (
    STANDARD,
    Corpus,
    Descend,
    Evolve,
    Perturb,
    Screen,
    Strategy,
)
from rankcheck.engine.hunt.strategies.descend import _Walk, descend
from rankcheck.engine.hunt.strategies.evolve import GENERATIONS, POPULATION
from rankcheck.engine.hunt.strategies.perturb import _Children
from rankcheck.engine.hunt.strategies.samples import Survey
from rankcheck.engine.hunt.strategies.starts import entries, starts, tidy
from rankcheck.linalg import frobenius_squared, nuclear_norm
from rankcheck.theory.instances.record import Entries, Integer, Record
from rankcheck.theory.instances.source import instances, seed_of


def claim_of(body, family, **attributes):
    """A claim that no registry knows."""
    body.__doc__ = "A statement."
    return Claim(
        id="hunted.local", kind="conjecture", body=body, instances=family, title="", reference=None,
        statement="A statement.", **attributes,
    )  # fmt: skip


@instances
def vectors(source, *, size=3, low=-4.0, high=4.0):
    return source.tensor(size, low=low, high=high)


def arena_of(body, family=None, **attributes):
    return Arena(claim_of(body, family or vectors(), **attributes), Shape("instances", ()))


def sample_of(arena, values):
    """A sample of given points of the family of vectors."""
    record = Record((Entries(torch.tensor(values, dtype=torch.float64), (3,), -4.0, 4.0),))
    return Sample(record, arena.measure(record))


# The arena


def test_samples_are_counted_and_their_least_margins_kept(hunted):
    arena = Arena(hunted("two-relations"), Shape("instances", ()))
    sample = arena.sample(0, 100)
    assert (arena.counts.evaluated, arena.counts.rejected) == (100, 0)
    within = torch.where(sample.margins.beyond == -math.inf, sample.margins.relative, math.inf)
    assert arena.least == tuple(within.amin(1).tolist())
    arena.sample(1, 50, structured=True)
    assert arena.counts.evaluated == 150


def test_singles_and_batches_measure_alike(hunted):
    def body(A):
        return leq(nuclear_norm(A), 0.97 * math.sqrt(3) * frobenius_squared(A).sqrt())

    single = Arena(hunted("single"), Shape("instances", ()))
    batch = arena_of(body, hunted("single").instances)
    sample = single.sample(0, 5)
    assert (single.batched, batch.batched) == (False, True)
    assert len(sample) == 5
    assert single.counts.evaluated == 5
    of_batch, of_singles = (arena.measure(sample.record) for arena in (batch, single))
    assert torch.allclose(of_batch.absolute, sample.margins.absolute)
    for name in ("relative", "beyond", "valid"):
        assert torch.equal(getattr(of_singles, name), getattr(sample.margins, name))
        assert torch.allclose(getattr(of_batch, name), getattr(sample.margins, name))


def test_an_instance_that_raises_takes_no_gradient_from_the_others():
    def body(x):
        A = torch.stack((torch.stack((x[0], x[1])), torch.stack((x[1], x[2]))))
        return leq(torch.linalg.inv(A).abs().sum(), 9)

    arena = arena_of(body)
    leaves = torch.tensor([[1.0, 0, 1], [1.0, 1, 1], [2.0, 0, 1]], dtype=torch.float64)
    leaves.requires_grad_()
    measured = arena.measure(Record((Entries(leaves, (3,), -4.0, 4.0),)))
    assert measured.valid.tolist() == [True, False, True]
    measured.relative[:, measured.valid].sum().backward()
    assert (leaves.grad.abs().sum(1) > 0).tolist() == [True, False, True]


def test_only_the_worst_violations_are_kept_and_nan_comes_last():
    def body(x):
        """A statement."""
        return leq(torch.where(x[..., 0] > 3, math.nan, x[..., 0]), 0 * x[..., 0] + 1)

    arena = arena_of(body)
    arena.offer(sample_of(arena, [[a, 0.0, 0.0] for a in (4, 2, 0, 1.5, 3, 2.5, 1.25, 2.25, 2.75)]))
    assert [float(record.tensors[0][0]) for _, record in arena.offers] == [
        3, 2.75, 2.5, 2.25, 2, 1.5,
    ]  # fmt: skip
    arena.offers.clear()
    assert arena.offer(sample_of(arena, [[4.0, 0, 0], [0.0, 0, 0]])) == 1
    assert arena.offers[0][0] == math.inf


def test_a_body_that_raises_is_kept_with_an_instance(hunted):
    arena = Arena(hunted("broken"), Shape("instances", ()))
    arena.sample(0)
    assert "raised TypeError" in arena.raised
    assert "numbers(): [" in arena.raised
    assert arena.counts.evaluated == 0


@pytest.mark.parametrize("read", [lambda x: x, lambda x: x.item()], ids=["batch", "singles"])
def test_an_instance_outside_the_hypotheses_counts_as_rejected(hunted, read):
    empty = claim_of(lambda x: leq(read(x) + 0 * x, 0 * x), hunted("empty").instances)
    arena = Arena(empty, Shape("instances", ()))
    sample = arena.sample(0, 10)
    assert (arena.counts.evaluated, arena.counts.rejected) == (0, 10)
    assert arena.counts.reasons == {"x > 100": 10}
    assert not sample.margins.valid.any()
    assert starts(arena, 0, 8) is None


def test_an_instance_of_which_nothing_is_asserted_is_rejected_with_a_reason():
    arena = arena_of(lambda x: leq(x[..., 0], 9 + 0 * x[..., 0], where=x[..., 0] > 0))
    sample = arena.sample(0, 100)
    rejected = int((sample.record.tensors[0][:, 0] <= 0).sum())
    assert 0 < rejected == arena.counts.rejected
    assert arena.counts.reasons == {NOT_ASSERTED: rejected}


def measured(*rows):
    """A sample of numbered instances whose relations have given distances."""
    distance = torch.tensor(rows, dtype=torch.float64)
    count = distance.shape[1]
    numbers = torch.arange(count, dtype=torch.float64)
    record = Record((Entries(numbers, (), 0.0, float(count)),))
    nowhere, valid = torch.full((count,), -math.inf), torch.ones(count, dtype=torch.bool)
    return Sample(record, Margins(distance, distance, distance, nowhere, nowhere, valid))


def test_the_best_of_a_sample_are_the_closest_and_at_most_half_of_them_at_equality():
    sample = measured([3.0, 0.0, 0.0, 0.0, -1.0, math.inf, 2.0, 1.0])
    for count, best in ((4, [4, 1, 2, 7]), (3, [4, 1, 2]), (1, [4]), (9, [4, 1, 2, 3, 7, 6, 0])):
        chosen = sample.best(count)
        assert sorted(chosen.record.tensors[0].tolist()) == sorted(best)
        assert len(chosen) == len(best)
    assert sample.first(2).record.tensors[0].tolist() == [0, 1]
    assert len(sample.first(99)) == 8


def test_every_relation_has_its_share_of_the_best():
    sample = measured([1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 1.0])
    assert sample.best(3).record.tensors[0].tolist() == [0, 1, 3, 2]
    assert sample.best(1).record.tensors[0].tolist() == [0, 3]


# Scouts


def test_a_screen_meets_entries_of_small_magnitude():
    def body(x):
        tiny = (x[..., 0] != 0) & (x[..., 0].abs() < 1e-4)
        return leq(torch.where(tiny, 2.0, 0.0), 1 + 0 * x[..., 0])

    arena = arena_of(body)
    Screen().search(arena, 0)
    assert arena.offers
    assert arena.counts.evaluated == arena.sample_size + arena.sample_size // 4


def test_a_shape_without_entries_has_one_instance(hunted):
    arena = Arena(hunted("whole"), Shape("instances", (17,)))
    assert arena.sample_size == 1
    Survey().search(arena, 0)
    assert (arena.counts.evaluated, len(arena.offers)) == (1, 1)
    Screen().search(arena, 0)
    assert arena.counts.evaluated == 3


# Where strategies start


def test_half_of_the_starts_are_the_best_and_half_are_any(hunted):
    arena = Arena(hunted("true"), Shape("instances", ()))
    begin = starts(arena, 3, 24)
    size = arena.sample_size // 2
    random = arena.sample(seed_of(3, "random"), size).margins.relative[0]
    structured = arena.sample(seed_of(3, "structured"), size, structured=True).margins.relative[0]
    got = begin.margins.relative[0]
    assert len(got) == 24
    assert torch.equal(got[:4], random.sort().values[:4])
    assert torch.equal(got[8:12], structured.sort().values[:4])
    assert torch.equal(got[4:8], random[:4])
    assert torch.equal(got, arena.measure(begin.record).relative[0])


def test_dust_becomes_zero_only_where_zero_is_in_range():
    values = torch.tensor([[1e-9, 1.0]], dtype=torch.float64)
    record = Record(
        (Entries(values, (2,), -1.0, 1.0), Integer(1, 0, 2), Entries(values, (2,), 1e-12, 1.0))
    )
    assert [t.tolist() for t in tidy(record).tensors] == [[[0.0, 1.0]], [[1e-9, 1.0]]]
    assert entries(record) == 4


# Descent


def test_a_descent_finds_what_a_screen_does_not(hunted):
    arena = Arena(hunted("generic"), Shape("instances", ()))
    Screen().search(arena, 0)
    assert not arena.offers
    Descend().search(arena, 0)
    assert arena.offers


def test_a_descent_converges_to_the_equality_of_a_true_bound_and_offers_nothing(hunted):
    arena = Arena(hunted("true"), Shape("instances", ()))
    Descend().search(arena, 0)
    assert not arena.offers
    assert 0 <= arena.least[0] + 1e-12 < 1e-5


def test_entries_stay_in_their_range_and_the_best_point_counts():
    def body(x):
        """The least margin, -1, lies at the corner (4, 4, 4)."""
        return leq(x.sum(-1), 6 + 0 * x[..., 0])

    arena = arena_of(body)
    found = descend(arena, sample_of(arena, [[0.0, 1.0, 2.0]] * 8), 0)
    assert bool((found.record.tensors[0] <= 4).all())
    assert found.margins.relative.min() < -0.4


def test_a_gradient_that_is_not_a_number_stops_its_instance_alone():
    def body(x):
        """The gradient of |x - x_0|^(1/2) at zero is infinite, times zero is none."""
        kink = torch.sqrt((x[..., 0] - 1).abs()) * 0
        return leq(x[..., 1] + kink, 10 + 0 * x[..., 0])

    arena = arena_of(body)
    start = sample_of(arena, [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    found = descend(arena, start, 0)
    assert bool(found.record.tensors[0].isfinite().all())
    assert found.record.tensors[0][0, 1] == 0
    assert found.record.tensors[0][1, 1] > 0.05


def test_a_walk_keeps_its_best_points_and_returns_to_them():
    start = torch.tensor([[0.5, 0.5, 0.5]] * 2, dtype=torch.float64)
    walk = _Walk(Record((Entries(start, (3,), -4.0, 4.0),)), 0)
    slope, never = torch.ones_like(start), torch.tensor([False, False])

    def step(margins, inside=(True, True)):
        here = walk.now.clone()
        margin = torch.tensor(margins, dtype=torch.float64)
        walk.step(margin, torch.tensor(inside), slope, never, 1.0)
        return here

    first = step([1.0, 1.0])
    assert torch.equal(walk.best, first)
    assert bool((walk.now < first).all())
    second = step([2.0, 0.5])  # the first instance has gone up
    assert torch.equal(walk.best, torch.stack((first[0], second[1])))
    step([0.75, 0.75])
    rate = walk._rate.clone()
    kept = walk.best.clone()
    step([0.25, 0.25], inside=(True, False))  # the second has left the hypotheses
    assert torch.equal(walk.best[1], kept[1])
    assert not torch.equal(walk.best[0], kept[0])
    assert torch.equal(walk.now[1], kept[1])
    assert torch.equal(walk._rate, rate * torch.tensor([1.0, 0.5]))


def test_a_tight_relation_does_not_hide_another():
    def body(x):
        """The first relation is always an equality."""
        return eq(x[..., 0], x[..., 0]), leq(x[..., 1], 3 + 0 * x[..., 0])

    arena = arena_of(body)
    Descend().search(arena, 0)
    assert arena.offers


def test_a_bound_by_zero_is_descended_on_by_its_numerator():
    def body(x):
        """False in a disc of radius 1/10; relatively, the margin is 1 everywhere else."""
        d = x - torch.tensor([1.25, -0.75, 0.5], dtype=torch.float64)
        return leq(0.01 - (d * d).sum(-1), 0 * d[..., 0])

    arena = arena_of(body)
    found = descend(arena, sample_of(arena, [[-2.0, 2.0, -2.0]] * 8), 0)
    # Every other instance takes the numerator.
    assert set((found.margins.beyond > 0).nonzero().reshape(-1).tolist()) & {1, 3, 5, 7}


def test_a_relation_that_is_asserted_nowhere_is_not_aimed_at():
    def body(x):
        never = torch.zeros(x.shape[:-1], dtype=torch.bool)
        return leq(x[..., 0], -9 + 0 * x[..., 0], where=never), leq(x[..., 1], 3 + 0 * x[..., 0])

    arena = arena_of(body)
    found = descend(arena, sample_of(arena, [[0.0, 0.0, 0.0]] * 2), 1)
    assert bool((found.margins.relative[1] < 1).all())


def test_without_a_gradient_a_descent_ends_at_once(hunted):
    arena = Arena(hunted("discrete"), Shape("instances", ()))
    begin = starts(arena, 0, 8)
    before = arena.counts.evaluated
    assert descend(arena, begin, 0) is None
    assert arena.counts.evaluated - before <= 8 * 5


# Without gradients


def test_evolution_finds_what_a_sample_does_not(hunted):
    arena = Arena(hunted("generic"), Shape("instances", ()))
    Evolve().search(arena, 1)
    assert arena.offers


def test_evolution_aims_at_any_relation_and_ends_with_a_sure_violation():
    def body(x):
        """An identity, and a bound that is false in a ball of radius 1/1000."""
        d = x - torch.tensor([1.1, -2.3, 0.7], dtype=torch.float64)
        square = (d * d).sum(-1)
        return eq(x[..., 0], x[..., 0]), leq(1e-6 + 0 * square, square)

    spent = []
    for seed in (4, 5, 6, 7):  # one of them draws the identity
        arena, begin = arena_of(body), arena_of(body)
        starts(begin, seed, 16)
        Evolve().search(arena, seed)
        if arena.offers:
            spent.append(arena.counts.evaluated - begin.counts.evaluated)
    assert 0 < len(spent) < 4
    assert max(spent) < POPULATION * GENERATIONS


def test_evolution_leaves_the_global_generator_alone(hunted):
    np.random.seed(3)  # noqa: NPY002 -- the one that cma would seed
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    Evolve().search(Arena(hunted("true"), Shape("instances", ())), 1)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def test_perturbations_climb_a_discrete_margin():
    def body(x):
        """At most five entries are large: the odds of a random instance are below 10⁻⁶."""
        count = (x > 3.5).sum(-1)
        return leq(count, torch.full_like(count, 5))

    family = vectors(size=8)
    arena = Arena(claim_of(body, family), Shape("instances", ()))
    sample = arena.sample(0, 2000)
    assert bool((sample.margins.least > 0).all())
    Perturb().search(arena, 0)
    assert arena.offers


def one_entry(becomes):
    """Whether one entry of each child is what `becomes` makes of it, and any entry is it once."""

    def holds(before, after, _):
        moved = before != after
        one = (moved.sum((1, 2)) == 1).all() and moved.any(0).all()
        return one and (after[moved] == becomes(before[moved])).all()

    return holds


def beside_an_integer(before, after, _):
    moved = before != after
    steps = after[moved] - np.round(before[moved])
    return (moved.sum((1, 2)) == 1).all() and set(steps.tolist()) == {-1.0, 0.0, 1.0}


def first_row_is_the_last(before, after, _):
    return (after[:, 0] == before[:, 2]).all() and (after[:, 1:] == before[:, 1:]).all()


def of_another_size(before, after, _):
    ratio = after / before
    alike = np.allclose(ratio, ratio[:, :1, :1])
    return alike and 0.25 <= ratio.min() < 0.5 and 2 < ratio.max() <= 4


def noisy(before, after, _):
    size = np.abs(after - before).max((1, 2))
    return (after != before).all() and size.min() < 1e-3 < 1e-1 < size.max()


def of_one_parent(before, after, others):
    among = (after[:, None] == others[2][None]).all((2, 3))
    return (among.sum(1) == 1).all() and (after != before).any()


@pytest.mark.parametrize(
    ("name", "index", "holds"),
    [
        ("zero", 0, one_entry(lambda x: 0 * x)),
        ("negate", 0, one_entry(lambda x: -x)),
        ("end", 0, one_entry(lambda x: 0 * x - 4.0)),
        ("end", 1, one_entry(lambda x: 0 * x + 5.0)),
        ("integer", 0, beside_an_integer),
        ("rolled", 0, lambda before, after, _: (after == np.roll(before, 1, axis=1)).all()),
        ("equal_rows", 0, first_row_is_the_last),
        ("rounded", 0, lambda before, after, _: (after == np.round(before)).all()),
        ("scaled", 0, of_another_size),
        ("noise", 0, noisy),
        ("repeated", 0, lambda _, after, others: (after == others[1]).all()),
        ("repeated", 1, lambda _, after, others: (after == others[0]).all()),
        ("crossed", 0, of_one_parent),
    ],
)
def test_a_child_is_changed_as_its_change_says(name, index, holds):
    """Children of 8 parents that have no entry in common; each has two 3 by 3 matrices."""
    generator = torch.Generator().manual_seed(0)
    parents = 3 * torch.rand(2, 8, 3, 3, dtype=torch.float64, generator=generator) + 0.5
    entry = Entries(parents[0], (3, 3), -4.0, 5.0)
    children = _Children(Record((entry, replace(entry, values=parents[1]))), 64, generator)
    before = children._tensors[index].numpy().copy()
    after = getattr(children, f"_{name}")(index, children._tensors[index], entry)
    assert holds(before, after.numpy(), [t.numpy() for t in (*children._tensors, *parents)])


def test_perturbations_keep_entries_in_their_range():
    seen = []

    def body(x):
        seen.append((float(x.min()), float(x.max())))
        return leq(x.sum(-1), 100 + 0 * x[..., 0])

    Perturb().search(Arena(claim_of(body, vectors(low=0.5, high=2.0)), Shape("instances", ())), 0)
    assert min(low for low, _ in seen) >= 0.5
    assert max(high for _, high in seen) <= 2.0


# All of them


@pytest.mark.parametrize("strategy", STANDARD, ids=lambda strategy: strategy.name)
@pytest.mark.parametrize("name", ["generic", "single", "discrete", "nothing", "whole"])
def test_a_strategy_is_a_function_of_its_seed(hunted, strategy, name):
    def searched(seed):
        arena = Arena(hunted(name), Shape("instances", (5,) if name == "whole" else ()))
        torch.manual_seed(int(time.time() * 1000) % 2**31)  # must not matter
        strategy.search(arena, seed)
        return (
            arena.counts,
            arena.least,
            [(beyond, record.to_json()) for beyond, record in arena.offers],
        )

    assert isinstance(strategy, Strategy)
    assert searched(1) == searched(1)


@pytest.mark.parametrize("strategy", [Corpus(), Screen(), Descend(), Perturb(), Evolve()])
@pytest.mark.parametrize("name", ["true", "true-identity"])
def test_strategies_do_not_break_a_true_statement(hunted, strategy, name):
    arena = Arena(hunted(name), Shape("instances", ()))
    strategy.search(arena, 7)
    assert not arena.offers
