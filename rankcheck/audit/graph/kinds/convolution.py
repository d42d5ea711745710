"""Convolutions and their transposes, with parameters as kernels."""

from __future__ import annotations

import math
from typing import Any

from torch import nn
from torch.nn import functional

from rankcheck.audit.graph.convolution_map import ConvolutionMap
from rankcheck.audit.graph.layer import Call, Layer
from rankcheck.audit.graph.linear_map import LinearMap
from rankcheck.audit.graph.transposed_map import TransposedMap

__all__ = ["read"]

_MODULES = {nn.Conv1d: 1, nn.Conv2d: 2, nn.Conv3d: 3}
_FUNCTIONS = {functional.conv1d: 1, functional.conv2d: 2, functional.conv3d: 3}
_TRANSPOSED_MODULES = {nn.ConvTranspose1d: 1, nn.ConvTranspose2d: 2, nn.ConvTranspose3d: 3}
_TRANSPOSED_FUNCTIONS = {
    functional.conv_transpose1d: 1,
    functional.conv_transpose2d: 2,
    functional.conv_transpose3d: 3,
}


def read(call: Call) -> Layer | None:
    """nn.Conv1d, Conv2d and Conv3d, ConvTranspose1d to 3d, and their functions with parameters."""
    module: Any = call.module
    known = _MODULES | _TRANSPOSED_MODULES if module else _FUNCTIONS | _TRANSPOSED_FUNCTIONS
    axes = known.get(call.what)
    if axes is None or not call.has_parameters(("weight", 1), ("bias", 2)):
        return None
    transposed = call.what in _TRANSPOSED_MODULES or call.what in _TRANSPOSED_FUNCTIONS
    if module is not None:
        stride, padding, dilation = module.stride, module.padding, module.dilation
        groups, mode = module.groups, module.padding_mode
    else:
        last = ("groups", "dilation") if transposed else ("dilation", "groups")
        places = {name: 5 + transposed + i for i, name in enumerate(last)}
        stride, padding = call.argument(3, "stride", 1), call.argument(4, "padding", 0)
        dilation, groups = (call.argument(places[each], each, 1) for each in ("dilation", "groups"))
        mode = "zeros"
    weight, bias = call.parameter("weight", 1), call.parameter("bias", 2)
    if weight is None or weight.value is None:
        return None
    title = f"{'ConvTranspose' if transposed else 'Conv'}{axes}d"
    if not all(one is None or one.trained for one in (weight, bias)):
        return Layer(call.name, title, affine=True, piecewise=True)
    point = call.argument(0, "input").shape
    dilation = _each(dilation, axes)
    offset = None if bias is None else bias.value
    name = call.named(title, weight)
    parameters = weight.name, None if bias is None else bias.name
    one: LinearMap
    one = convolution = ConvolutionMap(
        name=name,
        parameters=parameters,
        weight=weight.value,
        offset=None if transposed else offset,
        size=tuple((call.shape if transposed else point)[-axes:]),
        stride=_each(stride, axes),
        padding=_pairs(padding, tuple(weight.value.shape[2:]), dilation),
        dilation=dilation,
        groups=int(groups),
        mode=mode,
        rows=math.prod(point[: -axes - 1]),
    )
    if transposed:
        one = TransposedMap(name, parameters, convolution, offset, tuple(point[-axes:]))
    return Layer(name, title, affine=True, piecewise=True, maps=(one,))


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
