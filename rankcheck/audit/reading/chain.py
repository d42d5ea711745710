"""Graphs that are one chain of affine maps and activations, as the steps of a `Model`."""

from __future__ import annotations

import operator
from dataclasses import replace
from math import prod
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn import functional

from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.graph.layer import kind_of
from rankcheck.audit.graph.linear_map import DenseMap
from rankcheck.audit.reading.folding import (
    Activation,
    Affine,
    Diagonal,
    Step,
    batch_norm,
    squares,
)
from rankcheck.audit.reading.opening import label

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
#: The arguments of a batch norm that is a function.
_NORM = ("input", "running_mean", "running_var", "weight", "bias", "training", "momentum", "eps")
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
        if node.name not in self.graph.shapes:  # several tensors
            return False
        module: nn.Module | None = None
        what: object = node.target
        if node.op == "call_module":
            module = self.graph.module.get_submodule(str(node.target))
            what = kind_of(module)
        if layer.slope is not None:
            self.steps.append(Activation(layer.name, layer.slope))
            return True
        if what in _ORDERED or what in _DROPOUTS or self._all(node):
            flat = len(self.graph.shapes[node.name]) == 1
            if not self.steps and what not in _DROPOUTS and flat:
                self.notes.append(f"points are flattened to vectors, as {label(layer.name)} does")
            return True
        if len(self.graph.shapes[node.name]) != 1 or len(self._shape_before(node)) != 1:
            return False  # of rows, or images
        if isinstance(module, nn.BatchNorm1d):
            trained = tuple(name for one in layer.maps for name in one.parameters)
            self.steps.append(self._norm(layer.name, module, trained))
            return True
        if what is functional.batch_norm:
            given: dict[str, Any] = {**dict(zip(_NORM, node.args, strict=False)), **node.kwargs}
            mean, variance, weight, bias = (self._tensor(given.get(name)) for name in _NORM[1:5])
            if mean is None or variance is None:
                return False
            trained = tuple(name for one in layer.maps for name in one.parameters)
            step = batch_norm(layer.name, mean, variance, weight, bias, given.get("eps", 1e-5))
            self.steps.append(replace(step, stored=self._stored(layer.name, trained)))
            return True
        [linear] = layer.maps or (None,)
        if isinstance(linear, DenseMap):
            stored = self._stored(layer.name, linear.parameters)
            as_stored = module is not None or what is functional.linear
            as_stored &= not str(linear.parameters[0]).endswith(".T")  # as ONNX is read
            names = linear.parameters if as_stored else None
            weight, bias = linear.weight.contiguous(), linear.offset
            self.steps.append(Affine(layer.name, weight, bias, names, stored))
            return True
        diagonal = self._diagonal(layer.name, node)
        if diagonal is not None:
            self._add(diagonal, node)
        return diagonal is not None

    def _all(self, node: fx.Node) -> bool:
        """Whether an index keeps all numbers in their order: it has full slices and new axes."""
        if node.target is not operator.getitem or len(node.all_input_nodes) > 1:
            return False
        index = node.args[1] if isinstance(node.args[1], tuple) else (node.args[1],)
        plain = all(one is None or isinstance(one, slice | type(...)) for one in index)
        return plain and prod(self.graph.shapes[node.name]) == prod(self._shape_before(node))

    def _shape_before(self, node: fx.Node) -> tuple[int, ...]:
        return self.graph.shapes[_moving(node, self.graph)[0].name]

    def _add(self, step: Diagonal, node: fx.Node) -> None:
        """Add a step; a sum with a parameter behind a matrix without a bias is its bias."""
        last = self.steps[-1] if self.steps else None
        added = [str(one.target) for one in node.all_input_nodes if one.op == "get_attr"]
        bias = node.target in _SUMS and len(added) == 1 and added[0] in self.graph.parameters
        whole = bias and self.graph.parameters[added[0]].numel() == len(step.shift)
        if whole and isinstance(last, Affine) and last.bias is None:
            names = None if last.parameters is None else (last.parameters[0], added[0])
            stored = last.stored + step.stored
            self.steps[-1] = Affine(last.name, last.weight, step.shift, names, stored)
        else:
            self.steps.append(step)

    def _stored(self, name: str, parameters: tuple[str | None, ...]) -> float:
        """The sum of squares of parameters; 0 of those that another layer has counted."""
        known = self.graph.parameters
        own = [one for one in parameters if one in known and one not in self._homes]
        shared = [one for one in parameters if one in self._homes]
        if shared:
            home = self._homes[str(shared[0])]
            what = (
                f"{label(name)} is used several times"
                if home == name
                else f"{label(home)} and {label(name)} share their parameters"
            )
            note = (
                f"{what}: the stored cost counts them once, the cost of the network as often as "
                "they are used"
            )
            if note not in self.notes:
                self.notes.append(note)
        self._homes.update({str(one): name for one in own})
        return squares(*(known[str(one)] for one in own))

    def _norm(
        self, name: str, module: nn.BatchNorm1d, parameters: tuple[str | None, ...]
    ) -> Diagonal:
        assert module.running_mean is not None
        assert module.running_var is not None
        arrays = [module.running_mean, module.running_var, module.weight, module.bias]
        mean, variance, weight, bias = (None if a is None else a.detach() for a in arrays)
        assert mean is not None
        assert variance is not None
        step = batch_norm(name, mean, variance, weight, bias, module.eps)
        return replace(step, stored=self._stored(name, parameters))

    def _diagonal(self, name: str, node: fx.Node) -> Diagonal | None:
        """x + c, x − c, c − x, cx, x/c or −x with a constant c."""
        what = node.target
        if what in _NEGATIVES:
            return self._scaled(name, node, -1.0, 0.0, "the sign")
        if node.kwargs or len(node.args) != 2:
            return None
        left, right = (self._constant(one) for one in node.args)
        c = right if left is None else left
        if c is None or c.numel() not in (1, self._shape_before(node)[0]):
            return None
        if what in _SUMS:
            return self._scaled(name, node, 1.0, c, "the shift")
        if what in _DIFFERENCES:
            sign = 1.0 if left is None else -1.0
            return self._scaled(name, node, sign, c * -sign, "the shift")
        if what in _PRODUCTS:
            return self._scaled(name, node, c, 0.0, "the factor")
        if what in _QUOTIENTS and left is None and bool((c != 0).all()):
            return self._scaled(name, node, 1 / c, 0.0, "the factor")
        return None

    def _scaled(
        self, name: str, node: fx.Node, scale: Tensor | float, shift: Tensor | float, kind: str
    ) -> Diagonal:
        ones = torch.ones(self._shape_before(node), dtype=torch.float64)
        names = [str(one.target) for one in node.all_input_nodes if one.op == "get_attr"]
        stored = self._stored(name, tuple(names))
        return Diagonal(name, ones * scale, ones * shift, stored, kind)

    def _tensor(self, one: object) -> Tensor | None:
        """A parameter or buffer; None for anything else."""
        if not isinstance(one, fx.Node) or one.op != "get_attr":
            return None
        value: Any = self.graph.module
        for part in str(one.target).split("."):
            value = getattr(value, part)
        return value.detach() if isinstance(value, Tensor) else None

    def _constant(self, one: object) -> Tensor | None:
        """A number, or a tensor of a module that is one row; None for anything else."""
        if isinstance(one, int | float) and not isinstance(one, bool):
            return torch.tensor(float(one), dtype=torch.float64)
        value: Any = self._tensor(one)
        floats = isinstance(value, Tensor) and value.is_floating_point()
        return value.detach().double().flatten() if floats and value.numel() else None
