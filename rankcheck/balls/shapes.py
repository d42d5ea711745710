"""torch's functions that rearrange elements: views, joining and cutting, diagonals."""

# ruff: noqa: A002 - arguments are named as in torch, because callers may pass them by name.
from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from rankcheck.balls import complexes, numbers
from rankcheck.balls.array import BallArray, attribute, balls, full, implements, wrap
from rankcheck.balls.numbers import ZERO, NoBallForm


def sizes(arguments: Sequence[Any]) -> tuple[int, ...]:
    """The ints of ``f(2, 3)`` or ``f((2, 3))``."""
    if len(arguments) == 1 and not isinstance(arguments[0], (int, torch.Tensor)):
        arguments = arguments[0]
    return tuple(operator.index(n) for n in arguments)


def axis(dim: int, ndim: int) -> int:
    """A dimension counted from the front. Raises IndexError as torch does."""
    if not -max(ndim, 1) <= dim < max(ndim, 1):
        raise IndexError(f"dimension {dim} is out of range for an array of {ndim} dimensions")
    return dim % max(ndim, 1)


# Views.


@implements("reshape", "view")
def reshape(input: Any, *shape: Any) -> BallArray:
    return wrap(balls(input).elements.reshape(sizes(shape)))


@implements("view_as", "reshape_as")
def reshape_as(input: Any, other: Any) -> BallArray:
    return reshape(input, other.shape)


@implements("flatten", "ravel")
def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> BallArray:
    x = balls(input)
    if not x.ndim:
        return reshape(x, 1)
    start, end = axis(start_dim, x.ndim), axis(end_dim, x.ndim)
    middle = math.prod(x.shape[start : end + 1])
    return reshape(x, (*x.shape[:start], middle, *x.shape[end + 1 :]))


@implements("unflatten")
def unflatten(input: Any, dim: int, sizes: Sequence[int]) -> BallArray:
    x = balls(input)
    dim = axis(dim, x.ndim)
    if -1 in sizes:
        known = -math.prod(sizes)
        sizes = [x.shape[dim] // known if n == -1 else n for n in sizes]
    return reshape(x, (*x.shape[:dim], *sizes, *x.shape[dim + 1 :]))


@implements("unsqueeze")
def unsqueeze(input: Any, dim: int) -> BallArray:
    x = balls(input)
    return wrap(np.expand_dims(x.elements, axis(dim, x.ndim + 1)))


@implements("squeeze")
def squeeze(input: Any, dim: int | Sequence[int] | None = None) -> BallArray:
    x = balls(input)
    dims = range(x.ndim) if dim is None else [dim] if isinstance(dim, int) else dim
    drop = {axis(d, x.ndim) for d in dims}
    return reshape(x, tuple(n for i, n in enumerate(x.shape) if i not in drop or n != 1))


@implements("broadcast_to", "expand")
def expand(input: Any, *shape: Any) -> BallArray:
    x = balls(input)
    target = sizes(shape)
    old = (1,) * (len(target) - x.ndim) + tuple(x.shape)
    target = tuple(o if n == -1 else n for n, o in zip(target, old, strict=True))
    return wrap(np.broadcast_to(x.elements, target))


@implements("expand_as")
def expand_as(input: Any, other: Any) -> BallArray:
    return expand(input, other.shape)


@implements("broadcast_tensors")
def broadcast_tensors(*tensors: Any) -> list[Any]:
    arrays = [balls(t) for t in _listed(tensors)]
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    return [expand(a, shape) for a in arrays]


@implements("permute")
def permute(input: Any, *dims: Any) -> BallArray:
    return wrap(balls(input).elements.transpose(sizes(dims)))


@implements("transpose", "swapaxes", "swapdims")
def transpose(input: Any, dim0: int, dim1: int) -> BallArray:
    x = balls(input)
    return wrap(np.swapaxes(x.elements, dim0, dim1)) if x.ndim else x


@implements("movedim", "moveaxis")
def movedim(input: Any, source: Any, destination: Any) -> BallArray:
    return wrap(np.moveaxis(balls(input).elements, source, destination))


@implements("t")
def t(input: Any) -> BallArray:
    x = balls(input)
    if x.ndim > 2:
        raise ValueError(f"t received shape {tuple(x.shape)}; it takes at most 2 dimensions")
    return wrap(x.elements.T)


@implements("adjoint")
def adjoint(input: Any) -> BallArray:
    x = balls(input)
    if x.ndim == 0:
        return x
    return wrap(complexes.conjugated(np.swapaxes(x.elements, -2, -1)))


def matrix_transpose(input: Any) -> BallArray:
    """The two last axes exchanged, without conjugation."""
    return transpose(input, -2, -1)


BallArray.mT = attribute("mT", matrix_transpose)
BallArray.mH = attribute("mH", adjoint)
BallArray.T = attribute("T", t)
BallArray.H = attribute("H", lambda x: wrap(complexes.conjugated(t(x).elements)))


# Joining and cutting.


@implements("cat", "concat", "concatenate")
def cat(tensors: Sequence[Any], dim: int = 0, *, axis: int | None = None) -> BallArray:
    return wrap(np.concatenate([balls(t).elements for t in tensors], dim if axis is None else axis))


@implements("stack")
def stack(tensors: Sequence[Any], dim: int = 0) -> BallArray:
    return wrap(np.stack([balls(t).elements for t in tensors], dim))


@implements("hstack")
def hstack(tensors: Sequence[Any]) -> BallArray:
    return wrap(np.hstack([balls(t).elements for t in tensors]))


@implements("vstack", "row_stack")
def vstack(tensors: Sequence[Any]) -> BallArray:
    return wrap(np.vstack([balls(t).elements for t in tensors]))


@implements("split", "split_with_sizes")
def split(
    input: Any, split_size_or_sections: int | Sequence[int], dim: int = 0
) -> tuple[BallArray, ...]:
    x = balls(input)
    length = x.shape[dim]
    lengths: Sequence[int]
    if isinstance(split_size_or_sections, int):
        step = split_size_or_sections
        lengths = [min(step, length - i) for i in range(0, max(length, 1), max(step, 1))]
    else:
        lengths = split_size_or_sections
        if sum(lengths) != length:
            raise ValueError(
                f"split received sizes {list(lengths)} for {length} elements; they must sum to that"
            )
    ends = np.cumsum(lengths)[:-1]
    return tuple(wrap(part) for part in np.split(x.elements, ends, dim))


@implements("chunk")
def chunk(input: Any, chunks: int, dim: int = 0) -> tuple[BallArray, ...]:
    return split(input, max(-(-balls(input).shape[dim] // chunks), 1), dim)


@implements("unbind")
def unbind(input: Any, dim: int = 0) -> tuple[BallArray, ...]:
    x = balls(input).elements
    return tuple(wrap(part) for part in np.moveaxis(x, dim, 0))


@implements("narrow")
def narrow(input: Any, dim: int, start: int, length: int) -> BallArray:
    x = balls(input)
    dim = axis(dim, x.ndim)
    start = int(start) + x.shape[dim] * (start < 0)
    return wrap(x.elements[(slice(None),) * dim + (slice(start, start + length),)])


@implements("select")
def select(input: Any, dim: int, index: int) -> BallArray:
    x = balls(input)
    return wrap(x.elements[(slice(None),) * axis(dim, x.ndim) + (index,)])


@implements("flip")
def flip(input: Any, *dims: Any) -> BallArray:
    return wrap(np.flip(balls(input).elements, sizes(dims)))


@implements("roll")
def roll(input: Any, shifts: Any, dims: Any = None) -> BallArray:
    return wrap(np.roll(balls(input).elements, shifts, None if dims == () else dims))


@implements("repeat")
def repeat(input: Any, *counts: Any) -> BallArray:
    return wrap(np.tile(balls(input).elements, sizes(counts)))


@implements("tile")
def tile(input: Any, *dims: Any) -> BallArray:
    return wrap(np.tile(balls(input).elements, sizes(dims)))


@implements("repeat_interleave")
def repeat_interleave(input: Any, repeats: int, dim: int | None = None) -> BallArray:
    return wrap(np.repeat(balls(input).elements, repeats, dim))


@implements("pad")
def pad(input: Any, pad: Sequence[int], mode: str = "constant", value: Any = None) -> BallArray:
    if mode != "constant" or min(pad, default=0) < 0:
        raise NoBallForm("torch.nn.functional.pad", "only constant, nonnegative padding has one")
    x = balls(input)
    widths = [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)]
    widths += [(0, 0)] * (x.ndim - len(widths))
    filling = ZERO if value is None else numbers.exact(value)
    return wrap(np.pad(x.elements, widths[::-1], constant_values=filling))


# Diagonals and triangles.


@implements("linalg_diagonal")
def matrix_diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> BallArray:
    return diagonal(A, offset, dim1, dim2)


@implements("diagonal")
def diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> BallArray:
    return wrap(np.diagonal(balls(input).elements, offset, dim1, dim2))


@implements("diag_embed")
def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> BallArray:
    x = balls(input)
    size = x.shape[-1] + abs(offset)
    result = full((*x.shape[:-1], size, size), ZERO).elements
    places = np.arange(x.shape[-1])
    result[..., places + max(-offset, 0), places + max(offset, 0)] = x.elements
    return wrap(np.moveaxis(result, (-2, -1), (dim1, dim2)))


@implements("diag")
def diag(input: Any, diagonal: int = 0) -> BallArray:
    x = balls(input)
    if x.ndim not in (1, 2):
        raise ValueError(f"diag received shape {tuple(x.shape)}; it takes 1 or 2 dimensions")
    return diag_embed(x, diagonal) if x.ndim == 1 else wrap(np.diagonal(x.elements, diagonal))


def _triangle(input: Any, diagonal: int, side: Any) -> BallArray:
    x = balls(input).elements
    rows, columns = x.shape[-2:]
    keep = side(np.arange(columns) - np.arange(rows)[:, None], diagonal)
    return wrap(np.where(keep, x, full(x.shape, ZERO).elements))


@implements("tril")
def tril(input: Any, diagonal: int = 0) -> BallArray:
    return _triangle(input, diagonal, np.less_equal)


@implements("triu")
def triu(input: Any, diagonal: int = 0) -> BallArray:
    return _triangle(input, diagonal, np.greater_equal)


@implements("linalg_vander")
def vander(x: Any, *, N: int | None = None) -> BallArray:
    """The powers 0 to N − 1 of each number of the last axis, in rows."""
    base = balls(x)
    count = base.shape[-1] if N is None else N
    return stack([base**k for k in range(count)], -1)


@implements("block_diag")
def block_diag(*tensors: Any) -> BallArray:
    blocks = [np.atleast_2d(balls(t).elements) for t in _listed(tensors)]
    rows, columns = (sum(b.shape[k] for b in blocks) for k in (0, 1))
    result = full((rows, columns), ZERO).elements
    row = column = 0
    for block in blocks:
        result[row : row + block.shape[0], column : column + block.shape[1]] = block
        row, column = row + block.shape[0], column + block.shape[1]
    return wrap(result)


@implements("atleast_1d")
def atleast_1d(input: Any) -> BallArray:
    return wrap(np.atleast_1d(balls(input).elements))


@implements("atleast_2d")
def atleast_2d(input: Any) -> BallArray:
    return wrap(np.atleast_2d(balls(input).elements))


def _listed(tensors: Sequence[Any]) -> Sequence[Any]:
    """The arrays of ``f(a, b)`` or ``f([a, b])``."""
    return tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
