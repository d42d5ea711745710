"""Errors on balls: undecided comparisons, conversions to floats, missing operations."""

import copy
import math
import re
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import torch
from flint import arb, fmpq
from torch.nn import functional

from rankcheck.balls import (
    BallArray,
    NoBallForm,
    Undecided,
    balls,
    difference_bounds,
    is_ball,
    precision,
    provably_leq,
    provably_less,
)
from rankcheck.balls import pi as balls_pi

exact: Any = BallArray.exact
pi: Any = balls_pi


def ball(middle, radius) -> Any:
    return BallArray(np.array(arb(middle, radius), dtype=object))


COMPARISONS = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


@pytest.mark.parametrize("symbol", COMPARISONS)
def test_overlapping_balls_are_undecided(symbol):
    compare = COMPARISONS[symbol]
    root = exact(2).sqrt()
    overlapping = [
        (ball(1, 0.5), ball(1.25, 0.5)),
        (ball(1, 0.5), exact(1)),
        (root, root),
        (root**2, exact(2)),
        (exact(Fraction(2, 3)), exact(1) * (2 / 3)),
        (exact(1), exact(1) / 0),
    ]
    for a, b in overlapping:
        for left, right in ((a, b), (b, a)):
            with pytest.raises(Undecided, match=rf"cannot decide .* {symbol} .* 128 bits"):
                compare(left, right)


@pytest.mark.parametrize("symbol", COMPARISONS)
def test_disjoint_balls_and_rationals_are_decided(symbol):
    compare = COMPARISONS[symbol]
    for a, b in ((1.0, 2.0), (2.0, 1.0)):
        expected = compare(torch.tensor(a), torch.tensor(b))
        assert torch.equal(compare(ball(a, 0.25), ball(b, 0.25)), expected)
        assert torch.equal(compare(ball(a, 0.25), b), expected)
    third = exact(Fraction(1, 3))
    assert torch.equal(compare(third, Fraction(1, 3)), compare(torch.ones(()), torch.ones(())))


def test_one_open_element_leaves_the_comparison_open():
    row = torch.stack([exact(1), ball(1, 0.5), exact(3)])
    with pytest.raises(Undecided, match=r"1 ± 0\.5 > 1"):
        _ = row > 1
    assert (row > 0.25).all()


def test_touching_balls_are_weakly_ordered():
    low, high = ball(0.5, 0.5), ball(1.5, 0.5)
    assert provably_leq(low, exact(1.0001)).item()
    assert provably_less(low, exact(1.0001)).item()
    assert not provably_less(low, high).item()
    assert not provably_less(high, low).item()


def test_a_ball_that_ends_at_zero_may_be_zero():
    reaches_zero = ball(0, 1).abs()
    for compare in (
        lambda x: x > 0,
        lambda x: x <= 0,
        lambda x: -x >= 0,
        lambda x: -x < 0,
        lambda x: x == 0,
        lambda x: x != 0,
    ):
        with pytest.raises(Undecided):
            compare(reaches_zero)
    assert reaches_zero >= 0
    assert not reaches_zero < 0
    assert not -reaches_zero > 0


def test_provable_order_never_raises():
    a = torch.stack([exact(1), ball(1, 0.5), exact(3), pi() / 0])
    assert provably_less(a, 2).tolist() == [True, True, False, False]
    assert provably_less(a, 1).tolist() == [False, False, False, False]
    assert provably_leq(a, 1).tolist() == [True, False, False, False]
    assert provably_leq(a[:, None], a).shape == (4, 4)


@pytest.mark.oracle("rankcheck.balls.difference_bounds", "fractions.Fraction and mpmath.pi")
def test_difference_bounds_are_exact():
    assert difference_bounds(exact(Fraction(1, 3)), 1) == (Fraction(-2, 3),) * 2
    low, high = difference_bounds(pi(), 3)
    assert isinstance(low, Fraction)
    with mpmath.workdps(60):
        digits = mpmath.nstr(mpmath.pi - 3, 50)
    assert low - Fraction(1, 10**48) < Fraction(digits) < high + Fraction(1, 10**48)
    assert 0 < high - low < Fraction(1, 2**120)
    low, high = difference_bounds(exact([1, 2]), torch.tensor([[0.5], [0.25]]))
    assert low.tolist() == high.tolist() == [[0.5, 1.5], [0.75, 1.75]]
    with pytest.raises(Undecided, match="bounds"):
        difference_bounds(exact(1) / 0, 1)


def test_more_precision_decides_more():
    def gap():
        return exact(2).sqrt() - exact(Fraction(math.isqrt(2 * 10**100), 10**50))

    with pytest.raises(Undecided):
        _ = gap() > 0
    with precision(256):
        assert gap() > 0


def test_a_branch_that_is_not_selected_is_unaffected():
    x = exact([-1, 0, 4])
    assert (torch.where(x > 0, x.sqrt() / x, 0.0) == torch.tensor([0, 0, 0.5])).all()
    assert (torch.where(x > 0, torch.log(x), x) <= 2).all()
    with pytest.raises(Undecided):
        _ = x.log() <= 2


@pytest.mark.parametrize(
    "leak",
    [
        float,
        int,
        complex,
        bool,
        math.sqrt,
        math.floor,
        round,
        lambda x: x.item(),
        lambda x: x.tolist(),
        lambda x: x.numpy(),
        np.asarray,
        lambda x: np.array([1.0, x]),
        torch.tensor,
        torch.as_tensor,
        lambda x: torch.tensor([x]),
        lambda x: torch.full((2,), x),
        lambda x: torch.zeros(2).fill_(x),
        lambda x: torch.zeros(2).copy_(x),
        lambda x: torch.ones(2).add_(x),
        lambda x: torch.zeros(2).__setitem__(0, x),
        lambda x: torch.zeros(2).new_tensor(x),
        lambda x: range(x),
        lambda x: [1, 2][x],
        lambda x: torch.zeros(3)[x],
        lambda x: f"{x:.3f}",
        lambda x: 1 if x else 0,
        lambda x: x.to(torch.int64),
        lambda x: x.bool(),
        lambda x: x.long(),
        torch.from_numpy,
    ],
)
def test_no_way_back_to_floats(leak):
    for x in (exact(2), exact([2]), ball(2, 0.25)):
        with pytest.raises((NoBallForm, TypeError, IndexError)):
            leak(x)


@pytest.mark.filterwarnings("ignore:Implicit dimension")  # of softmax, by torch
def test_the_error_names_the_operation():
    A = exact([[2, 1], [1, 2]])
    for call, name in [
        (lambda: torch.linalg.lu(A), "torch.linalg.lu"),
        (lambda: torch.linalg.lstsq(A, A), "torch.linalg.lstsq"),
        (lambda: functional.rrelu(A), "rrelu"),
        (lambda: torch.fft.hfft(A), "torch.fft.hfft"),
        (lambda: A.svd(), "torch.Tensor.svd"),
        (lambda: A.backward(), "torch.Tensor.backward"),
        (lambda: A.add_(1), "torch.Tensor.add_"),
        (lambda: torch.ones(2, 2).mul_(A), "torch.Tensor.mul_"),
        (lambda: torch.linalg.pinv(A, rtol=0.1), "a tolerance"),
        (lambda: A.sum(dtype=torch.int64), "in torch its result is of torch.int64"),
        (lambda: A.type_as(torch.ones(2, dtype=torch.int64)), "torch.Tensor.type_as"),
        (lambda: functional.softmax(A), "softmax without dim"),
        (lambda: functional.relu(A, inplace=True), "an activation in place"),
        (lambda: A.new_full((2,), torch.tensor(1)), "this form of torch.Tensor.new_full"),
        (lambda: torch.linalg.vector_norm(A, -1), "norm of order -1"),
        (lambda: A.item(), "conversion to Python or numpy numbers"),
    ]:
        with pytest.raises(NoBallForm) as error:
            call()
        assert name in str(error.value)
        assert error.value.operation in str(error.value)
    with pytest.raises(IndexError):
        A[A]
    with pytest.raises(AttributeError, match="frobnicate"):
        A.frobnicate()
    assert not hasattr(A, "__array_interface__")


def test_nothing_is_changed_in_place_that_others_may_share():
    x = exact([1, 2])

    def add(y):
        y += 1
        return y

    with pytest.raises(NoBallForm, match="assignment to an array that others may share"):
        add(x)
    assert (x == torch.tensor([1, 2])).all()
    own = x.clone()
    assert (add(own) == torch.tensor([2, 3])).all()
    assert (own == torch.tensor([2, 3])).all()
    own //= 2
    own *= own.clone()
    assert (own == torch.tensor([1, 1])).all()


def test_ball_arrays_are_told_from_tensors():
    assert is_ball(exact(1))
    assert not is_ball(torch.tensor(1.0))
    assert not is_ball(1)
    assert not isinstance(exact(1), torch.Tensor)  # only a type checker takes it for one


def test_shapes_that_do_not_fit_raise():
    A = exact(torch.ones(2, 3))
    for call in (
        lambda: A + torch.ones(2),
        lambda: A @ A,
        lambda: A.reshape(4),
        lambda: A.sum(2),
        lambda: A[2],
        lambda: torch.linalg.det(A),
        lambda: torch.linalg.svdvals(A[0]),
        lambda: A[:0].amax(0),
        lambda: A.topk(4),
        lambda: torch.where(A, A, A),
        lambda: A[None].t(),
        lambda: A.expand(3),
        lambda: functional.pad(A, (1, 1, 1, 1, 1, 1)),
        lambda: len(A[0, 0]),
        lambda: iter(A[0, 0]),
    ):
        with pytest.raises((ValueError, IndexError, TypeError, RuntimeError)):
            call()


@pytest.mark.parametrize("ndim", range(4))
def test_axes_are_those_of_torch(ndim):
    """Counted from both ends; one that does not exist is an IndexError in both."""
    x = torch.ones((2,) * ndim)
    for dim in range(-5, 6):
        try:
            expected = x.sum(dim).shape
        except IndexError:
            with pytest.raises(IndexError, match=str(dim)):
                exact(x).sum(dim)
        else:
            assert exact(x).sum(dim).shape == expected


def test_reports():
    x: Any = torch.stack([exact(Fraction(3, 4)), exact(2).sqrt()])
    assert re.fullmatch(r"BallArray\(\[3/4, 1\.414213562… ± \de-39\]\)", repr(x))
    assert ball(1, 0.5).describe() == "1 ± 0.5"
    assert ball(2.5, 0).describe() == "2.5"
    assert exact(Fraction(10**40 + 1, 3)).describe() == "3.333333333e+39…"
    assert (x / 0).describe() == "[unknown, unknown]"
    assert x.describe(3).startswith("[3/4, 1.41… ± ")
    assert x.radii()[0] == 0 < x.radii()[1] < 1e-15
    assert x.midpoints().tolist() == [0.75, math.sqrt(2)]
    assert x.lower()[0] == Fraction(3, 4) == x[0].upper()
    assert x.lower()[1] ** 2 < 2 < x.upper()[1] ** 2
    assert (x / 0).radii().isinf().all()
    assert balls(Fraction(10**400)).midpoints() == math.inf


def test_midpoints_and_radii_contain_the_elements():
    numbers = [Fraction(1, 3), 10**30 + 1, Fraction(1, 10**320), 0.9, 1e-300]
    meant: Any = balls(numbers)
    x: Any = torch.cat([meant, meant.sqrt(), exact(numbers)])
    middle, radius = x.midpoints().tolist(), x.radii().tolist()
    for m, r, low, high in zip(middle, radius, x.lower(), x.upper(), strict=True):
        assert Fraction(m) - Fraction(r) <= low <= high <= Fraction(m) + Fraction(r)


def test_eigenvectors_that_are_not_defined_have_a_text():
    V = torch.linalg.eigh(exact([[1, 0], [0, 1]])).eigenvectors
    assert repr(V).startswith("BallArray(of shape (2, 2), not known: eigenvectors are not defined")
    with pytest.raises(Undecided):
        V.sum()


def test_numbers_of_any_size_are_handled():
    # exp(exp(40)) has 10^17 binary digits: as a rational it would exhaust the memory.
    huge = exact([40, 50]).exp().exp()
    tiny = 1 / huge
    assert (huge > 10**300).all()
    assert (tiny > 0).all()
    assert (tiny < Fraction(1, 10**300)).all()
    assert tiny.lower().tolist() == [0, 0]
    assert tiny.upper().tolist() == [Fraction(1, 2**65536)] * 2
    assert (-tiny).lower().tolist() == [-Fraction(1, 2**65536)] * 2
    assert huge.midpoints().tolist() == [math.inf, math.inf]
    assert 0 < tiny.radii().max() < 1e-300
    assert "e+" in huge.describe()
    assert provably_less(*huge.sort().values).item()
    assert huge.argsort(descending=True).tolist() == [1, 0]
    for operation in (torch.floor, torch.round):
        with pytest.raises(Undecided, match="2\\^65536"):
            operation(huge)
    with pytest.raises(Undecided, match="2\\^65536"):
        huge.upper()
    spectrum = torch.linalg.svdvals(torch.diag(tiny))
    assert (spectrum >= 0).all()
    assert (spectrum < Fraction(1, 10**300)).all()
    assert not provably_less(spectrum, tiny).any()
    assert not provably_less(torch.linalg.svdvals(torch.diag(huge)), huge.flip(0)).any()
    assert exact(Fraction(10**4000, 3)).describe() == "3.333333333e+3999…"


def test_elements_are_rationals_and_balls_only():
    x = exact([[1, 2], [3, 4]]) * pi()
    assert all(isinstance(e, (fmpq, arb)) for e in x.elements.ravel())
    assert copy.deepcopy({"x": x})["x"].elements is x.elements
    assert copy.deepcopy(x) is not x
    assert x in {x}
