"""Indexing of ball arrays with torch's rules, and assignment to places of an array.

Ball arrays have values and no memory that several could share. So an assignment is refused where
torch would change another array, too: one of which this is a view, or a view of this one.
"""

# ruff: noqa: A002 - arguments are named as in torch, because callers may pass them by name.
from __future__ import annotations

from typing import Any

import torch

from rankcheck.balls.array import BallArray, balls, implements
from rankcheck.balls.choices import evaluation
from rankcheck.balls.formal import NoBallForm
from rankcheck.balls.labels import Labels, move


@implements("__getitem__")
def getitem(input: Any, index: Any) -> BallArray:
    """`input[index]`."""
    return move(torch.Tensor.__getitem__, input, index)


@implements("__assign__")
def assign(x: BallArray, index: Any, value: Any) -> None:
    """`x[index] = value`, for an array that the body has made and that shares its memory with none.

    Raises:
        NoBallForm: for another array.
    """
    if x.memory is None or not x.memory.of_one():
        raise NoBallForm(
            "assignment to an array that others may share",
            "assign to one that torch has just made, such as x.clone() or x.new_zeros(...), while "
            "no view of it is in use, or write torch.where(mask, value, x)",
        )
    x.elements = assigned(x, index, value).elements
    if (choices := evaluation()) is not None:
        choices.wrote = True


def _places(x: BallArray) -> torch.Tensor:
    return torch.arange(x.numel()).reshape(x.shape)


def _require_once(places: torch.Tensor, values: BallArray) -> None:
    if values.numel() > 1 and places.numel() > places.unique().numel():
        raise NoBallForm("an assignment of several numbers to one place", "torch takes any of them")


def assigned(x: BallArray, index: Any, value: Any) -> BallArray:
    """The array that x is after ``x[index] = value``.

    Raises:
        NoBallForm: if a place occurs twice and there are several values.
    """
    values = balls(value)
    _require_once(_places(x)[index], values)
    labels = Labels()
    result = labels.of(x)
    result[index] = labels.of(values)
    return labels.numbers(result)
