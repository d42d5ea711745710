"""Chains in ONNX files. The package `onnx` parses them; what is no chain of them is never run.

Read are, from opset 7 on, Gemm, MatMul, Add, Sub, Mul, Div, BatchNormalization, Relu, LeakyRelu,
Flatten, Reshape, Identity and Dropout of one tensor after the other, with constants of the file.
"""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rankcheck.audit.chain import (
    LARGEST,
    Activation,
    Affine,
    Step,
    assemble,
    batch_norm,
    diagonal,
    half_precision,
    numbers,
    squares,
)
from rankcheck.audit.model import NO_CHAIN, Model, ModelError, label, require
from rankcheck.audit.objects import compare

__all__ = ["chain_of_onnx"]

#: The first version of the standard operators that is read: before, sums had an axis.
OLDEST_OPSET = 7
MOST_NODES = 20_000
_CLOSE = {"float64": 1e-7, "float32": 1e-3}


def chain_of_onnx(path: Path, *, slope: float | None) -> Model:
    """The chain from the input of a graph to its output; what leads elsewhere is left out.

    It is compared with the reference evaluator of `onnx` at random points.

    Raises:
        ModelError: the package is missing, the graph is no chain, or has its numbers elsewhere.
    """
    try:
        import onnx
        from onnx.reference import ReferenceEvaluator
    except ImportError as error:
        raise ModelError("ONNX needs a package: pip install 'rankcheck[onnx]'") from error
    proto = onnx.load(str(path), load_external_data=False)
    reader = _Reader(proto)
    reader.read()
    stored = squares(*reader.trained.values())
    notes = half_precision(reader.raw.values())
    model = assemble(reader.steps, "ONNX", stored=stored, slope=slope, assumed=notes)
    nodes = [node for node in proto.graph.node if set(node.output) & reader.kept]
    del proto.graph.node[:]
    proto.graph.node.extend(nodes)
    evaluator = ReferenceEvaluator(proto)
    kind = onnx.helper.tensor_dtype_to_np_dtype(reader.source.type.tensor_type.elem_type)
    shape = reader.declared if all(reader.declared) else (model.net.widths[0],)

    def computed(X: Tensor) -> Tensor:
        points = X.numpy().astype(kind).reshape(len(X), 1, *shape)  # files may fix the first axis
        found = [evaluator.run(None, {reader.source.name: one})[0] for one in points]
        return torch.from_numpy(np.stack(found).astype(np.float64))

    compare(model.net, computed, "the graph", _CLOSE.get(kind.name, 0.1))
    return model


class _Reader:
    """The steps of a graph.

    Attributes:
        source, declared: the input of the graph, and the shape of a point; 0 where it says nothing.
        trained, raw: the constants that are parameters of the steps, and as they are stored.
        kept: the values on the way.
    """

    def __init__(self, proto: Any) -> None:
        graph = proto.graph
        many = len(graph.node)
        require(0 < many <= MOST_NODES, f"it has {many} nodes; 1 to {MOST_NODES} are read")
        versions = [one.version for one in proto.opset_import if one.domain in ("", "ai.onnx")]
        opset = min(versions, default=0)
        require(opset >= OLDEST_OPSET, f"it has opset {opset}; {OLDEST_OPSET} is the oldest read")
        require(not proto.functions, f"it defines functions of its own, {NO_CHAIN}")
        self.tensors = {one.name: one for one in graph.initializer}
        require(len(self.tensors) == len(graph.initializer), "two constants have one name")
        inputs = [one for one in graph.input if one.name not in self.tensors]
        counts = len(inputs), len(graph.output)
        require(counts == (1, 1), f"it has {counts[0]} inputs and {counts[1]} outputs, {NO_CHAIN}")
        self.source, self.end = inputs[0], graph.output[0].name
        axes = self.source.type.tensor_type.shape.dim[1:]
        self.declared = tuple(axis.dim_value for axis in axes) or (0,)
        self._is_row = len(axes) < 2 or prod(self.declared) == self.declared[-1] > 0
        self.made = {name: node for node in graph.node for name in node.output if name}
        self.steps: list[Step] = []
        self.trained: dict[str, Tensor] = {}
        self.raw: dict[str, np.ndarray] = {}
        self.kept: set[str] = set()
        self._matrices: set[str] = set()

    def read(self) -> None:
        """Walk from the output back to the input, and add the steps in their order."""
        nodes: list[tuple[Any, int]] = []
        here = self.end
        while here != self.source.name:
            node = self.made.get(here)
            require(node is not None and here not in self.kept, f"nothing computes {label(here)}")
            assert node is not None
            moving = [i for i, one in enumerate(node.input) if one and self._array(one) is None]
            at = f"the node {label(node.name or here)} ({label(node.op_type)[1:-1]})"
            require(len(moving) == 1, f"{at} takes {len(moving)} computed tensors, {NO_CHAIN}")
            nodes.append((node, moving[0]))
            self.kept.add(here)
            here = node.input[moving[0]]
        for node, place in reversed(nodes):
            step = self._step(node, node.name or node.output[0], place)
            self.steps += [] if step is None else [step]

    def _array(self, name: str) -> tuple[np.ndarray, str] | None:
        """A constant, transposed where a node does it, and where it is stored; None if it is none.

        Raises:
            ModelError: its numbers are in another file, or too many.
        """
        from onnx import TensorProto, numpy_helper
        from onnx.helper import get_attribute_value

        node, value = self.made.get(name), self.tensors.get(name)
        if value is None and node is not None and node.op_type in ("Identity", "Transpose"):
            found = self._array(node.input[0])
            if found is not None:
                self.kept.add(name)
                return (found[0].T if node.op_type == "Transpose" else found[0]), found[1]
        if value is None and node is not None and node.op_type == "Constant":
            self.kept.add(name)
            value = get_attribute_value(node.attribute[0])
        if value is None:
            return None
        if not isinstance(value, TensorProto):
            return np.asarray(value, dtype=np.float32), name
        inside = value.data_location != TensorProto.EXTERNAL and not value.external_data
        require(inside, f"{label(name)} has its numbers in another file; save all in one")
        require(prod(value.dims) <= LARGEST, f"{label(name)} has above {LARGEST} numbers")
        return numpy_helper.to_array(value), name

    def _numbers(self, name: str, trained: bool = True) -> Tensor:
        array, origin = self._array(name) or (np.zeros(0), name)
        found = numbers(label(origin), array)
        if trained:
            self.trained[origin], self.raw[origin] = found, array
        return found

    def _row(self, name: str) -> Tensor:
        """A constant that is one row, or one number."""
        row = self._numbers(name)
        flat = row.numel() == row.shape[-1] if row.ndim else True
        require(flat, f"{label(name)} of shape {tuple(row.shape)} is no row, {NO_CHAIN}")
        return row.flatten()

    def _matrix(self, name: str, transposed: bool) -> tuple[str, Tensor]:
        """A constant matrix, (n, m) for m numbers that come in, and where it is stored."""
        W = self._numbers(name)
        origin = (self._array(name) or ("", name))[1]
        new = origin not in self._matrices and W.ndim == 2
        require(new, f"{label(name)} is no matrix, or one that another layer has, {NO_CHAIN}")
        self._matrices.add(origin)
        return origin.removesuffix(".weight"), W.T if transposed else W

    def _step(self, node: Any, name: str, place: int) -> Step | None:
        from onnx.helper import get_attribute_value

        options = {one.name: get_attribute_value(one) for one in node.attribute}
        kind = node.op_type if node.domain in ("", "ai.onnx") else f"{node.domain}.{node.op_type}"
        others = [one for i, one in enumerate(node.input) if one and i != place]
        match kind, place, others:
            case ("Flatten", 0, []) if options.get("axis", 1) == 1:
                self._is_row = True
                return None
            case ("Reshape", 0, [shape]) if self._flattens(shape):
                self._is_row = True
                return None
            case ("Identity", 0, []):
                return None
            case ("Dropout", 0, _) if len(others) < 2 or not self._is_on(others[1]):
                return None
        at = f"the node {label(name)} ({label(kind)[1:-1]})"
        require(self._is_row, f"{at} takes points that are no rows of numbers, {NO_CHAIN}")
        match kind, place, others:
            case ("Relu", 0, []):
                return Activation(name, 0.0)
            case ("LeakyRelu", 0, []):
                return Activation(name, float(options.get("alpha", np.float32(0.01))))
            case ("Gemm", 0, [W, *b]) if not options.get("transA"):
                name, weight = self._matrix(W, not options.get("transB"))
                bias = self._row(b[0]) * options.get("beta", 1.0) if b else None
                return Affine(name, weight * options.get("alpha", 1.0), bias)
            case ("MatMul", 0, [W]):
                return Affine(*self._matrix(W, True))
            case ("Add" | "Sub" | "Mul" | "Div", _, [c]):
                step = diagonal(kind.lower(), name, self._row(c), place == 1)
                require(step, f"{at} divides by what comes in, or by 0, {NO_CHAIN}")
                return step
            case ("BatchNormalization", 0, [g, b, *averages]) if not options.get("training_mode"):
                mean, var = (self._numbers(one, trained=False) for one in averages)
                eps = float(options.get("epsilon", np.float32(1e-5)))
                return batch_norm(name, mean, var, self._numbers(g), self._numbers(b), eps)
        raise ModelError(f"{at} is not read with what it is given, {NO_CHAIN}")

    def _is_on(self, name: str) -> bool:
        """Whether a constant is true, as for training mode."""
        found = self._array(name)
        return found is not None and bool(found[0].any())

    def _flattens(self, shape: str) -> bool:
        """Whether a constant shape makes a row of each point."""
        found = self._array(shape)
        sizes = [] if found is None else found[0].flatten().tolist()
        return len(sizes) == 2 and (sizes[0] in (0, 1) or (sizes[0] == -1 and sizes[1] > 1))
