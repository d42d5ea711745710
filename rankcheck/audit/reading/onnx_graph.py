"""ONNX models: a graph that is one chain from its input to its output, or any other one.

The package `onnx` parses the file; nothing is executed, and data in other files are not read. A
chain is made of Gemm, MatMul, Add of a constant, Relu, LeakyRelu, Identity, Dropout and
BatchNormalization as in inference, Flatten, and Reshape to (batch, n); what has something else goes
to `onnx_network`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.model import Model, ModelError
from rankcheck.audit.reading.arrays import check_size, half_precision, parameter
from rankcheck.audit.reading.folding import (
    Activation,
    Affine,
    Diagonal,
    Step,
    assemble,
    batch_norm,
    squares,
)
from rankcheck.audit.reading.onnx_network import read_network
from rankcheck.audit.reading.opening import label, parsing, require, where

__all__ = ["read_onnx"]

#: The first version of the standard operators that is read: before, BatchNormalization and others
#: had attributes of another meaning.
OLDEST_OPSET = 9
CHAIN = "a network is one chain of nodes from its input to its output"

_CUT = "export the network without it"

#: Of each operator, the attributes with what they are if they are not given; in single precision.
_OPERATORS: dict[str, dict[str, Any]] = {
    "Gemm": {"alpha": 1.0, "beta": 1.0, "transA": 0, "transB": 0},
    "MatMul": {},
    "Add": {},
    "Relu": {},
    "LeakyRelu": {"alpha": np.float32(0.01)},
    "Identity": {},
    "Dropout": {"ratio": 0.5, "seed": 0},
    "BatchNormalization": {"epsilon": np.float32(1e-5), "momentum": 0.9, "training_mode": 0},
    "Flatten": {"axis": 1},
    "Reshape": {"allowzero": 0},
    "Transpose": {"perm": [1, 0]},
    "Constant": {"value": None},
}


class _NoChain(ModelError):
    """The graph is no chain of nodes as they are read here."""


def _chain(condition: object, message: str) -> None:
    """Check what holds for every chain.

    Raises:
        _NoChain: it does not hold.
    """
    if not condition:
        raise _NoChain(message)


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
        ModelError: the package `onnx` is missing, the file is damaged, has data elsewhere, or has a
            node that is not known.
    """
    try:
        import onnx
    except ImportError as error:
        raise ModelError(
            f"{where(path)}: reading ONNX needs the package onnx; pip install 'rankcheck[onnx]'"
        ) from error
    with parsing(path, "an ONNX model"):
        model = onnx.load(str(path), load_external_data=False)
        _check(model)
        try:
            _check_nodes(model.graph)
            constants = _constants(model.graph)
            steps, notes = _steps(model.graph, constants)
        except _NoChain:
            stored = _stored(model.graph).arrays
            half = half_precision(stored.values())
            read = read_network(
                model, stored, slope=slope, shape=shape, theorems=theorems, cut=_CUT
            )
            return replace(read, assumed=(*half, *read.assumed))
    notes += half_precision(constants.arrays.values())
    return assemble(steps, "ONNX", slope=slope, assumed=notes, cut=_CUT)


def _check(model: Any) -> None:
    """Check what holds for the whole of a model."""
    graph = model.graph
    require(graph.node, "it has no nodes; it is no ONNX model of a network")
    version = min((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), default=0)
    require(
        version >= OLDEST_OPSET,
        f"it has opset {version}; {OLDEST_OPSET} is the oldest read",
    )
    require(not model.functions, "it defines functions of its own; standard operators are read")
    require(not graph.sparse_initializer, "it has sparse initializers; they must be dense")


def _check_nodes(graph: Any) -> None:
    """Check that all nodes are those of chains.

    Raises:
        _NoChain: one is not.
    """
    for node in graph.node:
        known = node.domain in ("", "ai.onnx") and node.op_type in _OPERATORS
        _chain(known, f"{_at(node)} is not known; known are {', '.join(_OPERATORS)}")
        for attribute in node.attribute:
            name = attribute.name
            known = name in _OPERATORS[node.op_type]
            _chain(known, f"{_at(node)} has the attribute {label(name)}, which is not known")


@dataclass
class _Constants:
    """The constants of a graph by name, as numpy arrays.

    Attributes:
        transposed: the names of those that are the transpose of another one.
    """

    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    transposed: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, tensor: Any) -> None:
        """Read a constant whose numbers are in the file."""
        from onnx import TensorProto, numpy_helper

        require(name not in self.arrays, f"there are two constants {label(name)}; a name is unique")
        inside = tensor.data_location != TensorProto.EXTERNAL and not tensor.external_data
        require(inside, f"{label(name)} has its numbers in another file; save all data in one")
        check_size(label(name), tuple(tensor.dims))
        with parsing(label(name), f"an array of the shape {tuple(tensor.dims)}"):
            self.arrays[name] = numpy_helper.to_array(tensor)

    def parameter(self, name: str) -> Tensor:
        """A constant as a parameter of a network."""
        _chain(name in self.arrays, f"{label(name)} is computed; parameters must be constants")
        return parameter(label(name), self.arrays[name])

    def matrix(self, at: str, name: str) -> Tensor:
        """A constant that a node multiplies by."""
        array = self.parameter(name)
        shape = tuple(array.shape)
        require(len(shape) == 2, f"{at} has weights of shape {shape}; they must be a matrix")
        return array

    def row(self, at: str, name: str) -> Tensor:
        """A constant that a node adds to each point."""
        array = self.parameter(name)
        shape = tuple(array.shape)
        one_row = len(shape) in (1, 2) and prod(shape) == shape[-1]
        _chain(one_row, f"{at} adds a constant of shape {shape}; it must be one row")
        return array.flatten()


def _stored(graph: Any) -> _Constants:
    """The constants that a graph begins with."""
    constants = _Constants()
    for tensor in graph.initializer:
        constants.add(tensor.name, tensor)
    return constants


def _constants(graph: Any) -> _Constants:
    """The constants of a graph, and what nodes make of constants alone."""
    constants = _stored(graph)
    for node in graph.node:
        attributes, arrays = _attributes(node), constants.arrays
        if node.op_type == "Constant":
            value = attributes["value"]
            _chain(
                value is not None, f"{_at(node)} has no tensor as its value; others are not read"
            )
            constants.add(node.output[0], value)
        elif node.op_type == "Identity" and node.input[0] in arrays:
            arrays[node.output[0]] = arrays[node.input[0]]
        elif node.op_type == "Transpose":
            plain = list(attributes["perm"]) == [1, 0] and node.input[0] in arrays
            _chain(plain, f"{_at(node)} does not transpose a constant matrix; others are not read")
            arrays[node.output[0]] = arrays[node.input[0]].T
            constants.transposed[node.output[0]] = node.input[0]
    return constants


def _steps(graph: Any, constants: _Constants) -> tuple[list[Step], list[str]]:
    """The nodes from the input to the output as steps, with notes.

    Raises:
        ModelError: it is no chain, or a node is not of the form that is read.
    """
    inputs = [value for value in graph.input if value.name not in constants.arrays]
    counts = len(inputs), len(graph.output)
    require(
        counts == (1, 1), f"it has {counts[0]} inputs and {counts[1]} outputs; one of each is read"
    )
    nodes = [node for node in graph.node if not set(node.output) & constants.arrays.keys()]
    users: dict[str, list[Any]] = {}
    for node in nodes:
        for name in set(node.input) - constants.arrays.keys():
            users.setdefault(name, []).append(node)
    reader = _Reader(constants, _axes(inputs[0]))
    value, used = inputs[0].name, 0
    while value != graph.output[0].name:
        following = users.get(value, [])
        one = len(following) == 1 and used < len(nodes)
        _chain(one, f"the value {label(value)} is used by {len(following)} nodes; {CHAIN}")
        used += 1
        reader.read(following[0], value)
        value = following[0].output[0]
    _chain(not users.get(value) and used == len(nodes), f"it has nodes beside the chain; {CHAIN}")
    return reader.steps, reader.notes


class _Reader:
    """The steps that nodes are, one node after the other.

    Attributes:
        axes: the sizes that the model declares for its input; None where it says nothing.
        flat: whether a point is a row by now.
    """

    def __init__(self, constants: _Constants, axes: list[int | None] | None) -> None:
        self.constants, self.axes = constants, axes
        self.flat = axes is None or len(axes) == 2
        self.steps: list[Step] = []
        self.notes: list[str] = []

    def read(self, node: Any, value: str) -> None:
        """Add the step of a node, whose input is the value computed before it."""
        kind, at, attributes = node.op_type, _at(node), _attributes(node)
        names = [name for name in node.input if name and name != value]
        title = node.name or node.output[0]
        flat = self.flat or kind not in ("Gemm", "MatMul", "BatchNormalization")
        _chain(flat, f"{at} works on an input of axes {self.axes}; it must be flattened first")
        first = kind == "Add" or node.input[0] == value
        _chain(first, f"{at} must have what is computed before it as its first input")
        number = {"MatMul": 1, "Add": 1, "Reshape": 1, "BatchNormalization": 4}.get(kind)
        number = max(1, min(len(names), 2)) if kind == "Gemm" else number
        right = number in (None, len(names))
        _chain(right, f"{at} has {len(names)} inputs beside the value before it; it takes {number}")
        # The mask of a Dropout may be named; who uses it is a node beside the chain.
        one = kind == "Dropout" or len([name for name in node.output if name]) == 1
        require(one, f"{at} has several outputs; only the first can be read")
        training = bool(attributes.get("training_mode"))
        match kind:
            case "Gemm":
                self._gemm(title, at, names, attributes)
            case "MatMul":
                weight = self.constants.matrix(at, names[0]).T.contiguous()
                inner = self.constants.transposed.get(names[0])
                stored = None if inner is None else (inner, None)
                self.steps.append(Affine(title, weight, None, stored, squares(weight)))
            case "Add":
                self._add(title, at, names[0])
            case "Relu" | "LeakyRelu":
                self.steps.append(Activation(title, float(attributes.get("alpha", 0.0))))
            case "BatchNormalization":
                gamma, beta, mean, variance = map(self.constants.parameter, names)
                eps = float(attributes["epsilon"])
                self.steps.append(batch_norm(title, mean, variance, gamma, beta, eps))
            case "Dropout" if len(node.input) > 2 and node.input[2]:
                mode = self.constants.arrays.get(node.input[2])
                training = mode is None or bool(mode.any())
            case "Flatten":
                axis = attributes["axis"]
                _chain(axis == 1, f"{at} flattens from axis {axis}; it must be 1")
                self._flattened(title)
            case "Reshape":
                self._reshape(title, at, names[0])
        require(not training, f"{at} is in training mode; export the network in eval mode")

    def _gemm(self, title: str, at: str, names: list[str], attributes: dict[str, Any]) -> None:
        """α·x·B + β·C, with B transposed if `transB` is set."""
        require(not attributes["transA"], f"{at} transposes the data; a point must be a row")
        matrix = self.constants.matrix(at, names[0])
        bias = self.constants.row(at, names[1]) if len(names) == 2 else None
        alpha, beta = float(attributes["alpha"]), float(attributes["beta"])
        plain = alpha == 1 and (beta == 1 or bias is None)
        if not plain:
            self.notes.append(
                f"{at}: its factors {alpha:g} and {beta:g} are part of the parameters"
            )
        weight = alpha * (matrix if attributes["transB"] else matrix.T.contiguous())
        as_stored = plain and attributes["transB"] and names[0] not in self.constants.transposed
        pair = (names[0], names[1] if bias is not None else None) if as_stored else None
        shift = None if bias is None else beta * bias
        self.steps.append(Affine(title, weight, shift, pair, squares(matrix, bias)))

    def _add(self, title: str, at: str, constant: str) -> None:
        """A bias, if there is a matrix directly before without one; else a shift."""
        bias = self.constants.row(at, constant)
        last = self.steps[-1] if self.steps else None
        if isinstance(last, Affine) and last.bias is None and len(bias) == len(last.weight):
            names = None if last.parameters is None else (last.parameters[0], constant)
            stored = last.stored + squares(bias)
            self.steps[-1] = Affine(last.name, last.weight, bias, names, stored)
        else:
            shift = Diagonal(title, torch.ones_like(bias), bias, squares(bias), "the shift")
            self.steps.append(shift)

    def _flattened(self, title: str) -> None:
        if not self.flat or self.axes is None:
            self.notes.append(f"points are flattened to vectors, as {label(title)} does")
        self.flat = True

    def _reshape(self, title: str, at: str, name: str) -> None:
        """Reshape to (batch, n), if n is what one point has."""
        _chain(name in self.constants.arrays, f"{at} reshapes to sizes that are computed")
        sizes = [int(size) for size in self.constants.arrays[name].flat]
        maps = [step for step in self.steps if not isinstance(step, Activation)]
        width: int | None = None
        if maps:
            width = maps[-1].sizes[1]
        elif self.axes is not None and None not in self.axes[1:]:
            width = prod(size for size in self.axes[1:] if size is not None)
        _chain(
            sizes in ([0, -1], [0, width], [-1, width]),
            f"{at} reshapes to {tuple(sizes)}; it must be (batch, {width or 'n'})",
        )
        self._flattened(title)


def _at(node: Any) -> str:
    name = node.name or (node.output[0] if node.output else "")
    domain = f"{node.domain}." if node.domain else ""
    return f"the node {label(name)} ({label(domain + node.op_type).strip(chr(39))})"


def _attributes(node: Any) -> dict[str, Any]:
    """The attributes of a node, with the values of those that are not given."""
    from onnx.helper import get_attribute_value

    given = {attribute.name: get_attribute_value(attribute) for attribute in node.attribute}
    return _OPERATORS[node.op_type] | given


def _axes(value: Any) -> list[int | None] | None:
    """The sizes of the axes that the model declares for its input; None where it says nothing."""
    kind = value.type.tensor_type
    if not kind.HasField("shape"):
        return None
    return [axis.dim_value if axis.HasField("dim_value") else None for axis in kind.shape.dim]
