"""torch's functions that rearrange elements: views, joining and cutting, diagonals, places."""

# ruff: noqa: A002 - arguments are named as in torch, because callers may pass them by name.
from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import torch

from rankcheck.balls import complexes
from rankcheck.balls.array import BallArray, attribute, balls, implements, wrap
from rankcheck.balls.labels import move, move_with

MOVES = """reshape view view_as reshape_as flatten ravel unflatten unsqueeze squeeze broadcast_to
    expand expand_as permute transpose swapaxes swapdims movedim moveaxis t rot90 fliplr flipud flip
    roll repeat tile repeat_interleave split split_with_sizes tensor_split chunk hsplit vsplit
    dsplit unbind narrow select unfold diagonal linalg_diagonal diag_embed diag diagflat tril triu
    index_select gather take take_along_dim masked_select
    masked_scatter"""
"""Functions of one array, whose other tensors are indices, masks, or of its dtype."""

JOINS = """cat concat concatenate stack hstack vstack row_stack dstack column_stack meshgrid
    cartesian_prod block_diag broadcast_tensors atleast_1d atleast_2d atleast_3d
    select_scatter slice_scatter diagonal_scatter"""
"""Functions of several arrays, or of a list of them, which may be tensors of integers."""


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


def _of_torch(name: str) -> list[Callable[..., Any]]:
    """torch's method of tensors and its function, by the ``__name__`` that torch dispatches by."""
    module, _, short = name.partition("_")
    if module == "linalg":
        return [getattr(torch.linalg, short)]
    return [getattr(place, name) for place in (torch.Tensor, torch) if hasattr(place, name)]


def _moving(name: str, convert: Callable[[Any], Any]) -> Callable[..., Any]:
    functions = _of_torch(name)

    def moving(*args: Any, **kwargs: Any) -> Any:
        for function in functions[:-1]:  # the method and the function name arguments differently
            with suppress(TypeError):
                return move(function, *map(convert, args), **kwargs)
        return move(functions[-1], *map(convert, args), **kwargs)

    return implements(name)(moving)


def _all_balls(argument: Any) -> Any:
    """A ball array for a tensor, also in lists; what else as it is."""
    if isinstance(argument, (list, tuple)):
        return [_all_balls(part) for part in argument]
    return balls(argument) if isinstance(argument, torch.Tensor) else argument


_moves = {name: _moving(name, lambda argument: argument) for name in MOVES.split()}
_moves |= {name: _moving(name, _all_balls) for name in JOINS.split()}
transpose, diagonal, tril, triu, stack, flip, roll = (
    _moves[name] for name in ("transpose", "diagonal", "tril", "triu", "stack", "flip", "roll")
)


@implements("adjoint")
def adjoint(input: Any) -> BallArray:
    x = balls(input)
    return x if x.ndim == 0 else wrap(complexes.conjugated(matrix_transpose(x).elements))


def matrix_transpose(input: Any) -> BallArray:
    """The two last axes exchanged, without conjugation."""
    return transpose(input, -2, -1)


BallArray.mT = attribute("mT", matrix_transpose)
BallArray.mH = attribute("mH", adjoint)
BallArray.T = attribute("T", _moves["t"])
BallArray.H = attribute("H", lambda x: wrap(complexes.conjugated(_moves["t"](x).elements)))


@implements("pad")
def pad(input: Any, pad: Sequence[int], mode: str = "constant", value: Any = None) -> BallArray:
    function = torch.nn.functional.pad
    if value is None:
        return move(function, input, pad, mode)
    return move_with(function, input, pad, mode, value)
