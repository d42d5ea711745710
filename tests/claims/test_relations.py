"""Relations measure: tolerances, what counts as a failure, and where anything is asserted."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch

from rankcheck import eq, leq, lt
from rankcheck.balls import BallArray, balls
from rankcheck.claims import tolerances
from rankcheck.claims.relations import NoTruthValue
from rankcheck.engine.verification.mapped import beside

INF, NAN = math.inf, math.nan


def array(*values):
    return torch.tensor(values, dtype=torch.float64)


def test_a_bound_fails_beyond_its_tolerance_alone():
    u = 2.0**-53
    band = tolerances.SAFETY * tolerances.TERMS * u
    lhs = array(1, 1 + band / 2, 1 + 2 * band, 0.5, 1.1)
    relation = leq(lhs, 1.0)
    assert relation.violated().tolist() == [False, False, True, False, True]
    assert eq(lhs, 1.0).violated().tolist() == [False, False, True, True, True]
    assert relation.excess[4] == pytest.approx(0.1)
    assert eq(array(0.5), 1).excess.tolist() == [0.5]


def test_equality_is_no_violation_whatever_its_size():
    generator = torch.Generator().manual_seed(0)
    exponents = 400 * torch.rand(1000, dtype=torch.float64, generator=generator) - 200
    values = 10.0**exponents
    third = values / 3
    assert not leq(third * 3, values).violated().any()
    assert not leq(values, third * 3).violated().any()
    assert not eq(third + third + third, values).violated().any()


def test_what_cancelled_widens_the_band():
    x = array(1e8)
    cancelled = (x + 1 / 3) - x
    assert eq(cancelled, 1 / 3).violated()
    assert not eq(cancelled, 1 / 3, scale=x).violated()
    assert not eq(cancelled, 1 / 3, error=1e-7).violated()
    assert eq(cancelled, 1 / 3, scale=x, terms=0).violated()
    # Scales and errors are sizes: their signs do not matter.
    assert not eq(cancelled, 1 / 3, scale=-x).violated()


@pytest.mark.parametrize(
    ("lhs", "rhs", "fails"),
    [
        (NAN, 1, True), (1, NAN, True), (NAN, NAN, True),
        (INF, 1, True), (INF, INF, True), (-INF, -INF, True),
        (1, INF, False), (-INF, 1, False), (-INF, INF, False),
        (1, -INF, True),
    ],
)  # fmt: skip
def test_what_is_no_number_fails(lhs, rhs, fails):
    assert leq(array(lhs), array(rhs)).violated().tolist() == [fails]
    assert eq(array(lhs), array(rhs)).violated().tolist() == [True]


@pytest.mark.parametrize("band", [{"scale": array(INF)}, {"error": INF}, {"scale": array(NAN)}])
def test_a_band_without_end_excuses_nothing(band):
    assert leq(array(2), array(1), **band).violated().all()
    assert eq(array(2), array(1), **band).violated().all()


def test_integers_compare_exactly():
    big = 2**53
    assert leq(torch.tensor(big + 1), torch.tensor(big)).violated()
    assert not leq(torch.tensor(big), torch.tensor(big)).violated()
    assert eq(torch.tensor(big + 1), big).violated()
    relation = leq(torch.tensor([3, 4]), 3)
    assert relation.exact
    assert relation.tolerance.tolist() == [0, 0]
    assert relation.violated().tolist() == [False, True]
    assert leq(2**60 + 1, 2**60).violated()
    assert not eq(7, 7).violated()
    assert not leq(torch.tensor([1]), 1.0).exact
    assert leq(torch.tensor([2]), 1.5).violated().tolist() == [True]


def test_where_is_respected():
    lhs = array(2, 2, 0)
    where = torch.tensor([True, False, True])
    assert leq(lhs, 1, where=where).violated().tolist() == [True, False, False]
    assert leq(lhs * NAN, 1, where=where).violated().tolist() == [True, False, True]
    assert not leq(lhs, 1, where=False).violated().any()


def test_a_hypothesis_of_the_instances_covers_their_entries():
    lhs = torch.ones(2, 3, dtype=torch.float64)
    where = torch.tensor([True, False])
    assert leq(lhs, 0, where=where).violated().tolist() == [[True] * 3, [False] * 3]
    entries = torch.tensor([[True, False, True], [False, False, True]])
    assert leq(lhs, 0, where=entries).violated().tolist() == entries.tolist()
    with pytest.raises(ValueError, match="the first and the last axes of the sides"):
        leq(torch.ones(2, 2, dtype=torch.float64), 0, where=where)


def test_sides_are_broadcast():
    relation = leq(torch.zeros(2, 1, dtype=torch.float64), array(1, -1, 0))
    assert relation.lhs.shape == relation.rhs.shape == (2, 3)
    assert relation.violated().tolist() == [[False, True, False]] * 2
    with pytest.raises(ValueError, match=r"broadcast to one shape; received \(2,\) and \(3,\)"):
        leq(array(1, 2), array(1, 2, 3))


def test_numbers_of_python_are_sides():
    assert not leq(1.0, 2).violated()
    assert leq(math.pi, 3).violated()
    assert leq(3, 2).violated()
    assert leq(3, 2).exact
    assert not leq(3.0, 2).exact


def test_relations_of_instances_stand_beside_one_another():
    """A relation of a batch says of each instance what its own says: where, scale and terms too."""
    relations = [
        leq(array(n, 2.0 + 1e-14), 2, where=torch.tensor(n > 1), scale=array(10.0 * n))
        for n in (1, 3)
    ]
    [both] = beside([(one.spread(),) for one in relations])
    assert both.violated().tolist() == [one.violated().tolist() for one in relations]
    assert both.violated().tolist() == [[False, False], [True, False]]
    assert torch.equal(both.tolerance, torch.stack([one.tolerance for one in relations]))
    [whole] = beside([(leq(3, 2).spread(),)] * 4)
    assert whole.violated().tolist() == [True] * 4


def test_derived_mutants_of_balls():
    one = BallArray.exact([1, 0])
    moved = eq(one, one, scale=BallArray.exact(2)).strengthened().rhs
    assert (moved - one).upper().tolist() == [Fraction(1, 25)] * 2
    assert eq(one, one, scale=array(1.0)).strengthened().rhs.upper()[1] == Fraction(1, 50)


def test_derived_mutants():
    stronger = leq(array(1.0, 0.97), array(1.0, 1.0)).strengthened()
    assert (stronger.excess > stronger.tolerance).tolist() == [True, False]
    below = leq(array(-1.0), array(-1.0)).strengthened()
    assert bool(below.excess > below.tolerance)
    moved = eq(array(0.0, 5.0), array(0.0, 5.0)).strengthened()
    assert moved.violated().tolist() == [False, True]
    assert eq(array(0.0), array(0.0), scale=array(1.0)).strengthened().violated().all()
    counts = leq(torch.tensor([2, 1]), torch.tensor([2, 2])).strengthened()
    assert counts.violated().tolist() == [True, False]
    assert eq(torch.tensor([2]), torch.tensor([2])).strengthened().violated().all()
    kept = leq(array(1), array(1), where=torch.tensor([False]), label="l").strengthened()
    assert not kept.violated().any()
    assert kept.label == "l"


def test_balls_take_their_partners_along():
    x = BallArray.exact([Fraction(1, 3), 2])
    for relation in (leq(x, 2), leq(0.25, x), eq(x, torch.tensor([1, 2]))):
        assert isinstance(relation.lhs, BallArray)
        assert isinstance(relation.rhs, BallArray)
        assert not relation.exact
    assert leq(x, 2, where=x > 1).asserted.tolist() == [False, True]
    assert leq(x, 2).asserted.tolist() == [True, True]


@pytest.mark.parametrize(
    ("a", "b"),
    [(3, 5), (-7, -7), (2**62, 2**62 - 1), (10**400, 10**400 + 1), (-(10**40), 10**40), (2**70, 3)],
)
def test_integers_of_any_size_are_compared(a, b):
    assert bool(leq(a, b).violated()) == (a > b)
    assert bool(eq(a, b).violated()) == (a != b)
    lhs, rhs = eq(a, b).sides()
    assert (lhs.lower(), lhs.upper(), rhs.lower(), rhs.upper()) == (a, a, b, b)


@pytest.mark.parametrize(
    ("a", "b", "ratio"),
    [(3, 6, 0.5), (10**400, 4 * 10**400, 0.25), (-(10**40), 10**40, -1), (3, 2**70, 3 / 2**70)],
)
def test_integers_of_any_size_have_proportions(a, b, ratio):
    lhs, rhs = leq(a, b).proportions
    assert float(lhs / rhs) == pytest.approx(ratio, rel=1e-15)
    below = leq(torch.tensor([[1.0], [2.0]]), 4.0)
    assert [side.shape for side in below.proportions] == [(2, 1), (2, 1)]


def test_a_mutant_of_large_integers_can_be_killed():
    assert bool(leq(10**40, 10**40).strengthened().violated())
    assert bool(eq(10**40, 10**40).strengthened().violated())


def test_how_far_beyond():
    lhs = torch.tensor([1.0, 2.0, 3.0, float("nan")], dtype=torch.float64)
    far = leq(lhs, torch.ones(4, dtype=torch.float64)).beyond(relative=False)
    assert far.tolist() == [-float("inf"), 1.0, 2.0, float("inf")]
    assert leq(lhs, torch.ones(4, dtype=torch.float64)).beyond()[1] == 0.5


@pytest.mark.parametrize("asks", [lambda a, b: a or b, lambda a, b: not a], ids=("or", "not"))
def test_a_relation_has_no_truth_value(asks):
    with pytest.raises(NoTruthValue, match=r"for `and`, leq\(torch\.minimum\(a, b\), 0\) for"):
        asks(leq(array(0), 1), leq(1, array(2)))


def test_a_strict_relation_fails_at_equality_whatever_its_tolerance():
    lhs = array(1, 1 - 2.0**-53, 1 + 2.0**-52, 0.5, 2, NAN, -INF)
    wanted = [True, False, True, False, True, True, False]
    assert lt(lhs, 1.0).violated().tolist() == wanted
    assert lt(lhs, 1.0, scale=array(1e9), error=1.0).violated().tolist() == wanted
    assert lt(lhs, 1.0, where=lhs < 2).violated().tolist() == [*wanted[:4], False, False, False]
    assert lt(array(0), array(0)).beyond().tolist() == [0]
    assert lt(array(1), array(1.01)).strengthened().violated().all()
    assert lt(3, 3).violated()
    assert not lt(torch.tensor([3, -4]), 4).violated().any()
    assert lt(torch.tensor([3]), 4).strengthened().violated().all()


@pytest.mark.parametrize("name", ["any_of", "there_is"])
def test_a_claim_that_asks_for_what_went_is_told_what_to_write(name):
    with pytest.raises(ImportError, match=r"leq\(torch\.minimum\(a, b\), 0\)"):
        exec(f"from rankcheck import {name}")


ENDS = (-(2**63), 2**63 - 1)


@pytest.mark.parametrize("lhs", [*ENDS, -2, 0, 5])
@pytest.mark.parametrize("rhs", [*ENDS, -2, 0, 5, 2**63, 2**64 + 1, -(2**63) - 1, 2**70])
def test_the_difference_of_integers_does_not_wrap(lhs, rhs):
    left = torch.tensor([lhs])
    held = ENDS[0] <= rhs <= ENDS[1]
    for other in [rhs, torch.tensor([rhs])] if held else [rhs]:
        for one, two, a, b in ((left, other, lhs, rhs), (other, left, rhs, lhs)):
            assert leq(one, two).violated().tolist() == [a > b]
            assert lt(one, two).violated().tolist() == [a >= b]
            assert eq(one, two).violated().tolist() == [a != b]
            bound, equation = leq(one, two), eq(one, two)
            assert int(bound.excess) == max(-ENDS[1], min(ENDS[1], a - b))
            assert int(equation.excess) == abs(int(bound.excess))
            assert (float(bound.beyond()) > 0) == (a > b)
            assert [side.lower().tolist() for side in bound.sides()] == [[a], [b]]
            mutant = leq(one, two).strengthened()
            assert mutant.violated().tolist() == [a > b - (b != ENDS[0])]


@pytest.mark.parametrize("kind", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.bool])
def test_narrow_integers_and_truth_values_are_compared(kind):
    small, large = torch.tensor([0, 1]).to(kind), torch.tensor([1, 0]).to(kind)
    assert leq(small, large).violated().tolist() == [False, True]
    assert lt(small, small).violated().tolist() == [True, True]
    assert eq(small, large).excess.tolist() == [1, 1]
    assert leq(large, -1).violated().tolist() == [True, True]
    assert leq(300, large).violated().tolist() == [True, True]
    assert eq(torch.tensor([200, 100], dtype=torch.uint8), 100).excess.tolist() == [100, 0]


def test_floats_meet_integers_of_any_size():
    x = array(1, -1)
    assert not leq(x, 10**400).violated().any()
    assert leq(x, -(10**400)).violated().all()
    assert lt(x, 10**400).violated().tolist() == [False, False]
    assert leq(10**400, x).violated().all()


@pytest.mark.parametrize("where", [array(1, NAN), torch.tensor([1, 0]), 1.0, array(1) * NAN])
@pytest.mark.parametrize("make", [leq, lt, eq])
def test_a_condition_is_made_of_truth_values(make, where):
    with pytest.raises(TypeError, match=r"where= received numbers .*; a condition is a comparison"):
        make(array(1, 2), 0, where=where)
    with pytest.raises(TypeError, match=r"where= received numbers"):
        make(array(1, 2), 0, where=BallArray.exact([Fraction(1, 3), 2]))


def test_a_bound_of_complex_numbers_and_a_band_of_words_are_refused():
    with pytest.raises(TypeError, match="a side of a bound is complex"):
        leq(array(1.0) * 1j, 3)
    with pytest.raises(TypeError, match="terms= is 'x'"):
        leq(array(1.0), 1, terms="x")
    with pytest.raises(TypeError, match="scale= is 'x'"):
        leq(array(1.0), 3, scale="x")
    with pytest.raises(TypeError, match="error= is"):
        eq(array(1.0), 3, error=[1e-9])


@pytest.mark.parametrize(
    "other", ["9", b"9", None, [9], (9,), np.array([9.0]), 9j, leq(array(1), 1)]
)
def test_a_side_that_is_no_number_is_refused(other):
    for like in (array(1.0), torch.tensor([1]), balls([1])):
        for relate in (leq, lt, eq):
            with pytest.raises(
                TypeError, match=r"a side is .*; it is an array of torch, or a real"
            ):
                relate(like, other)
            with pytest.raises(TypeError, match="a side is"):
                relate(other, like)


def test_a_number_that_is_no_integer_stays_so_beside_integers():
    assert eq(torch.tensor([2]), np.float32(2.5)).violated().all()
    assert not leq(np.float32(2.5), torch.tensor([2])).excess.eq(0).any()
