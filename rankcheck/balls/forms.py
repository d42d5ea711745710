"""Whether torch has a form of a call, and the shape and the dtype of its result.

torch answers this itself: the call is made once more, with identity matrices in place of the ball
arrays. So what torch refuses is refused on balls as well, and a result of another shape or another
kind than torch's, however numpy came to it, is never believed. torch's answer also tells which
arrays share memory, so that an assignment to a place of one is known to change no other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any
from weakref import ref

import numpy as np
import torch
from flint import arb, fmpq

from rankcheck.balls.choices import Conventions, evaluation
from rankcheck.balls.constants import is_narrow, narrowed
from rankcheck.balls.formal import NoBallForm
from rankcheck.balls.numbers import Undecided

#: What a ball form raises about its numbers, and not about the form of the call.
ABOUT_NUMBERS = (NoBallForm, Undecided, torch.linalg.LinAlgError, MemoryError)


class Memory:
    """The arrays that share memory in torch.

    Attributes:
        evaluation: the one in which the first of them was made.
        arrays: weak references to them.
    """

    __slots__ = ("arrays", "evaluation")

    def __init__(self, array: Any) -> None:
        self.evaluation: Conventions | None = evaluation()
        self.arrays = [ref(array)]

    def of_one(self) -> bool:
        """Whether this evaluation, or one in it, has made it, and one array is left that has it."""
        self.arrays = [array for array in self.arrays if array() is not None]
        made = self.evaluation
        here = made is evaluation() or (made is not None and made.outer is evaluation())
        return here and len(self.arrays) == 1


def checked(
    name: str,
    func: Callable[..., Any],
    implementation: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> Any:
    """The result of a ball form, if torch has such a call, and a result of that shape and kind.

    A new array has a `Memory` of its own, a view that of its base.

    Args:
        name: the function, for error messages.
        func: torch's function or method.
        implementation: the function on balls that stands for it.

    Raises:
        NoBallForm: if the ball form does not take these arguments, or gives something else.
        Exception: what torch raises for a call that it refuses; Undecided and the like.
    """
    stand_ins: list[tuple[Any, torch.Tensor]] = []
    try:
        with torch._C.DisableTorchFunction():
            floats = _stand_in((tuple(args), list(kwargs.values())), stand_ins)
            expected = func(*floats[0], **dict(zip(kwargs, floats[1], strict=True)))
    except NotImplementedError:
        implementation(*args, **kwargs)  # has its own words for what complex numbers do not have
        raise
    try:
        result = implementation(*args, **kwargs)
    except ABOUT_NUMBERS:
        raise
    except (TypeError, IndexError, ValueError, AttributeError, RuntimeError) as error:
        raise NoBallForm(f"this form of {name}", str(error)) from error
    difference = _difference(expected, result)
    if difference:
        raise NoBallForm(f"this form of {name}", f"in torch its result {difference}")
    if isinstance(expected, torch.Tensor) and is_narrow(expected.dtype) and stand_ins:
        result = rounded(result, expected.dtype)
    return _with_memory(expected, result, stand_ins)


def rounded(array: Any, dtype: torch.dtype) -> Any:
    """A ball array whose numbers went through a narrow type; see `narrowed`."""
    elements = np.empty_like(array.elements)
    np.frompyfunc(partial(narrowed, dtype=dtype), 1, 1)(array.elements, out=elements)
    return type(array)(elements)


def _stand_in(value: Any, made: list[tuple[Any, torch.Tensor]]) -> Any:
    """A float tensor of the same shape for a ball array; of matrices that have an inverse.

    Args:
        made: to which each ball array is added, with its tensor.
    """
    if hasattr(value, "elements"):
        made.append((value, _regular(tuple(value.shape), value.dtype).clone()))
        return made[-1][1]
    if isinstance(value, (list, tuple)):
        parts = [_stand_in(part, made) for part in value]
        return parts if isinstance(value, list) else tuple(parts)
    return float(value) if isinstance(value, Fraction | fmpq | arb) else value


@lru_cache(maxsize=64)
def _regular(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    last = torch.eye(*shape[-2:]) if len(shape) > 1 else torch.ones(shape)
    return last.to(dtype).expand(shape).contiguous()


def _with_memory(expected: Any, result: Any, stand_ins: list[tuple[Any, torch.Tensor]]) -> Any:
    """The result, as an array that shares memory with those with which torch's shares it."""
    if isinstance(expected, (tuple, list)) and isinstance(result, (tuple, list)):
        for pair in zip(expected, result, strict=True):
            _with_memory(*pair, stand_ins)
        return result
    if not isinstance(expected, torch.Tensor) or not hasattr(result, "memory"):
        return result
    place = expected.untyped_storage().data_ptr()
    bases = [array for array, floats in stand_ins if floats.untyped_storage().data_ptr() == place]
    if not bases:
        if any(result is array for array, _ in stand_ins):
            result = deepcopy(result)  # a copy, and no second name
        result.memory = Memory(result)
        return result
    return as_view(result, bases[0])


def as_view(array: Any, base: Any) -> Any:
    """An array, once it is noted that it shares memory with another one."""
    if array is not base and base.memory is not None:
        array.memory = base.memory
        array.memory.arrays.append(ref(array))
    return array


def _difference(expected: Any, result: Any) -> str:
    """What is true of torch's result and not of this one; empty if nothing is."""
    if isinstance(expected, (tuple, list)):
        if not isinstance(result, (tuple, list)):
            result = (result.values,)  # the places of an order may be Undecided, so they wait
        elif len(result) != len(expected):
            return f"has {len(expected)} parts"
        pairs = zip(expected, result, strict=False)
        return next(filter(None, (_difference(*pair) for pair in pairs)), "")
    if not isinstance(expected, torch.Tensor):
        return ""
    if tuple(expected.shape) != tuple(result.shape):
        return f"has shape {tuple(expected.shape)}"
    if expected.dtype.is_floating_point or expected.dtype.is_complex:
        same = not isinstance(result, torch.Tensor)
    else:
        same = isinstance(result, torch.Tensor) and result.dtype is expected.dtype
    return "" if same else f"is of {expected.dtype}"
