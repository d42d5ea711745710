"""`there_is`: one witness fulfils all entries, and only an exhaustive list refutes."""

import itertools
from fractions import Fraction

import pytest
import torch

from rankcheck import any_of, eq, leq, lt, there_is
from rankcheck.balls import BallArray
from rankcheck.claims.excess import Excess
from rankcheck.claims.existence import OTHERS
from rankcheck.counterexamples.judge import judge


def array(*values):
    return torch.tensor(values, dtype=torch.float64)


def random(*shape, seed):
    draw = torch.Generator().manual_seed(seed)
    return torch.randint(-2, 3, shape, generator=draw).double()


def test_one_witness_fulfils_all_entries():
    """Each entry has its witness, and no witness has all entries."""
    relation = leq(array([0, 1], [1, 0]), 0)
    assert there_is(relation, dim=-2, exhaustive=True).violated().item()
    both = any_of(*(leq(row, 0) for row in relation.lhs))
    assert both.violated().tolist() == [False, False]
    assert there_is(relation, dim=-1, exhaustive=True).violated().tolist() == [False, False]


@pytest.mark.parametrize("make", [leq, lt, eq])
@pytest.mark.parametrize("entries", [(), (2,), (2, 2)])
def test_it_is_that_of_a_loop_over_the_witnesses(make, entries):
    for seed in range(5):
        lhs = random(200, 3, *entries, seed=seed).sign()
        rhs = random(200, 1, *entries, seed=9 + seed).sign()
        relation = make(lhs, rhs)
        fails = relation.violated().reshape(200, 3, -1)
        found = there_is(relation, dim=-1 - len(entries), exhaustive=True)
        assert found.violated().tolist() == [all(w.any() for w in one) for one in fails]
        assert found.kind == relation.kind
        assert {True, False} == set(found.violated().tolist())


def test_the_sides_are_those_of_the_nearest_witness_where_it_is_worst():
    lhs = array([5, 9], [4, 6], [7, 0])
    found = there_is(leq(lhs, array(4, 4)), dim=-2, exhaustive=True)
    assert (found.lhs.item(), found.rhs.item()) == (6, 4)
    assert found.label == "the nearest witness"
    assert there_is(leq(lhs, 4), dim=-2, exhaustive=True, label="row").label == "row"


def test_scale_and_error_are_those_of_the_witness():
    x = array(1e-12, 1)
    assert there_is(leq(x, 0), dim=-1, exhaustive=True).violated()
    for band in ({"scale": array(1e3, 0)}, {"error": array(1e-11, 0)}, {"error": 1e-11}):
        assert not there_is(leq(x, 0, **band), dim=-1, exhaustive=True).violated()
    for band in ({"scale": array(0, 1e3)}, {"error": array(0, 1e-11)}):
        assert there_is(leq(x, 0, **band), dim=-1, exhaustive=True).violated()


def test_the_derived_mutant_may_have_another_witness():
    first = there_is(eq(array(5, 0), array(5, 0)), dim=-1, exhaustive=True)
    assert first.lhs == 5
    mutant = first.strengthened()
    assert not mutant.violated()
    assert mutant.lhs == 0
    bound = there_is(leq(array(2, 1), array(1, 1)), dim=-1, exhaustive=False, label="l")
    assert not bound.violated()
    stronger = bound.strengthened()
    assert stronger.violated()
    assert (stronger.label, stronger.inconclusive) == ("l", OTHERS)


def test_hypotheses_integers_and_constants():
    relation = leq(torch.tensor([[3, 4], [2, 9]]), 2)
    found = there_is(relation, dim=-1, exhaustive=True)
    assert found.exact
    assert found.violated().tolist() == [True, False]
    inside = there_is(relation, dim=-1, exhaustive=True, where=torch.tensor([False, True]))
    assert inside.violated().tolist() == [False, False]
    assert inside.over((2,)) is inside
    constant = there_is(leq(array(2, 3), 1), dim=-1, exhaustive=True).over((4,))
    assert constant.violated().tolist() == [True] * 4
    assert constant.strengthened().lhs.shape == (4,)


def test_a_gradient_reaches_the_nearest_witness():
    x = array(3, 2, 4).requires_grad_()
    there_is(leq(x * x, 1), dim=-1, exhaustive=True).excess.backward()
    assert x.grad.tolist() == [0, 4, 0]


def test_what_is_wrong_is_told():
    relation = leq(array([1, 2], [3, 4]), 0)
    for dim in (0, 1, -3):
        with pytest.raises(ValueError, match=rf"dim={dim}.*from -1 to -2"):
            there_is(relation, dim=dim, exhaustive=True)
    with pytest.raises(ValueError, match="no witness"):
        there_is(leq(torch.zeros(2, 0), 0), dim=-1, exhaustive=True)
    with pytest.raises(TypeError, match="AnyOf"):
        there_is(any_of(relation), dim=-1, exhaustive=True)
    with pytest.raises(TypeError, match="passed to there_is"):
        there_is(leq(array(1), 0, where=array(1) > 0), dim=-1, exhaustive=True)
    with pytest.raises(TypeError, match="received Tensor"):
        there_is(array(1), dim=-1, exhaustive=True)


# On balls

TWO = Fraction(2)


def root(x):
    """2 as the square of an irrational number: a ball around it."""
    return (0 * x + 2).sqrt() ** 2


CASES = {
    "all are proved to fail": (lambda x: (x + 1, x + 2), "refuted"),
    "one fulfils it": (lambda x: (x + 1, x - 1), "satisfied"),
    "one is open": (lambda x: (x + 1, x * root(x) / 2), "undecided"),
    "one is open, and one fulfils it": (lambda x: (x * root(x) / 2, x - 1), "satisfied"),
    "one is wide open, and one fulfils it": (
        lambda x: (x + (root(x) - 2) * 2**3000, x - 1),
        "satisfied",
    ),
    "one has no bounds": (lambda x: (x + 1, 1 / (root(x) - 2)), "undecided"),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("make", [lt, eq])
def test_balls_refute_where_all_witnesses_are_proved_to_fail(
    declare, scalars, record, name, swapped, make
):
    sides, finding = CASES[name]

    def body(x):
        lhs = torch.stack(sides(x)[::-1] if swapped else sides(x), -1)
        if make is eq:  # the positive part is zero
            lhs = (lhs - x[..., None]).clamp(min=-0.5)
            return there_is(eq(lhs.abs() + lhs, 0), dim=-1, exhaustive=True)
        return there_is(lt(lhs, x[..., None]), dim=-1, exhaustive=True)

    judgement = judge(declare(body, scalars()), record(1.5))
    if make is eq and "open" in name:  # equality within the balls
        finding = "satisfied"
    assert judgement.finding == finding, judgement.reason


@pytest.mark.parametrize("exhaustive", [True, False])
def test_a_list_that_is_not_exhaustive_refutes_nothing(declare, scalars, record, exhaustive):
    def body(x):
        return there_is(leq(torch.stack((x + 1, x + 2), -1), x[..., None]), dim=-1,
                        exhaustive=exhaustive)  # fmt: skip

    claim = declare(body, scalars())
    judgement = judge(claim, record(1.5))
    assert judgement.finding == ("refuted" if exhaustive else "undecided")
    assert judgement.reason == ("" if exhaustive else OTHERS)
    assert judgement.lhs is not None
    assert judgement.rhs is not None
    assert (judgement.lhs.lower(), judgement.rhs.lower()) == (Fraction(5, 2), Fraction(3, 2))
    # As a part of a disjunction as well; another relation of the claim is decided for itself.
    either = declare(lambda x: any_of(body(x), leq(x, 0)), scalars())
    assert judge(either, record(1.5)).finding == judgement.finding
    beside = declare(lambda x: (body(x), leq(x, 0, label="other")), scalars())
    assert judge(beside, record(1.5)).finding == "refuted"


def test_on_balls_one_witness_fulfils_all_entries(declare, lists, record):
    """Against all permutations one by one: no two entries may be worst for different witnesses."""

    def body(x, y):
        every = torch.tensor(list(itertools.permutations(range(x.shape[-1]))))
        return there_is(leq(x[..., every], y[..., None, :]), dim=-2, exhaustive=True)

    claim = declare(body, lists(count=2))
    for seed in range(20):
        x, y = random(2, 3, seed=seed).tolist()
        dominated = all(a <= b for a, b in zip(sorted(x), sorted(y), strict=True))
        judgement = judge(claim, record(3, x, y))
        assert judgement.finding == ("satisfied" if dominated else "refuted"), (x, y)


def test_bounds_of_an_excess():
    half, third = BallArray.exact(0.5), BallArray.exact(Fraction(1, 3))
    assert Excess.of("eq", third, half) == Excess(Fraction(1, 6), Fraction(1, 6), half, False)
    below, same = Excess.of("lt", third, half), Excess.of("lt", half, half)
    assert (below.fails, below.holds, same.fails, same.holds) == (False, True, True, False)
    near = Excess.of("eq", BallArray.exact(TWO).sqrt() ** 2, BallArray.exact(2))
    assert (near.low, near.holds) == (Fraction(0), True)
