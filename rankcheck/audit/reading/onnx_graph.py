"""ONNX models: graphs of nodes that are known one by one, traced as modules of torch are.

The package `onnx` parses the file; nothing in it is executed, and data in other files are not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.graph.tracing import read_layers, trace
from rankcheck.audit.model import Model, ModelError
from rankcheck.audit.reading.arrays import check_size, half_precision
from rankcheck.audit.reading.modules import compare, model_or_graph
from rankcheck.audit.reading.onnx_constants import FOLDED, Node
from rankcheck.audit.reading.onnx_forms import fused
from rankcheck.audit.reading.onnx_module import OnnxModule
from rankcheck.audit.reading.onnx_operators import ATTRIBUTES, OPERATORS
from rankcheck.audit.reading.opening import LARGEST_ENTRIES, label, parsing, require, where

__all__ = ["read_onnx"]

#: The first version of the standard operators that is read: before, BatchNormalization and others
#: had attributes of another meaning.
OLDEST_OPSET = 9
#: The most nodes that are read.
MOST_NODES = 20_000
#: The most shapes of a point that are tried if neither the model nor the data say it.
MOST_TRIED = 8
_CUT = "export the network without it"


def read_onnx(
    path: Path,
    *,
    slope: float | None = None,
    shape: tuple[int, ...] | None = None,
    theorems: bool = True,
) -> Model | Graph:
    """The network of an ONNX file: a `Model` if it is a chain, else a `Graph`.

    Args:
        slope, shape, theorems: as for `read_model`.

    Raises:
        ModelError: the package `onnx` is missing; the file is damaged or has data elsewhere; a node
            is not known, or does not take what it gets; or it mixes the points of a batch.
    """
    try:
        import onnx
    except ImportError as error:
        raise ModelError(
            f"{where(path)}: reading ONNX needs the package onnx; pip install 'rankcheck[onnx]'"
        ) from error
    with parsing(path, "an ONNX model"):
        proto = onnx.load(str(path), load_external_data=False)
        _check_model(proto)
        module, shapes = _module(proto, shape)
        point = _point(module, shapes)
        graph = read_layers(trace(module, point), point, "ONNX")
        assumed = half_precision(module.arrays)
        graph = replace(graph, assumed=(*assumed, *graph.assumed))
        read = model_or_graph(graph, slope=slope, theorems=theorems, cut=_CUT)
        compare(module, graph, read, number=3 if module.batch is None else module.batch)
        return read


def _check_model(proto: Any) -> None:
    """Check what holds for the whole of a model."""
    graph = proto.graph
    many = len(graph.node)
    require(many, "it has no nodes; it is no ONNX model of a network")
    require(many <= MOST_NODES, f"it has {many} nodes; at most {MOST_NODES} are read")
    version = _opset(proto)
    require(
        version >= OLDEST_OPSET,
        f"it has opset {version}; {OLDEST_OPSET} is the oldest read",
    )
    require(not proto.functions, "it defines functions of its own; standard operators are read")
    require(not graph.sparse_initializer, "it has sparse initializers; they must be dense")


def _opset(proto: Any) -> int:
    return min((o.version for o in proto.opset_import if o.domain in ("", "ai.onnx")), default=0)


def _module(proto: Any, shape: tuple[int, ...] | None) -> tuple[OnnxModule, list[tuple[int, ...]]]:
    """A module that computes what the graph computes, and the shapes that a point may have.

    Args:
        shape: as the data have it.
    """
    graph = proto.graph
    constants: dict[str, np.ndarray] = {}
    for tensor in graph.initializer:
        name = tensor.name
        require(name not in constants, f"there are two constants {label(name)}; a name is unique")
        constants[name] = _array(name, tensor)
    inputs = [value for value in graph.input if value.name not in constants]
    counts = len(inputs), len(graph.output)
    require(
        counts == (1, 1), f"it has {counts[0]} inputs and {counts[1]} outputs; one of each is read"
    )
    entries = sum(array.size for array in constants.values())
    fit = entries <= LARGEST_ENTRIES
    require(fit, f"there are {entries} numbers in it; at most {LARGEST_ENTRIES} are read")
    trained = {name for name, array in constants.items() if array.dtype.kind == "f"}
    for node in graph.node:
        if node.domain not in ("", "ai.onnx"):
            continue
        if node.op_type == "Constant":
            constants[node.output[0]] = _constant(node)
        elif node.op_type == "Identity" and node.input[0] in constants:
            constants[node.output[0]] = constants[node.input[0]]  # another layer has these numbers
            trained |= {node.output[0]} if node.input[0] in trained else set()
    ends = inputs[0].name, graph.output[0].name
    nodes = [_node(one) for one in graph.node if one.output and one.output[0] not in constants]
    nodes = _needed(fused(nodes, constants), ends[1])
    for node in nodes:
        _check(node)
    axes = _axes(inputs[0])
    batch = axes[0] if axes else None
    module = OnnxModule(nodes, constants, trained, ends, OPERATORS, batch, _opset(proto))
    return module, _shapes(axes, shape, constants)


def _point(module: OnnxModule, shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The first of some shapes of a point that the network takes.

    Raises:
        ModelError: it takes none, for which the reason is that of the first.
    """
    first: ModelError | None = None
    for shape in shapes:
        try:
            with torch.no_grad():
                found = module(torch.zeros(1, *shape, dtype=torch.float64))
        except ModelError as error:
            first = first or error
            continue
        sizes = tuple(found.shape)
        require(
            sizes[:1] == (1,), f"of one point it makes an output of shape {sizes}; the first is 1"
        )
        return shape
    assert first is not None
    raise first


def _array(name: str, tensor: Any) -> np.ndarray:
    """An array whose numbers are in the file."""
    from onnx import TensorProto, numpy_helper

    inside = tensor.data_location != TensorProto.EXTERNAL and not tensor.external_data
    require(inside, f"{label(name)} has its numbers in another file; save all data in one")
    check_size(label(name), tuple(tensor.dims))
    with parsing(label(name), f"an array of the shape {tuple(tensor.dims)}"):
        return np.asarray(numpy_helper.to_array(tensor))


def _node(proto: Any) -> Node:
    from onnx.helper import get_attribute_value

    name = proto.name or (proto.output[0] if proto.output else "")
    domain = "" if proto.domain in ("", "ai.onnx") else f"{proto.domain}."
    kind = f"{domain}{proto.op_type}"
    return Node(
        kind,
        name,
        f"the node {label(name)} ({label(kind).strip(chr(39))})",
        tuple(proto.input),
        tuple(proto.output),
        {one.name: get_attribute_value(one) for one in proto.attribute},
    )


def _needed(nodes: list[Node], output: str) -> list[Node]:
    """The nodes that the output depends on, in their order."""
    wanted, kept = {output}, []
    for node in reversed(nodes):
        if wanted & set(node.outputs):
            wanted |= set(node.inputs)
            kept.append(node)
    return kept[::-1]


def _check(node: Node) -> None:
    """Check that a node is known, with all its attributes.

    Raises:
        ModelError: it is not.
    """
    require(
        node.kind in OPERATORS or node.kind in FOLDED or node.kind == "Shape",
        f"{node.at} is not known; write the network without it, or audit the module in Python",
    )
    for name in node.attributes:
        known = name in ATTRIBUTES.get(node.kind, ())
        require(known, f"{node.at} has the attribute {label(name)}, which is not known")


def _constant(node: Any) -> np.ndarray:
    """The value of a node that is a constant.

    Raises:
        ModelError: it is a text, sparse, or in another file.
    """
    from onnx.helper import get_attribute_value

    for one in node.attribute:
        value = get_attribute_value(one)
        if one.name in ("value_float", "value_floats"):
            return np.asarray(value, dtype=np.float32)
        if one.name in ("value_int", "value_ints"):
            return np.asarray(value, dtype=np.int64)
        if one.name == "value":
            return _array(node.output[0], value)
    raise ModelError(f"{_node(node).at} has no tensor as its value; others are not read")


def _axes(value: Any) -> list[int | None]:
    """The sizes of the axes that the model declares for its input; None where it says nothing."""
    kind = value.type.tensor_type
    return [axis.dim_value if axis.HasField("dim_value") else None for axis in kind.shape.dim]


def _shapes(
    axes: list[int | None], given: tuple[int, ...] | None, constants: Mapping[str, np.ndarray]
) -> list[tuple[int, ...]]:
    """The shapes that a point may have: as the model declares it, or as the data have it.

    If neither says it, it is a row of as many numbers as some matrix takes.

    Raises:
        ModelError: they differ, or nothing is known.
    """
    declared = tuple(axes[1:])
    known = tuple(size for size in declared if size is not None)
    if declared and len(known) == len(declared):
        require(
            given is None or prod(given) == prod(known),
            f"the data have points of shape {given}; the network takes points of shape {declared}",
        )
        return [known]
    if given is not None:
        return [given]
    sizes = chain.from_iterable(a.shape for a in constants.values() if a.ndim == 2)
    found: list[tuple[int, ...]] = []
    found += [(size,) for size in dict.fromkeys(sizes)][:MOST_TRIED]
    require(
        found and len(declared) < 2,
        f"the model does not declare the sizes of a point (its axes are {axes}), so data are "
        "needed to read it",
    )
    return found
