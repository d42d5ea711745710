"""Functions of torch that move numbers and compute none: torch itself moves labels in their place.

A label is a whole number in float64, exact up to 2⁵³. So an index, a stride or a shape means what
it means in torch. Label 0 stands for the zeros that torch fills in, as `torch.tril` does, and the
others are large, so that no other number and no sum of labels is taken for one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from rankcheck.balls.array import BallArray, balls, wrap
from rankcheck.balls.formal import NoBallForm
from rankcheck.balls.numbers import ZERO

FIRST = 1 << 40
"""The first label but 0."""


class Labels:
    """Labels of numbers, as tensors of the shapes of their arrays."""

    def __init__(self) -> None:
        self._arrays = [wrap(ZERO).elements.reshape(1)]
        self._next = FIRST

    def of(self, value: Any) -> Any:
        """New labels for ball arrays and floating tensors, in lists too; what else as it is.

        Tensors of integers and bools are indices and masks.
        """
        if isinstance(value, (list, tuple)):
            parts = map(self.of, value)
            return list(parts) if isinstance(value, list) else tuple(parts)
        tensor = isinstance(value, torch.Tensor)
        if not isinstance(value, BallArray) and not (
            tensor and (value.is_floating_point() or value.is_complex())
        ):
            return value
        elements = balls(value).elements
        self._arrays.append(elements.ravel())
        first, self._next = self._next, self._next + elements.size
        return torch.arange(first, self._next, dtype=torch.float64).reshape(elements.shape)

    def numbers(self, labels: Any) -> Any:
        """The ball array of a tensor of labels, and a tuple of them for a tuple or list.

        Raises:
            NoBallForm: if a number in it is no label, so that torch has computed it.
        """
        if isinstance(labels, (list, tuple)):
            return tuple(map(self.numbers, labels))
        values = labels.numpy()  # numpy is faster than torch on so few numbers
        with np.errstate(invalid="ignore"):
            whole = values.astype(np.int64)
        known = (whole == values) & ((whole == 0) | (whole >= FIRST) & (whole < self._next))
        if labels.dtype is not torch.float64 or not known.all():
            raise NoBallForm("a form that computes, of a function that moves numbers")
        return wrap(np.concatenate(self._arrays)[np.maximum(whole - (FIRST - 1), 0)])


def move(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What a function of torch makes of ball arrays, if it only moves their numbers.

    The arguments that are no arrays must not be numbers that go into the result.
    """
    labels = Labels()
    moved = function(*labels.of(args), **{name: labels.of(x) for name, x in kwargs.items()})
    return labels.numbers(moved)


def move_with(function: Callable[..., Any], *args: Any) -> BallArray:
    """The same, if the last argument is a number, or an array, that goes into the result."""
    labels = Labels()
    *rest, value = args
    label = labels.of(balls(value))
    number = not isinstance(value, (torch.Tensor, BallArray))
    return labels.numbers(function(*labels.of(rest), float(label) if number else label))
