"""Assignment to places of an array: what torch does, or a refusal, whatever shares memory."""

import copy
import itertools
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankcheck.balls import BallArray, NoBallForm, conventions

from .test_agreement import assert_same

A = torch.tensor([[1.0, -2.0, 3.0], [0.0, 5.0, -6.0]], dtype=torch.float64) / 4
STARTS: dict[str, Callable[[Any], Any]] = {
    "clone": lambda a: a.clone(),
    "zeros": torch.zeros_like,
    "new": lambda a: a.new_ones(2, 3),
    "computed": torch.relu,
    "copied": lambda a: a.to(torch.float64, copy=True),
    "picked": lambda a: a[[1, 0]],
    "the argument": lambda a: a,
    "a view of it": lambda a: a[...],
}
VIEWS: dict[str, Callable[[Any], Any]] = {
    "none": lambda b: None,
    "another name": lambda b: b,
    "a row": lambda b: b[0],
    "a dead view": lambda b: b[0] + 1,
    "rows": list,
    "transposed": lambda b: b.mT,
    "reshaped": lambda b: b.reshape(3, 2),
    "of a view": lambda b: b.mT.reshape(-1)[:2].clone() if b.ndim else b,
    "a view of a view": lambda b: b.mT[1:],
    "real": lambda b: b.real,
    "detached": lambda b: b.detach(),
    "expanded": lambda b: b.expand(2, 2, 3),
    "diagonal": lambda b: b.diagonal(),
    "flipped": lambda b: b.flip(0),
    "split": lambda b: b.split(1),
    "copied": copy.deepcopy,
    "the same again": lambda b: b.clone(),
    "positive": lambda b: +b,
    "broadcast": lambda b: torch.broadcast_tensors(b, b),
    "joined": lambda b: torch.cat([b]),
    "masked": lambda b: b[b > 0],
}
INDICES: list[Any] = [
    (..., 0, 0),
    0,
    (slice(None), -1),
    [1, 0],
    ([0, 1], [2, 0]),
    (0, [2, 0]),
    A > 0,
    (slice(None), torch.tensor([True, False, True])),
    slice(None, None, 2),
    (None, 1),
    ([0, 0], [1, 1]),
    torch.tensor([1]),
    ...,
    7,
]
VALUES: list[Callable[[Any, Any], Any]] = [
    lambda b, i: 0,
    lambda b, i: 0.5,
    lambda b, i: torch.tensor(2),
    lambda b, i: b[i] + 1,
    lambda b, i: 2 * A[i],
    lambda b, i: b.sum(),
    lambda b, i: torch.ones(3),
    lambda b, i: 1j,
]


def assigned(start: str, view: str, index: Any, value: Any, a: Any) -> Any:
    """The array and its view after an assignment."""
    b = STARTS[start](a)
    seen = VIEWS[view](b)
    b[index] = value(b, index)
    return b, seen, a


def outcome(*program: Any) -> Any:
    try:
        return assigned(*program)
    except Exception as error:
        return error


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    *(st.sampled_from(sorted(names)) for names in (STARTS, VIEWS)),
    st.sampled_from(INDICES),
    st.sampled_from(VALUES),
)
def test_an_assignment_does_what_torch_does_or_is_refused(start, view, index, value):
    expected = outcome(start, view, index, value, A.clone())
    got = outcome(start, view, index, value, BallArray.exact(A))
    if isinstance(got, NoBallForm):
        return
    assert isinstance(got, Exception) == isinstance(expected, Exception), (expected, got)
    if not isinstance(got, Exception):
        assert_same(expected, got)


@pytest.mark.parametrize("start", ["clone", "zeros", "new", "computed", "copied", "picked"])
@pytest.mark.parametrize(
    "view", ["none", "another name", "a dead view", "flipped", "joined", "masked"]
)
def test_an_array_that_the_body_has_made_can_be_assigned_to(start, view):
    for index, value in zip(INDICES[:10], itertools.cycle([*VALUES[:2], *VALUES[3:5]])):
        got = assigned(start, view, index, value, BallArray.exact(A))
        assert_same(assigned(start, view, index, value, A.clone()), got)


@pytest.mark.parametrize(
    "view", ["a row", "rows", "transposed", "a view of a view", "real", "split"]
)
def test_no_assignment_while_there_is_a_view(view):
    b = BallArray.exact(A).clone()
    seen = VIEWS[view](b)
    with pytest.raises(NoBallForm, match=re.escape("no view of it is in use")):
        b[0] = 1
    del seen
    b[0] = 1
    assert (b[0] == 1).all()


def test_what_an_evaluation_has_not_made_is_never_assigned_to():
    drawn = BallArray.exact(A).clone()
    for _ in range(2):
        with conventions():
            made = drawn.clone()
            made[0] = 1
            with pytest.raises(NoBallForm, match="assignment to an array"):
                drawn[0] = 1
    assert_same(A, drawn)


def test_a_float_tensor_takes_no_balls():
    made = torch.zeros(2, 3, dtype=torch.float64)
    with pytest.raises(NoBallForm, match=re.escape("x.new_zeros(...)")):
        made[0] = BallArray.exact(A)[0]
    assert not made.any()


def test_several_numbers_at_one_place_are_refused():
    b = BallArray.exact(A).clone()
    with pytest.raises(NoBallForm, match="several numbers to one place"):
        b[[0, 0]] = BallArray.exact(A)
