"""torch's convolutions: products of the windows of an array."""

# ruff: noqa: A002 - arguments are named as in torch, because callers may pass them by name.
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from rankcheck.balls.array import BallArray, balls, implements, wrap
from rankcheck.balls.labels import move
from rankcheck.balls.linalg import matmul

Sizes = int | Sequence[int]


@implements("conv1d", "conv2d", "conv3d")
def convolution(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> BallArray:
    """As in torch, the weight is not reversed."""
    x, w = balls(input), balls(weight)
    size = list(w.shape[2:])
    d = len(size)
    if x.ndim == d + 1:
        return convolution(x[None], w, bias, stride, padding, dilation, groups)[0]
    spread = _each(dilation, d)
    if padding == "same":
        around = [(n // 2, n - n // 2) for n in ((size[i] - 1) * spread[i] for i in range(d))]
    else:
        around = [(n, n) for n in _each(0 if isinstance(padding, str) else padding, d)]
    windows = _windows(x, size, _each(stride, d), spread, around)
    batch, out = x.shape[0], windows.shape[2 : 2 + d]
    columns = windows.reshape(batch, groups, -1, math.prod(out), math.prod(size)).transpose(-2, -1)
    rows = w.reshape(groups, w.shape[0] // groups, -1)
    products = matmul(rows, columns.reshape(batch, groups, rows.shape[-1], math.prod(out)))
    result = wrap(products.elements.reshape(batch, w.shape[0], *out))
    return result if bias is None else result + balls(bias).reshape(-1, *[1] * d)


def _windows(
    x: BallArray, size: Sequence[int], stride: Sequence[int], spread: Sequence[int], around: Any
) -> BallArray:
    """The windows of the last d axes: (*B, *places, *size), with so many zeros around."""
    d = len(size)

    def cut(labels: torch.Tensor) -> torch.Tensor:
        labels = torch.nn.functional.pad(labels, [n for both in reversed(around) for n in both])
        for i in range(d):
            reach = (size[i] - 1) * spread[i] + 1
            labels = labels.unfold(x.ndim - d + i, reach, stride[i])[..., :: spread[i]]
        return labels

    return move(cut, x)


def _each(value: Any, d: int) -> list[int]:
    """A number for each of d axes."""
    values = [value] if isinstance(value, int) else list(value)
    return values * d if len(values) == 1 else values
