"""ONNX models that are no chain: graphs with branches, convolutions, norms, attention."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import torch

from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.graph.tracing import read_layers, trace
from rankcheck.audit.model import Model, ModelError
from rankcheck.audit.reading.modules import compare, model_or_graph
from rankcheck.audit.reading.onnx_constants import FOLDED, Node
from rankcheck.audit.reading.onnx_forms import fused
from rankcheck.audit.reading.onnx_module import OnnxModule
from rankcheck.audit.reading.onnx_operators import ATTRIBUTES, OPERATORS
from rankcheck.audit.reading.opening import LARGEST_ENTRIES, label, parsing, require

__all__ = ["read_network"]

#: The most nodes that are read.
MOST_NODES = 20_000


def read_network(
    proto: Any,
    constants: dict[str, np.ndarray],
    *,
    slope: float | None,
    shape: tuple[int, ...] | None,
    theorems: bool,
    cut: str,
) -> Model | Graph:
    """The network of an ONNX model whose nodes are known, one by one.

    Args:
        proto: the model.
        constants: its initializers, by name.
        slope, shape, theorems: as for `read_model`.
        cut: what to do about an activation at the end, in words.

    Raises:
        ModelError: a node is not known, or not of the form that is read; it does not take such
            points, or mixes those of a batch.
    """
    graph = proto.graph
    inputs = [value for value in graph.input if value.name not in constants]
    counts = len(inputs), len(graph.output)
    require(
        counts == (1, 1), f"it has {counts[0]} inputs and {counts[1]} outputs; one of each is read"
    )
    many = len(graph.node)
    require(many <= MOST_NODES, f"it has {many} nodes; at most {MOST_NODES} are read")
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
    opset = max(o.version for o in proto.opset_import if o.domain in ("", "ai.onnx"))
    axes = _axes(inputs[0])
    batch = axes[0] if axes else None
    ends = inputs[0].name, graph.output[0].name
    nodes = [_node(one) for one in graph.node if one.output and one.output[0] not in constants]
    nodes = _needed(fused(nodes, constants), ends[1])
    for node in nodes:
        _check(node)
    module = OnnxModule(nodes, constants, trained, ends, OPERATORS, batch, opset)
    point = _shape(axes, shape)
    with torch.no_grad():
        found = module(torch.zeros(1, *point, dtype=torch.float64))  # names what fails, in words
    one = found.ndim > 0 and len(found) == 1
    require(
        one, f"of one point it makes an output of shape {tuple(found.shape)}; the first axis is 1"
    )
    read = read_layers(trace(module, point), point, "ONNX")
    network = model_or_graph(read, slope=slope, theorems=theorems, cut=cut)
    compare(module, read, network, number=3 if batch is None else batch)
    return network


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
    from onnx import TensorProto, numpy_helper
    from onnx.helper import get_attribute_value

    at = label(node.output[0])
    for one in node.attribute:
        value = get_attribute_value(one)
        if one.name in ("value_float", "value_floats"):
            return np.asarray(value, dtype=np.float32)
        if one.name in ("value_int", "value_ints"):
            return np.asarray(value, dtype=np.int64)
        if one.name == "value":
            inside = value.data_location != TensorProto.EXTERNAL and not value.external_data
            require(inside, f"{at} has its numbers in another file; save all data in one")
            with parsing(at, f"an array of the shape {tuple(value.dims)}"):
                return np.asarray(numpy_helper.to_array(value))
    raise ModelError(f"{_node(node).at} has no tensor as its value; others are not read")


def _axes(value: Any) -> list[int | None]:
    """The sizes of the axes that the model declares for its input; None where it says nothing."""
    kind = value.type.tensor_type
    return [axis.dim_value if axis.HasField("dim_value") else None for axis in kind.shape.dim]


def _shape(axes: list[int | None], given: tuple[int, ...] | None) -> tuple[int, ...]:
    """The shape of one point: as the model declares it, or as the data have it.

    Raises:
        ModelError: neither says it, or they differ.
    """
    declared = tuple(axes[1:])
    known = [size for size in declared if size is not None]
    if declared and len(known) == len(declared):
        require(
            given is None or prod(given) == prod(known),
            f"the data have points of shape {given}; the network takes points of shape {declared}",
        )
        return tuple(known)
    require(
        given is not None,
        f"the model does not declare the sizes of a point (its axes are {axes}), so data are "
        "needed to read it",
    )
    assert given is not None
    return given
