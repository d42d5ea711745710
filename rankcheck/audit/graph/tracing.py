"""Modules of torch as graphs: `torch.fx` traces them, and every operation is known by name."""

from __future__ import annotations

import copy
import operator
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, fx, nn

from rankcheck.audit.graph.apart import take_apart, use_plain
from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.graph.kinds import layer_of
from rankcheck.audit.graph.layer import Call, Layer, Operand
from rankcheck.audit.model import ModelError

__all__ = ["graph_of", "read_layers", "trace"]


def trace(module: nn.Module) -> fx.GraphModule:
    """The operations of a module, in a copy in float64 on the CPU, which shares nothing with it.

    Raises:
        ModelError: its forward has another form than one tensor in and one out, or depends on the
            values of tensors.
    """
    module = copy.deepcopy(module).to(device="cpu", dtype=torch.float64)
    for one in module.modules():
        if "inplace" in vars(one):
            vars(one)["inplace"] = False
    take_apart(module)
    try:
        traced = fx.symbolic_trace(module)
    except (fx.proxy.TraceError, TypeError, NotImplementedError) as error:
        raise ModelError(
            f"the forward of {type(module).__name__} cannot be traced: {_line(error)}; it may not "
            "depend on the values of tensors"
        ) from error
    use_plain(traced)
    return traced


def graph_of(module: nn.Module, shape: tuple[int, ...], source: str) -> Graph:
    """A module as a graph whose layers are known.

    Args:
        shape: of one point, without the first axis.

    Raises:
        ModelError: it cannot be traced, does not take such points, or has an operation that no kind
            knows.
    """
    return read_layers(trace(module), shape, source)


def read_layers(module: fx.GraphModule, shape: tuple[int, ...], source: str) -> Graph:
    """A traced module as a graph; the sizes in it become those of one point.

    Raises:
        ModelError: as for `graph_of`.
    """
    inputs = [node for node in module.graph.nodes if node.op == "placeholder"]
    if len(inputs) != 1:
        raise ModelError(f"the network takes {len(inputs)} inputs; it must take one tensor")
    shapes = _Shapes(module)
    try:
        with torch.no_grad():
            shapes.run(torch.zeros(1, *shape, dtype=torch.float64))
    except (RuntimeError, IndexError, TypeError, ValueError) as error:
        raise ModelError(
            f"the network does not take a point of shape {shape}: {_line(error)}"
        ) from error
    _fix_numbers(module, shapes.numbers)
    state = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    layers: dict[str, Layer] = {}
    for node in module.graph.nodes:
        if node.op in ("placeholder", "output", "get_attr") or node.target is operator.getitem:
            continue
        call = _call(module, node, shapes.shapes, state)
        layer = layer_of(call)
        if layer is None:
            what = type(call.module).__name__ if call.module is not None else _named(call.function)
            raise ModelError(f"the network has {call.name!r} ({what}), which is not known")
        layers[node.name] = layer
    return Graph(module, shape, layers, {n: s[1:] for n, s in shapes.shapes.items()}, source)


class _Shapes(fx.Interpreter):
    """The shapes of all tensors in a graph at one point, and the numbers in it."""

    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.numbers: dict[str, Any] = {}

    def run_node(self, n: fx.Node) -> object:
        value = super().run_node(n)
        if isinstance(value, Tensor):
            self.shapes[n.name] = tuple(value.shape)
        elif n.op != "output" and _is_number(value):
            self.numbers[n.name] = value
        return value


def _is_number(value: object) -> bool:
    """Whether it is made of numbers alone: a size, or a tuple of sizes."""
    if isinstance(value, tuple | list):
        return all(map(_is_number, value))
    return isinstance(value, int | float | str | None.__class__ | torch.dtype | torch.device)


def _fix_numbers(module: fx.GraphModule, numbers: Mapping[str, Any]) -> None:
    """Put numbers in the place of the nodes that compute them at one point."""
    for node in reversed(list(module.graph.nodes)):
        if node.name in numbers:
            for user in list(node.users):
                user.args = fx.node.map_arg(user.args, lambda a: numbers.get(a.name, a))
                user.kwargs = fx.node.map_arg(user.kwargs, lambda a: numbers.get(a.name, a))
            module.graph.erase_node(node)
    module.graph.lint()
    module.recompile()


def _call(
    module: fx.GraphModule,
    node: fx.Node,
    shapes: Mapping[str, tuple[int, ...]],
    state: Mapping[str, Tensor],
) -> Call:
    def operand(one: fx.Node) -> Any:
        name = str(one.target) if one.op == "get_attr" else one.name
        value = state[name].detach() if one.op == "get_attr" else None
        trained = isinstance(state.get(name), nn.Parameter)
        return Operand(name, shapes.get(one.name, ()), value, trained)

    args = fx.node.map_arg(node.args, operand)
    kwargs = fx.node.map_arg(node.kwargs, operand)
    if node.op != "call_module":
        return Call(node.name, None, node.target, args, kwargs, shapes.get(node.name, ()), {})
    name = str(node.target)
    called = module.get_submodule(name)
    parameters = {f"{name}.{one}": p.detach() for one, p in called.named_parameters()}
    return Call(name, called, None, args, kwargs, shapes.get(node.name, ()), parameters)


def _named(function: object) -> str:
    return function if isinstance(function, str) else getattr(function, "__name__", str(function))


def _line(error: BaseException, most: int = 160) -> str:
    """What an error says, on one line."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= most else f"{text[: most - 3]}..."
