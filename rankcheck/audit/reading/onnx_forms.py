"""Functions that exporters write out as several nodes, found again: GELU, layer norms, biases."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankcheck.audit.reading.onnx_constants import Node

__all__ = ["fused"]

#: How far a constant may be off, as exporters store single precision.
_CLOSE = 1e-4

#: A form is an operator with its operands. A number is a constant; a text stands for a value, the
#: same one wherever it stands. Sums and products have their operands in any order.
Form = Any
Values = dict[str, str]


@dataclass(frozen=True, eq=False)
class _Graph:
    """What makes each value, and the constants."""

    made: Mapping[str, Node]
    constants: Mapping[str, np.ndarray]

    def axes(self, name: str) -> int | None:
        """Of how many constant axes a value is, None if it is computed."""
        return self.constants[name].ndim if name in self.constants else None


def _erf(x: Form) -> list[Form]:
    inside = [("Div", x, math.sqrt(2)), ("Mul", x, math.sqrt(0.5))]
    found: list[Form] = []
    for one in inside:
        factor = ("Add", ("Erf", one), 1.0)
        found += [("Mul", ("Mul", x, factor), 0.5), ("Mul", ("Mul", x, 0.5), factor)]
        found.append(("Mul", x, ("Mul", factor, 0.5)))
    return found


def _tanh(x: Form) -> list[Form]:
    cubes = [("Mul", x, ("Mul", x, x)), ("Pow", x, 3.0)]
    found: list[Form] = []
    for cube in cubes:
        inside = ("Mul", ("Add", x, ("Mul", cube, 0.044715)), math.sqrt(2 / math.pi))
        factor = ("Add", ("Tanh", inside), 1.0)
        found += [("Mul", ("Mul", x, factor), 0.5), ("Mul", ("Mul", x, 0.5), factor)]
    return found


_CENTRED = ("Sub", "x", ("ReduceMean", "x"))
_NORMED = (
    "Div", _CENTRED, ("Sqrt", ("Add", ("ReduceMean", ("Pow", _CENTRED, 2.0)), "eps"))
)  # fmt: skip
_SCALED = ("Add", ("Mul", _NORMED, "weight"), "bias")


def _named(kind: str, **attributes: Any) -> Callable[[_Graph, Values, Node], Node | None]:
    """A function of one value, by another name."""

    def build(graph: _Graph, values: Values, node: Node) -> Node:
        return replace(node, kind=kind, inputs=(values["x"],), attributes=attributes)

    return build


def _linear(graph: _Graph, values: Values, node: Node) -> Node | None:
    """x ↦ Wx + b, which a product and a sum make together."""
    fits = graph.axes(values["weight"]) == 2 and graph.axes(values["bias"]) == 1
    inputs = values["x"], values["weight"], values["bias"]
    return replace(node, kind="Linear", inputs=inputs, attributes={}) if fits else None


def _layer_norm(graph: _Graph, values: Values, node: Node) -> Node | None:
    """A layer norm over the last axes."""
    parts = [name for name in ("weight", "bias") if name in values]
    eps = graph.constants.get(values["eps"])
    if eps is None or eps.size != 1 or any(graph.axes(values[name]) is None for name in parts):
        return None
    means = [one for one in _made_of(node, graph, values["x"]) if one.kind == "ReduceMean"]
    axes = {tuple(sorted(one.attributes.get("axes", ()))) for one in means}
    if len(axes) != 1:
        return None
    [over] = axes
    last = bool(over) and over == tuple(range(-len(over), 0))
    if not last or any(one.attributes.get("keepdims", 1) != 1 for one in means):
        return None
    inputs = values["x"], *(values[name] for name in parts)
    attributes = {"axis": over[0], "epsilon": float(eps.flat[0])}
    return replace(node, kind="LayerNormalization", inputs=inputs, attributes=attributes)


def _made_of(node: Node, graph: _Graph, end: str) -> list[Node]:
    """The node and those that it is made of, down to a value."""
    before = [graph.made[name] for name in node.inputs if name in graph.made and name != end]
    return [node, *(one for each in before for one in _made_of(each, graph, end))]


_FORMS: tuple[tuple[Form, Callable[[_Graph, Values, Node], Node | None]], ...] = (
    *((form, _named("Gelu")) for form in _erf("x")),
    *((form, _named("Gelu", approximate="tanh")) for form in _tanh("x")),
    (("Mul", "x", ("Sigmoid", "x")), _named("Silu")),
    (("Mul", "x", ("Tanh", ("Softplus", "x"))), _named("Mish")),
    (("Add", ("MatMul", "x", "weight"), "bias"), _linear),
    (_SCALED, _layer_norm),
    (_NORMED, _layer_norm),
)


def fused(nodes: Sequence[Node], constants: Mapping[str, np.ndarray]) -> list[Node]:
    """The nodes, with one in the place of the last of those that make up a known function.

    The others are left where they are; nothing may depend on them any more.
    """
    graph = _Graph({name: node for node in nodes for name in node.outputs}, constants)
    return [_fused(node, graph) for node in nodes]


def _fused(node: Node, graph: _Graph) -> Node:
    for form, build in _FORMS:
        values: Values = {}
        if node.outputs and _matches(form, node.outputs[0], graph, values):
            found = build(graph, values, node)
            if found is not None:
                return found
    return node


def _matches(form: Form, name: str, graph: _Graph, values: Values) -> bool:
    """Whether a value has a form; what stands for what is written into `values`."""
    if isinstance(form, str):
        return values.setdefault(form, name) == name
    if isinstance(form, float):
        array = graph.constants.get(name)
        if array is None or array.size != 1:
            return False
        return math.isclose(float(array.flat[0]), form, rel_tol=_CLOSE)
    kind, *operands = form
    node = graph.made.get(name)
    if node is None or node.kind != kind or len(node.inputs) != len(operands):
        return False
    orders = [node.inputs, node.inputs[::-1]] if kind in ("Add", "Mul") else [node.inputs]
    for order in orders:
        tried = dict(values)
        pairs = zip(operands, order, strict=True)
        if all(_matches(part, one, graph, tried) for part, one in pairs):
            values.update(tried)
            return True
    return False
