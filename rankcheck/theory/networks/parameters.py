"""The arrays of a network: their kinds, shapes and conversions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rankcheck.balls import BallArray, mapped
from rankcheck.theory.linalg import Array, Number
from rankcheck.theory.networks.evaluation import Slope, check_array


def layers(name: str, arrays: Iterable[Array]) -> tuple[Array, ...]:
    """The arrays of all layers.

    Raises:
        TypeError: they are no list of arrays; a single tensor is none.
    """
    if not isinstance(arrays, Iterable) or isinstance(arrays, Tensor | BallArray | str):
        raise TypeError(
            f"the {name} are a {type(arrays).__name__}; expected a list with an array for each "
            "layer"
        )
    return tuple(arrays)


def float64(name: str, array: Any) -> Tensor:
    """A nested list, a numpy array or a tensor as a float64 tensor."""
    if isinstance(array, Tensor | np.ndarray) and "complex" in str(array.dtype):
        raise TypeError(f"{name} has dtype {array.dtype}; expected real numbers")
    try:
        return torch.as_tensor(array, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        reason = " ".join(str(error).split())
        kind = ValueError if isinstance(error, ValueError | OverflowError) else TypeError
        raise kind(
            f"{name} is {type(array).__name__} and cannot be converted to float64 ({reason}); "
            "expected nested lists of numbers, all rows of one length, or an array"
        ) from error


def check_parameters(weights: Sequence[Array], biases: Sequence[Array], slope: Slope) -> None:
    """Check that the arrays of a network fit each other.

    Raises:
        TypeError, ValueError: as for `rankcheck.networks.Network`.
    """
    if len(weights) == 0 or len(weights) != len(biases):
        raise ValueError(
            f"received {len(weights)} weights and {len(biases)} biases; "
            "a network has at least one layer, and a bias for each weight"
        )
    kind = type(weights[0])
    arrays = {f"W_{i}": w for i, w in enumerate(weights, 1)}
    arrays |= {f"b_{i}": b for i, b in enumerate(biases, 1)}
    if not isinstance(slope, Number):
        arrays["slope"] = slope
    for name, array in arrays.items():
        _check_kind(name, array, kind)
    batch = weights[0].shape[:-2]
    fan_in = weights[0].shape[-1] if weights[0].ndim >= 2 else 0
    for i, (w, b) in enumerate(zip(weights, biases, strict=True), 1):
        if w.ndim < 2:
            raise ValueError(
                f"W_{i} has shape {tuple(w.shape)}; expected a matrix, (*B, n_{i}, n_{i - 1})"
            )
        if w.shape[:-2] != batch or w.shape[-1] != fan_in:
            raise ValueError(
                f"W_{i} has shape {tuple(w.shape)}; expected (*{tuple(batch)}, n_{i}, {fan_in})"
            )
        if b.shape != w.shape[:-1]:
            raise ValueError(
                f"b_{i} has shape {tuple(b.shape)}; expected {tuple(w.shape[:-1])}, "
                f"the shape of W_{i} without its last axis"
            )
        fan_in = w.shape[-2]
    if not isinstance(slope, Number) and slope.shape != batch:
        raise ValueError(
            f"the array of slopes has shape {tuple(slope.shape)}; "
            f"expected the batch axes {tuple(batch)}"
        )


def _check_kind(name: str, array: Any, kind: type) -> None:
    check_array(name, array)
    # A finite sum proves all entries finite, and takes a seventh of the time.
    read = isinstance(array, Tensor) and mapped() is None
    if read and not (math.isfinite(array.sum().item()) or torch.isfinite(array).all()):
        raise ValueError(f"{name} has infinite or undefined entries: {array}")
    if isinstance(array, Tensor) != issubclass(kind, Tensor):
        raise TypeError(
            f"{name} is a {type(array).__name__} beside a {kind.__name__}; "
            "all arrays of a network must be of one kind"
        )
