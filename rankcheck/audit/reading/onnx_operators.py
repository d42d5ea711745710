"""The operators of ONNX that are known, as functions of torch."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from rankcheck.audit.reading.onnx_constants import slices
from rankcheck.audit.reading.onnx_module import Operands, Operator
from rankcheck.audit.reading.opening import require

__all__ = ["ATTRIBUTES", "OPERATORS"]

#: That of norms where none is given, in single precision.
EPS = float(np.float32(1e-5))


def _binary(function: Callable[[Any, Any], Any]) -> Operator:
    def compute(x: Operands) -> Any:
        places = [place for place in (0, 1) if x.is_constant(place)]
        return x.call(places[0] if places else 0, function, x(0), x(1))

    return compute


def _unary(function: Callable[..., Any], **options: tuple[str, Any]) -> Operator:
    """A function of one tensor; its options are attributes, with what they are if not given."""

    def compute(x: Operands) -> Any:
        given = {name: x.attribute(key, default) for name, (key, default) in options.items()}
        return function(x(0), **given)

    return compute


def _linear(x: Operands) -> Any:
    """The product by a constant matrix, perhaps with a bias."""
    return x.call(1, functional.linear, x(0), x.weight(1, transposed=True), x.weight(2))


def _matmul(x: Operands) -> Any:
    if x.is_constant(1) and x.constant(1).ndim == 2:
        return _linear(x)
    ordered = not x.is_constant(0)
    require(ordered, f"{x.node.at} multiplies a constant by points; the other order is read")
    return torch.matmul(x(0), x.weight(1))


def _gemm(x: Operands) -> Any:
    """α·x·B + β·C, with B transposed if `transB` is set; what is scaled is no parameter."""
    fixed = x.is_constant(1) and not x.is_constant(0) and x.constant(1).ndim == 2
    require(fixed, f"{x.node.at} does not multiply points by a constant matrix")
    require(not x.attribute("transA", 0), f"{x.node.at} transposes the data; a point is a row")
    alpha, beta = float(x.attribute("alpha", 1.0)), float(x.attribute("beta", 1.0))
    weight = x.weight(1, transposed=not x.attribute("transB", 0))
    row = x.has(2) and x.is_constant(2) and x.constant(2).ndim == 1
    if alpha == 1 and (beta == 1 or not x.has(2)) and (row or not x.has(2)):
        return x.call(1, functional.linear, x(0), weight, x.weight(2))
    value = x.call(1, functional.linear, x(0), weight)
    if not x.has(2) or beta == 0:
        return value * alpha
    value = value if alpha == beta else value * (alpha / beta)
    value = value + x(2)
    return value if beta == 1 else value * beta


def _windows(x: Operands, axes: int) -> tuple[list[int], list[int], list[int]]:
    """Strides, dilations, and how much is added in front of and behind each axis."""
    strides = list(x.attribute("strides", [1] * axes))
    dilations = list(x.attribute("dilations", [1] * axes))
    pads = list(x.attribute("pads", [0] * (2 * axes)))
    auto = x.attribute("auto_pad", b"NOTSET")
    known = auto in (b"NOTSET", b"VALID")
    require(known, f"{x.node.at} pads by {auto!r}; pads are to be numbers")
    return strides, dilations, pads


def _padded(x: Operands, value: Any, pads: list[int], axes: int) -> tuple[Any, list[int]]:
    """The tensor, padded where two sides of an axis differ; and by how much it is still padded."""
    before, behind = pads[:axes], pads[axes:]
    if before == behind:
        return value, before
    pairs = list(zip(before, behind, strict=True))
    return functional.pad(value, [side for pair in reversed(pairs) for side in pair]), [0] * axes


def _convolution(x: Operands) -> Any:
    require(x.is_constant(1), f"{x.node.at} has a kernel that is computed; it must be a constant")
    axes = x.constant(1).ndim - 2
    require(axes in (1, 2, 3), f"{x.node.at} has {axes} axes; convolutions have 1 to 3")
    strides, dilations, pads = _windows(x, axes)
    value, padding = _padded(x, x(0), pads, axes)
    function = (functional.conv1d, functional.conv2d, functional.conv3d)[axes - 1]
    return x.call(
        1, function, value, x.weight(1), x.weight(2), strides, padding, dilations,
        int(x.attribute("group", 1)),
    )  # fmt: skip


def _pooled(x: Operands, kind: str) -> Any:
    kernel = list(x.attribute("kernel_shape"))
    axes = len(kernel)
    require(axes in (1, 2, 3), f"{x.node.at} has {axes} axes; pooling has 1 to 3")
    strides, dilations, pads = _windows(x, axes)
    require(pads[:axes] == pads[axes:], f"{x.node.at} pads the two sides of an axis differently")
    ceil = bool(x.attribute("ceil_mode", 0))
    if kind == "max":
        require(len(x.node.outputs) == 1, f"{x.node.at} returns indices; that is not read")
        largest = (torch.max_pool1d, torch.max_pool2d, torch.max_pool3d)[axes - 1]
        return largest(x(0), kernel, strides, pads[:axes], dilations, ceil)
    require(set(dilations) == {1}, f"{x.node.at} has dilations; means are read without")
    mean = (functional.avg_pool1d, functional.avg_pool2d, functional.avg_pool3d)[axes - 1]
    counted = bool(x.attribute("count_include_pad", 0))
    return mean(x(0), kernel, strides, pads[:axes], ceil, counted)


def _over_all(x: Operands, function: Callable[..., Any]) -> Any:
    """Over all axes but those of points and channels."""
    return function(x(0), dim=tuple(range(2, len(x(0).shape))), keepdim=True)


def _reduced(x: Operands, function: Callable[..., Any]) -> Any:
    axes = x.attribute("axes")
    if axes is None and x.has(1):
        axes = x.integers(1)
    require(axes, f"{x.node.at} goes over all axes, that of the points among them")
    return function(x(0), dim=tuple(axes), keepdim=bool(x.attribute("keepdims", 1)))


def _batch_norm(x: Operands) -> Any:
    training = bool(x.attribute("training_mode", 0))
    require(not training, f"{x.node.at} is in training mode; export the network in eval mode")
    eps = float(x.attribute("epsilon", EPS))
    return x.call(
        1, functional.batch_norm, x(0), x.statistic(3), x.statistic(4), x.weight(1), x.weight(2),
        False, 0.0, eps,
    )  # fmt: skip


def _layer_norm(x: Operands) -> Any:
    axis = int(x.attribute("axis", -1))
    shape = x(0).shape
    sizes = list(shape[axis:])
    require(axis % len(shape), f"{x.node.at} goes over all axes, that of the points among them")
    eps = float(x.attribute("epsilon", EPS))
    return x.call(1, functional.layer_norm, x(0), sizes, x.weight(1), x.weight(2), eps)


def _group_norm(x: Operands) -> Any:
    eps, groups = float(x.attribute("epsilon", EPS)), int(x.attribute("num_groups"))
    return x.call(1, functional.group_norm, x(0), groups, x.weight(1), x.weight(2), eps)


def _softmax(x: Operands, function: Callable[..., Any]) -> Any:
    axis, number = int(x.attribute("axis", x.softmax_axis())), len(x(0).shape)
    one = axis % number == number - 1 or x.softmax_axis() == -1
    require(one, f"{x.node.at} goes over several axes, as before opset 13")
    return function(x(0), axis)


def _reshape(x: Operands) -> Any:
    old, sizes = list(x(0).shape), x.integers(1)
    require(not x.attribute("allowzero", 0) or 0 not in sizes, f"{x.node.at} makes an empty tensor")
    sizes = [old[i] if size == 0 else size for i, size in enumerate(sizes)]
    if sizes and sizes[0] == x.batch() and old[0] == 1:
        sizes[0] = 1
    return torch.reshape(x(0), sizes)


def _flatten(x: Operands) -> Any:
    axis = int(x.attribute("axis", 1))
    require(axis == 1, f"{x.node.at} flattens from axis {axis}; it must be 1")
    return torch.flatten(x(0), 1)


def _transpose(x: Operands) -> Any:
    order = x.attribute("perm", list(reversed(range(len(x(0).shape)))))
    return torch.permute(x(0), list(order))


def _squeezed(x: Operands, function: Callable[..., Any]) -> Any:
    axes = x.attribute("axes")
    axes = list(axes if axes is not None else x.integers(1))
    number = len(x(0).shape) + (len(axes) if function is torch.unsqueeze else 0)
    value = x(0)
    ordered = sorted((axis % number for axis in axes), reverse=function is torch.squeeze)
    for axis in ordered:
        value = function(value, axis)
    return value


def _concatenated(x: Operands) -> Any:
    return torch.cat([x(place) for place in range(len(x))], int(x.attribute("axis")))


def _split(x: Operands) -> Any:
    axis = int(x.attribute("axis", 0))
    sizes = x.attribute("split")
    if sizes is None and x.has(1):
        sizes = x.integers(1)
    if sizes is None:
        number = int(x.attribute("num_outputs", len(x.node.outputs)))
        whole = x(0).shape[axis]
        each = -(-whole // number)
        sizes = [min(each, whole - i * each) for i in range(number)]
    return tuple(x(0).split(list(sizes), axis))


def _slice(x: Operands) -> Any:
    if x.attribute("starts") is not None:
        first, last = list(x.attribute("starts")), list(x.attribute("ends"))
        along, steps = x.attribute("axes"), None
    else:
        first, last = x.integers(1), x.integers(2)
        along, steps = (x.integers(place) if x.has(place) else None for place in (3, 4))
    return operator.getitem(x(0), slices(len(x(0).shape), (first, last), along, steps))


def _gather(x: Operands) -> Any:
    axis, place = int(x.attribute("axis", 0)), x.constant(1)
    require(place.ndim < 2, f"{x.node.at} takes parts in {place.ndim} axes; one is read")
    number = len(x(0).shape)
    chosen: list[Any] = [slice(None)] * number
    chosen[axis % number] = int(place) if place.ndim == 0 else place.tolist()
    return operator.getitem(x(0), tuple(chosen))


def _dropout(x: Operands) -> Any:
    training = x.has(2) and bool(x.constant(2).any())
    require(not training, f"{x.node.at} is in training mode; export the network in eval mode")
    return x(0)


def _clip(x: Operands) -> Any:
    low: Any = x.attribute("min") if x.attribute("min") is not None else x.number(1)
    high: Any = x.attribute("max") if x.attribute("max") is not None else x.number(2)
    if high is None and low == 0:
        return torch.relu(x(0))
    require(low is not None and high is not None, f"{x.node.at} cuts off on one side")
    if (low, high) == (0, 6):
        return functional.relu6(x(0))
    return functional.hardtanh(x(0), float(low), float(high))


def _padding(x: Operands) -> Any:
    mode = x.attribute("mode", b"constant")
    pads = list(x.attribute("pads") if x.attribute("pads") is not None else x.integers(1))
    value = x.number(2, 0.0)
    plain = mode == b"constant" and not value and not x.has(3) and min(pads) >= 0
    require(plain, f"{x.node.at} does not pad by zeros; others are not read")
    axes = len(pads) // 2
    pairs = list(zip(pads[:axes], pads[axes:], strict=True))
    return functional.pad(x(0), [side for pair in reversed(pairs) for side in pair])


def _gelu(x: Operands) -> Any:
    form = x.attribute("approximate", b"none")
    return functional.gelu(x(0), approximate=form.decode() if isinstance(form, bytes) else form)


def _masked(x: Operands) -> Any:
    return torch.where(x.statistic(0), x(1), x(2))


def _cast(x: Operands) -> Any:
    from onnx import TensorProto

    floats = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16)
    require(x.attribute("to") in floats, f"{x.node.at} makes whole numbers of numbers")
    return x(0)


OPERATORS: dict[str, Operator] = {
    "Add": _binary(torch.add),
    "Sub": _binary(torch.sub),
    "Mul": _binary(torch.mul),
    "Div": _binary(torch.div),
    "Neg": _unary(torch.neg),
    "MatMul": _matmul,
    "Linear": _linear,
    "Gemm": _gemm,
    "Conv": _convolution,
    "MaxPool": partial(_pooled, kind="max"),
    "AveragePool": partial(_pooled, kind="mean"),
    "GlobalAveragePool": partial(_over_all, function=torch.mean),
    "GlobalMaxPool": partial(_over_all, function=torch.amax),
    "ReduceMean": partial(_reduced, function=torch.mean),
    "ReduceSum": partial(_reduced, function=torch.sum),
    "ReduceMax": partial(_reduced, function=torch.amax),
    "BatchNormalization": _batch_norm,
    "LayerNormalization": _layer_norm,
    "GroupNormalization": _group_norm,
    "Relu": _unary(torch.relu),
    "LeakyRelu": _unary(functional.leaky_relu, negative_slope=("alpha", float(np.float32(0.01)))),
    "Tanh": _unary(torch.tanh),
    "Sigmoid": _unary(torch.sigmoid),
    "Gelu": _gelu,
    "Silu": _unary(functional.silu),
    "Elu": _unary(functional.elu, alpha=("alpha", 1.0)),
    "Selu": _unary(functional.selu),
    "Celu": _unary(functional.celu, alpha=("alpha", 1.0)),
    "Softplus": _unary(functional.softplus),
    "Mish": _unary(functional.mish),
    "Clip": _clip,
    "Softmax": partial(_softmax, function=torch.softmax),
    "LogSoftmax": partial(_softmax, function=torch.log_softmax),
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Transpose": _transpose,
    "Squeeze": partial(_squeezed, function=torch.squeeze),
    "Unsqueeze": partial(_squeezed, function=torch.unsqueeze),
    "Concat": _concatenated,
    "Split": _split,
    "Slice": _slice,
    "Gather": _gather,
    "Pad": _padding,
    "Where": _masked,
    "Identity": _unary(lambda value: value),
    "Dropout": _dropout,
    "Cast": _cast,
}

#: The attributes of each operator that are read; others are refused.
ATTRIBUTES: dict[str, tuple[str, ...]] = {
    name: tuple(names.split())
    for name, names in {
        "Gemm": "alpha beta transA transB",
        "Conv": "strides dilations pads auto_pad group kernel_shape",
        "MaxPool": "strides dilations pads auto_pad kernel_shape ceil_mode storage_order",
        "AveragePool": "strides dilations pads auto_pad kernel_shape ceil_mode count_include_pad",
        "ReduceMean": "axes keepdims noop_with_empty_axes",
        "ReduceSum": "axes keepdims noop_with_empty_axes",
        "ReduceMax": "axes keepdims noop_with_empty_axes",
        "ReduceProd": "axes keepdims noop_with_empty_axes",
        "BatchNormalization": "epsilon momentum training_mode",
        "LayerNormalization": "axis epsilon stash_type",
        "GroupNormalization": "epsilon num_groups stash_type",
        "LeakyRelu": "alpha",
        "Gelu": "approximate",
        "Elu": "alpha",
        "Celu": "alpha",
        "Clip": "min max",
        "Softmax": "axis",
        "LogSoftmax": "axis",
        "Reshape": "allowzero",
        "Flatten": "axis",
        "Transpose": "perm",
        "Squeeze": "axes",
        "Unsqueeze": "axes",
        "Concat": "axis",
        "Split": "axis split num_outputs",
        "Slice": "axes starts ends",
        "Gather": "axis",
        "Pad": "mode pads",
        "Dropout": "ratio seed",
        "Cast": "to saturate",
        "ConstantOfShape": "value",
        "Trilu": "upper",
        "Selu": "alpha gamma",
    }.items()
}
