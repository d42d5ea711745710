"""Indexing of ball arrays with torch's rules, by ints, slices, masks and index tensors."""

# ruff: noqa: A002 - arguments are named as in torch, because callers may pass them by name.
from __future__ import annotations

from typing import Any

import numpy as np
import torch

from rankcheck.balls.array import BallArray, balls, implements, wrap
from rankcheck.balls.numbers import NoBallForm
from rankcheck.balls.shapes import axis


@implements("__getitem__")
def getitem(input: Any, index: Any) -> BallArray:
    """`input[index]` with torch's rules: ints select first, then tensors index the other axes.

    numpy would treat an int as one of the index arrays, and move axes.
    """
    x = balls(input).elements
    items = [_index(item) for item in (index if isinstance(index, tuple) else (index,))]
    if any(type(item) is int for item in items) and any(_is_array(item) for item in items):
        first, items = _ints_first(items, x.ndim)
        x = x[first]
    return wrap(x[tuple(items)])


def _index(item: Any) -> Any:
    if isinstance(item, BallArray):
        raise NoBallForm("indexing by a ball array")
    if isinstance(item, (torch.Tensor, list)):
        item = np.asarray(item)
    if isinstance(item, np.ndarray) and item.dtype == np.uint8:  # a mask, in torch
        item = item != 0
    if isinstance(item, np.ndarray) and item.size == 0 and item.dtype != bool:
        item = item.astype(np.int64)
    if isinstance(item, (np.ndarray, np.integer)) and item.ndim == 0 and item.dtype != bool:
        return int(item)
    return item


def _is_array(item: Any) -> bool:
    return isinstance(item, np.ndarray)


def _ints_first(items: list[Any], ndim: int) -> tuple[tuple[Any, ...], list[Any]]:
    """Split an index in two: the ints with full slices elsewhere, then everything else."""

    def consumed(item: Any) -> int:
        if item is None or item is Ellipsis or isinstance(item, bool):
            return 0
        return item.ndim if _is_array(item) and item.dtype == bool else 1

    spare = ndim - sum(consumed(item) for item in items)
    first: list[Any] = []
    rest: list[Any] = []
    for item in items:
        if type(item) is int:
            first.append(item)
        else:
            rest.append(item)
            first += [slice(None)] * (spare if item is Ellipsis else consumed(item))
    return tuple(first), rest


@implements("index_select")
def index_select(input: Any, dim: int, index: torch.Tensor) -> BallArray:
    return wrap(np.take(balls(input).elements, np.atleast_1d(np.asarray(index)), dim))


@implements("gather")
def gather(input: Any, dim: int, index: torch.Tensor) -> BallArray:
    x = balls(input)
    places = list(np.indices(tuple(index.shape), sparse=True))
    places[axis(dim, x.ndim)] = np.asarray(index)
    return wrap(x.elements[tuple(places)])


@implements("take_along_dim")
def take_along_dim(input: Any, indices: torch.Tensor, dim: int | None = None) -> BallArray:
    x = balls(input).elements
    return wrap(
        np.take_along_axis(x, np.asarray(indices), dim)
        if dim is not None
        else x.ravel()[np.asarray(indices)]
    )


@implements("masked_select")
def masked_select(input: Any, mask: torch.Tensor) -> BallArray:
    x, keep = np.broadcast_arrays(balls(input).elements, np.asarray(mask))
    return wrap(x[keep])
