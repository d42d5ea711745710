"""Chains in ONNX files. The package `onnx` parses them; what is no chain of them is never run.

Read are, from opset 7 on, Gemm, MatMul, Add, Sub, Mul, Div, BatchNormalization, Relu, LeakyRelu,
Flatten, Reshape, Identity and Dropout of one tensor after the other, with constants of the file.
What was read is compared with the reference evaluator of `onnx` at random points.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rankcheck.audit.chain import (
    SCALES,
    Activation,
    Affine,
    Step,
    assemble,
    batch_norm,
    compare,
    diagonal,
    numbers,
    squares,
)
from rankcheck.audit.model import NO_CHAIN, Model, ModelError, label, require

#: The first version of the standard operators that is read: before, sums had an axis.
OLDEST_OPSET = 7
MOST_NODES = 20_000
#: Whether these keep all numbers of a point and their order, the comparison says.
_KEEPING = ("Flatten", "Reshape", "Identity", "Dropout")
_CLOSE = {"float64": 1e-7, "float32": 1e-3}


def chain_of_onnx(path: Path, *, slope: float | None) -> Model:
    """The chain from the input of a graph to its output; what leads elsewhere is left out.

    Raises:
        ModelError: the package is missing, the graph is no chain, has its numbers elsewhere, or
            computes something else than its operations say.
    """
    try:
        import onnx
        from onnx.reference import ReferenceEvaluator
    except ImportError as error:
        raise ModelError("ONNX needs a package: pip install 'rankcheck[onnx]'") from error
    proto = onnx.load(str(path), load_external_data=False)
    reader = _Reader(proto)
    model = reader.read(slope)
    nodes = [node for node in proto.graph.node if set(node.output) & reader.kept]
    del proto.graph.node[:]
    proto.graph.node.extend(nodes)
    evaluator = ReferenceEvaluator(proto)
    about = reader.source.type.tensor_type
    kind = onnx.helper.tensor_dtype_to_np_dtype(about.elem_type)
    axes = [axis.dim_value for axis in about.shape.dim[1:]]
    shape = axes if axes and all(axes) else model.net.widths[:1]

    def computed(X: Tensor) -> Tensor:
        points = X.numpy().astype(kind).reshape(len(X), 1, *shape)  # files may fix the first axis
        found = [evaluator.run(None, {reader.source.name: one})[0] for one in points]
        return torch.from_numpy(np.stack(found).astype(np.float64))

    scales = SCALES if kind.name in _CLOSE else SCALES[:1]  # half precision overflows
    compare(model.net, computed, "the graph", _CLOSE.get(kind.name, 0.1), scales)
    return model


class _Reader:
    """The steps of a graph.

    Attributes:
        source: the input of the graph.
        constants: the stored tensor of each, its name, and whether it is transposed.
        left: how many numbers may still be read.
        trained: the constants that are parameters of the steps.
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
        self.constants = {one.name: (one, one.name, False) for one in graph.initializer}
        require(len(self.constants) == len(graph.initializer), "two constants have one name")
        inputs = [one for one in graph.input if one.name not in self.constants]
        counts = len(inputs), len(graph.output)
        require(counts == (1, 1), f"it has {counts[0]} inputs and {counts[1]} outputs, {NO_CHAIN}")
        self.source, self.end = inputs[0], graph.output[0].name
        self.made = {name: node for node in graph.node for name in node.output if name}
        self.left = proto.ByteSize()
        self.trained: dict[str, Tensor] = {}
        self.kept: set[str] = set()
        for node in graph.node:
            self._constant(node)

    def _constant(self, node: Any) -> None:
        """Take in a node that makes a constant: also of another one, perhaps transposed."""
        here, kind = node.output[0], node.op_type
        value = next((one.t for one in node.attribute if one.name == "value"), None)
        if kind == "Constant" and value is not None:
            self.constants[here] = value, here, False
        elif kind in ("Identity", "Transpose") and node.input[0] in self.constants:
            value, origin, turned = self.constants[node.input[0]]
            self.constants[here] = value, origin, turned ^ (kind == "Transpose")
        if here in self.constants:
            self.kept.add(here)

    def read(self, slope: float | None) -> Model:
        """Walk from the output back to the input, and read the steps in their order."""
        nodes: list[tuple[Any, int]] = []
        here = self.end
        while here != self.source.name:
            node = self.made.get(here)
            if node is None or here in self.kept:
                raise ModelError(f"nothing computes {label(here)}")
            moving = [i for i, one in enumerate(node.input) if one and one not in self.constants]
            at = f"the node {label(node.name or here)} ({label(node.op_type)[1:-1]})"
            require(len(moving) == 1, f"{at} takes {len(moving)} computed tensors, {NO_CHAIN}")
            nodes.append((node, moving[0]))
            self.kept.add(here)
            here = node.input[moving[0]]
        steps = [self._step(*one) for one in reversed(nodes) if one[0].op_type not in _KEEPING]
        return assemble(steps, "ONNX", stored=squares(*self.trained.values()), slope=slope)

    def _array(self, name: str) -> tuple[Tensor, str]:
        """The numbers of a constant, and the name under which they are stored.

        Raises:
            ModelError: they are in another file, or no finite real numbers; or steps that share
                constants would hold more numbers than the file has bytes.
        """
        from onnx import TensorProto, numpy_helper

        value, origin, turned = self.constants[name]
        inside = value.data_location != TensorProto.EXTERNAL and not value.external_data
        require(inside, f"{label(name)} has its numbers in another file; save all in one")
        array = numpy_helper.to_array(value)
        self.left -= array.size
        require(self.left >= 0, f"{label(origin)} is used too often for a file of this size")
        return numbers(label(origin), array.T if turned else array), origin

    def _row(self, name: str, trained: bool = True) -> Tensor:
        """A constant that is one row, or one number."""
        row, origin = self._array(name)
        flat = row.ndim == 0 or row.numel() == row.shape[-1]
        require(flat, f"{label(name)} of shape {tuple(row.shape)} is no row, {NO_CHAIN}")
        self.trained |= {origin: row} if trained else {}
        return row.flatten()

    def _matrix(self, name: str, transposed: bool) -> tuple[str, Tensor]:
        """A constant matrix, (n, m) for m numbers that come in, and where it is stored."""
        W, origin = self._array(name)
        new = origin not in self.trained and W.ndim == 2
        require(new, f"{label(name)} is no matrix, or one that another layer has, {NO_CHAIN}")
        self.trained[origin] = W
        return origin.removesuffix(".weight"), W.T if transposed else W

    def _step(self, node: Any, place: int) -> Step:
        from onnx.helper import get_attribute_value

        name = node.name or node.output[0]
        options = {one.name: get_attribute_value(one) for one in node.attribute}
        kind = node.op_type if node.domain in ("", "ai.onnx") else f"{node.domain}.{node.op_type}"
        others = [one for i, one in enumerate(node.input) if one and i != place]
        step: Step | None = None
        match kind, place, others:
            case ("Relu", 0, []):
                step = Activation(name, 0.0)
            case ("LeakyRelu", 0, []):
                step = Activation(name, float(options.get("alpha", np.float32(0.01))))
            case ("Gemm", 0, [W, *b]) if not options.get("transA"):
                name, weight = self._matrix(W, not options.get("transB"))
                bias = self._row(b[0]) * options.get("beta", 1.0) if b else None
                step = Affine(name, weight * options.get("alpha", 1.0), bias)
            case ("MatMul", 0, [W]):
                step = Affine(*self._matrix(W, True))
            case ("Add" | "Sub" | "Mul" | "Div", _, [c]):
                step = diagonal(kind.lower(), name, self._row(c), place == 1)
            case ("BatchNormalization", 0, [g, b, *averages]):
                mean, var = (self._row(one, trained=False) for one in averages)
                eps = float(options.get("epsilon", np.float32(1e-5)))
                step = batch_norm(name, mean, var, self._row(g), self._row(b), eps)
        at = f"the node {label(name)} ({label(kind)[1:-1]})"
        if step is None:
            raise ModelError(f"{at} is not read with what it is given, {NO_CHAIN}")
        return step
