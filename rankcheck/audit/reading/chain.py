"""Graphs that are one chain of affine maps and activations, as the steps of a `Model`."""

from __future__ import annotations

import operator
from collections.abc import Mapping

import torch
from torch import Tensor, fx, nn
from torch.nn import functional

from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.graph.linear_map import DenseMap
from rankcheck.audit.reading.arrays import parameter
from rankcheck.audit.reading.folding import (
    Activation,
    Affine,
    Diagonal,
    Step,
    batch_norm,
    squares,
)
from rankcheck.audit.reading.opening import label, require

__all__ = ["steps_of"]

_SUMS = (operator.add, torch.add, "add")
_DIFFERENCES = (operator.sub, torch.sub, "sub")
_PRODUCTS = (operator.mul, torch.mul, "mul")
_QUOTIENTS = (operator.truediv, torch.div, "div")
_NEGATIVES = (operator.neg, torch.neg, "neg")
#: What keeps the order of all numbers.
_ORDERED = (
    nn.Flatten,
    nn.Unflatten,
    torch.flatten,
    torch.reshape,
    torch.squeeze,
    torch.unsqueeze,
    "flatten",
    "reshape",
    "view",
    "unflatten",
    "squeeze",
    "unsqueeze",
)
_DROPOUTS = (functional.dropout, nn.Dropout, nn.Identity)


def steps_of(graph: Graph) -> tuple[list[Step], tuple[str, ...]] | None:
    """The steps of a graph and what was assumed, or None if it is no such chain.

    A chain applies one operation after the other to a vector: linear layers, batch norms,
    activations σ_a, sums with and products by constants.
    """
    reader = _Reader(graph)
    before: fx.Node | None = None
    for node in graph.module.graph.nodes:
        if node.op == "placeholder":
            before = node
        elif node.name in graph.layers:
            if _moving(node, graph) != [before] or not reader.read(node):
                return None
            before = node
    output = next(node for node in graph.module.graph.nodes if node.op == "output")
    return (reader.steps, tuple(reader.notes)) if output.args[0] is before else None


def _moving(node: fx.Node, graph: Graph) -> list[fx.Node]:
    """The arguments of a node that depend on the point, one for each place where they stand."""
    found: list[fx.Node] = []
    fx.node.map_arg((node.args, node.kwargs), found.append)
    return [one for one in found if one.op == "placeholder" or one.name in graph.layers]


class _Reader:
    """The steps that nodes are, one node after the other."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.steps: list[Step] = []
        self.notes: list[str] = []
        self._homes: dict[str, str] = {}

    def read(self, node: fx.Node) -> bool:
        """Add the step of a node; False if it is none of a chain."""
        layer = self.graph.layers[node.name]
        module, what = None, node.target
        if node.op == "call_module":
            module = self.graph.module.get_submodule(str(node.target))
            what = _kind(module)
        if layer.slope is not None:
            self.steps.append(Activation(layer.name, layer.slope))
            return True
        if what in _ORDERED or what in _DROPOUTS:
            flat = len(self.graph.shapes[node.name]) == 1
            if not self.steps and what in _ORDERED and flat:
                self.notes.append(f"points are flattened to vectors, as {label(layer.name)} does")
            return True
        if len(self.graph.shapes[node.name]) != 1 or len(self._shape_before(node)) != 1:
            return False  # of rows, or images
        if isinstance(module, nn.BatchNorm1d):
            self.steps.append(self._norm(layer.name, module))
            return True
        [linear] = layer.maps or (None,)
        if isinstance(linear, DenseMap):
            stored = self._stored(linear)
            weight, bias = linear.parameters
            self.steps.append(
                Affine(layer.name, linear.weight, linear.offset, (weight, bias), stored)
            )
            return True
        diagonal = self._diagonal(layer.name, node)
        if diagonal is not None:
            self.steps.append(diagonal)
        return diagonal is not None

    def _shape_before(self, node: fx.Node) -> tuple[int, ...]:
        return self.graph.shapes[_moving(node, self.graph)[0].name]
