"""ONNX models: a graph that is one chain from its input to its output.

The package `onnx` parses the file; nothing is executed, and data in other files are not read. Known
are Gemm, MatMul, Add of a constant, Relu, LeakyRelu, Identity, Dropout and BatchNormalization as in
inference, Flatten, and Reshape to (batch, n). Every other operator is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rankcheck.audit.model import Model, ModelError
from rankcheck.audit.reading.arrays import check_dtype, check_size, parameter
from rankcheck.audit.reading.folding import (
    Activation,
    Affine,
    Diagonal,
    Step,
    assemble,
    batch_norm,
    check_slope,
    squares,
)
from rankcheck.audit.reading.opening import LARGEST_ENTRIES, label, parsing, where

__all__ = ["read_onnx"]

#: The first version of the standard operators that is read: before, BatchNormalization and others
#: had attributes of another meaning.
OLDEST_OPSET = 9
#: The largest file that protobuf reads, in bytes.
LARGEST_MESSAGE = (1 << 31) - 1

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


def read_onnx(path: Path, *, slope: float | None = None) -> Model:
    """The network of an ONNX file.

    Raises:
        ModelError: the package `onnx` is missing, the file is damaged, has data elsewhere, is no
            chain, or has an operator that is not known.
    """
    slope = check_slope(slope)
    try:
        import onnx
    except ImportError as error:
        raise ModelError(
            f"{where(path)}: reading ONNX needs the package onnx; pip install 'rankcheck[onnx]'"
        ) from error
    if path.stat().st_size > LARGEST_MESSAGE:
        raise ModelError(
            f"{where(path)} is larger than {LARGEST_MESSAGE} bytes, as no ONNX file is"
        )
    with parsing(path, "an ONNX model"):
        model = onnx.load(str(path), load_external_data=False)
        graph = _Graph(path, model)
        steps = graph.steps()
    return assemble(
        steps,
        "ONNX",
        slope=slope,
        assumed=graph.notes,
        cut="export the network without it",
    )


class _Graph:
    """The nodes and constants of a model, by the names of the values."""

    def __init__(self, path: Path, model: Any) -> None:
        from onnx import TensorProto

        self.path = path
        self.external = TensorProto.EXTERNAL
        graph = model.graph
        if not graph.node:
            raise ModelError(f"{where(path)} has no nodes; it is no ONNX model of a network")
        self._check_version(model)
        self.constants: dict[str, Any] = {}
        for tensor in graph.initializer:
            self._constant(tensor.name, tensor)
        if graph.sparse_initializer:
            raise ModelError(f"{where(path)} has sparse initializers; they must be dense")
        self.nodes: list[tuple[Any, dict[str, Any]]] = []
        self.values: dict[str, Tensor] = {}
        self.transposed: dict[str, str] = {}
        for node in graph.node:
            self._node(node)
        inputs = [value for value in graph.input if value.name not in self.constants]
        if len(inputs) != 1 or len(graph.output) != 1:
            raise ModelError(
                f"{where(path)} has {len(inputs)} inputs and {len(graph.output)} outputs; a "
                "network has one of each"
            )
        self.input, self.output = inputs[0], graph.output[0].name
        self.notes: list[str] = []

    def _check_version(self, model: Any) -> None:
        standard = [o.version for o in model.opset_import if o.domain in ("", "ai.onnx")]
        if not standard or min(standard) < OLDEST_OPSET:
            raise ModelError(
                f"{where(self.path)} uses the operators of version {min(standard, default=0)}; "
                f"{OLDEST_OPSET} is the oldest that is read"
            )
        if len(model.functions):
            raise ModelError(
                f"{where(self.path)} defines functions of its own; export it with standard "
                "operators"
            )

    def _constant(self, name: str, tensor: Any) -> None:
        """Keep a constant, if its numbers are in the file."""
        if name in self.constants:
            raise ModelError(
                f"{where(self.path)} has two constants {label(name)}; a name occurs once"
            )
        if tensor.data_location == self.external or len(tensor.external_data):
            raise ModelError(
                f"{label(name)} has its numbers in another file; save the model with all data "
                "inside"
            )
        check_size(label(name), tuple(tensor.dims))
        self.constants[name] = tensor

    def _node(self, node: Any) -> None:
        at = _at(node)
        if node.domain not in ("", "ai.onnx") or node.op_type not in _OPERATORS:
            known = ", ".join(name for name in _OPERATORS if name not in ("Constant", "Transpose"))
            raise ModelError(f"{at} is not known; known are {known}")
        attributes = _attributes(node)
        if node.op_type == "Constant":
            value = attributes["value"]
            if value is None or len(node.output) != 1:
                raise ModelError(f"{at} has no tensor as its value; only such constants are read")
            self._constant(node.output[0], value)
        elif node.op_type == "Identity" and node.input and node.input[0] in self.constants:
            self._constant(node.output[0], self.constants[node.input[0]])
        elif node.op_type == "Transpose":
            if list(attributes["perm"]) != [1, 0] or node.input[0] not in self.constants:
                raise ModelError(
                    f"{at} does not transpose a matrix of constants; nothing else is read"
                )
            self.transposed[node.output[0]] = node.input[0]
        else:
            self.nodes.append((node, attributes))

    def _is_constant(self, name: str) -> bool:
        return name in self.constants or name in self.transposed

    def _array(self, name: str, *, integers: bool = False) -> Tensor:
        """The numbers of a constant.

        Raises:
            ModelError: it is none, or not of a type that is read.
        """
        from onnx import numpy_helper
        from onnx.helper import tensor_dtype_to_np_dtype

        if name in self.transposed:
            return self._array(self.transposed[name]).T.contiguous()
        if name not in self.constants:
            raise ModelError(f"{label(name)} is computed; parameters must be constants")
        if name not in self.values:
            tensor = self.constants[name]
            dtype = tensor_dtype_to_np_dtype(tensor.data_type)
            check_dtype(label(name), dtype, integers=integers)
            self._check_length(name, tensor, dtype.itemsize)
            array = numpy_helper.to_array(tensor)
            self.values[name] = (
                torch.from_numpy(array.copy()) if integers else parameter(label(name), array)
            )
        return self.values[name]

    def _check_length(self, name: str, tensor: Any, width: int) -> None:
        """Check that a constant has as many numbers as its shape says."""
        entries = prod(tensor.dims)
        typed = ("float_data", "double_data", "int64_data", "int32_data", "uint64_data")
        present = (
            len(tensor.raw_data) // width
            if tensor.HasField("raw_data")
            else max(len(getattr(tensor, field)) for field in typed)
        )
        if present != entries:
            raise ModelError(
                f"{label(name)} has {present} numbers; its shape {tuple(tensor.dims)} takes "
                f"{entries}"
            )

    def steps(self) -> list[Step]:
        """The nodes from the input to the output.

        Raises:
            ModelError: it is no chain, or a node is not of the form that is read.
        """
        users: dict[str, list[tuple[Any, dict[str, Any]]]] = {}
        for node, attributes in self.nodes:
            for name in {name for name in node.input if not self._is_constant(name)}:
                users.setdefault(name, []).append((node, attributes))
        steps: list[Step] = []
        self.axes = _input_axes(self.input)
        self.flat = self.axes is None or len(self.axes) == 2
        value, used = self.input.name, 0
        while value != self.output:
            following = users.get(value, [])
            if len(following) != 1:
                raise ModelError(
                    f"the value {label(value)} is used by {len(following)} nodes; a network is one "
                    "chain from its input to its output"
                )
            [(node, attributes)] = following
            used += 1
            if used > len(self.nodes):
                raise ModelError(f"{where(self.path)} has a circle; a network has none")
            self._step(node, attributes, value, steps)
            # The mask of a Dropout may be named; who uses it is a node beside the chain.
            if node.op_type != "Dropout" and len([name for name in node.output if name]) != 1:
                raise ModelError(f"{_at(node)} has several outputs; only the first can be read")
            value = node.output[0]
        if users.get(value) or used < len(self.nodes):
            raise ModelError(
                f"{where(self.path)} has nodes beside the chain from its input to its output; a "
                "network has none"
            )
        entries = sum(array.numel() for array in self.values.values())
        if entries > LARGEST_ENTRIES:
            raise ModelError(f"there are {entries} parameters; at most {LARGEST_ENTRIES} are read")
        return steps

    def _step(
        self, node: Any, attributes: Mapping[str, Any], value: str, steps: list[Step]
    ) -> None:
        kind, at = node.op_type, _at(node)
        constants = [name for name in node.input if name and name != value]
        title = node.name or node.output[0]
        if kind in ("Gemm", "MatMul", "BatchNormalization") and not self.flat:
            raise ModelError(
                f"{at} works on an input of axes {self.axes}; it must be flattened first"
            )
        if kind != "Add" and (not node.input or node.input[0] != value):
            raise ModelError(f"{at} must have what is computed before it as its first input")
        match kind:
            case "Gemm":
                steps.append(self._gemm(title, at, constants, attributes))
            case "MatMul":
                self._count(at, constants, 1)
                weight = _matrix(at, self._array(constants[0])).T.contiguous()
                inner = self.transposed.get(constants[0])
                names = None if inner is None else (inner, None)
                steps.append(Affine(title, weight, None, names, squares(weight)))
            case "Add":
                self._count(at, constants, 1)
                self._add(title, at, constants[0], steps)
            case "Relu":
                steps.append(Activation(title, 0.0))
            case "LeakyRelu":
                steps.append(Activation(title, float(attributes["alpha"])))
            case "BatchNormalization":
                self._count(at, constants, 4)
                if attributes["training_mode"]:
                    raise ModelError(f"{at} is in training mode; export the network in eval mode")
                gamma, beta, mean, variance = (self._array(name) for name in constants)
                eps = float(attributes["epsilon"])
                steps.append(batch_norm(title, mean, variance, gamma, beta, eps))
            case "Dropout":
                if len(node.input) > 2 and node.input[2]:
                    mode = self._array(node.input[2], integers=True)
                    if bool(mode.any()):
                        raise ModelError(
                            f"{at} is in training mode; export the network in eval mode"
                        )
            case "Flatten":
                if attributes["axis"] != 1:
                    raise ModelError(f"{at} flattens from axis {attributes['axis']}; it must be 1")
                self._flattened(title, steps)
            case "Reshape":
                self._count(at, constants, 1)
                self._reshape(title, at, self._array(constants[0], integers=True), steps)

    def _count(self, at: str, constants: list[str], number: int) -> None:
        if len(constants) != number:
            raise ModelError(
                f"{at} has {len(constants)} inputs beside what is computed before it; it must have "
                f"{number}"
            )

    def _gemm(
        self, title: str, at: str, constants: list[str], attributes: Mapping[str, Any]
    ) -> Affine:
        """α·x·B + β·C, with B transposed if `transB` is set."""
        if len(constants) not in (1, 2):
            self._count(at, constants, 2)
        if attributes["transA"]:
            raise ModelError(f"{at} transposes the data; a point must be a row")
        matrix = _matrix(at, self._array(constants[0]))
        bias = _row(at, self._array(constants[1])) if len(constants) == 2 else None
        alpha, beta = float(attributes["alpha"]), float(attributes["beta"])
        plain = alpha == 1 and (beta == 1 or bias is None)
        if not plain:
            self.notes.append(
                f"{at}: its factors {alpha:g} and {beta:g} are part of the parameters"
            )
        weight = alpha * (matrix if attributes["transB"] else matrix.T.contiguous())
        pair = (constants[0], constants[1] if bias is not None else None)
        as_stored = plain and attributes["transB"] and constants[0] in self.constants
        return Affine(
            title,
            weight,
            None if bias is None else beta * bias,
            pair if as_stored else None,
            squares(matrix, bias),
        )

    def _add(self, title: str, at: str, constant: str, steps: list[Step]) -> None:
        """A bias, if there is a matrix directly before without one; else a shift."""
        bias = _row(at, self._array(constant))
        last = steps[-1] if steps else None
        if isinstance(last, Affine) and last.bias is None and len(bias) == len(last.weight):
            names = None if last.parameters is None else (last.parameters[0], constant)
            stored = last.stored + squares(bias)
            steps[-1] = Affine(last.name, last.weight, bias, names, stored)
        else:
            shift = Diagonal(title, torch.ones_like(bias), bias, squares(bias), "the shift")
            steps.append(shift)

    def _flattened(self, title: str, steps: list[Step]) -> None:
        if not self.flat or self.axes is None:
            self.notes.append(f"points are flattened to vectors, as {label(title)} does")
        self.flat = True

    def _reshape(self, title: str, at: str, shape: Tensor, steps: list[Step]) -> None:
        """Reshape to (batch, n), if n is what one point has."""
        sizes = [int(size) for size in shape.flatten()]
        maps = [step for step in steps if not isinstance(step, Activation)]
        width: int | None = None
        if maps:
            width = maps[-1].sizes[1]
        elif self.axes is not None and None not in self.axes[1:]:
            width = prod(size for size in self.axes[1:] if size is not None)
        if len(sizes) != 2 or not (sizes == [0, -1] or (sizes[0] in (0, -1) and sizes[1] == width)):
            raise ModelError(
                f"{at} reshapes to {tuple(sizes)}; it must be (batch, {width or 'n'}), with all "
                "numbers of a point in its row"
            )
        self._flattened(title, steps)


def _at(node: Any) -> str:
    name = node.name or (node.output[0] if node.output else "")
    domain = f"{node.domain}." if node.domain else ""
    return f"the node {label(name)} ({label(domain + node.op_type).strip(chr(39))})"


def _attributes(node: Any) -> dict[str, Any]:
    """The attributes of a node, with the values of those that are not given.

    Raises:
        ModelError: one is not known.
    """
    from onnx.helper import get_attribute_value

    found = dict(_OPERATORS[node.op_type])
    for attribute in node.attribute:
        if attribute.name not in found:
            raise ModelError(
                f"{_at(node)} has the attribute {label(attribute.name)}, which is not known"
            )
        found[attribute.name] = get_attribute_value(attribute)
    return found


def _matrix(at: str, array: Tensor) -> Tensor:
    if array.ndim != 2:
        raise ModelError(f"{at} has weights of shape {tuple(array.shape)}; they must be a matrix")
    return array


def _row(at: str, array: Tensor) -> Tensor:
    if array.ndim not in (1, 2) or array.numel() != array.shape[-1]:
        raise ModelError(f"{at} adds a constant of shape {tuple(array.shape)}; it must be one row")
    return array.flatten()


def _input_axes(value: Any) -> list[int | None] | None:
    """The sizes of the axes that the model declares for its input; None where it says nothing."""
    kind = value.type.tensor_type
    if not kind.HasField("shape"):
        return None
    return [axis.dim_value if axis.HasField("dim_value") else None for axis in kind.shape.dim]
