"""torch's constructors (`new_zeros`, `zeros_like`, ...) and conversions (`to`, ...) on balls.

Every floating-point dtype gives a ball array, a narrow one with the balls of `narrowed`; integers
and bools give plain tensors.
"""

# ruff: noqa: A002 - arguments are named as in torch, because callers may pass them by name.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from rankcheck.balls import complexes, numbers
from rankcheck.balls.array import BallArray, balls, full, implements, wrap
from rankcheck.balls.conversion import element
from rankcheck.balls.formal import NoBallForm
from rankcheck.balls.forms import as_view
from rankcheck.balls.shapes import sizes


def _new(shape: Sequence[int], value: Any, dtype: torch.dtype | None) -> Any:
    """A ball array, or a plain tensor for a dtype of bools or integers."""
    if dtype is None or dtype.is_floating_point:
        return full(shape, element(value))
    if dtype.is_complex:
        return complex_(full(shape, numbers.exact(value.real)), numbers.exact(value.imag))
    return torch.full(tuple(shape), value, dtype=dtype)


@implements("new_zeros")
def new_zeros(input: Any, *size: Any, dtype: torch.dtype | None = None, device: Any = None) -> Any:
    return _new(sizes(size), 0, dtype)


@implements("new_ones")
def new_ones(input: Any, *size: Any, dtype: torch.dtype | None = None, device: Any = None) -> Any:
    return _new(sizes(size), 1, dtype)


@implements("new_full")
def new_full(
    input: Any, size: Any, fill_value: Any, dtype: torch.dtype | None = None, device: Any = None
) -> Any:
    return _new(sizes((size,)), fill_value, dtype)


@implements("new_tensor")
def new_tensor(input: Any, data: Any, dtype: torch.dtype | None = None, device: Any = None) -> Any:
    if dtype is None or dtype.is_floating_point:
        return balls(data)
    return torch.tensor(data, dtype=dtype)


@implements("zeros_like")
def zeros_like(input: Any, dtype: torch.dtype | None = None, **_: Any) -> Any:
    return _new(input.shape, 0, dtype)


@implements("ones_like")
def ones_like(input: Any, dtype: torch.dtype | None = None, **_: Any) -> Any:
    return _new(input.shape, 1, dtype)


@implements("full_like")
def full_like(input: Any, fill_value: Any, dtype: torch.dtype | None = None, **_: Any) -> Any:
    return _new(input.shape, fill_value, dtype)


@implements("double", "float", "half", "bfloat16")
def double(input: Any) -> BallArray:
    return to(input, torch.float64)


@implements("detach", "clone", "contiguous", "cpu", "type_as", "resolve_conj", "resolve_neg")
def same(input: Any, *_: Any, **__: Any) -> BallArray:
    return balls(input)


@implements("to")
def to(input: Any, *args: Any, **kwargs: Any) -> BallArray:
    for target in (*args, *kwargs.values()):
        dtype = target.dtype if isinstance(target, torch.Tensor) else target
        if isinstance(dtype, torch.dtype) and dtype.is_complex:
            return wrap(complexes.joined(*complexes.parts(balls(input).elements)))
        if isinstance(dtype, torch.dtype) and not dtype.is_floating_point:
            raise NoBallForm(f"conversion to {dtype}")
        if isinstance(dtype, torch.dtype) and is_complex(input):
            raise NoBallForm(f"conversion of complex numbers to {dtype}", "use .real")
    return balls(input)


@implements("is_floating_point")
def is_floating_point(input: Any) -> bool:
    return not is_complex(input)


@implements("is_complex")
def is_complex(input: Any) -> bool:
    return complexes.has_complex(balls(input).elements)


@implements("numel", "nelement")
def numel(input: Any) -> int:
    return balls(input).numel()


# Complex numbers.


@implements("complex")
def complex_(real: Any, imag: Any) -> BallArray:
    """real + i·imag, exact for rational parts."""
    x, y = balls(real), balls(imag)
    if is_complex(x) or is_complex(y):
        raise TypeError("complex received complex parts; it takes two real arrays")
    return wrap(complexes.joined(x.elements, y.elements))


@implements("real")
def real(input: Any) -> BallArray:
    return wrap(complexes.parts(balls(input).elements)[0])


@implements("imag")
def imag(input: Any) -> BallArray:
    return wrap(complexes.parts(balls(input).elements)[1])


@implements("conj", "conj_physical")
def conj(input: Any) -> BallArray:
    return wrap(complexes.conjugated(balls(input).elements))


# The stubs of torch declare variables here, and mypy takes an assigned property for its value.
BallArray.real = property(lambda x: as_view(real(x), x))  # type: ignore[assignment]
BallArray.imag = property(lambda x: as_view(imag(x), x))  # type: ignore[assignment]
