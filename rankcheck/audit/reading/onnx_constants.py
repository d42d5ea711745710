"""Nodes of ONNX, and what they make of constants and sizes alone, with numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from rankcheck.audit.reading.arrays import check_size
from rankcheck.audit.reading.opening import require

__all__ = ["FOLDED", "Node", "slices"]


@dataclass(frozen=True, eq=False)
class Node:
    """A node of a graph of ONNX.

    Attributes:
        kind: its operator.
        name: its own name.
        at: how errors name it.
        inputs, outputs: names of values; empty where one is left out.
        attributes: those that are given.
    """

    kind: str
    name: str
    at: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]


Arrays = Sequence[Any]


def slices(
    axes: int,
    ends: tuple[Sequence[int], Sequence[int]],
    along: Sequence[int] | None,
    steps: Sequence[int] | None,
) -> tuple[slice, ...]:
    """A `Slice` of ONNX as slices of Python, for a tensor of so many axes.

    Args:
        ends: where the slices begin, and where they end.
        along: their axes; the first ones if None.
        steps: 1 each if None.

    Raises:
        ModelError: a step is not positive.
    """
    found = [slice(None)] * axes
    number = len(ends[0])
    along = range(number) if along is None else along
    steps = [1] * number if steps is None else steps
    for start, end, axis, step in zip(*ends, along, steps, strict=True):
        require(step > 0, f"a slice has the step {step}; it must be positive")
        found[axis] = slice(start, end, step)
    return tuple(found)


def _axes(node: Node, arrays: Arrays) -> tuple[int, ...] | None:
    """The axes of a node: an attribute until opset 12, an input since."""
    given = node.attributes.get("axes")
    if given is None and len(arrays) > 1 and arrays[1] is not None:
        given = arrays[1].flatten().tolist()
    return None if given is None else tuple(int(one) for one in given)


def _unsqueeze(node: Node, arrays: Arrays) -> Any:
    return np.expand_dims(arrays[0], _axes(node, arrays) or ())


def _slice(node: Node, arrays: Arrays) -> Any:
    if "starts" in node.attributes:
        first, last = (list(node.attributes[name]) for name in ("starts", "ends"))
        along, steps = node.attributes.get("axes"), None
    else:
        first, last = arrays[1].tolist(), arrays[2].tolist()
        along, steps = (
            arrays[place].tolist() if place < len(arrays) and arrays[place] is not None else None
            for place in (3, 4)
        )
    return arrays[0][slices(arrays[0].ndim, (first, last), along, steps)]


def _cast(node: Node, arrays: Arrays) -> Any:
    from onnx import helper

    return arrays[0].astype(helper.tensor_dtype_to_np_dtype(int(node.attributes["to"])))


def _filled(node: Node, arrays: Arrays) -> Any:
    from onnx import numpy_helper

    value = node.attributes.get("value")
    number = np.zeros(1, np.float32) if value is None else numpy_helper.to_array(value)
    shape = tuple(arrays[0].tolist())
    check_size(node.at, shape)
    return np.full(shape, number.flat[0])


def _range(node: Node, arrays: Arrays) -> Any:
    start, limit, step = (one.flat[0] for one in arrays)
    require(step, f"{node.at} has the step 0")
    check_size(node.at, (max(1, int((limit - start) / step)),))
    return np.arange(start, limit, step)


def _reshape(node: Node, arrays: Arrays) -> Any:
    old, sizes = arrays[0].shape, arrays[1].tolist()
    return arrays[0].reshape([old[i] if size == 0 else size for i, size in enumerate(sizes)])


def _expand(node: Node, arrays: Arrays) -> Any:
    shape = np.broadcast_shapes(arrays[0].shape, tuple(arrays[1].tolist()))
    check_size(node.at, shape)
    return np.broadcast_to(arrays[0], shape)


def _div(node: Node, arrays: Arrays) -> Any:
    whole = all(one.dtype.kind in "iu" for one in arrays)
    return arrays[0] // arrays[1] if whole else arrays[0] / arrays[1]


def _products(node: Node, arrays: Arrays) -> Any:
    axes = _axes(node, arrays)
    keep = bool(node.attributes.get("keepdims", 1))
    return np.prod(arrays[0], axis=axes, keepdims=keep)


def _where(node: Node, arrays: Arrays) -> Any:
    return np.where(*arrays)


def _trilu(node: Node, arrays: Arrays) -> Any:
    k = int(arrays[1].flat[0]) if len(arrays) > 1 and arrays[1] is not None else 0
    return (np.triu if node.attributes.get("upper", 1) else np.tril)(arrays[0], k)


def _plain(function: Callable[..., Any]) -> Callable[[Node, Arrays], Any]:
    """An operation without attributes; what comes out is no larger than what broadcasting makes."""

    def compute(node: Node, arrays: Arrays) -> Any:
        check_size(node.at, np.broadcast_shapes(*(one.shape for one in arrays)) or (1,))
        return np.asarray(function(*arrays))

    return compute


def _gathered(node: Node, arrays: Arrays) -> Any:
    axis = int(node.attributes.get("axis", 0))
    check_size(node.at, (max(1, arrays[1].size), max(1, arrays[0].size // arrays[0].shape[axis])))
    return np.take(arrays[0], arrays[1], axis=axis)


def _concatenated(node: Node, arrays: Arrays) -> Any:
    check_size(node.at, (max(1, sum(one.size for one in arrays)),))
    return np.concatenate(arrays, axis=int(node.attributes["axis"]))


#: What is computed of constants, by operator.
FOLDED: dict[str, Callable[[Node, Arrays], Any]] = {
    "Identity": lambda node, arrays: arrays[0],
    "Transpose": lambda node, arrays: arrays[0].transpose(node.attributes.get("perm")),
    "Reshape": _reshape,
    "Unsqueeze": _unsqueeze,
    "Squeeze": lambda node, arrays: np.squeeze(arrays[0], _axes(node, arrays)),
    "Gather": _gathered,
    "Concat": _concatenated,
    "Slice": _slice,
    "Cast": _cast,
    "ConstantOfShape": _filled,
    "Range": _range,
    "Expand": _expand,
    "Where": _where,
    "Trilu": _trilu,
    "Div": _div,
    "ReduceProd": _products,
    "Size": lambda node, arrays: np.array(prod(arrays[0].shape), dtype=np.int64),
    **{
        name: _plain(function)
        for name, function in {
            "Add": np.add,
            "Sub": np.subtract,
            "Mul": np.multiply,
            "Neg": np.negative,
            "Sqrt": np.sqrt,
            "Reciprocal": np.reciprocal,
            "Pow": np.power,
            "Floor": np.floor,
            "Ceil": np.ceil,
            "Mod": np.mod,
            "Min": np.minimum,
            "Max": np.maximum,
            "Equal": np.equal,
            "Less": np.less,
            "LessOrEqual": np.less_equal,
            "Greater": np.greater,
            "GreaterOrEqual": np.greater_equal,
            "Not": np.logical_not,
            "And": np.logical_and,
            "Or": np.logical_or,
            "Abs": np.abs,
        }.items()
    },
}
