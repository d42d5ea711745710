"""Modules of torch as graphs: `torch.fx` traces them, and every operation is known by name."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, fx, nn

from rankcheck.audit.graph.apart import take_apart, use_plain
from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.graph.kinds import layer_of
from rankcheck.audit.graph.layer import Call, Layer, Operand
from rankcheck.audit.graph.rewriting import rewrite
from rankcheck.audit.graph.tracer import DoesNotFit, Tracer, line_of
from rankcheck.audit.model import ModelError

__all__ = ["doubles", "graph_of", "in_double", "read_layers", "trace"]


def in_double(module: nn.Module) -> nn.Module:
    """A copy of a module in float64 on the CPU, which shares nothing with it.

    Raises:
        ModelError: it cannot be copied.
    """
    kept = [  # as an attention may keep its weights; with a history, they could not be copied
        value for one in module.modules() for value in vars(one).values() if type(value) is Tensor
    ]
    memo = {id(value): value.detach().clone() for value in kept}
    try:
        module = copy.deepcopy(module, memo).to(device="cpu", dtype=torch.float64)
    except (RuntimeError, TypeError, NotImplementedError) as error:
        raise ModelError(
            f"the module {type(module).__name__} cannot be copied: {line_of(error)}"
        ) from error
    for one in module.modules():
        for name, value in vars(one).items():
            if type(value) is Tensor and value.is_floating_point():
                vars(one)[name] = value.detach().to(device="cpu", dtype=torch.float64)
    return module


@contextmanager
def doubles(dtype: torch.dtype = torch.float64) -> Iterator[None]:
    """Tensors that a forward makes are of this type."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def trace(module: nn.Module, shape: tuple[int, ...]) -> fx.GraphModule:
    """The operations of a module on one point.

    Casts to other precisions are left out.

    Args:
        module: in float64 on the CPU, as `in_double` makes it; it is changed.
        shape: of one point, without the first axis.

    Raises:
        ModelError: its forward takes several tensors or gives them, or depends on values of
            tensors.
        DoesNotFit: an operation does not take the shape that it gets.
    """
    take_apart(module)
    tracer = Tracer(shape)
    name = type(module).__name__
    try:
        with doubles():
            graph = tracer.trace(module)
    except ModelError:
        raise
    except fx.proxy.TraceError as error:
        raise ModelError(
            f"the forward of {name} depends on the values of tensors in its control flow, so that "
            "there is no one graph of it; write it with torch.where or without"
        ) from error
    except Exception as error:  # anything may come from a forward that somebody wrote
        raise ModelError(
            f"the forward of {name} cannot be traced: {type(error).__name__}: {line_of(error)}"
        ) from error
    output = next(node for node in graph.nodes if node.op == "output").args[0]
    if not isinstance(output, fx.Node) or not isinstance(tracer.value(output), Tensor):
        kind = type(output).__name__.removeprefix("immutable_")
        kind = "several tensors" if isinstance(output, fx.Node) else f"a {kind}"
        raise ModelError(f"the forward of {name} returns {kind}; it must return one tensor")
    rewrite(graph, module, tracer.value)
    graph._tracer_cls = None  # by which copies would be made; it needs the shape
    for node in graph.nodes:
        node.type = None  # an annotation, perhaps as a text, which could not be pickled
    try:
        traced = fx.GraphModule(module, graph)
    except SyntaxError as error:  # torch.fx writes code with all names
        raise ModelError(
            f"a part of {name} has a name that is a keyword of Python; rename it"
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
    return read_layers(trace(in_double(module), shape), shape, source)


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
        raise DoesNotFit(
            f"the network does not take a point of shape {shape}: {line_of(error)}"
        ) from error
    _fix_numbers(module, shapes.numbers)
    state = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    names = {id(p): name for name, p in module.named_parameters()}
    layers: dict[str, Layer] = {}
    moving: set[fx.Node] = set(inputs)
    for node in module.graph.nodes:
        if node.op in ("placeholder", "output", "get_attr"):
            continue
        if moving.isdisjoint(node.all_input_nodes):
            node.meta["constant"] = True
            continue
        moving.add(node)
        call = _call(module, node, shapes, state)
        layer = layer_of(call)
        if layer is None:
            raise ModelError(_unknown(module, node, call))
        layers[node.name] = _once(layer, module, names)
    output = next(node for node in module.graph.nodes if node.op == "output")
    if moving.isdisjoint(output.all_input_nodes):
        raise ModelError("what the network computes does not depend on its input")
    return Graph(module, shape, layers, {n: s[1:] for n, s in shapes.shapes.items()}, source)


class _Shapes(fx.Interpreter):
    """The shapes of all tensors in a graph at one point, and the numbers in it."""

    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.numbers: dict[str, Any] = {}
        self.constants: dict[str, Tensor] = {}
        self._moving: set[fx.Node] = set()

    def run_node(self, n: fx.Node) -> object:
        value = super().run_node(n)
        if n.op == "placeholder" or not self._moving.isdisjoint(n.all_input_nodes):
            self._moving.add(n)
        elif isinstance(value, Tensor):
            self.constants[n.name] = value.detach()
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
    module: fx.GraphModule, node: fx.Node, shapes: _Shapes, state: Mapping[str, Tensor]
) -> Call:
    def operand(one: fx.Node) -> Any:
        name = str(one.target) if one.op == "get_attr" else one.name
        value = state[name].detach() if name in state else shapes.constants.get(one.name)
        trained = isinstance(state.get(name), nn.Parameter)
        return Operand(name, shapes.shapes.get(one.name, ()), value, trained)

    args = fx.node.map_arg(node.args, operand)
    kwargs = fx.node.map_arg(node.kwargs, operand)
    shape = shapes.shapes.get(node.name, ())
    if node.op != "call_module":
        path = node.meta.get("path") or ""
        name = f"{path}.{node.name}" if path else node.name
        return Call(name, None, node.target, args, kwargs, shape, {})
    name = str(node.target)
    called = module.get_submodule(name)
    parameters = {f"{name}.{one}": p.detach() for one, p in called.named_parameters()}
    return Call(name, called, None, args, kwargs, shape, parameters)


def _once(layer: Layer, module: fx.GraphModule, names: Mapping[int, str]) -> Layer:
    """A layer whose maps name each parameter as `Graph.parameters` does, also a shared one."""

    def known(name: str | None) -> str | None:
        return None if name is None else names.get(id(_attribute(module, name)), name)

    maps = []
    for one in layer.maps:
        weight, bias = one.parameters
        renamed: Any = replace(one, parameters=(known(weight), known(bias)))  # type: ignore[type-var]
        maps.append(renamed)
    return replace(layer, maps=tuple(maps))


def _attribute(module: nn.Module, name: str) -> object:
    path, _, last = name.rpartition(".")
    return getattr(module.get_submodule(path), last, None)


def _unknown(module: fx.GraphModule, node: fx.Node, call: Call) -> str:
    """Why an operation that no kind knows is refused."""
    if call.module is not None:
        what = type(call.module).__name__
    else:
        what = str(getattr(call.function, "__name__", call.function))
    at = f"the network has {call.name!r} ({what}), which is not known"
    if all(user.op == "output" for user in node.users):
        return f"{at}; it is the last operation, so leave it out: audit what comes before it"
    return (
        f"{at}; write it with operations that are (linear layers, convolutions, norms, pooling, "
        "activations, sums and products), or audit a part of the network without it"
    )
