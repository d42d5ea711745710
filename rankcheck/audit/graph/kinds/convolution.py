"""Convolutions, with parameters as kernels."""

from __future__ import annotations

import math
from typing import Any

from torch import nn
from torch.nn import functional

from rankcheck.audit.graph.convolution_map import ConvolutionMap
from rankcheck.audit.graph.layer import Call, Layer

__all__ = ["read"]

_MODULES = {nn.Conv1d: 1, nn.Conv2d: 2, nn.Conv3d: 3}
_FUNCTIONS = {functional.conv1d: 1, functional.conv2d: 2, functional.conv3d: 3}


def read(call: Call) -> Layer | None:
    """nn.Conv1d, Conv2d and Conv3d, and their functions with parameters."""
    module: Any = call.module
    if module is not None and call.what in _MODULES:
        axes = _MODULES[call.what]
        stride, padding, dilation = module.stride, module.padding, module.dilation
        groups, mode = module.groups, module.padding_mode
    elif module is None and call.function in _FUNCTIONS:
        axes = _FUNCTIONS[call.function]
        stride, padding = call.argument(3, "stride", 1), call.argument(4, "padding", 0)
        dilation, groups = call.argument(5, "dilation", 1), call.argument(6, "groups", 1)
        mode = "zeros"
    else:
        return None
    if not call.has_parameters(("weight", 1), ("bias", 2)):
        return None
    weight, bias = call.parameter("weight", 1), call.parameter("bias", 2)
    if weight is None or weight.value is None:
        return None
    title = f"Conv{axes}d"
    if not all(one is None or one.trained for one in (weight, bias)):
        return Layer(call.name, title, affine=True, piecewise=True)
    point = call.argument(0, "input").shape
    kernel = tuple(weight.value.shape[2:])
    dilation = _each(dilation, axes)
    convolution = ConvolutionMap(
        name=call.named(title, weight),
        parameters=(weight.name, None if bias is None else bias.name),
        weight=weight.value,
        offset=None if bias is None else bias.value,
        size=tuple(point[-axes:]),
        stride=_each(stride, axes),
        padding=_pairs(padding, kernel, dilation),
        dilation=dilation,
        groups=int(groups),
        mode=mode,
        rows=math.prod(point[: -axes - 1]),
    )
    return Layer(convolution.name, title, affine=True, piecewise=True, maps=(convolution,))


def _each(number: Any, axes: int) -> tuple[int, ...]:
    """A number for each axis."""
    numbers = tuple(number) if isinstance(number, tuple | list) else (number,)
    return tuple(map(int, numbers * axes if len(numbers) == 1 else numbers))


def _pairs(
    padding: Any, kernel: tuple[int, ...], dilation: tuple[int, ...]
) -> tuple[tuple[int, int], ...]:
    """How much is added before and behind, along each axis."""
    if padding == "same":
        totals = [step * (k - 1) for step, k in zip(dilation, kernel, strict=True)]
        return tuple((total // 2, total - total // 2) for total in totals)
    each = _each(0 if padding == "valid" else padding, len(kernel))
    return tuple((one, one) for one in each)
