"""torch's reductions, scans and orders on balls.

The largest of some balls, and the i-th largest, can be enclosed without deciding *which* ball it
is. So values never raise, and indices raise Undecided where balls overlap.
"""

# ruff: noqa: A002 - arguments are named as in torch, because callers may pass them by name.
from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from rankcheck.balls import numbers, orders
from rankcheck.balls.array import BallArray, balls, divide, elementwise, implements, wrap
from rankcheck.balls.elementwise import (
    exp,
    log,
    maximum,
    minimum,
    root_of_squares,
    square_of_absolute,
)
from rankcheck.balls.formal import NoBallForm, has_formal
from rankcheck.balls.numbers import ONE, ZERO
from rankcheck.balls.shapes import axis

Dims = int | Sequence[int] | None


def _dims(dim: Dims, ndim: int) -> tuple[int, ...]:
    if dim is None or (not isinstance(dim, int) and not len(dim)):
        return tuple(range(ndim))
    dims = tuple(axis(d, ndim) for d in ([dim] if isinstance(dim, int) else dim))
    return dims if ndim else ()


@implements("sum")
def sum_(input: Any, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> BallArray:
    x = balls(input).elements
    return wrap(np.sum(x, axis=_dims(dim, x.ndim), keepdims=keepdim, initial=ZERO))


@implements("mean")
def mean(input: Any, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> BallArray:
    x = balls(input)
    count = math.prod(x.shape[d] for d in _dims(dim, x.ndim))
    return divide(sum_(x, dim, keepdim), count)


@implements("var")
def var(
    input: Any,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: Any = None,
) -> BallArray:
    if isinstance(dim, bool):  # var(x, False) is var(x, unbiased=False)
        dim, unbiased = None, dim
    if correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    x = balls(input)
    count = math.prod(x.shape[d] for d in _dims(dim, x.ndim))
    squares = sum_(square_of_absolute(x - mean(x, dim, keepdim=True)), dim, keepdim)
    return divide(squares, max(count - correction, 0) if count else 0)


@implements("std")
def std(*args: Any, **kwargs: Any) -> BallArray:
    return root_of_squares(var(*args, **kwargs))


@implements("prod")
def prod(
    input: Any, dim: int | None = None, keepdim: bool = False, *, dtype: Any = None
) -> BallArray:
    x = balls(input).elements
    return wrap(np.prod(x, axis=_dims(dim, x.ndim), keepdims=keepdim, initial=ONE))


@implements("cumsum")
def cumsum(input: Any, dim: int, *, dtype: Any = None) -> BallArray:
    x = balls(input).elements
    return wrap(np.add.accumulate(x, axis=dim)) if x.ndim else wrap(x)


@implements("cumprod")
def cumprod(input: Any, dim: int, *, dtype: Any = None) -> BallArray:
    x = balls(input).elements
    return wrap(np.multiply.accumulate(x, axis=dim)) if x.ndim else wrap(x)


@implements("diff")
def diff(input: Any, n: int = 1, dim: int = -1) -> BallArray:
    return wrap(np.diff(balls(input).elements, n, dim))


@implements("logsumexp", "special_logsumexp")
def logsumexp(input: Any, dim: Dims, keepdim: bool = False) -> BallArray:
    return log(sum_(exp(input), dim, keepdim))


@implements("softmax", "special_softmax")
def softmax(input: Any, dim: int | None, **_: Any) -> BallArray:
    if dim is None:
        raise NoBallForm("torch.nn.functional.softmax without dim", "name the axis")
    powers = exp(input)
    return powers / sum_(powers, dim, keepdim=True)


# Largest and smallest.


def _rows(x: np.ndarray, dims: tuple[int, ...]) -> np.ndarray:
    """Move the reduced axes to the end and merge them."""
    kept = [d for d in range(x.ndim) if d not in dims]
    size = math.prod(x.shape[d] for d in dims)
    return x.transpose(*kept, *dims).reshape(*(x.shape[d] for d in kept), size)


def _extreme(input: Any, dim: Dims, keepdim: bool, ufunc: Any) -> BallArray:
    x = balls(input).elements
    dims = _dims(dim, x.ndim)
    rows = _rows(x, dims)
    if not rows.shape[-1]:
        raise IndexError("received no elements; a maximum or minimum needs at least one")
    values = wrap(ufunc.reduce(rows, axis=-1))
    if keepdim:
        values = wrap(np.expand_dims(values.elements, dims))
    return values


_maximum = elementwise(numbers.maximum, 2)
_minimum = elementwise(numbers.minimum, 2)


@implements("amax")
def amax(input: Any, dim: Dims = (), keepdim: bool = False) -> BallArray:
    return _extreme(input, dim, keepdim, _maximum)


@implements("amin")
def amin(input: Any, dim: Dims = (), keepdim: bool = False) -> BallArray:
    return _extreme(input, dim, keepdim, _minimum)


class ValuesAndIndices:
    """What `max(dim)`, `sort` and `topk` return: the indices are computed on first use."""

    def __init__(self, values: BallArray, indices: Callable[[], torch.Tensor]) -> None:
        self.values = values
        self._indices = indices

    @property
    def indices(self) -> torch.Tensor:
        return self._indices()

    def __iter__(self) -> Iterator[Any]:
        return iter((self.values, self.indices))

    def __getitem__(self, index: int) -> Any:
        return self.values if index in (0, -2) else (self.values, self.indices)[index]

    def __len__(self) -> int:
        return 2


@implements("max")
def max_(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    return _max_or_min(input, dim, keepdim, other, amax, argmax, maximum)


@implements("min")
def min_(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    return _max_or_min(input, dim, keepdim, other, amin, argmin, minimum)


def _max_or_min(
    input: Any, dim: Any, keepdim: bool, other: Any, extreme: Any, place: Any, binary: Any
) -> Any:
    if isinstance(dim, (torch.Tensor, BallArray)):
        other, dim = dim, None
    if other is not None:
        return binary(input, other)
    if dim is None:
        return extreme(input)
    return ValuesAndIndices(extreme(input, dim, keepdim), lambda: place(input, dim, keepdim))


def _first_largest(row: np.ndarray) -> int:
    best = 0
    for i in range(1, len(row)):
        if row[i] > row[best]:
            best = i
        elif not row[i] <= row[best]:
            raise numbers.undecided(row[i], ">", row[best])
    return best


def _arg(input: Any, dim: int | None, keepdim: bool) -> torch.Tensor:
    x = balls(input).elements
    dims = _dims(dim, x.ndim)
    rows = _rows(x, dims)
    if not rows.shape[-1]:
        raise IndexError("received no elements; argmax and argmin need at least one")
    places = np.empty(rows.shape[:-1], dtype=np.int64)
    for index in np.ndindex(places.shape):
        places[index] = _first_largest(rows[index])
    return torch.from_numpy(np.asarray(np.expand_dims(places, dims) if keepdim else places))


@implements("argmax")
def argmax(input: Any, dim: int | None = None, keepdim: bool = False) -> torch.Tensor:
    """The first index of a largest element. Raises Undecided where balls overlap."""
    return _arg(input, dim, keepdim)


@implements("argmin")
def argmin(input: Any, dim: int | None = None, keepdim: bool = False) -> torch.Tensor:
    """The first index of a smallest element. Raises Undecided where balls overlap."""
    return _arg(-balls(input), dim, keepdim)


# Order.


def _order(row: np.ndarray, descending: bool) -> list[int]:
    """Stable sorting permutation, or Undecided."""
    if has_formal(row):
        return orders.compared_order(row, descending)
    order = sorted(range(len(row)), key=lambda i: orders.middle(row[i]), reverse=descending)
    for i, j in pairwise(order):
        a, b = (row[j], row[i]) if descending else (row[i], row[j])
        if not (a < b or (a <= b and i < j)):
            raise numbers.undecided(a, "<", b)
    return order


def _along(x: np.ndarray, dim: int, function: Callable[[np.ndarray], Any], dtype: Any) -> Any:
    """Apply a map of rows along one axis."""
    if not x.ndim:
        return _along(x.reshape(1), 0, function, dtype).reshape(())
    rows = np.moveaxis(x, dim, -1)
    result = np.empty(rows.shape, dtype=dtype)
    for index in np.ndindex(rows.shape[:-1]):
        result[index] = function(rows[index])
    return np.moveaxis(result, -1, dim)


@implements("argsort")
def argsort(
    input: Any, dim: int = -1, descending: bool = False, stable: bool = False
) -> torch.Tensor:
    """The stable sorting permutation. Raises Undecided where balls overlap."""
    x = balls(input)
    x.require_real("an order")
    order = _along(x.elements, dim, lambda row: _order(row, descending), np.int64)
    return torch.from_numpy(np.array(order))


@implements("sort")
def sort(
    input: Any, dim: int = -1, descending: bool = False, stable: bool = False
) -> ValuesAndIndices:
    x = balls(input)
    x.require_real("an order")
    values = _along(
        x.elements, dim, lambda row: orders.sorted_numbers(row.tolist(), descending), object
    )
    return ValuesAndIndices(wrap(values), lambda: argsort(x, dim, descending))


@implements("topk")
def topk(
    input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> ValuesAndIndices:
    x = balls(input)
    if x.ndim and k > x.shape[dim]:
        raise IndexError(f"topk({k}) received {x.shape[dim]} elements; it needs at least k")
    take = (slice(None),) * axis(dim, x.ndim) + (slice(0, k),) if x.ndim else ()
    both = sort(x, dim, largest)
    return ValuesAndIndices(both.values[take], lambda: both.indices[take])


@implements("kthvalue")
def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False) -> ValuesAndIndices:
    """The place of a value is any of several, so the indices have no ball form."""
    x = balls(input)

    def place() -> torch.Tensor:
        raise NoBallForm("the indices of medians and k-th values", "a place is not unique")

    along = axis(dim, x.ndim)
    values = sort(x, dim).values.elements
    if x.ndim:
        values = values.take([k - 1] if keepdim else k - 1, along)
    return ValuesAndIndices(wrap(values), place)


@implements("median")
def median(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The lower one of two. Its place is any of several, so the indices have no ball form."""
    x = balls(input)
    if dim is None:
        return median(x.reshape(-1), 0).values
    return kthvalue(x, (x.shape[dim] + 1) // 2 if x.ndim else 1, dim, keepdim)


INTERPOLATIONS: dict[str, Callable[[Any], Any]] = {
    "linear": lambda part: part,
    "lower": lambda part: ZERO,
    "higher": lambda part: -numbers.floor(-part),
    "midpoint": lambda part: -numbers.floor(-part) / 2,
}
"""The share of the upper one of two neighbours, by how far from the lower one the quantile is."""


@implements("quantile")
def quantile(
    input: Any,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> BallArray:
    x, levels = balls(input), balls(q)
    along = axis(-1 if dim is None else dim, x.ndim)
    rows = (
        x.elements.reshape(-1) if dim is None or not x.ndim else np.moveaxis(x.elements, along, -1)
    )
    ordered = sort(wrap(rows)).values.elements
    last = ordered.shape[-1] - 1
    parts = []
    for level in levels.elements.ravel().tolist():
        place = level * last
        if interpolation == "nearest":
            place = numbers.round_half_even(place)
        below = int(numbers.floor(place).p)
        low, high = ordered[..., below], ordered[..., min(below + 1, last)]
        share = INTERPOLATIONS.get(interpolation, INTERPOLATIONS["linear"])(place - below)
        part = wrap(low + (high - low) * share).elements
        if keepdim:
            part = part.reshape((1,) * x.ndim) if dim is None else np.expand_dims(part, along)
        parts.append(part)
    return wrap(np.stack(parts) if levels.ndim else parts[0])


# Bools and counts.


def _nonzero(input: Any) -> torch.Tensor:
    return balls(input) != 0


@implements("any")
def any_(input: Any, dim: Any = None, keepdim: bool = False) -> torch.Tensor:
    mask = _nonzero(input)
    return torch.any(mask) if dim is None else torch.any(mask, dim, keepdim)


@implements("all")
def all_(input: Any, dim: Any = None, keepdim: bool = False) -> torch.Tensor:
    mask = _nonzero(input)
    return torch.all(mask) if dim is None else torch.all(mask, dim, keepdim)


@implements("count_nonzero")
def count_nonzero(input: Any, dim: Any = None) -> torch.Tensor:
    return torch.count_nonzero(_nonzero(input), dim)


@implements("equal")
def equal(input: Any, other: Any) -> bool:
    x, y = balls(input), balls(other)
    return x.shape == y.shape and bool(torch.all(x == y))
