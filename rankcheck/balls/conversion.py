"""Numbers, nested lists, tensors and numpy arrays as object arrays of exact numbers and balls."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from rankcheck.balls import numbers
from rankcheck.balls.complexes import Complex
from rankcheck.balls.constants import once_narrow
from rankcheck.balls.numbers import Number

#: Types of torch that numpy does not have.
NO_NUMPY = (torch.bfloat16, torch.complex32)
#: The attribute of narrow tensors whose numbers have lost nothing.
LOSSLESS = "rankcheck_lossless"


def element(value: Any, number: Callable[[Any], Number] = numbers.exact) -> Any:
    """A number as an element of a ball array; by default by the rule of `rankcheck.balls.exact`."""
    if isinstance(value, (complex, np.complexfloating)):
        return Complex(number(value.real), number(value.imag))
    return value if isinstance(value, Complex) else number(value)


def as_it_is(value: Any) -> Number:
    """A number, of which a float is exactly the dyadic rational that it is."""
    is_float = isinstance(value, (float, np.floating))
    return numbers.dyadic(value) if is_float else numbers.exact(value)


def object_array(data: Any, number: Callable[[Any], Number]) -> np.ndarray:
    """The object array of `data`, of which each entry is converted by `number`."""
    known = getattr(data, "elements", None)
    if isinstance(known, np.ndarray):  # a ball array
        return known
    of_torch = isinstance(data, torch.Tensor)
    if isinstance(data, torch.Tensor):
        with torch._C.DisableTorchFunction():
            lossless = getattr(data, LOSSLESS, False)
            data = data.detach().cpu().resolve_conj().resolve_neg()
            if lossless:
                data = data.to(torch.complex128 if data.is_complex() else torch.float64)
            if (dtype := data.dtype) in NO_NUMPY:
                data = data.to(torch.complex128 if data.is_complex() else torch.float64)
                if number is not as_it_is:
                    number = partial(once_narrow, dtype=dtype)
            data = data.numpy()
    if isinstance(data, np.ndarray):
        entries: Any = data.ravel()
        # Narrow floats keep their type, which determines their unit in the last place; integers of
        # numpy theirs, in which they may have wrapped.
        typed = data.dtype in (np.float16, np.float32, np.complex64) or (
            data.dtype.kind in "iu" and not of_torch
        )
        entries = list(entries) if typed else entries.tolist()
        shape = data.shape
    elif isinstance(data, (list, tuple)):
        rows = [object_array(row, number) for row in data]
        return np.stack(rows) if rows else np.empty(0, dtype=object)
    else:
        entries, shape = [data], ()
    flat = np.empty(len(entries), dtype=object)
    flat[:] = [element(entry, number) for entry in entries]
    return flat.reshape(shape)
