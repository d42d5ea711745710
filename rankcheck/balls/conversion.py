"""Numbers, nested lists, tensors and numpy arrays as object arrays of exact numbers and balls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from rankcheck.balls import numbers
from rankcheck.balls.complexes import Complex
from rankcheck.balls.numbers import Number


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
    if isinstance(data, torch.Tensor):
        if data.dtype in (torch.bfloat16, torch.complex32):
            raise TypeError(
                f"balls received a tensor of {data.dtype}; it takes tensors of numpy dtypes"
            )
        data = data.detach().cpu().resolve_conj().resolve_neg().numpy()
    if isinstance(data, np.ndarray):
        entries: Any = data.ravel()
        # Narrow floats keep their type, which determines their unit in the last place.
        narrow = data.dtype in (np.float16, np.float32, np.complex64)
        entries = list(entries) if narrow else entries.tolist()
        shape = data.shape
    elif isinstance(data, (list, tuple)):
        rows = [object_array(row, number) for row in data]
        return np.stack(rows) if rows else np.empty(0, dtype=object)
    else:
        entries, shape = [data], ()
    flat = np.empty(len(entries), dtype=object)
    flat[:] = [element(entry, number) for entry in entries]
    return flat.reshape(shape)
