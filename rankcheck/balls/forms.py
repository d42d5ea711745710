"""Whether torch has a form of a call, and the shape and the dtype of its result.

torch answers this itself: the call is made once more, with identity matrices in place of the ball
arrays. So what torch refuses is refused on balls as well, and a result of another shape or another
kind than torch's, however numpy came to it, is never believed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import torch
from flint import arb, fmpq

from rankcheck.balls.numbers import NoBallForm, Undecided

#: What a ball form raises about its numbers, and not about the form of the call.
ABOUT_NUMBERS = (NoBallForm, Undecided, torch.linalg.LinAlgError, MemoryError)


def checked(
    name: str,
    func: Callable[..., Any],
    implementation: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> Any:
    """The result of a ball form, if torch has such a call, and a result of that shape and kind.

    Args:
        name: the function, for error messages.
        func: torch's function or method.
        implementation: the function on balls that stands for it.

    Raises:
        NoBallForm: if the ball form does not take these arguments, or gives something else.
        Exception: what torch raises for a call that it refuses; Undecided and the like.
    """
    try:
        expected = func(*_stand_in(tuple(args)), **{key: _stand_in(x) for key, x in kwargs.items()})
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
    return result


def _stand_in(value: Any) -> Any:
    """A float tensor of the same shape for a ball array; of matrices that have an inverse."""
    if hasattr(value, "elements"):
        shape = tuple(value.shape)
        last = torch.eye(*shape[-2:]) if len(shape) > 1 else torch.ones(shape)
        return last.to(value.dtype).expand(shape).clone()
    if isinstance(value, (list, tuple)):
        parts = map(_stand_in, value)
        return list(parts) if isinstance(value, list) else tuple(parts)
    return float(value) if isinstance(value, Fraction | fmpq | arb) else value


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
