"""Traces written so that every operation makes a new tensor, and all of them count."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn import functional

from rankcheck.audit.model import ModelError

__all__ = ["rewrite"]

#: What changes the place or the gradient of a tensor, and no number.
_COPIES = ("detach", "clone", "contiguous", "requires_grad_", torch.clone, torch.detach)

_TRANSPOSES = ("t", "transpose", "permute", "swapaxes", "swapdims")

_Value = Callable[[fx.Node], Any]


def rewrite(graph: fx.Graph, module: nn.Module, value: _Value) -> None:
    """Rewrite a trace in place; the function that it computes stays.

    Copies and what nothing depends on are left out, operations that change a tensor in place become
    others that make a new one, `squeeze()` keeps the first axis, and x Wᵀ is a linear layer.

    Args:
        module: that was traced; its layers no longer change tensors in place.
        value: what a node computed in the trace, with its memory.

    Raises:
        ModelError: a part of a tensor is changed in place, and the whole is used later.
    """
    nodes = list(graph.nodes)
    for place, node in enumerate(nodes):
        if node.op == "call_module" and _inplace(module.get_submodule(str(node.target))):
            _replace(graph, node, nodes[:place], value)
        if node.op in ("call_function", "call_method") and node.args:
            if _in_place(node):
                _without(node)
                _replace(graph, node, nodes[:place], value)
            if node.target in ("squeeze", torch.squeeze):
                _squeeze(node, value)
            elif node.target in (operator.matmul, torch.matmul, "matmul"):
                _linear(node, value)
    for node in nodes:
        first = node.args[0] if node.args else None
        called = node.op in ("call_method", "call_function")
        if called and node.target in _COPIES and isinstance(first, fx.Node):
            node.replace_all_uses_with(first)
        if node.op == "call_method" and node.target == "view":
            node.target = "reshape"  # which asks for no order in memory
    for one in module.modules():
        if _inplace(one):
            vars(one)["inplace"] = False
    for node in reversed(nodes):
        if node.op not in ("placeholder", "output") and not node.users:
            graph.erase_node(node)


def _inplace(module: nn.Module) -> bool:
    """Whether a layer changes its argument."""
    return vars(module).get("inplace") is True


def _in_place(node: fx.Node) -> bool:
    """Whether an operation changes its first argument."""
    if node.kwargs.get("inplace") is True:
        return True
    if node.op == "call_function" and node.target in _AUGMENTED:
        return True
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
    plain = name.endswith("_") and not name.endswith("__")
    return plain and name not in _COPIES


#: x += y of Python, as torch.fx records it.
_AUGMENTED: Mapping[Any, Any] = {
    operator.iadd: operator.add,
    operator.isub: operator.sub,
    operator.imul: operator.mul,
    operator.itruediv: operator.truediv,
}


def _replace(graph: fx.Graph, node: fx.Node, before: list[fx.Node], value: _Value) -> None:
    """Later uses of a tensor that an operation changes become uses of what it makes."""
    old = value(node)
    if not isinstance(old, Tensor):
        raise ModelError(f"the operation {node.name!r} changes several tensors in place")
    later = _later(graph, node)
    for one in before:
        seen = value(one) if one.op != "output" else None
        if one is node or not isinstance(seen, Tensor) or not set(one.users) & later:
            continue
        if seen.untyped_storage().data_ptr() != old.untyped_storage().data_ptr():
            continue
        same = (seen.shape, seen.stride(), seen.storage_offset()) == (
            old.shape,
            old.stride(),
            old.storage_offset(),
        )
        if not same or one.op == "get_attr":
            raise ModelError(
                f"the operation {node.name!r} changes {one.name!r} in place, or a part of it, and "
                "that is used later; write it so that it makes a new tensor"
            )
        one.replace_all_uses_with(node, lambda user: user in later)


def _without(node: fx.Node) -> None:
    """The same operation, on a new tensor."""
    if node.kwargs.get("inplace") is True:
        node.kwargs = {**node.kwargs, "inplace": False}
        return
    if node.target in _AUGMENTED:
        node.target = _AUGMENTED[node.target]
        return
    if isinstance(node.target, str):
        node.target = node.target.rstrip("_")
        return
    name = node.target.__name__.rstrip("_")
    plain = getattr(torch, name, None) or getattr(functional, name, None)
    if plain is None:
        raise ModelError(f"the operation {node.name!r} changes a tensor in place")
    node.target = plain


def _later(graph: fx.Graph, node: fx.Node) -> set[fx.Node]:
    nodes = list(graph.nodes)
    return set(nodes[nodes.index(node) + 1 :])


def _squeeze(node: fx.Node, value: _Value) -> None:
    """Name the axes of length 1 that are left out; the first axis is that of the points."""
    if len(node.args) > 1 or node.kwargs:
        return
    [first] = node.args
    assert isinstance(first, fx.Node)
    shape = value(first).shape
    axes = tuple(axis for axis, size in enumerate(shape) if size == 1 and axis > 0)
    if axes:
        node.args = (first, axes)
    else:
        node.replace_all_uses_with(first)


def _linear(node: fx.Node, value: _Value) -> None:
    """Write the product with the transpose of a stored matrix W as the linear layer of W."""
    other = node.args[1] if len(node.args) == 2 else None
    if not isinstance(other, fx.Node) or other.op != "call_method" or not other.args:
        return
    stored = other.args[0]
    if not isinstance(stored, fx.Node) or stored.op != "get_attr" or value(stored).ndim != 2:
        return
    if other.target in _TRANSPOSES and torch.equal(value(other), value(stored).T):
        node.op, node.target = "call_function", functional.linear
        node.args = (node.args[0], stored)
